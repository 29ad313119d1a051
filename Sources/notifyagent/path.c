/* Files whose changes are reported, wherever along their path something changes. */
#include "path.h"

#include <darwinnotify/token.h>
#include <notify_private.h>
#include <stdlib.h>

#include "say.h"

/* Nobody posts it: its tokens are called when their file changes, or the table. */
#define NAME "org.darwinnotify.agent"

struct path_watch {
        int token;
        void (*changed)(void *context);
        void *context;
};

static void invoke(int token, void *context)
{
        path_watch *watch = context;

        (void)token;
        watch->changed(watch->context);
}

path_watch *path_watch_new(agent *agent, const char *path, void (*changed)(void *context),
                           void *context)
{
        dn_token_handler handler = { .invoke = invoke };
        path_watch *watch;
        uint32_t status;

        if (!agent_posts(agent))
                return NULL;
        watch = malloc(sizeof(*watch));
        if (!watch)
                return NULL;
        *watch = (path_watch){ NOTIFY_TOKEN_INVALID, changed, context };
        handler.context = watch;
        status = dn_notify_register_callback(NAME, &handler, dn_loop_executor(agent->loop),
                                             &watch->token);
        if (status == NOTIFY_STATUS_OK && path)
                status = notify_monitor_file(watch->token, (char *)path, 0);
        if (status == NOTIFY_STATUS_OK)
                return watch;
        say("cannot watch %s (status %u)", path ? path : "the table", status);
        return path_watch_free(watch);
}

path_watch *path_watch_free(path_watch *watch)
{
        if (watch && watch->token != NOTIFY_TOKEN_INVALID)
                (void)notify_cancel(watch->token);
        free(watch);
        return NULL;
}

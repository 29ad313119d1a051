/* A plugin that contains the static library, for the test that loads and unloads it. */
#include <darwinnotify/darwinnotify.h>
#include <notify.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic unsigned n_calls;

static void count(const dn_event *event, void *context)
{
        (void)event;
        (void)context;
        n_calls++;
}

static int use(void)
{
        dn_handler handler = {.invoke = count};
        int r, token;

        r = dn_center_observe(dn_center_darwin(), "plugin", &handler, NULL, NULL);
        if (r == 0 && DN_HAS_BUS)
                r = dn_center_observe(dn_center_distributed(), "plugin", &handler, NULL, NULL);
        if (r == 0 && notify_register_check("plugin", &token) != NOTIFY_STATUS_OK)
                r = -1;
        if (r == 0)
                r = dn_center_post(dn_center_darwin(), "plugin", NULL, NULL, 0);
        while (r == 0 && n_calls == 0)
                (void)usleep(100);
        return r;
}

/* Uses the library until a post has arrived, and ends it. Returns 0 or a negative errno. */
__attribute__((visibility("default"))) int plugin_use(void);

int plugin_use(void)
{
        int r = use(), ended = dn_shutdown();

        return r < 0 ? r : ended;
}

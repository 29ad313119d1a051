/* Tokens of every kind, with helpers for the tests of <notify.h>. */
#pragma once

#include <darwinnotify/token.h>
#include <notify.h>
#include <notify_private.h>
#include <signal.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

/* A number that no call sets. */
#define UNTOUCHED 0x7ead

/* `n_posts` receives the token of the last call. */
static inline void count_call(int token, void *context)
{
        tally *self = context;

        self->n_posts = (uint64_t)token;
        self->n_calls++;
        WAIT_UNTIL(!self->blocks);
}

#define COUNTING(self) \
        (&(dn_token_handler){.invoke = count_call, .context = (self), .destroy = tally_destroy})

static inline int add_callback_on(const char *name, tally *self, const dn_executor *executor)
{
        int token = NOTIFY_TOKEN_INVALID;
        uint64_t began_us = test_now_us();

        CHECK_EQ(dn_notify_register_callback(name, COUNTING(self), executor, &token),
                 NOTIFY_STATUS_OK);
        (void)settle_name(dn_center_darwin(), name, 0, began_us);
        return token;
}

static inline int add_callback(const char *name, tally *self)
{
        return add_callback_on(name, self, NULL);
}

static inline bool is_changed(int token)
{
        int changed = -1;

        CHECK_EQ(notify_check(token, &changed), NOTIFY_STATUS_OK);
        CHECK(changed == 0 || changed == 1);
        return changed;
}

static inline uint64_t get_state(int token)
{
        uint64_t state = UNTOUCHED;

        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OK);
        return state;
}

static inline void post(const char *name)
{
        uint64_t began_us = test_now_us();

        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
        (void)settle(dn_center_darwin(), 0, began_us);
}

static inline void cancel(int token)
{
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
}

/* Every function reports an invalid token and writes nothing. */
static inline void check_invalid(int token)
{
        static char path[] = "/";
        uint64_t state = UNTOUCHED;
        uint32_t value = UNTOUCHED;
        int changed = UNTOUCHED;

        CHECK(!notify_is_valid_token(token));
        CHECK_EQ(notify_check(token, &changed), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_peek(token, &value), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_resume(token), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_INVALID_TOKEN);
        CHECK(changed == UNTOUCHED && value == UNTOUCHED && state == UNTOUCHED);
}

/* ---- every kind ------------------------------------------------------------------------------ */

static inline uint32_t try_signal(const char *name, int *ret_token)
{
        return notify_register_signal(name, SIGURG, ret_token); /* ignored if nobody handles it */
}

static inline uint32_t try_descriptor(const char *name, int *ret_token)
{
        int fd = UNTOUCHED;

        return notify_register_file_descriptor(name, &fd, 0, ret_token);
}

static inline void do_nothing(int token, void *context)
{
}

static inline uint32_t try_callback(const char *name, int *ret_token)
{
        dn_token_handler handler = {.invoke = do_nothing};

        return dn_notify_register_callback(name, &handler, NULL, ret_token);
}

enum { KIND_CHECK, KIND_PLAIN, KIND_SIGNAL, KIND_DESCRIPTOR, KIND_CALLBACK, N_KINDS };

static inline uint32_t try_kind(int kind, const char *name, int *ret_token)
{
        static uint32_t (*const tries[])(const char *, int *) = {
                notify_register_check, notify_register_plain, try_signal, try_descriptor,
                try_callback,
        };

        return tries[kind](name, ret_token);
}

/* Only notify_register_check() sets its output when it fails. */
static inline void check_no_kind_registers(const char *name, uint32_t status)
{
        for (int kind = 0; kind < N_KINDS; kind++) {
                int token = UNTOUCHED;
                CHECK_EQ(try_kind(kind, name, &token), status);
                CHECK_EQ(token, kind == KIND_CHECK ? NOTIFY_TOKEN_INVALID : UNTOUCHED);
        }
}

static inline int add_kind(int kind, const char *name)
{
        int token = NOTIFY_TOKEN_INVALID;
        uint64_t began_us = test_now_us();

        CHECK_EQ(try_kind(kind, name, &token), NOTIFY_STATUS_OK);
        (void)settle_name(dn_center_darwin(), name, 0, began_us);
        return token;
}

static inline int add_check(const char *name)
{
        return add_kind(KIND_CHECK, name);
}

/* Returns the state that a new token reads. */
static inline uint64_t get_anew(const char *name)
{
        int token = add_check(name);
        uint64_t state = get_state(token);

        cancel(token);
        return state;
}

/* `poster` has the role "testPeer". */
static inline void let_post(test_child *poster, const char *name)
{
        CHECK_STREQ(test_child_ask(poster, name), "posted");
}

/* Keeps what the library's callbacks report until a thread of Python reads it. */
#include "mailbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mailbox {
        atomic_int n_refs; /* one of Python, one of each registration */
        pid_t process;
        dn_loop *loop; /* of Python's thread; NULL once closed */
        dn_observer *observer;
        dn_call *call;
        dn_service *service;

        /* A callback that its loop refuses runs on a thread of the library. */
        pthread_mutex_t lock;
        letter *first, **end;
        uint64_t n_lost; /* events for which there was no memory */
        bool is_closed;
};

static void mailbox_unref(mailbox *box)
{
        if (atomic_fetch_sub(&box->n_refs, 1) > 1)
                return;
        pthread_mutex_destroy(&box->lock);
        free(box);
}

static mailbox *mailbox_ref(mailbox *box)
{
        atomic_fetch_add(&box->n_refs, 1);
        return box;
}

static void release(void *context)
{
        mailbox_unref(context);
}

int mailbox_new(mailbox **ret_box)
{
        mailbox *box = calloc(1, sizeof *box);
        int r;

        if (!box)
                return -ENOMEM;
        r = dn_loop_new(&box->loop);
        if (r < 0) {
                free(box);
                return r;
        }
        box->n_refs = 1;
        box->process = getpid();
        box->end = &box->first;
        pthread_mutex_init(&box->lock, NULL);
        *ret_box = box;
        return 0;
}

void letter_free(letter *read)
{
        if (!read)
                return;
        if (read->request)
                dn_request_refuse(read->request, DN_ERROR_UNANSWERED, NULL, NULL);
        dn_dict_unref(read->values);
        free(read->name);
        free(read->text);
        free(read);
}

/* Makes a letter with copies of two texts. */
static letter *letter_new(int type, const char *name, const char *text)
{
        letter *made = calloc(1, sizeof *made);

        if (!made)
                return NULL;
        made->type = type;
        made->name = name ? strdup(name) : NULL;
        made->text = text ? strdup(text) : NULL;
        if ((name && !made->name) || (text && !made->text)) {
                letter_free(made);
                return NULL;
        }
        return made;
}

/* Consumes the letter. */
static void put(mailbox *box, letter *made)
{
        pthread_mutex_lock(&box->lock);
        if (!box->is_closed) {
                *box->end = made;
                box->end = &made->next;
                made = NULL;
        }
        pthread_mutex_unlock(&box->lock);
        letter_free(made);
}

int mailbox_get_fd(mailbox *box)
{
        return dn_loop_get_fd(box->loop);
}

letter *mailbox_receive(mailbox *box)
{
        letter *first, **end = &first;

        if (!box->first)
                dn_loop_process(box->loop);
        pthread_mutex_lock(&box->lock);
        first = box->first;
        for (int n = 0; *end && n < MAILBOX_BATCH; n++)
                end = &(*end)->next;
        box->first = *end;
        *end = NULL;
        if (!box->first)
                box->end = &box->first;
        pthread_mutex_unlock(&box->lock);
        return first;
}

static void free_all(letter *left)
{
        while (left) {
                letter *next = left->next;

                letter_free(left);
                left = next;
        }
}

void mailbox_close(mailbox *box)
{
        if (!box || box->process != getpid())
                return;
        dn_observer_cancel(box->observer);
        dn_observer_unref(box->observer);
        dn_call_cancel(box->call);
        dn_call_unref(box->call);
        dn_service_close(box->service);
        dn_loop_close(box->loop);
        pthread_mutex_lock(&box->lock);
        box->is_closed = true;
        pthread_mutex_unlock(&box->lock);
        free_all(box->first);
        mailbox_unref(box);
}

/* ---- observers ------------------------------------------------------------------------------- */

static void notified(const dn_event *event, void *context)
{
        mailbox *box = context;
        letter *made = letter_new(LETTER_EVENT, event->name, event->object);

        if (!made) {
                box->n_lost += event->n_posts;
                return;
        }
        made->values = dn_dict_ref(event->user_info);
        made->n_posts = event->n_posts;
        made->n_dropped = event->n_dropped + box->n_lost;
        made->may_have_missed = event->may_have_missed;
        box->n_lost = 0;
        put(box, made);
}

int mailbox_observe(mailbox *box, dn_center *center, const char *name, const char *prefix,
                    const char *object)
{
        dn_filter filter = { .name = name, .prefix = prefix, .object = object };
        dn_handler handler = {
                .invoke = notified, .context = mailbox_ref(box), .destroy = release
        };

        return dn_center_observe_filtered(center, &filter, &handler, dn_loop_executor(box->loop),
                                          &box->observer);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The letter of a call is made before the call begins, so that its end always arrives. */
typedef struct pending {
        mailbox *box;
        letter *made;
} pending;

static void ended(const dn_outcome *outcome, void *context)
{
        pending *call = context;

        call->made->error = outcome->error;
        call->made->name = outcome->error_name ? strdup(outcome->error_name) : NULL;
        call->made->text = outcome->message ? strdup(outcome->message) : NULL;
        call->made->values = dn_dict_ref(outcome->reply ? outcome->reply : outcome->details);
        put(call->box, call->made);
        call->made = NULL;
}

static void discard(void *context)
{
        pending *call = context;

        letter_free(call->made);
        mailbox_unref(call->box);
        free(call);
}

int mailbox_call(mailbox *box, const char *service, const char *kind, const dn_dict *arguments,
                 uint64_t timeout_us)
{
        dn_call_plan plan = { .service = service,
                              .kind = kind,
                              .arguments = arguments,
                              .timeout_us = timeout_us };
        pending *call = calloc(1, sizeof *call);
        letter *made = letter_new(LETTER_OUTCOME, NULL, NULL);
        dn_call_handler handler = { .ended = ended, .context = call, .destroy = discard };

        if (!call || !made) {
                letter_free(made);
                free(call);
                return -ENOMEM;
        }
        *call = (pending){ mailbox_ref(box), made };
        return dn_call_begin(dn_center_darwin(), &plan, &handler, dn_loop_executor(box->loop),
                             &box->call);
}

/* ---- services -------------------------------------------------------------------------------- */

static bool allow_all(const dn_request_info *info, void *context)
{
        (void)info, (void)context;
        return true;
}

static void requested(dn_request *request, const dn_request_info *info, void *context)
{
        letter *made = letter_new(LETTER_REQUEST, info->kind, info->caller->name);

        if (!made) {
                dn_request_refuse(request, DN_ERROR_FAILED, "out of memory", NULL);
                return;
        }
        made->values = dn_dict_ref(info->arguments);
        made->id = info->id;
        made->user = info->caller->user;
        made->process = info->caller->process;
        made->request = request;
        put(context, made);
}

static void cancelled(uint64_t id, void *context)
{
        letter *made = letter_new(LETTER_CANCEL, NULL, NULL);

        if (!made)
                return;
        made->id = id;
        put(context, made);
}

int mailbox_serve(mailbox *box, const char *name, const char *const *kinds, bool is_open,
                  bool may_wait)
{
        dn_service_plan plan = { .name = name,
                                 .kinds = kinds,
                                 .options = may_wait ? DN_SERVICE_QUEUE : 0 };
        dn_service_handler handler = { .allow = is_open ? allow_all : NULL,
                                       .invoke = requested,
                                       .cancel = cancelled,
                                       .context = mailbox_ref(box),
                                       .destroy = release };

        return dn_service_open(dn_center_darwin(), &plan, &handler, dn_loop_executor(box->loop),
                               &box->service);
}

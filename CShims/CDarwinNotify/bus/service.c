/* The bus as the rest of the library sees it: a connection that heals, driven by one thread.
 *
 * Every call of sd-bus is made under one lock, by the service thread or by the thread that posts;
 * the lock is never held while waiting, nor while anything outside this folder runs. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bus/access.h"
#include "bus/service-internal.h"
#include "util/thread.h"

/* What a call waits for a bus that does not answer, in all. */
#define ANSWER_TIMEOUT_US (900 * DN__US_PER_MS)

int dn__service_new(dn__address address, const dn__service_ops *ops, void *context,
                    dn__service **ret_service)
{
        dn__service *service = calloc(1, sizeof(*service));
        int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

        if (!service || wake_fd < 0) {
                if (wake_fd >= 0)
                        (void)close(wake_fd);
                free(service);
                dn__address_deinit(&address);
                return -ENOMEM;
        }
        *service = (dn__service){
                .ops = ops,
                .context = context,
                .address = address,
                .wake_fd = wake_fd,
                .connect_us = address.address ? 0 : DN__NEVER,
                .backoff_us = DN__BACKOFF_MIN_US,
                .missed_us = DN__NEVER,
                .wake_us = DN__NEVER,
                .close_us = DN__NEVER,
        };
        dn__lock_init(&service->lock);
        dn__condition_init(&service->changed);
        dn__rules_init(&service->rules, &service->connection);
        dn__vouchers_init(&service->vouchers, &service->connection);
        dn__pending_init(&service->pending);
        dn__pending_init(&service->in_flight);
        service->wake_guard = dn__fork_guard_new(wake_fd);
        *ret_service = service;
        return 0;
}

void dn__service_free(dn__service *service)
{
        const dn__service_ops *ops = service->ops;
        void *context = service->context;

        dn__vouchers_deinit(&service->vouchers);
        dn__connection_close(&service->connection);
        dn__pending_deinit(&service->in_flight);
        dn__pending_deinit(&service->pending);
        dn__rules_deinit(&service->rules);
        dn__queue_deinit(&service->works);
        dn__condition_deinit(&service->changed);
        dn__lock_deinit(&service->lock);
        (void)dn__fork_guard_free(service->wake_guard);
        (void)close(service->wake_fd);
        dn__address_deinit(&service->address);
        free(service);
        ops->closed(context);
}

void dn__service_wake(dn__service *service)
{
        if (service->is_woken || dn__service_is_current(service))
                return;
        service->is_woken = true;
        (void)eventfd_write(service->wake_fd, 1);
}

bool dn__service_is_drained(dn__service *service)
{
        return dn__pending_is_empty(&service->pending) &&
               (!dn__connection_is_ready(&service->connection) ||
                dn__connection_can_send(&service->connection));
}

void dn__service_close(dn__service *service)
{
        bool is_started;

        dn__lock_acquire(&service->lock);
        service->close_us = dn__clock_after_us(DN__CLOSE_TIMEOUT_US);
        is_started = service->is_started;
        dn__service_wake(service);
        dn__lock_release(&service->lock);
        if (!is_started)
                dn__service_free(service);
}

static int start_thread(dn__service *service) DN__REQUIRES(&service->lock)
{
        int r;

        if (service->is_started)
                return 0;
        r = dn__thread_start("dn-service", dn__service_main, service);
        if (r < 0)
                return r;
        service->is_started = true;
        return 0;
}

/* What a caller is told about the bus. */
static int report(dn__service *service) DN__REQUIRES(&service->lock)
{
        return dn__connection_is_ready(&service->connection) ? 0 : -ENOTCONN;
}

uint64_t dn__service_deadline_us(void)
{
        return dn__clock_after_us(ANSWER_TIMEOUT_US);
}

/* Waits for something to change; returns false when the time is over. */
static bool wait_for_change(dn__service *service, uint64_t *deadline_us)
        DN__REQUIRES(&service->lock)
{
        if (!*deadline_us)
                *deadline_us = dn__service_deadline_us();
        if (dn__clock_now_us() >= *deadline_us)
                return false;
        (void)dn__condition_wait(&service->changed, &service->lock, *deadline_us);
        return true;
}

static void await_first_attempt(dn__service *service, uint64_t *deadline_us)
        DN__REQUIRES(&service->lock)
{
        if (!service->address.address || dn__service_is_current(service))
                return;
        while (!service->is_tried && wait_for_change(service, deadline_us))
                continue;
        /* Who comes next does not wait again for a bus that did not answer this time. */
        service->is_tried = true;
}

int dn__service_ensure(dn__service *service, uint64_t *deadline_us)
{
        int r;

        dn__lock_acquire(&service->lock);
        r = start_thread(service);
        if (r == 0 && !service->is_tried)
                await_first_attempt(service, deadline_us);
        if (r == 0)
                r = report(service);
        dn__lock_release(&service->lock);
        return r;
}

bool dn__service_was_connected(dn__service *service)
{
        return dn__service_get_counts(service).n_connects > 0;
}

void dn__service_note_written(dn__service *service)
{
        dn__pending_post *post = dn__pending_first(&service->in_flight);

        if (post && dn__connection_can_send(&service->connection))
                dn__pending_take(&service->in_flight, post);
}

int dn__service_send(dn__service *service, uint64_t hash, const char *name, size_t n_name_bytes,
                     uint64_t generation, uint64_t region)
{
        int r;

        if (service->n_flushes || !dn__connection_can_send(&service->connection))
                return -EAGAIN;
        dn__service_note_written(service);
        r = dn__connection_send_post(&service->connection, name, n_name_bytes, generation, region);
        if (r < 0)
                return r;
        service->counts.n_sent++;
        if (dn__access_is_reserved(name))
                service->reserved_us = dn__clock_now_us();
        /* Without memory to remember it, it goes the way of what the bus had not read. */
        if (!dn__connection_can_send(&service->connection))
                (void)dn__pending_add(&service->in_flight, hash, name, n_name_bytes, generation,
                                      region);
        return 0;
}

void dn__service_take_back(dn__service *service)
{
        dn__pending_post *post = dn__pending_first(&service->in_flight);

        if (!post)
                return;
        (void)dn__pending_add(&service->pending, post->entry.hash, post->name,
                              post->entry.n_key_bytes, post->generation, post->region);
        dn__pending_take(&service->in_flight, post);
}

/* Tells until when a post has to wait for those of a flood that it may be merged with; 0 for not at
 * all. Where others wait for the bus anyhow it joins them. */
static uint64_t hold_until(dn__service *service, bool may_merge) DN__REQUIRES(&service->lock)
{
        if (!may_merge)
                return 0;
        if (!dn__pending_is_empty(&service->pending))
                return service->hold_us;
        return dn__throttle_count(&service->throttle, dn__clock_now_us());
}

static int post_later(dn__service *service, uint64_t hash, const char *name, size_t n_name_bytes,
                      uint64_t generation, uint64_t region, uint64_t hold_us)
        DN__REQUIRES(&service->lock)
{
        bool is_first = dn__pending_is_empty(&service->pending);
        int r;

        r = dn__pending_add(&service->pending, hash, name, n_name_bytes, generation, region);
        if (is_first || hold_us != service->hold_us) {
                service->hold_us = hold_us;
                dn__service_wake(service);
        }
        return r < 0 ? r : report(service);
}

int dn__service_post(dn__service *service, uint64_t hash, const char *name, size_t n_name_bytes,
                     uint64_t generation, uint64_t region, bool may_merge)
{
        uint64_t hold_us;
        int r = -1;

        if (!service->address.address)
                return -ENOTCONN;
        dn__lock_acquire(&service->lock);
        hold_us = hold_until(service, may_merge);
        if (!hold_us && dn__pending_is_empty(&service->pending))
                r = dn__service_send(service, hash, name, n_name_bytes, generation, region);
        /* What the socket did not take, the service thread writes when it does. */
        if (r < 0)
                r = post_later(service, hash, name, n_name_bytes, generation, region, hold_us);
        else if (!dn__connection_can_send(&service->connection))
                dn__service_wake(service);
        dn__lock_release(&service->lock);
        return r;
}

int dn__service_add_rule(dn__service *service, const char *name, size_t n_name_bytes,
                         dn__rule **ret_rule)
{
        int r;

        dn__lock_acquire(&service->lock);
        r = dn__rules_add(&service->rules, name, n_name_bytes, ret_rule);
        if (r == 0 && !dn__connection_can_send(&service->connection))
                dn__service_wake(service);
        dn__lock_release(&service->lock);
        return r;
}

int dn__service_await_rule(dn__service *service, const dn__rule *rule, uint64_t *deadline_us)
{
        bool may_wait = !dn__service_is_current(service);
        int r;

        dn__lock_acquire(&service->lock);
        do
                r = dn__rules_get_state(&service->rules, rule);
        while (r == 0 && report(service) == 0 && may_wait &&
               wait_for_change(service, deadline_us));
        /* Who goes on without the answer is told later of what was posted until it comes. */
        if (r == 0) {
                service->has_unasked = true;
                r = may_wait ? -ENOTCONN : report(service);
        }
        dn__lock_release(&service->lock);
        return r < 0 ? r : 0;
}

void dn__service_remove_rule(dn__service *service, dn__rule *rule)
{
        dn__lock_acquire(&service->lock);
        dn__rules_remove(&service->rules, rule);
        if (!dn__connection_can_send(&service->connection))
                dn__service_wake(service);
        dn__lock_release(&service->lock);
}

int dn__service_enqueue(void *context, dn_work_fn work, void *argument)
{
        dn__service *service = context;
        int r;

        dn__lock_acquire(&service->lock);
        r = start_thread(service);
        if (r == 0)
                r = dn__queue_push(&service->works, (dn__work){ work, argument });
        dn__service_wake(service);
        dn__lock_release(&service->lock);
        return r;
}

void dn__service_wake_at(dn__service *service, uint64_t at_us)
{
        dn__lock_acquire(&service->lock);
        if (at_us < service->wake_us) {
                service->wake_us = at_us;
                dn__service_wake(service);
        }
        dn__lock_release(&service->lock);
}

dn__service_counts dn__service_get_counts(dn__service *service)
{
        dn__service_counts counts;

        dn__lock_acquire(&service->lock);
        counts = service->counts;
        counts.n_waiting = service->pending.posts.n_entries;
        dn__lock_release(&service->lock);
        return counts;
}

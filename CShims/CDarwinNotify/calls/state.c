/* The state of the requests of a process on one bus, in both directions. */
#include "calls/state.h"

#include <assert.h>
#include <errno.h>

#include "bus/wire.h"

/* --- Sending and handing over --------------------------------------------------------------- */

void dn__calls_add_job(dn__calls *calls, dn__job *job)
{
        dn__list_append(&calls->jobs, &job->link);
        dn__loop_wake(calls->loop);
}

/* Work that an executor refuses runs here rather than never. */
void dn__job_hand_over(const dn__job *job)
{
        if (!job->executor || dn__executor_enqueue(job->executor, job->run, job->argument) < 0)
                job->run(job->argument);
}

void dn__calls_hand_over(dn__calls *calls)
{
        dn__link taken;

        dn__lock_acquire(&calls->dbus->lock);
        dn__list_insert(&calls->jobs, &taken);
        dn__list_remove(&calls->jobs);
        dn__list_init(&calls->jobs);
        dn__lock_release(&calls->dbus->lock);
        while (!dn__list_is_empty(&taken)) {
                dn__job *job = DN__CONTAINER(taken.next, dn__job, link);

                dn__list_remove(&job->link);
                dn__job_hand_over(job);
        }
}

/* The service thread writes the bytes that the socket does not accept now. */
int dn__calls_send(dn__calls *calls, sd_bus_message *message, uint64_t *ret_serial)
{
        dn__connection *connection = &calls->dbus->connection;
        int r;

        assert(dn__connection_is_open(connection)); /* its loss ends all that is in progress */
        /* The connection may have been replaced while the lock was released. */
        if (sd_bus_message_get_bus(message) != connection->bus)
                return -ENOTCONN;
        r = dn__connection_send(connection, message, ret_serial);
        if (!dn__connection_can_send(connection))
                dn__loop_wake(calls->loop);
        return r;
}

void dn__calls_tell_bus(dn__calls *calls, const char *method, const char *argument)
{
        dn__connection *connection = &calls->dbus->connection;

        if (!dn__connection_is_ready(connection))
                return;
        dn__connection_tell(connection, method, argument);
        if (!dn__connection_can_send(connection))
                dn__loop_wake(calls->loop);
}

/* --- Use ------------------------------------------------------------------------------------ */

int dn__calls_start(dn_center *center, dn__hub **ret_hub)
{
        dn__hub *hub DN__UNREFS_HUB = NULL;
        uint64_t deadline_us = 0;
        int r;

        r = dn__hub_get(center, &hub);
        if (r < 0)
                return r;
        if (!hub->calls)
                return center->ops->has_calls ? -ENOTCONN : -EINVAL;
        r = dn__carrier_start(hub->bus, &deadline_us);
        if (r == 0)
                *ret_hub = DN__TAKE(hub);
        return r;
}

void dn__calls_retain(dn__calls *calls)
{
        atomic_fetch_add(&calls->n_users, 1);
        dn__center_retain(calls->center);
}

void dn__calls_release(dn__calls *calls)
{
        dn_center *center = calls->center;

        if (!dn__calls_are_current(calls))
                return;
        atomic_fetch_sub(&calls->n_users, 1);
        dn__center_release(center);
}

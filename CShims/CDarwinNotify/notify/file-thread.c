/* The thread that hears of changes.
 *
 * What inotify says means only: look. So it may say too much, in another order or twice. */
#include <poll.h>
#include <unistd.h>

#include "notify/file-watch-internal.h"

#define MERGE_US (100 * DN__US_PER_MS)

/* How long events gather before they are read: a directory may see very many of no interest. */
#define GATHER_MS 10

/* What reading may do before those that are due get their turn. */
#define TURN_N_READS 16

void dn__file_look_later(dn__files *files, dn__file_watch *watch, uint64_t span_us)
{
        uint64_t due_us = dn__clock_after_us(span_us);
        dn__link *behind;

        if (dn__link_is_linked(&watch->due) && watch->due_us <= due_us)
                return;
        dn__list_remove(&watch->due);
        watch->due_us = due_us;
        behind = files->due.previous;
        while (behind != &files->due && DN__CONTAINER(behind, dn__file_watch, due)->due_us > due_us)
                behind = behind->previous;
        dn__list_insert(behind, &watch->due);
}

static void note_event(dn__files *files, const struct inotify_event *event)
        DN__REQUIRES(&files->lock)
{
        dn__file_place *place = dn__file_places_find(&files->places, event->wd);

        for (dn__link *link = place ? place->uses.next : NULL; link && link != &place->uses;
             link = link->next) {
                const dn__file_listener *listener = dn__file_listener_of(link);
                dn__file_watch *watch = listener->owner;

                if (!dn__file_listener_wants(listener, event))
                        continue;
                watch->is_written |= dn__file_listener_hears_write(listener, event);
                dn__file_look_later(files, watch, MERGE_US);
        }
}

/* Events were dropped: they may have been about anything. */
static void note_overflow(dn__files *files) DN__REQUIRES(&files->lock)
{
        for (dn__link *link = files->watches.next; link != &files->watches; link = link->next) {
                dn__file_watch *watch = DN__CONTAINER(link, dn__file_watch, link);

                watch->is_written = true;
                dn__file_look_later(files, watch, MERGE_US);
        }
}

/* Returns whether there may be more. */
static bool read_some_events(dn__files *files)
{
        _Alignas(struct inotify_event) char bytes[16384];
        ssize_t n = read(files->fd, bytes, sizeof(bytes));

        dn__lock_acquire(&files->lock);
        for (ssize_t i = 0; i < n;) {
                const struct inotify_event *event = (const void *)&bytes[i];

                if (event->mask & IN_Q_OVERFLOW)
                        note_overflow(files);
                else
                        note_event(files, event);
                i += (ssize_t)sizeof(*event) + event->len;
        }
        dn__lock_release(&files->lock);
        return n > 0;
}

/* Returns a reference, or NULL when it is not yet time for any. */
static dn__file_watch *take_due(dn__files *files)
{
        dn__file_watch *due = NULL;

        dn__lock_acquire(&files->lock);
        while (!due && !dn__list_is_empty(&files->due)) {
                dn__file_watch *first = DN__CONTAINER(files->due.next, dn__file_watch, due);

                if (first->due_us > dn__clock_now_us())
                        break;
                dn__list_remove(&first->due);
                /* Another thread is about to look for the first time. */
                if (first->is_new)
                        dn__file_look_later(files, first, MERGE_US);
                else
                        due = first;
        }
        if (due)
                due->n_refs++;
        dn__lock_release(&files->lock);
        return due;
}

/* Returns whether there are events to read. */
static bool wait_for_events(dn__files *files)
{
        struct pollfd input = { .fd = files->fd, .events = POLLIN };
        uint64_t until_us = DN__NEVER;

        dn__lock_acquire(&files->lock);
        if (!dn__list_is_empty(&files->due))
                until_us = DN__CONTAINER(files->due.next, dn__file_watch, due)->due_us;
        dn__lock_release(&files->lock);
        return dn__clock_poll(&input, 1, until_us) > 0;
}

void dn__file_thread_main(void *context)
{
        dn__files *files = context;
        dn__file_watch *watch;
        bool has_events;

        for (;;) {
                has_events = wait_for_events(files);
                for (int i = 0; has_events && i < TURN_N_READS && read_some_events(files); i++)
                        continue;
                while ((watch = take_due(files))) {
                        dn__file_look(watch);
                        dn__file_watch_unref(watch);
                }
                if (has_events)
                        (void)poll(NULL, 0, GATHER_MS);
        }
}

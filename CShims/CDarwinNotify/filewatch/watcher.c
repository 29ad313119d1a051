/* The thread that receives changes for all files that a process watches.
 *
 * An inotify event means only "look": extra, reordered or repeated events are harmless. */
#include "filewatch/watcher.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Changes within this time are reported once. */
#define MERGE_US (100 * DN__US_PER_MS)

/* How long events accumulate before they are read: a directory may have many of no interest. */
#define GATHER_US (10 * DN__US_PER_MS)

/* Reads allowed before due watches get their turn. */
#define TURN_N_READS 16

void dn__files_look_later(dn__files *files, dn__file_watch *watch, uint64_t span_us)
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
                dn__files_look_later(files, watch, MERGE_US);
        }
}

/* Events were dropped; they may have concerned anything. */
static void note_overflow(dn__files *files) DN__REQUIRES(&files->lock)
{
        for (dn__link *link = files->watches.next; link != &files->watches; link = link->next) {
                dn__file_watch *watch = DN__CONTAINER(link, dn__file_watch, link);

                watch->is_written = true;
                dn__files_look_later(files, watch, MERGE_US);
        }
}

/* The host has closed the descriptor: everything is listened to again, with another one. */
static void listen_again(dn__files *files)
{
        DN__HOLD(&files->lock);
        files->places.fd = -1;
        for (dn__link *link = files->watches.next; link != &files->watches; link = link->next)
                dn__file_way_deinit(&DN__CONTAINER(link, dn__file_watch, link)->way,
                                    &files->places);
        (void)dn__file_places_open_again(&files->places);
        files->fd = files->places.fd;
        note_overflow(files);
}

static bool is_listening(dn__files *files)
{
        DN__HOLD(&files->lock);
        return files->fd >= 0 && dn__file_places_are_intact(&files->places);
}

/* Returns whether there may be more. */
static bool read_some_events(dn__files *files)
{
        _Alignas(struct inotify_event) char bytes[16384];
        ssize_t n = read(files->fd, bytes, sizeof(bytes));

        DN__HOLD(&files->lock);
        for (ssize_t i = 0; i < n;) {
                const struct inotify_event *event = (const void *)&bytes[i];

                if (event->mask & IN_Q_OVERFLOW)
                        note_overflow(files);
                else
                        note_event(files, event);
                i += (ssize_t)sizeof(*event) + event->len;
        }
        return n > 0;
}

static void read_events(dn__files *files)
{
        if (dn__clock_now_us() < files->gather_us || !read_some_events(files))
                return;
        for (int i = 1; i < TURN_N_READS && read_some_events(files); i++)
                continue;
        files->gather_us = dn__clock_after_us(GATHER_US);
}

/* Returns a reference, or NULL if none is due. */
static dn__file_watch *take_due(dn__files *files)
{
        DN__HOLD(&files->lock);
        while (!dn__list_is_empty(&files->due)) {
                dn__file_watch *first = DN__CONTAINER(files->due.next, dn__file_watch, due);

                if (first->due_us > dn__clock_now_us())
                        return NULL;
                dn__list_remove(&first->due);
                if (!first->is_new) {
                        first->n_refs++;
                        return first;
                }
                /* Another thread is about to make the first look. */
                dn__files_look_later(files, first, MERGE_US);
        }
        return NULL;
}

/* While events accumulate, wait only for due watches. */
static bool prepare(dn__source *source, dn__wait *wait)
{
        dn__files *files = DN__CONTAINER(source, struct dn__files, source);
        bool is_gathering = dn__clock_now_us() < files->gather_us;

        if (is_gathering)
                wait->until_us = files->gather_us;
        else
                *wait = (dn__wait){ files->fd, POLLIN, DN__NEVER };
        DN__HOLD(&files->lock);
        if (!dn__list_is_empty(&files->due)) {
                uint64_t due_us = DN__CONTAINER(files->due.next, dn__file_watch, due)->due_us;

                wait->until_us = due_us < wait->until_us ? due_us : wait->until_us;
        }
        /* A descriptor that cannot be opened is tried again when a look is due. */
        return files->fd < 0 || dn__file_places_are_intact(&files->places);
}

static void dispatch(dn__source *source)
{
        dn__files *files = DN__CONTAINER(source, struct dn__files, source);
        dn__file_watch *watch;

        if (!is_listening(files))
                listen_again(files);
        read_events(files);
        while ((watch = take_due(files)))
                files->look(watch);
}

/* Input and output of make(). */
typedef struct making {
        dn__files_look_fn look;
        int error;
} making;

/* The last call, when the thread has ended or was never started. */
static void free_files(void *context)
{
        dn__files *files = context;

        dn__lock_deinit(&files->lock);
        dn__file_places_deinit(&files->places);
        free(files);
}

static int make_loop(dn__files *files)
{
        static const dn__source_ops ops = { prepare, dispatch };
        const dn__loop_options options = {
                .thread_name = "dn-files",
                .polls = true,
                .closed = free_files,
                .context = files,
        };
        int r;

        r = dn__loop_new(&options, &files->loop);
        if (r < 0)
                return r;
        files->source.ops = &ops;
        dn__loop_add(files->loop, &files->source);
        return 0;
}

static dn__per_process *make(void *context)
{
        dn__files *files = calloc(1, sizeof(*files));
        making *making = context;

        if (!files)
                return NULL;
        files->look = making->look;
        dn__lock_init(&files->lock);
        dn__list_init(&files->watches);
        dn__list_init(&files->due);
        dn__lock_acquire(&files->lock);
        making->error = dn__file_places_init(&files->places);
        files->fd = files->places.fd;
        dn__lock_release(&files->lock);
        if (making->error == 0)
                making->error = make_loop(files);
        if (making->error == 0)
                return &files->process;
        free_files(files);
        return NULL;
}

static void discard(dn__per_process *made)
{
        (void)dn__loop_close(DN__CONTAINER(made, dn__files, process)->loop);
}

static _Atomic(dn__per_process *) shared;

dn__files *dn__files_get_shared(dn__files_look_fn look, int *ret_error)
{
        making making = { look, -ENOMEM };
        dn__per_process *found = dn__per_process_get(&shared, make, discard, &making);

        *ret_error = making.error;
        return found ? DN__CONTAINER(found, dn__files, process) : NULL;
}

void dn__files_close(void)
{
        dn__per_process *found = dn__per_process_take(&shared);

        if (found)
                discard(found);
}

/* A source: something that happens on this system, and the names that say so. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "name.h"
#include "say.h"

static bool has_value(const source *source)
{
        return source->kind->services[0] && !source->kind->look;
}

source *source_new(agent *agent, const source_kind *kind)
{
        source *source = calloc(1, sizeof(*source) + kind->data_bytes);

        if (!source)
                return NULL;
        source->kind = kind;
        source->agent = agent;
        for (size_t i = 0; i < SOURCE_MAX_NAMES; i++)
                source->tokens[i] = NAME_NOT_HELD;
        while (source->n_services < SOURCE_MAX_SERVICES &&
               kind->services[source->n_services]) {
                service *service = &source->services[source->n_services];

                service_init(service, kind->services[source->n_services++], source);
        }
        return source;
}

int source_start(source *source)
{
        const source_kind *kind = source->kind;
        int r = 0;

        for (size_t i = 0; agent_posts(source->agent) && kind->names[i].text && r >= 0; i++)
                if (kind->names[i].has_state)
                        r = name_hold(kind->names[i].text, &source->tokens[i]);
        if (r < 0) {
                say("cannot hold the names of %s: %s", kind->name, strerror(-r));
                return r;
        }
        source->error = kind->start ? kind->start(source) : 0;
        if (source->error < 0)
                source_complain(source, PROBLEM_SYSTEM, "%s: %s", kind->origin,
                                strerror(-source->error));
        return 0;
}

static void start_again(source *source)
{
        if (source->kind->stop)
                source->kind->stop(source);
        (void)memset(source->data, 0, source->kind->data_bytes);
        source->error = source->kind->start(source);
}

void source_look(source *source)
{
        if (source->error < 0)
                start_again(source);
        else if (source->kind->look)
                source->kind->look(source);
        for (size_t i = 0; has_value(source) && i < source->n_services; i++)
                if (source->services[i].is_there)
                        service_ask(&source->services[i]);
}

/* --- Posting --------------------------------------------------------------------------------- */

static void check(source *source, const source_name *name, int r)
{
        if (r < 0)
                source_complain(source, PROBLEM_POST, "%s: %s", name->text, strerror(-r));
}

int source_watch_start(source_watch *watch, source *source, int fd, uint32_t events,
                       sd_event_io_handler_t on_events)
{
        watch->fd = fd;
        return sd_event_add_io(source->agent->event, &watch->event, fd, events, on_events, source);
}

static int on_change(sd_event_source *event, int fd, uint32_t events, void *context)
{
        source *source = context;

        (void)event, (void)fd, (void)events;
        source->kind->look(source);
        return 0;
}

int source_watch_file(source_watch *watch, source *source, const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        return fd < 0 ? -errno : source_watch_start(watch, source, fd, EPOLLPRI, on_change);
}

void source_watch_end(source_watch *watch)
{
        watch->event = sd_event_source_disable_unref(watch->event);
        if (watch->fd > 0)
                (void)close(watch->fd);
}

void source_post(source *source, unsigned events)
{
        for (const source_name *name = source->kind->names; name->text; name++)
                if (agent_posts(source->agent) && name->events & events)
                        check(source, name, name_post(name->text, name->is_distributed));
}

uint64_t source_get_state(const source *source, const source_name *name)
{
        return name->is_inverse ? !source->value : source->value;
}

/* Returns the bits of the names whose state was another one, and sets it. */
static unsigned set_states(source *source)
{
        const source_name *names = source->kind->names;
        unsigned wrong = 0;

        for (size_t i = 0; names[i].text; i++) {
                uint64_t state = source_get_state(source, &names[i]);
                int r;

                if (!names[i].has_state || name_get_state(source->tokens[i]) == state)
                        continue;
                r = name_set_state(names[i].text, source->tokens[i], state);
                check(source, &names[i], r);
                if (r >= 0)
                        wrong |= 1u << i;
        }
        return wrong;
}

/* What observers know: the state that they can read, at the start that of the agent before. */
static bool is_news(const source *source, uint64_t value)
{
        const source_name *names = source->kind->names;

        if (source->is_known)
                return value != source->value;
        for (size_t i = 0; names[i].text; i++)
                if (names[i].has_state && !names[i].is_inverse)
                        return name_get_state(source->tokens[i]) != value;
        return false;
}

/* If nothing else has changed, a name whose state was wrong is posted: its observers have seen the
 * wrong state. */
static void publish(source *source, unsigned events)
{
        const source_name *names = source->kind->names;
        unsigned wrong;

        if (!agent_posts(source->agent))
                return;
        wrong = set_states(source);
        for (size_t i = 0; names[i].text; i++)
                if (events ? names[i].events & events : wrong & 1u << i)
                        check(source, &names[i],
                              name_post(names[i].text, names[i].is_distributed));
}

void source_set(source *source, uint64_t value)
{
        unsigned events = value ? EVENT_ON : EVENT_OFF;
        bool is_new = agent_posts(source->agent) && is_news(source, value);

        source->is_known = true;
        source->value = value;
        publish(source, is_new ? events : 0);
}

void source_renew(source *source)
{
        if (source->is_known)
                publish(source, 0);
}

/* --- Services -------------------------------------------------------------------------------- */

void source_service_changed(source *source)
{
        uint64_t value = 0;
        bool is_there = false, is_settled = true;

        if (!has_value(source)) {
                source_look(source);
                return;
        }
        for (size_t i = 0; i < source->n_services; i++) {
                const service *service = &source->services[i];

                is_settled &= service->is_settled;
                is_there |= service->is_there;
                if (service->is_there && service->value > value)
                        value = service->value;
        }
        if (!is_settled && !value)
                return;
        if (is_there || (source->is_known && source->kind->is_off_when_missing))
                source_set(source, value);
}

bool source_is_settled(const source *source)
{
        for (size_t i = 0; i < source->n_services; i++)
                if (!source->services[i].is_settled)
                        return false;
        return true;
}

bool source_is_there(const source *source, char ret_missing[SOURCE_TEXT_BYTES])
{
        size_t n = 0;

        ret_missing[0] = '\0';
        if (source->error < 0) {
                (void)snprintf(ret_missing, SOURCE_TEXT_BYTES, "%s", strerror(-source->error));
                return false;
        }
        for (size_t i = 0; i < source->n_services; i++) {
                const service *service = &source->services[i];

                if (service->is_there || service->kind->is_optional)
                        return true;
                n += (size_t)snprintf(ret_missing + n, SOURCE_TEXT_BYTES - n, "%s%s on the %s bus",
                                      n ? ", " : "", service->kind->name,
                                      bus_get_label(service->bus));
                if (n >= SOURCE_TEXT_BYTES)
                        break;
        }
        return source->n_services == 0;
}

/* --- The rest -------------------------------------------------------------------------------- */

void source_complain(source *source, source_problem problem, const char *format, ...)
{
        char text[SOURCE_TEXT_BYTES];
        va_list arguments;

        if (source->complaints & 1u << problem)
                return;
        source->complaints |= 1u << problem;
        va_start(arguments, format);
        (void)vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
        if (agent_posts(source->agent))
                say("%s: %s", source->kind->name, text);
}

source *source_free(source *source)
{
        if (!source)
                return NULL;
        if (source->kind->stop)
                source->kind->stop(source);
        for (size_t i = 0; i < source->n_services; i++)
                service_deinit(&source->services[i]);
        for (size_t i = 0; i < SOURCE_MAX_NAMES; i++)
                name_release(source->tokens[i]);
        free(source);
        return NULL;
}

/* A hand-written D-Bus client. */
#include "test-raw.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"
#include "test-private.h"

#define MAX_FDS 16

/* Message types of the D-Bus specification. */
enum { METHOD_CALL = 1, METHOD_RETURN = 2, ERROR = 3, SIGNAL = 4 };
/* Header field codes. */
enum { PATH = 1, INTERFACE = 2, MEMBER = 3, DESTINATION = 6, SENDER = 7, SIGNATURE = 8, FDS = 9 };

struct test_raw {
        int fd;
        uint32_t serial;
};

typedef struct buffer {
        uint8_t *data;
        size_t n_bytes;
        size_t room;
} buffer;

static void put(buffer *b, const void *bytes, size_t n_bytes)
{
        while (b->n_bytes + n_bytes > b->room) {
                b->room = b->room ? b->room * 2 : 1024;
                b->data = realloc(b->data, b->room);
                if (!b->data)
                        test_broken("out of memory");
        }
        if (n_bytes > 0)
                memcpy(b->data + b->n_bytes, bytes, n_bytes);
        b->n_bytes += n_bytes;
}

static void put_padding(buffer *b, size_t alignment)
{
        while (b->n_bytes % alignment != 0)
                put(b, "", 1);
}

static void put_u32(buffer *b, uint32_t value)
{
        put_padding(b, 4);
        put(b, &value, sizeof value); /* native byte order, as the first byte of the message
                                       * declares */
}

static void put_field(buffer *b, uint8_t code, char type, const char *text)
{
        const uint8_t head[] = {code, 1, (uint8_t)type, 0};
        size_t text_bytes;

        if (!text)
                return;
        text_bytes = strlen(text);
        put_padding(b, 8);
        put(b, head, sizeof head);
        if (type == 'g')
                put(b, &(uint8_t){(uint8_t)text_bytes}, 1);
        else
                put_u32(b, (uint32_t)text_bytes);
        put(b, text, text_bytes + 1);
}

static void put_fields(buffer *b, const test_raw_signal *s)
{
        put_field(b, PATH, 'o', s->path);
        put_field(b, INTERFACE, 's', s->interface);
        put_field(b, MEMBER, 's', s->member);
        put_field(b, DESTINATION, 's', s->destination);
        put_field(b, SENDER, 's', s->sender);
        put_field(b, SIGNATURE, 'g', s->signature);
        if (s->unknown_field)
                put_field(b, s->unknown_field, 's', "unknown");
        if (s->n_fds > 0) {
                put_padding(b, 8);
                put(b, (const uint8_t[]){FDS, 1, 'u', 0}, 4);
                put_u32(b, (uint32_t)s->n_fds);
        }
}

static void put_message(buffer *b, uint8_t type, uint32_t serial, const test_raw_signal *s)
{
        const uint16_t one = 1;
        uint8_t head[] = {*(const uint8_t *)&one ? 'l' : 'B', type, 0, 1};
        uint32_t fields_bytes;

        put(b, head, sizeof head);
        put_u32(b, (uint32_t)s->body_bytes);
        put_u32(b, serial);
        put_u32(b, 0); /* the size of the fields, known below */
        put_fields(b, s);
        fields_bytes = (uint32_t)b->n_bytes - 16;
        memcpy(b->data + 12, &fields_bytes, sizeof fields_bytes);
        put_padding(b, 8);
        put(b, s->body, s->body_bytes);
}

/* The descriptors travel with the first byte. */
static bool send_bytes(int fd, const buffer *b, const int *fds, size_t n_fds)
{
        union {
                struct cmsghdr align;
                char space[CMSG_SPACE(MAX_FDS * sizeof(int))];
        } control;
        size_t done = 0;

        while (done < b->n_bytes) {
                struct iovec rest = {.iov_base = b->data + done, .iov_len = b->n_bytes - done};
                struct msghdr m = {.msg_iov = &rest, .msg_iovlen = 1};
                if (done == 0 && n_fds > 0) {
                        m.msg_control = control.space;
                        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
                        c->cmsg_level = SOL_SOCKET;
                        c->cmsg_type = SCM_RIGHTS;
                        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
                        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
                }
                ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);
                if (n <= 0)
                        return false;
                done += (size_t)n;
        }
        return true;
}

static bool read_bytes(int fd, void *ret, size_t n_bytes)
{
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        for (size_t done = 0; done < n_bytes;) {
                if (poll(&wait, 1, TEST_DEADLINE_US / 1000) != 1)
                        test_fail(__FILE__, __LINE__, "the bus does not answer");
                ssize_t n = read(fd, (char *)ret + done, n_bytes - done);
                if (n <= 0)
                        return false;
                done += (size_t)n;
        }
        return true;
}

/* Sends one line of the authentication; reads its answer without checking it. */
static void say(int fd, const char *line)
{
        char c = 0;

        if (write(fd, line, strlen(line)) < 0)
                test_broken("authentication: %s", strerror(errno));
        while (c != '\n')
                if (!read_bytes(fd, &c, 1))
                        test_broken("the bus refuses the authentication");
}

static void authenticate(int fd)
{
        char uid[16], line[64];
        size_t n = 0;

        snprintf(uid, sizeof uid, "%u", (unsigned)getuid());
        n += (size_t)snprintf(line, sizeof line, "AUTH EXTERNAL ");
        for (const char *digit = uid; *digit; digit++)
                n += (size_t)snprintf(line + n, sizeof line - n, "%02x", (unsigned char)*digit);
        snprintf(line + n, sizeof line - n, "\r\n");
        if (write(fd, "", 1) != 1)
                test_broken("authentication: %s", strerror(errno));
        say(fd, line);
        say(fd, "NEGOTIATE_UNIX_FD\r\n");
        if (write(fd, "BEGIN\r\n", 7) != 7)
                test_broken("authentication: %s", strerror(errno));
}

/* Reads one message and returns its type, or 0 if the bus has disconnected. */
static uint8_t read_message(int fd, uint32_t *ret_reply_to)
{
        uint8_t head[16], *rest;
        uint32_t body_bytes, fields_bytes;

        if (!read_bytes(fd, head, sizeof head))
                return 0;
        memcpy(&body_bytes, head + 4, 4);
        memcpy(&fields_bytes, head + 12, 4);
        size_t rest_bytes = (((size_t)fields_bytes + 7) & ~(size_t)7) + body_bytes;
        rest = malloc(rest_bytes + 1);
        if (!rest || !read_bytes(fd, rest, rest_bytes)) {
                free(rest);
                return 0;
        }
        *ret_reply_to = 0;
        for (size_t at = 0; at + 8 <= fields_bytes; at += 4) /* REPLY_SERIAL is {5, 'u'} */
                if (memcmp(rest + at, "\5\1u", 4) == 0)
                        memcpy(ret_reply_to, rest + at + 4, 4);
        free(rest);
        return head[1];
}

static bool call_driver(test_raw *raw, const char *member)
{
        test_raw_signal call = {.path = "/org/freedesktop/DBus",
                                .interface = "org.freedesktop.DBus",
                                .member = member,
                                .destination = "org.freedesktop.DBus"};
        buffer b = {0};
        uint32_t serial = ++raw->serial, reply_to = 0;
        uint8_t type = 1;

        put_message(&b, METHOD_CALL, serial, &call);
        bool sent = send_bytes(raw->fd, &b, NULL, 0);
        free(b.data);
        while (sent && type != 0 && reply_to != serial)
                type = read_message(raw->fd, &reply_to);
        return sent && type == METHOD_RETURN;
}

test_raw *test_raw_open(const char *address)
{
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        test_raw *raw = calloc(1, sizeof *raw);
        const char *path = strchr(address, '=') + 1;

        snprintf(to.sun_path, sizeof to.sun_path, "%.*s", (int)strcspn(path, ","), path);
        test_leave_to_exit(raw);
        raw->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(raw->fd, (struct sockaddr *)&to, sizeof to) < 0)
                test_broken("connect to %s: %s", to.sun_path, strerror(errno));
        authenticate(raw->fd);
        if (!call_driver(raw, "Hello"))
                test_broken("the bus refuses Hello");
        return raw;
}

test_raw *test_raw_close(test_raw *raw)
{
        if (!raw)
                return NULL;
        close(raw->fd);
        free(raw);
        return NULL;
}

bool test_raw_send(test_raw *raw, const test_raw_signal *signal)
{
        buffer b = {0};

        if (signal->n_fds > MAX_FDS)
                test_broken("more than %d descriptors", MAX_FDS);
        put_message(&b, SIGNAL, ++raw->serial, signal);
        bool sent = send_bytes(raw->fd, &b, signal->fds, signal->n_fds);
        free(b.data);
        return sent;
}

bool test_raw_sync(test_raw *raw)
{
        return call_driver(raw, "GetId");
}

size_t test_raw_string(const char *text, uint8_t *ret_body)
{
        uint32_t n = (uint32_t)strlen(text);

        memcpy(ret_body, &n, sizeof n);
        memcpy(ret_body + sizeof n, text, n + 1);
        return sizeof n + n + 1;
}

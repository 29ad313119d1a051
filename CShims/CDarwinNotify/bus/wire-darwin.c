/* The signals of the Darwin center (docs/wire.md).
 *
 * Only the name and the numbers vary, so the message is written directly, where sd-bus would build
 * and check it piece by piece (docs/decisions/0005). */
#include <endian.h>
#include <string.h>

#include "bus/wire.h"

/* Numbered as in the D-Bus specification. */
enum { SIGNAL = 4, NO_REPLY_EXPECTED = 1, PROTOCOL = 1 };
enum { PATH = 1, INTERFACE = 2, MEMBER = 3, SIGNATURE = 8 };

typedef struct header {
        char byte_order;
        uint8_t type;
        uint8_t flags;
        uint8_t version;
        uint32_t n_body_bytes;
        uint32_t serial;
        uint32_t n_field_bytes;
} header;

static size_t align_to_8(size_t at)
{
        return (at + 7) & ~(size_t)7;
}

/* A message being written, zeroed from its start to the end of the buffer. */
typedef struct writer {
        char *bytes;
        size_t at;
} writer;

static void write_text(writer *writer, const char *text, size_t n_text_bytes)
{
        uint32_t n = (uint32_t)n_text_bytes;

        memcpy(writer->bytes + writer->at, &n, sizeof(n));
        memcpy(writer->bytes + writer->at + sizeof(n), text, n);
        writer->at += sizeof(n) + n + 1;
}

/* A field is a code byte followed by a variant, whose signature is one letter. */
static void write_field(writer *writer, char code, char type, const char *text, size_t n_text_bytes)
{
        writer->at = align_to_8(writer->at);
        memcpy(writer->bytes + writer->at, (const char[]){ code, 1, type }, 3);
        writer->at += 4;
        write_text(writer, text, n_text_bytes);
}

static size_t write_darwin(const dn__post *post, const char *path, uint32_t serial,
                           char ret_bytes[DN__WIRE_POST_BYTES])
{
        static const char signature[] = { SIGNATURE, 1, 'g', 0, 3, 's', 't', 't', 0 };
        const dn__wire *wire = &dn__wire_darwin;
        const uint64_t numbers[] = { post->generation, post->region_id };
        char interface[DN__WIRE_INTERFACE_BYTES];
        size_t n_interface_bytes = dn__wire_write_interface(wire, &post->name, interface), body;
        writer writer = { ret_bytes, sizeof(header) };
        header header = {
                .byte_order = __BYTE_ORDER == __LITTLE_ENDIAN ? 'l' : 'B',
                .type = SIGNAL,
                .flags = NO_REPLY_EXPECTED,
                .version = PROTOCOL,
                .serial = serial,
        };

        memset(ret_bytes, 0, DN__WIRE_POST_BYTES);
        write_field(&writer, PATH, 'o', path, strlen(path));
        write_field(&writer, INTERFACE, 's', interface, n_interface_bytes);
        write_field(&writer, MEMBER, 's', DN__WIRE_MEMBER, sizeof(DN__WIRE_MEMBER) - 1);
        writer.at = align_to_8(writer.at);
        memcpy(ret_bytes + writer.at, signature, sizeof(signature));
        writer.at += sizeof(signature);
        header.n_field_bytes = (uint32_t)(writer.at - sizeof(header));
        body = writer.at = align_to_8(writer.at);
        write_text(&writer, post->name.text, post->name.n_bytes);
        writer.at = align_to_8(writer.at);
        memcpy(ret_bytes + writer.at, numbers, sizeof(numbers));
        writer.at += sizeof(numbers);
        header.n_body_bytes = (uint32_t)(writer.at - body);
        memcpy(ret_bytes, &header, sizeof(header));
        return writer.at;
}

static size_t path_field_bytes(size_t n_path_bytes)
{
        return align_to_8(8 + n_path_bytes + 1);
}

/* The path is the first field. No path is shorter than the plain one. */
static size_t make_plain(char *bytes, size_t n_bytes)
{
        const char *path = dn__wire_darwin.path;
        size_t n_new = path_field_bytes(strlen(path)), n_old, n_rest, to = 0;
        uint32_t n_path_bytes;
        header header;

        for (size_t from = 0; from < n_bytes; from += sizeof(header) + n_old + n_rest) {
                writer writer = { bytes, to + sizeof(header) };

                memcpy(&header, bytes + from, sizeof(header));
                memcpy(&n_path_bytes, bytes + from + sizeof(header) + 4, sizeof(n_path_bytes));
                n_old = path_field_bytes(n_path_bytes);
                n_rest = align_to_8(header.n_field_bytes) + header.n_body_bytes - n_old;
                header.n_field_bytes -= (uint32_t)(n_old - n_new);
                memcpy(bytes + to, &header, sizeof(header));
                memset(bytes + writer.at, 0, n_new);
                write_field(&writer, PATH, 'o', path, strlen(path));
                to += sizeof(header) + n_new;
                memmove(bytes + to, bytes + from + sizeof(header) + n_old, n_rest);
                to += n_rest;
        }
        return to;
}

static int append_darwin(sd_bus_message *message, const dn__post *post)
{
        return sd_bus_message_append(message, "stt", post->name.text, post->generation,
                                     post->region_id);
}

static bool read_darwin(sd_bus_message *message, const char *signature, dn__post *post)
{
        if (strncmp(signature, "stt", 3) != 0)
                return true;
        return sd_bus_message_read_basic(message, 't', &post->generation) > 0 &&
               sd_bus_message_read_basic(message, 't', &post->region_id) > 0;
}

const dn__wire dn__wire_darwin = {
        .center = "darwin",
        .path = "/org/darwinnotify/Darwin1",
        .has_natives = true,
        .interface_prefix = "org.darwinnotify.Darwin1.",
        .write = write_darwin,
        .make_plain = make_plain,
        .append = append_darwin,
        .read = read_darwin,
};

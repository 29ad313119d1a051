/* The signal of a post as the bytes that go over the socket (docs/wire.md).
 *
 * Its form never changes but for the name and the numbers, so it is written down in one go, where
 * sd-bus builds a message piece by piece and checks each (docs/decisions/0005). */
#include "bus/marshal.h"

#include <endian.h>
#include <string.h>

/* As the D-Bus specification numbers them. */
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

/* Each of these writes at an offset and returns the one behind; what is skipped is zero. */

static size_t put_u64(char *bytes, size_t at, uint64_t number)
{
        at = align_to_8(at);
        memcpy(bytes + at, &number, sizeof(number));
        return at + sizeof(number);
}

static size_t put_text(char *bytes, size_t at, const char *text, size_t n_text_bytes)
{
        uint32_t n = (uint32_t)n_text_bytes;

        memcpy(bytes + at, &n, sizeof(n));
        memcpy(bytes + at + sizeof(n), text, n);
        return at + sizeof(n) + n + 1;
}

/* A byte that says which field it is, a variant of a string or an object path. */
static size_t put_field(char *bytes, size_t at, char code, char type, const char *text,
                        size_t n_text_bytes)
{
        at = align_to_8(at);
        memcpy(bytes + at, (const char[]){ code, 1, type }, 3);
        return put_text(bytes, at + 4, text, n_text_bytes);
}

static size_t put_signature(char *bytes, size_t at)
{
        static const char field[] = { SIGNATURE, 1, 'g', 0, 3, 's', 't', 't', 0 };

        at = align_to_8(at);
        memcpy(bytes + at, field, sizeof(field));
        return at + sizeof(field);
}

size_t dn__marshal_post(const char *name, size_t n_name_bytes, uint64_t generation,
                        uint64_t region, uint32_t serial, char ret_bytes[DN__MARSHAL_BYTES])
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        size_t n_interface_bytes = dn__name_to_interface(name, n_name_bytes, interface);
        size_t end, body;
        header header = {
                .byte_order = __BYTE_ORDER == __LITTLE_ENDIAN ? 'l' : 'B',
                .type = SIGNAL,
                .flags = NO_REPLY_EXPECTED,
                .version = PROTOCOL,
                .serial = serial,
        };

        memset(ret_bytes, 0, DN__MARSHAL_BYTES);
        end = put_field(ret_bytes, sizeof(header), PATH, 'o', DN__WIRE_PATH,
                        sizeof(DN__WIRE_PATH) - 1);
        end = put_field(ret_bytes, end, INTERFACE, 's', interface, n_interface_bytes);
        end = put_field(ret_bytes, end, MEMBER, 's', DN__WIRE_MEMBER, sizeof(DN__WIRE_MEMBER) - 1);
        end = put_signature(ret_bytes, end);
        header.n_field_bytes = (uint32_t)(end - sizeof(header));
        body = align_to_8(end);
        end = put_text(ret_bytes, body, name, n_name_bytes);
        end = put_u64(ret_bytes, end, generation);
        end = put_u64(ret_bytes, end, region);
        header.n_body_bytes = (uint32_t)(end - body);
        memcpy(ret_bytes, &header, sizeof(header));
        return end;
}

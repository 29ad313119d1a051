/* Text: UTF-8. */
#include "util/text.h"

#include <stdint.h>

static bool is_character(uint32_t code, size_t n_bytes)
{
        static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

        return code >= smallest[n_bytes] && code <= 0x10ffff &&
               !(code >= 0xd800 && code <= 0xdfff) && !(code >= 0xfdd0 && code <= 0xfdef) &&
               (code & 0xfffe) != 0xfffe;
}

/* Returns the length of the character at `p`, or 0 if it is invalid. */
static size_t character_bytes(const unsigned char *p, size_t n_available)
{
        size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 0;
        uint32_t code;

        if (n <= 1)
                return n;
        if (*p >= 0xf8 || n > n_available)
                return 0;
        code = *p & (0xffu >> (n + 1));
        for (size_t i = 1; i < n; i++) {
                if ((p[i] & 0xc0) != 0x80)
                        return 0;
                code = code << 6 | (p[i] & 0x3fu);
        }
        return is_character(code, n) ? n : 0;
}

bool dn__utf8_rest_is_valid(const char *bytes, size_t n_bytes)
{
        const unsigned char *p = (const unsigned char *)bytes;
        size_t n;

        for (; n_bytes; p += n, n_bytes -= n) {
                n = character_bytes(p, n_bytes);
                if (!n)
                        return false;
        }
        return true;
}

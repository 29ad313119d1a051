/* Property lists as JSON text. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "post/dict.h"
#include "util/clock.h"
#include "util/stream.h"

static void write_container(FILE *out, const dn__container *container, bool is_dict);

static void write_string(FILE *out, const char *text)
{
        (void)fputc('"', out);
        for (const char *c = text; *c; c++) {
                if (*c == '"' || *c == '\\')
                        (void)fprintf(out, "\\%c", *c);
                else if ((unsigned char)*c < ' ')
                        (void)fprintf(out, "\\u%04x", (unsigned)*c);
                else
                        (void)fputc(*c, out);
        }
        (void)fputc('"', out);
}

/* Writes the fewest digits that read back as the same number, and always marks it as
 * non-integral. */
static void write_double(FILE *out, double number)
{
        char text[40];

        if (isnan(number) || isinf(number)) {
                (void)fputs(isnan(number) ? "\"NaN\""
                            : number < 0  ? "\"-Infinity\""
                                          : "\"Infinity\"",
                            out);
                return;
        }
        for (int n_digits = 15; n_digits <= 17; n_digits++) {
                (void)snprintf(text, sizeof(text), "%.*g", n_digits, number);
                if (strtod(text, NULL) == number)
                        break;
        }
        (void)fputs(text, out);
        if (!strpbrk(text, ".e"))
                (void)fputs(".0", out);
}

static void write_date(FILE *out, int64_t date_us)
{
        int64_t second_us = (int64_t)DN__US_PER_SECOND, us = date_us % second_us;
        time_t seconds = date_us / second_us - (us < 0);
        struct tm date = { 0 };

        (void)gmtime_r(&seconds, &date);
        (void)fprintf(out, "\"%04d-%02d-%02dT%02d:%02d:%02d.%06" PRId64 "Z\"", date.tm_year + 1900,
                      date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec,
                      us < 0 ? us + second_us : us);
}

static void write_base64(FILE *out, const unsigned char *bytes, size_t n_bytes)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        (void)fputc('"', out);
        for (size_t i = 0; i < n_bytes; i += 3) {
                size_t n = n_bytes - i < 3 ? n_bytes - i : 3;
                uint32_t group = (uint32_t)bytes[i] << 16;

                group |= n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
                group |= n > 2 ? (uint32_t)bytes[i + 2] : 0;
                for (size_t digit = 0; digit < 4; digit++)
                        (void)fputc(digit <= n ? digits[group >> (18 - 6 * digit) & 63] : '=', out);
        }
        (void)fputc('"', out);
}

static void write_value(FILE *out, const dn_value *value)
{
        switch (value->type) {
        case DN_TYPE_STRING: write_string(out, value->as.string); break;
        case DN_TYPE_BOOL: (void)fputs(value->as.boolean ? "true" : "false", out); break;
        case DN_TYPE_INT64: (void)fprintf(out, "%" PRId64, value->as.int64); break;
        case DN_TYPE_UINT64: (void)fprintf(out, "%" PRIu64, value->as.uint64); break;
        case DN_TYPE_DOUBLE: write_double(out, value->as.real); break;
        case DN_TYPE_DATA: write_base64(out, value->as.data, value->n_bytes); break;
        case DN_TYPE_DATE: write_date(out, value->as.date_us); break;
        default: write_container(out, dn__value_get_container(value), value->type == DN_TYPE_DICT);
        }
}

/* Recurses at most DN_DICT_MAX_DEPTH levels. */
static void write_container(FILE *out, const dn__container *container, bool is_dict)
{
        (void)fputc(is_dict ? '{' : '[', out);
        for (size_t i = 0; i < container->n_items; i++) {
                if (i > 0)
                        (void)fputs(", ", out);
                if (is_dict) {
                        write_string(out, container->items[i]->key);
                        (void)fputs(": ", out);
                }
                write_value(out, &container->items[i]->value);
        }
        (void)fputc(is_dict ? '}' : ']', out);
}

char *dn_dict_copy_json(const dn_dict *dict)
{
        locale_t before, c_locale;
        dn__stream text;
        FILE *out = dict ? dn__stream_open(&text) : NULL;

        if (!out)
                return NULL;
        /* JSON requires a decimal point, whatever the host's locale uses. */
        c_locale = newlocale(LC_ALL_MASK, "C", NULL);
        before = uselocale(c_locale);
        write_container(out, &dict->container, true);
        (void)uselocale(before);
        freelocale(c_locale);
        return dn__stream_close(out, &text);
}

/* A stream into memory. */
#include "util/stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Returns 0 if out of memory. Not every C library takes that for an error. */
static ssize_t append(void *context, const char *bytes, size_t n_bytes)
{
        dn__stream *text = context;
        size_t n_needed = text->n_bytes + n_bytes + 1;

        if (n_needed > text->n_allocated) {
                char *grown = realloc(text->bytes, 2 * n_needed);

                text->is_lost |= !grown;
                if (!grown)
                        return 0;
                text->bytes = grown;
                text->n_allocated = 2 * n_needed;
        }
        memcpy(text->bytes + text->n_bytes, bytes, n_bytes);
        text->n_bytes += n_bytes;
        text->bytes[text->n_bytes] = '\0';
        return (ssize_t)n_bytes;
}

FILE *dn__stream_open(dn__stream *text)
{
        *text = (dn__stream){ 0 };
        return fopencookie(text, "w", (cookie_io_functions_t){ .write = append });
}

char *dn__stream_close(FILE *stream, dn__stream *text)
{
        bool is_whole = !ferror(stream);

        if (fclose(stream) == 0 && is_whole && !text->is_lost)
                return text->bytes;
        free(text->bytes);
        return NULL;
}

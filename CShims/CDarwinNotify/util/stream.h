/* A stream into memory that remembers whether it lacked some: that of the C library forgets it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The text so far. */
typedef struct dn__stream {
        char *bytes;
        size_t n_bytes;
        size_t n_allocated;
        bool is_lost; /* a part of it */
} dn__stream;

/* Returns NULL if out of memory. The text must live until dn__stream_close(). */
FILE *dn__stream_open(dn__stream *text);

/* Closes the stream. Returns the text, which the caller frees, or NULL if a part of it is lost. */
char *dn__stream_close(FILE *stream, dn__stream *text);

/* The pipes that tokens are written to. */
#pragma once

#include <stdbool.h>

typedef struct dn__pipe dn__pipe;

/* Creates a pipe for one token. Returns 0 or a negative errno. */
int dn__pipe_new(dn__pipe **ret_pipe);

/* Finds the pipe with a read end and adds a token to it; NULL if it is not ours. */
dn__pipe *dn__pipe_find(int read_fd);

/* Returns the read end, open as long as there are tokens. */
int dn__pipe_get_fd(const dn__pipe *pipe);

/* Writes a token. Returns false if the pipe is full or has no reader. */
bool dn__pipe_write(dn__pipe *pipe, int token);

/* Removes a token; the last one closes the read end immediately. */
void dn__pipe_leave(dn__pipe *pipe);

/* Call once for each token, after dn__pipe_leave(), when it no longer writes. */
void dn__pipe_unref(dn__pipe *pipe);

/* Frees the list of pipes, which is empty. */
void dn__pipe_free_list(void);

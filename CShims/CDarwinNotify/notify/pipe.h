/* The pipes that tokens are written into. */
#pragma once

#include <stdbool.h>

typedef struct dn__pipe dn__pipe;

/* Makes a pipe for one token. Returns 0 or a negative errno. */
int dn__pipe_new(dn__pipe **ret_pipe);

/* Finds the pipe with a read end, for one token more; or NULL: it is not one of ours. */
dn__pipe *dn__pipe_find(int read_fd);

/* The read end: open as long as there are tokens. */
int dn__pipe_get_fd(const dn__pipe *pipe);

/* Writes a token. Returns false if there is no room, or no reader. */
bool dn__pipe_write(dn__pipe *pipe, int token);

/* One token less; the last one closes the read end at once. */
void dn__pipe_leave(dn__pipe *pipe);

/* To be called once for each token, after dn__pipe_leave(), when it writes no more. */
void dn__pipe_unref(dn__pipe *pipe);

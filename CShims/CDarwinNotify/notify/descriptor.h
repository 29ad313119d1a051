/* Delivery into a pipe. */
#pragma once

/* Frees the list of pipes, which is empty. */
void dn__pipes_free(void);

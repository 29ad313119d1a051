/* The executor that runs callbacks on a private thread of the library. */
#pragma once

/* Ends the thread, once it has run its work. It starts again when needed. */
void dn__delivery_thread_close(void);

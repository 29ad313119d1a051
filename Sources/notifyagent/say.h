/* Lines for the journal. */
#pragma once

/* Writes one line to standard error, after the name of the program. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

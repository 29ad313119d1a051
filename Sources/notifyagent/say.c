/* Lines for the journal. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
        char line[1024];
        va_list arguments;

        va_start(arguments, format);
        (void)vsnprintf(line, sizeof(line), format, arguments);
        va_end(arguments);
        /* One write, so that lines of several processes do not mix. */
        (void)fprintf(stderr, "notifyagent: %s\n", line);
}

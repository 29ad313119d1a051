/* Internal functions of the support library. */
#pragma once

/* Removes test_directory() now, if this process made it. */
void test_directory_forget(void);
/* A new private directory for a bus, short enough for a socket address. */
void test_directory_new(char *ret_path, unsigned long path_bytes);

/* The end of the process is enough for what a case uses until then: not a leak. */
void __lsan_ignore_object(const void *memory) __attribute__((weak)); /* of the sanitizer, if any */
static inline void test_leave_to_exit(const void *memory)
{
        if (__lsan_ignore_object)
                __lsan_ignore_object(memory);
}

/* Internal functions of the support library. */
#ifndef DN_TEST_PRIVATE_H
#define DN_TEST_PRIVATE_H

/* Removes test_directory() now, if this process made it. */
void test_directory_forget(void);
/* A new private directory for a bus, short enough for a socket address. */
void test_directory_new(char *ret_path, unsigned long path_bytes);

#endif

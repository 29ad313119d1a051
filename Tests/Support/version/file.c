/* The files of tables as a library with another version of the table has them. */
#include "table/layout.h"

#undef DN__SHM_VERSION
#define DN__SHM_VERSION 1

#include "table/file.c"

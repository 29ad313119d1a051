/* Keeps what a process has counted for gcov when it ends without its exit handlers. Linked into
 * the tests by Scripts/coverage with --wrap. */
#include <gcov.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void __real__exit(int status);
_Noreturn void __real_abort(void);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap_abort(void);

_Noreturn void __wrap__exit(int status)
{
        __gcov_dump();
        __real__exit(status);
}

_Noreturn void __wrap_abort(void)
{
        __gcov_dump();
        __real_abort();
}

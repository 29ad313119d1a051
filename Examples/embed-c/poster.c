/* Posts the names in its arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <darwinnotify/darwinnotify.h>

int main(int argc, char **argv)
{
        int status = EXIT_SUCCESS;

        for (int i = 1; i < argc; i++) {
                int r = dn_center_post(dn_center_darwin(), argv[i], NULL, NULL, 0);
                if (r == 0) {
                        printf("posted %s\n", argv[i]);
                        continue;
                }
                /* Without a bus the post waits for one, but this process does not. */
                fprintf(stderr, "%s: %s\n", argv[i], r < 0 ? strerror(-r) : "no bus");
                status = EXIT_FAILURE;
        }
        dn_shutdown(); /* sends waiting posts, as exit() does, and frees all memory */
        return status;
}

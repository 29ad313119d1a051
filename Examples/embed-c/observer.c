/* Observes a name with a callback in the style of CFNotificationCenter.
 *
 *     observer NAME [COUNT]     ends after COUNT notifications, or on SIGINT or SIGTERM
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <darwinnotify/darwinnotify.h>

static int n_left; /* notifications to wait for, 0: no end */

/* Runs on the delivery thread of the library. */
static void changed(dn_center *center, void *observer, const char *name, const void *object,
                    const dn_dict *user_info)
{
        (void)center, (void)observer, (void)object, (void)user_info;
        printf("received %s\n", name);
        fflush(stdout);
        if (n_left > 0 && --n_left == 0)
                kill(getpid(), SIGTERM); /* main() waits for it */
}

int main(int argc, char **argv)
{
        const char *name = argc > 1 ? argv[1] : "com.example.changed";
        dn_center *center = dn_center_darwin();
        sigset_t stop;
        int signal_number, r;

        n_left = argc > 2 ? atoi(argv[2]) : 0;
        sigemptyset(&stop);
        sigaddset(&stop, SIGINT);
        sigaddset(&stop, SIGTERM);
        sigprocmask(SIG_BLOCK, &stop, NULL);

        r = dn_center_add_observer(center, &n_left, changed, name, NULL, 0);
        if (r == DN_NOT_CONNECTED) {
                fprintf(stderr, "neither a bus nor a table yet: registered, and looking for one\n");
        } else if (r < 0) {
                fprintf(stderr, "%s: %s\n", name, strerror(-r));
                return EXIT_FAILURE;
        }
        puts("ready");
        fflush(stdout);

        sigwait(&stop, &signal_number);
        dn_center_remove_every_observer(center, &n_left);
        dn_shutdown(); /* for leak checkers: frees everything of the library */
        return EXIT_SUCCESS;
}

/* A locked list, one per process. */
#include "util/process-list.h"

#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

TEST_NO_BUS(aForkedChildHasAListOfItsOwn)
{
        static _Atomic(dn__per_process *) place;
        dn__link link = { 0 };
        dn__process_list *list;
        int status;
        pid_t pid;

        CHECK_EQ(dn__fork_init(), 0);
        list = dn__process_list_get(&place);
        CHECK(list);
        CHECK(dn__process_list_get(&place) == list);
        dn__lock_acquire(&list->lock);
        dn__list_append(&list->head, &link);
        dn__lock_release(&list->lock);

        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                dn__process_list *own = dn__process_list_get(&place);

                _exit(own && own != list && dn__list_is_empty(&own->head) ? 0 : 1);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        CHECK(!dn__list_is_empty(&list->head));
        dn__list_remove(&link);
}

TEST_MAIN()

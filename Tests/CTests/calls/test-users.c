/* Requests between the users of one bus: the service decides whom it answers, the policy of a
 * system bus who may have a name. */
#include <sys/socket.h>
#include <sys/un.h>

#include "asked.h"
#include "liar.h"
#include "requests.h"
#include "shared-bus.h"
#include "test-spawn.h"

#define TEXT(number) TEXT_(number)
#define TEXT_(number) #number

/* A process that gets the next query about a user instead of the bus. */
static const char *_Atomic liar;

static void on_call(const char *member, const char **destination, const char **argument)
{
        if (!liar || strcmp(member, "GetConnectionUnixUser") != 0)
                return;
        *destination = liar;
        liar = NULL;
}

/* Arguments: its user, a service. For each line that it reads it asks for an echo and prints the
 * error and its sentence. */
ROLE(askAs)
{
        char line[64];
        outcome seen;

        shared_bus_become(args[0]);
        while (fgets(line, sizeof line, stdin)) {
                CHECK_EQ(ask_begin(args[1], KIND("Echo"), "text", FOREVER, &seen, NULL), 0);
                (void)outcome_wait(&seen);
                printf("%d %s\n", seen.error, seen.message);
                dn_dict_unref(seen.reply);
        }
        return n_args != 2;
}

static bool allow_everyone(const dn_request_info *info, void *context)
{
        return true;
}

/* Arguments: its user, the name that it wants. Prints what opening the service returned; then, for
 * each line that it reads, the user of the last caller. */
ROLE(serveAs)
{
        static served seen;
        dn_service_handler handler = served_handler(&seen);
        dn_service_plan plan = {.name = args[1], .kinds = all_kinds};
        dn_service *service = NULL;
        char line[64];

        shared_bus_become(args[0]);
        handler.allow = allow_everyone;
        await_bus(dn_center_darwin());
        printf("%d\n", dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &service));
        while (fgets(line, sizeof line, stdin))
                printf("%u\n", seen.user);
        dn_service_close(service);
        return n_args != 2;
}

/* --- What the service decides --------------------------------------------------------------- */

TEST_ON_BUS(anotherUsersRequestIsRefused)
{
        served handled = {0};
        dn_service *service;

        shared_bus_start();
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        test_child *stranger = test_spawn_role("askAs", TEXT(STRANGER), SERVICE, NULL);
        test_child *root = test_spawn_role("askAs", "0", SERVICE, NULL);
        CHECK_STREQ(test_child_ask(stranger, ""),
                    "-13 The service answers only processes of its own user.");
        CHECK_EQ(handled.n_begun, 0);
        CHECK_STREQ(test_child_ask(root, ""), "0 ");
        CHECK_EQ(handled.user, 0);
        CHECK_EQ(handled.process, test_child_pid(root));
        CHECK(!handled.was_own);
        CHECK_EQ(test_child_wait(stranger), 0);
        CHECK_EQ(test_child_wait(root), 0);
        dn_service_close(service);
        shared_bus_stop();
}

TEST_ON_BUS(whatAnotherProcessSaysAboutACallerIsNotBelieved)
{
        served handled = {0};
        dn_service *service;

        shared_bus_start();
        CHECK_EQ(serve(SERVICE, 0, &handled, &service), 0);
        test_child *child = test_spawn_role("lie", shared_address, "0", NULL);
        liar = FORMAT("%s", test_child_read_line(child)); /* outlives the child */
        test_child *stranger = test_spawn_role("askAs", TEXT(STRANGER), SERVICE, NULL);
        CHECK_STREQ(test_child_ask(stranger, ""),
                    "-13 The service answers only processes of its own user.");
        CHECK(!liar);
        CHECK_EQ(handled.n_begun, 0);
        CHECK_EQ(test_child_wait(stranger), 0);
        test_child_kill(child);
        dn_service_close(service);
        shared_bus_stop();
}

static bool allow_owner(const dn_request_info *info, void *context)
{
        CHECK_EQ(info->caller->name[0], ':');
        atomic_store((_Atomic int *)context, info->caller->process);
        return info->caller->user == OWNER;
}

/* Both for `allow`. */
typedef struct gate {
        _Atomic int process; /* first, for allow_owner() */
        served handled;
} gate;

static void gate_invoke(dn_request *request, const dn_request_info *info, void *context)
{
        served_invoke(request, info, &((gate *)context)->handled);
}

TEST_ON_BUS(serviceAdmitsTheUsersThatItWants)
{
        gate gate = {0};
        dn_service_handler handler = {.allow = allow_owner, .invoke = gate_invoke,
                                      .context = &gate};
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        dn_service *service;

        shared_bus_start();
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &service), 0);
        test_child *stranger = test_spawn_role("askAs", TEXT(STRANGER), SERVICE, NULL);
        test_child *owner = test_spawn_role("askAs", TEXT(OWNER), SERVICE, NULL);
        CHECK_STREQ(test_child_ask(stranger, ""),
                    "-13 The service does not accept this request from its caller.");
        CHECK_EQ(gate.process, test_child_pid(stranger));
        CHECK_EQ(gate.handled.n_begun, 0);
        CHECK_STREQ(test_child_ask(owner, ""), "0 ");
        CHECK_EQ(gate.process, test_child_pid(owner));
        CHECK_EQ(gate.handled.user, OWNER);
        CHECK_EQ(test_child_wait(stranger), 0);
        CHECK_EQ(test_child_wait(owner), 0);
        dn_service_close(service);
        shared_bus_stop();
}

/* --- What the policy of a system bus decides ------------------------------------------------ */

#define PLAYER "org.example.Player"

/* The rules of the system bus: nobody owns a name, or calls what has not been allowed. */
static const char configuration[] =
        SHARED_DOCTYPE
        "<busconfig><type>system</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>\n"
        "<policy context=\"default\"><allow user=\"*\"/><deny own=\"*\"/>\n"
        "<deny send_type=\"method_call\"/><allow send_type=\"signal\"/>\n"
        "<allow send_requested_reply=\"true\" send_type=\"method_return\"/>\n"
        "<allow send_requested_reply=\"true\" send_type=\"error\"/>\n"
        "<allow receive_type=\"method_call\"/><allow receive_type=\"method_return\"/>\n"
        "<allow receive_type=\"error\"/><allow receive_type=\"signal\"/>\n"
        "<allow send_destination=\"org.freedesktop.DBus\"\n"
        " send_interface=\"org.freedesktop.DBus\"/></policy>\n"
        "<includedir>%s</includedir></busconfig>\n";

/* Copies the example's policy, for a user that exists everywhere. */
static void install_policy(const char *directory)
{
        static const char user[] = "user=\"player\"";
        char text[4096], path[300], *found;
        FILE *file = fopen(TEST_EXAMPLES "/remote-player/org.example.Player.conf", "re");

        CHECK(file != NULL);
        size_t n = fread(text, 1, sizeof text - 1, file);
        CHECK_EQ(fclose(file), 0);
        text[n] = '\0';
        found = strstr(text, user);
        CHECK(found != NULL);
        snprintf(path, sizeof path, "%s/org.example.Player.conf", directory);
        file = fopen(path, "we");
        CHECK(file != NULL);
        fprintf(file, "%.*suser=\"%d\"%s", (int)(found - text), text, OWNER,
                found + sizeof user - 1);
        CHECK_EQ(fclose(file), 0);
}

static int listen_at(const char *path, int type)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

        CHECK((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", path) <
              sizeof address.sun_path);
        CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        if (type == SOCK_STREAM)
                CHECK_EQ(listen(fd, 64), 0);
        return fd;
}

/* dbus-broker's launcher reads the configuration. It wants a journal and a socket of systemd. */
static void start_launcher(const char *file)
{
        static const char command[] =
                "LISTEN_PID=$$ LISTEN_FDS=1 exec dbus-broker-launch --scope system --config-file ";
        char line[400];

        (void)listen_at("/run/systemd/journal/socket", SOCK_DGRAM);
        int fd = listen_at(shared_path, SOCK_STREAM);
        shared_bus_use(); /* as the launcher does */
        snprintf(line, sizeof line, "%s%s", command, file);
        const char *argv[] = {"sh", "-c", line, NULL};
        test_spawn_plan plan = {.argv = argv, .fds = {-1, STDERR_FILENO, STDERR_FILENO, fd},
                                .n_fds = 4};
        (void)test_spawn(&plan);
        close(fd);
        test_peer_close(test_peer_open(shared_address)); /* now it answers */
}

/* Starts a bus with the rules of a system bus, and perhaps the policy of the example. */
static void start_system_bus(bool has_policy)
{
        char directory[256], text[2048], file[300];
        bool is_broker = test_bus_is_broker(NULL);

        if (is_broker) {
                test_directory_cover("/run/systemd", "mode=0755");
                CHECK_EQ(mkdir("/run/systemd/journal", 0755), 0);
        }
        shared_bus_prepare();
        snprintf(directory, sizeof directory, "%s/system.d", test_directory());
        CHECK_EQ(mkdir(directory, 0755), 0);
        if (has_policy)
                install_policy(directory);
        snprintf(text, sizeof text, configuration, shared_path, directory);
        snprintf(file, sizeof file, "%s/shared.conf", test_directory());
        if (is_broker) {
                FILE *f = fopen(file, "we");
                CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
                start_launcher(file);
        } else {
                shared_daemon_start(text);
                shared_bus_use();
        }
}

static void check_policy(const char *user, bool has_policy, int expected)
{
        start_system_bus(has_policy);
        test_child *service = test_spawn_role("serveAs", user, PLAYER, NULL);
        CHECK_EQ(atoi(test_child_read_line(service)), expected);
        test_child *caller = test_spawn_role("askAs", TEXT(STRANGER), PLAYER, NULL);
        int error = atoi(test_child_ask(caller, ""));
        CHECK_EQ(error, expected == 0 ? 0 : -ENXIO);
        if (expected == 0)
                CHECK_EQ(served_number(service, ""), STRANGER);
        CHECK_EQ(test_child_wait(caller), 0);
        CHECK_EQ(test_child_wait(service), 0);
        shared_bus_stop();
}

TEST_ON_BUS(examplesPolicyAdmitsItsServiceAndAllCallers)
{
        check_policy(TEXT(OWNER), true, 0);
}

TEST_ON_BUS(withoutAPolicyTheSystemBusRefusesTheName)
{
        check_policy(TEXT(OWNER), false, -EACCES);
}

TEST_ON_BUS(examplesPolicyRefusesTheNameToOtherUsers)
{
        check_policy(TEXT(STRANGER), true, -EACCES);
}

TEST_MAIN()

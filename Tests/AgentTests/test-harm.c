/* Services and buses that behave badly: one line for each kind, and everything else goes on. */
#include "mock.h"
#include "namespaces.h"

#define UPOWER "org.freedesktop.UPower"
#define UPOWER_PATH "/org/freedesktop/UPower"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define PLUGGED "com.apple.springboard.pluggedin"

/* A service whose answers the test chooses. */
typedef struct bad_service {
        sd_bus *connection;
        int behaviour;
        bool is_on_battery;
        int n_calls; /* for a property */
} bad_service;

enum { GOOD, OTHER_TYPE, NO_VARIANT, NOTHING, ERROR, N_BEHAVIOURS, SILENCE };

static int answer(sd_bus_message *call, void *context, sd_bus_error *error)
{
        bad_service *service = context;

        switch (service->behaviour) {
        case GOOD: return sd_bus_reply_method_return(call, "v", "b", service->is_on_battery);
        case OTHER_TYPE: return sd_bus_reply_method_return(call, "v", "s", "certainly");
        case NO_VARIANT: return sd_bus_reply_method_return(call, "aay", 2, 1, 255, 0);
        case NOTHING: return sd_bus_reply_method_return(call, NULL);
        case SILENCE: return 0;
        default: return sd_bus_error_setf(error, "org.example.Broken", "it is broken");
        }
}

static int filter(sd_bus_message *message, void *context, sd_bus_error *error)
{
        bad_service *service = context;

        if (!sd_bus_message_is_method_call(message, PROPERTIES, "Get"))
                return 0;
        service->n_calls++;
        int r = answer(message, context, error);

        return r < 0 ? r : 1;
}

static void serve(bad_service *service)
{
        while (sd_bus_process(service->connection, NULL) > 0)
                ;
        (void)sd_bus_wait(service->connection, 1000);
}

static void announce(bad_service *service)
{
        CHECK(sd_bus_emit_signal(service->connection, UPOWER_PATH, PROPERTIES, "PropertiesChanged",
                                 "sa{sv}as", UPOWER, 0, 0) >= 0);
}

static bad_service *open_bad_service(const stage *stage)
{
        static bad_service service;
        mock mock = mock_begin(stage);

        service = (bad_service){.connection = mock.connection};
        CHECK(sd_bus_add_filter(service.connection, NULL, filter, &service) >= 0);
        return &service;
}

static void take_name(bad_service *service)
{
        CHECK(sd_bus_request_name(service->connection, UPOWER, 0) >= 0);
}

/* Everything else goes on: the name of the host. */
static void check_host_name(stage *stage, int token, const char *name)
{
        CHECK_EQ(sethostname(name, strlen(name)), 0);
        int next;

        do
                next = stage_next(stage, (unsigned)(TEST_DEADLINE_US / 1000));
        while (next != 0 && next != token);
        CHECK_EQ(next, token);
}

/* Counts the lines that the agent has written, after its end. */
static int count_lines(test_child *agent, const char *text)
{
        const char *line;
        int n = 0;

        kill(test_child_pid(agent), SIGTERM);
        while ((line = test_child_read_line_or_end(agent)))
                n += strstr(line, text) != NULL;
        CHECK_EQ(test_child_wait(agent), 0);
        return n;
}

TEST_ON_BUS(badAnswersAreOneLineEach)
{
        enter_namespaces(CLONE_NEWUTS);
        stage stage = stage_begin();
        bad_service *service = open_bad_service(&stage);
        test_child *agent = agent_start(&stage);
        int plugged = stage_hear(&stage, PLUGGED);
        int host = stage_hear(&stage, "com.apple.system.hostname");

        service->behaviour = OTHER_TYPE;
        take_name(service);
        for (int i = 0; i < 10 * N_BEHAVIOURS; i++) {
                service->behaviour = i % (N_BEHAVIOURS - 1) + 1;
                announce(service);
                for (int j = 0; j < 20; j++)
                        serve(service);
        }
        check_host_name(&stage, host, "elsewhere");
        service->behaviour = GOOD;
        announce(service);
        WAIT_UNTIL((serve(service), state_of(plugged) == 1));
        CHECK_EQ(count_lines(agent, "power: "), 2); /* garbage, and an error */
}

TEST_ON_BUS(anOwnerMayComeAndGoAThousandTimes)
{
        enter_namespaces(CLONE_NEWUTS);
        stage stage = stage_begin();
        bad_service *service = open_bad_service(&stage);
        test_child *agent = agent_start(&stage);
        int plugged = stage_hear(&stage, PLUGGED);
        int host = stage_hear(&stage, "com.apple.system.hostname");

        for (int i = 0; i < 1000; i++) {
                take_name(service);
                CHECK(sd_bus_release_name(service->connection, UPOWER) >= 0);
                if (i % 50 == 0)
                        serve(service);
        }
        check_host_name(&stage, host, "elsewhere");
        take_name(service);
        WAIT_UNTIL((serve(service), state_of(plugged) == 1));
        CHECK(count_lines(agent, "notifyagent: ") <= 2);
}

TEST_ON_BUS(anAgentThatIsEndedWhileItWaitsForAServiceEndsWithStatus0)
{
        stage stage = stage_begin();
        bad_service *service = open_bad_service(&stage);

        service->behaviour = SILENCE;
        take_name(service);
        test_child *agent = agent_spawn();
        WAIT_UNTIL((serve(service), service->n_calls > 0));
        CHECK_EQ(count_lines(agent, "cannot run"), 0);
}

/* How long a state may be old after the restart of an agent that was killed. */
#define OLD_US (2000000 * (uint64_t)test_slowness())

TEST_ON_BUS(statesAreRightAfterEachOfManyKills)
{
        stage stage = stage_begin();
        bad_service *service = open_bad_service(&stage);
        int plugged = stage_hear(&stage, PLUGGED);
        take_name(service);

        for (int i = 0; i < 20; i++) {
                uint64_t began_us = test_now_us(), wanted = (uint64_t)i % 2;
                test_child *agent = agent_spawn();

                service->is_on_battery = !wanted;
                WAIT_UNTIL((serve(service), state_of(plugged) == wanted));
                CHECK(i == 0 || test_now_us() - began_us < OLD_US);
                test_let_pass_ms((unsigned)i % 3); /* it is killed at any point */
                test_child_kill(agent);
        }
}

TEST_ON_BUS(aBusMayDieAndComeBack)
{
        /* The agent and the library each have connections, on threads of their own. */
        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "libsystemd draws keys of its tables without a lock");
        enter_namespaces(CLONE_NEWUTS);
        stage stage = stage_begin();
        test_child *agent = agent_start(&stage);
        int host = stage_hear(&stage, "com.apple.system.hostname");
        int plugged = stage_hear(&stage, PLUGGED);

        for (int i = 0; i < 2; i++) {
                test_bus_kill(stage.bus);
                check_host_name(&stage, host, FORMAT("gone%d", i));
                test_bus_start_again(stage.bus);
                check_host_name(&stage, host, FORMAT("back%d", i));
        }
        bad_service *service = open_bad_service(&stage);
        take_name(service);
        WAIT_UNTIL((serve(service), state_of(plugged) == 1));
        CHECK_EQ(count_lines(agent, "bus is lost"), 2); /* the session and the system */
}

/* A manager of units that never answers. */
static bad_service *open_manager(const stage *stage)
{
        static bad_service manager;
        mock mock = mock_begin(stage);

        manager = (bad_service){.connection = mock.connection, .behaviour = SILENCE};
        CHECK(sd_bus_add_filter(manager.connection, NULL, filter, &manager) >= 0);
        CHECK(sd_bus_request_name(manager.connection, "org.freedesktop.systemd1", 0) >= 0);
        return &manager;
}

/* Reports the end of a sleep; returns when the bus has sent that. */
static void wake_up(bad_service *logind)
{
        CHECK(sd_bus_emit_signal(logind->connection, "/org/freedesktop/login1",
                                 "org.freedesktop.login1.Manager", "PrepareForSleep", "b", 0) >= 0);
        for (int i = 0; i < 2; i++)
                CHECK(mock_owns(&(mock){logind->connection}, UPOWER));
}

/* After the sleep, the agent connects again before it is told that the old connection has ended. */
TEST_ON_BUS(aManagerIsAskedAgainIfItsBusIsLostDuringASleep)
{
        stage system = {.bus = test_bus_start(NULL, NULL)}; /* dbus-daemon also reports readiness */
        stage stage = stage_begin();
        setenv("DBUS_SYSTEM_BUS_ADDRESS", test_bus_address(system.bus), 1);
        bad_service *service = open_bad_service(&system), *manager = open_manager(&stage);
        take_name(service);
        CHECK(sd_bus_request_name(service->connection, "org.freedesktop.login1", 0) >= 0);
        test_child *agent = agent_spawn();
        struct pollfd readiness = {.fd = stage.readiness, .events = POLLIN};
        WAIT_UNTIL((serve(service), serve(manager), poll(&readiness, 1, 0) == 1));
        CHECK(manager->n_calls > 0);

        test_child_pause(agent);
        test_bus_kill(stage.bus);
        sd_bus_close_unref(manager->connection);
        wake_up(service);
        service->n_calls = 0;
        test_child_resume(agent);
        WAIT_UNTIL((serve(service), service->n_calls > 0));
        test_child_pause(agent);
        test_bus_start_again(stage.bus);
        manager = open_manager(&stage);
        test_child_resume(agent);
        WAIT_UNTIL((serve(manager), manager->n_calls > 0));
}

/* A socket that appears when it already listens. */
static int listen_at(const char *path)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof address.sun_path, "%s.new", path);
        CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        CHECK_EQ(listen(fd, 16), 0);
        CHECK_EQ(rename(address.sun_path, path), 0);
        return fd;
}

/* systemd keeps listening while the bus fails to start. */
TEST_ON_BUS(aBusThatFailsWhenItComesBackIsTriedAgain)
{
        SKIP_IF(TEST_HAS_SANITIZER, "time does not pass faster");
        stage stage = stage_begin();
        const char *path = FORMAT("%s/system", test_directory());
        setenv("DBUS_SYSTEM_BUS_ADDRESS", FORMAT("unix:path=%s", path), 1);
        agent_spawn_hasty(&stage);

        test_let_pass_ms(4000); /* more than half a minute of the agent */
        struct pollfd wait = {.fd = listen_at(path), .events = POLLIN};
        for (int i = 0; i < 8; i++) {
                CHECK_EQ(poll(&wait, 1, (int)(TEST_DEADLINE_US / 1000)), 1);
                close(accept(wait.fd, NULL, NULL));
        }
}

TEST_MAIN()

/* An agent, and what it hears of: a private bus for both the session and the system. */
#pragma once

#include <errno.h>
#include <notify.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test-bus.h"
#include "test-child.h"
#include "test.h"

typedef struct stage {
        test_bus *bus;
        int readiness; /* a socket that the agent tells when it has begun */
        int fd;        /* of the names that are listened to */
} stage;

static inline stage stage_begin(void)
{
        stage stage = {.bus = test_bus_begin(), .fd = -1};
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        setenv("DBUS_SYSTEM_BUS_ADDRESS",
               test_bus_is_none(stage.bus) ? "unix:path=/nonexistent" : test_bus_address(stage.bus),
               1);
        snprintf(address.sun_path, sizeof address.sun_path, "%s/ready",
                 test_bus_directory(stage.bus));
        stage.readiness = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK_EQ(bind(stage.readiness, (struct sockaddr *)&address, sizeof address), 0);
        setenv("NOTIFY_SOCKET", address.sun_path, 1);
        return stage;
}

static inline void stage_await_readiness(const stage *stage)
{
        struct pollfd wait = {.fd = stage->readiness, .events = POLLIN};
        char text[64] = "";

        CHECK_EQ(poll(&wait, 1, (int)(TEST_DEADLINE_US / 1000)), 1);
        CHECK(recv(stage->readiness, text, sizeof text - 1, 0) > 0);
        CHECK(strstr(text, "READY=1"));
}

/* Its lines for the journal are the output of the child. */
static inline test_child *agent_spawn(void)
{
        return test_spawn_program(
                (const char *[]){"sh", "-c", "exec \"$0\" 2>&1", TEST_AGENT, NULL});
}

static inline test_child *agent_start(const stage *stage)
{
        test_child *agent = agent_spawn();

        stage_await_readiness(stage);
        return agent;
}

/* An agent for which time passes ten times as fast, unless a sanitizer must be loaded first. */
static inline test_child *agent_spawn_hasty(const stage *stage)
{
        if (TEST_HAS_SANITIZER)
                return agent_start(stage);
        const char *command = FORMAT("LD_PRELOAD=%s exec %s 2>&1", TEST_HASTE, TEST_AGENT);
        test_child *agent = test_spawn_program((const char *[]){"sh", "-c", command, NULL});

        stage_await_readiness(stage);
        return agent;
}

static inline int agent_end(test_child *agent)
{
        kill(test_child_pid(agent), SIGTERM);
        return test_child_wait(agent);
}

/* --- Listening, as c-ares does it ------------------------------------------------------------ */

/* Returns a token that is written to the descriptor of the stage at each post. */
static inline int stage_hear(stage *stage, const char *name)
{
        int token, flags = stage->fd < 0 ? 0 : NOTIFY_REUSE;

        CHECK_EQ(notify_register_file_descriptor(name, &stage->fd, flags, &token),
                 NOTIFY_STATUS_OK);
        return token;
}

/* Returns the next token, or 0 if none arrives in the time. */
static inline int stage_next(const stage *stage, unsigned timeout_ms)
{
        struct pollfd wait = {.fd = stage->fd, .events = POLLIN};
        unsigned char bytes[4];

        if (poll(&wait, 1, (int)timeout_ms) == 0)
                return 0;
        CHECK_EQ(read(stage->fd, bytes, 4), 4);
        return bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static inline void stage_expect(const stage *stage, int token)
{
        CHECK_EQ(stage_next(stage, (unsigned)(TEST_DEADLINE_US / 1000)), token);
}

/* Nothing that could be waited for follows what is not posted. */
static inline void stage_expect_nothing(stage *stage)
{
        test_let_pass_ms(250);
        CHECK_EQ(stage_next(stage, 0), 0);
}

static inline uint64_t state_of(int token)
{
        uint64_t state = 0;

        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OK);
        return state;
}

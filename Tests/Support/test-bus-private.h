/* The interface of the two kinds of bus. */
#pragma once

#include "test-bus.h"

typedef struct test_bus_ops {
        const char *kind;
        /* Listens at bus->path and sets bus->pid; returns when the bus accepts connections. */
        void (*start)(test_bus *bus);
} test_bus_ops;

struct test_bus {
        const test_bus_ops *ops;
        test_bus_limits limits;
        char directory[80];
        char path[96];
        char address[112];
        pid_t pid;         /* 0: not running */
        int controller_fd; /* broker: it exits when this is closed; -1: none */
};

extern const test_bus_ops test_bus_daemon_ops;
extern const test_bus_ops test_bus_broker_ops;

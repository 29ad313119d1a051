/* A program that answers queries meant for the bus. Include it in only one file of a test. */
#pragma once

#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "test-child.h"
#include "test.h"

static inline sd_bus *open_plain_bus(const char *address)
{
        sd_bus *bus = NULL;

        CHECK(sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, address) >= 0);
        CHECK(sd_bus_set_bus_client(bus, true) >= 0 && sd_bus_start(bus) >= 0);
        return bus;
}

static inline int answer_with_number(sd_bus_message *call, void *context, sd_bus_error *error)
{
        return sd_bus_reply_method_return(call, "u", *(uint32_t *)context);
}

/* Arguments: the bus, the number with which it answers every call. Says its unique name. */
ROLE(lie)
{
        uint32_t number = (uint32_t)strtoul(args[1], NULL, 10);
        sd_bus *bus = open_plain_bus(args[0]);
        const char *name;

        CHECK_EQ(n_args, 2);
        CHECK(sd_bus_add_filter(bus, NULL, answer_with_number, &number) >= 0);
        CHECK(sd_bus_get_unique_name(bus, &name) >= 0);
        printf("%s\n", name);
        while (sd_bus_wait(bus, UINT64_MAX) >= 0)
                while (sd_bus_process(bus, NULL) > 0)
                        continue;
        return 0;
}

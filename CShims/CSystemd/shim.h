/* Gives SwiftPM the compile and link flags of libsystemd. */
#pragma once
#include <systemd/sd-bus.h>

/* Gives SwiftPM the compile and link flags of libmosquitto. */
#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>

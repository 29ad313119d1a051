/* Tells observers when the bus is found and lost. */
#pragma once

/* The bus of the hub was found or lost. A function of sinks: once for each change. */
void dn__news_bus_changed(void *hub);

/* Keeps the center of calls and services open. */
#pragma once

typedef struct dn__keeper {
        void (*retain)(void *context);
        void (*release)(void *context);
        void *context;
} dn__keeper;

/* All carriers of a hub, used as one. */
#pragma once

#include "carrier/carrier.h"
#include "center/hub.h"

/* The state that a hub's carriers keep for one watched name. */
typedef struct dn__watches {
        dn__watch *each[DN__HUB_MAX_CARRIERS];
} dn__watches;

/* Each calls the operation of the same name in carrier/carrier.h. */
int dn__carriers_start(dn__hub *hub, uint64_t *deadline_us);
int dn__carriers_watch(dn__hub *hub, const dn__name *name, dn__watches *ret_watches);
int dn__carriers_await(dn__hub *hub, const dn__watches *watches, uint64_t *deadline_us);
bool dn__carriers_are_watching(const dn__hub *hub, const dn__watches *watches);
void dn__carriers_unwatch(dn__hub *hub, const dn__watches *watches);
int dn__carriers_flush(dn__hub *hub, uint64_t deadline_us);
int dn__carriers_take_untaken(dn__hub *hub);
void dn__carriers_linger(dn__hub *hub);
bool dn__carriers_are_connected(dn__hub *hub); /* any of them */
dn__carrier_counts dn__carriers_get_counts(dn__hub *hub);

/* Starts each carrier and sends the post with it, one after the other: a bus that does not answer
 * delays nobody who hears of the post another way. */
int dn__carriers_send(dn__hub *hub, const dn__post *post, uint64_t *deadline_us);

/* Closes them; the last to call `closed` may destroy the hub. */
void dn__carriers_close(dn__hub *hub);

/* Frees them once closed. */
void dn__carriers_free(dn__hub *hub);

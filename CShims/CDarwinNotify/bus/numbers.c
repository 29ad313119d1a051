/* Post numbers, by which a receiver detects missing posts. */
#include "bus/numbers.h"

#include <string.h>

/* The maximum length of a connection's name on D-Bus. */
#define SENDER_MAX_BYTES 255

void dn__numbers_init(dn__numbers *numbers)
{
        *numbers = (dn__numbers){
                .sent.max_entries = DN__NUMBERS_MAX,
                .received.max_entries = DN__NUMBERS_MAX,
        };
}

void dn__numbers_deinit(dn__numbers *numbers)
{
        dn__recent_clear(&numbers->sent);
        dn__recent_clear(&numbers->received);
}

uint64_t dn__numbers_draw(dn__numbers *numbers, const dn__name *name)
{
        uint64_t *last = dn__recent_use(&numbers->sent, name->text, name->n_bytes);

        return last ? ++*last : 0;
}

void dn__numbers_take_back(dn__numbers *numbers, const dn__name *name)
{
        uint64_t *last = dn__recent_use(&numbers->sent, name->text, name->n_bytes);

        if (last && *last)
                --*last;
}

/* A number that does not continue from the last one starts a new count: the sender has forgotten
 * its earlier posts of the name. */
uint64_t dn__numbers_note(dn__numbers *numbers, const dn__post *post)
{
        char key[sizeof(uint64_t) + SENDER_MAX_BYTES];
        size_t n_sender_bytes = strlen(post->origin.sender);
        uint64_t number = post->body.number, *last, n_lost;

        if (!number || n_sender_bytes > SENDER_MAX_BYTES)
                return 0;
        memcpy(key, &post->name.hash, sizeof(uint64_t));
        memcpy(key + sizeof(uint64_t), post->origin.sender, n_sender_bytes);
        last = dn__recent_use(&numbers->received, key, sizeof(uint64_t) + n_sender_bytes);
        if (!last)
                return 0;
        n_lost = *last && number > *last ? number - *last - 1 : 0;
        *last = number;
        return n_lost;
}

void dn__numbers_forget(dn__numbers *numbers, uint64_t name_hash)
{
        dn__recent_forget(&numbers->received, &name_hash, sizeof(name_hash));
}

void dn__numbers_forget_all(dn__numbers *numbers)
{
        dn__recent_clear(&numbers->received);
}

void dn__numbers_connected(dn__numbers *numbers, sd_bus *bus)
{
        sd_id128_t id = { 0 };

        (void)sd_bus_get_bus_id(bus, &id);
        if (memcmp(&id, &numbers->bus, sizeof(id)) != 0)
                dn__numbers_forget_all(numbers);
        numbers->bus = id;
}

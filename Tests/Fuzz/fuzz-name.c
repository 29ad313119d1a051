/* Writes posts of arbitrary names for the bus in both ways, and reads them back. */
#include "bus/wire.h"
#include "fuzz-bus.h"

/* What an interface looks like is in bus/test-wire.c. */
static void check_interface(const dn__name *name)
{
        char interface[DN__WIRE_INTERFACE_BYTES];

        EXPECT(dn__wire_write_interface(&dn__wire_darwin, name, interface) == strlen(interface));
        EXPECT(sd_bus_interface_name_is_valid(interface) > 0);
}

static void check_read(sd_bus_message *message, const dn__post *expected)
{
        dn__post post;

        EXPECT(dn__wire_read_post(&dn__wire_darwin, message, &post));
        EXPECT(strcmp(post.name.text, expected->name.text) == 0);
        EXPECT(post.name.hash == expected->name.hash);
        EXPECT(post.generation == expected->generation && post.region_id == expected->region_id);
}

/* The plain path, and that of a table. */
static const char *const paths[] = { "/org/darwinnotify/Darwin1",
                                     "/org/darwinnotify/Darwin1/tfedcba9876543210" };

/* A bus sets the sender of a message; without one it is not a post. */
static void check_made(sd_bus *bus, const dn__post *post)
{
        sd_bus_message *message;
        dn__post read;

        EXPECT(dn__wire_make_post(&dn__wire_darwin, bus, post, paths[1], &message) == 0);
        EXPECT(sd_bus_message_set_sender(message, ":1.7") >= 0);
        EXPECT(sd_bus_message_seal(message, 1, 0) >= 0);
        check_read(message, post);
        EXPECT(sd_bus_message_rewind(message, true) >= 0);
        check_read(message, post);
        (void)sd_bus_message_unref(message);
        EXPECT(dn__wire_make_post(&dn__wire_darwin, bus, post, paths[1], &message) == 0);
        EXPECT(sd_bus_message_seal(message, 2, 0) >= 0);
        EXPECT(!dn__wire_read_post(&dn__wire_darwin, message, &read));
        (void)sd_bus_message_unref(message);
}

/* The bytes written past sd-bus are a message with the same content. */
static void check_written(fuzz_bus bus, const dn__post *post, const char *path)
{
        char bytes[DN__WIRE_POST_BYTES], interface[DN__WIRE_INTERFACE_BYTES];
        sd_bus_message *message;
        const char *name;
        uint64_t numbers[2];

        fuzz_bus_write(bus, bytes, dn__wire_darwin.write(post, path, 1, bytes));
        message = fuzz_bus_next(bus);
        EXPECT(message);
        (void)dn__wire_write_interface(&dn__wire_darwin, &post->name, interface);
        EXPECT(sd_bus_message_is_signal(message, interface, DN__WIRE_MEMBER) > 0);
        EXPECT(strcmp(sd_bus_message_get_path(message), path) == 0);
        EXPECT(sd_bus_message_get_expect_reply(message) == 0);
        EXPECT(sd_bus_message_read(message, "stt", &name, &numbers[0], &numbers[1]) > 0);
        EXPECT(sd_bus_message_at_end(message, true) > 0);
        EXPECT(strcmp(name, post->name.text) == 0);
        EXPECT(numbers[0] == post->generation && numbers[1] == post->region_id);
        (void)sd_bus_message_unref(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
        fuzz_input input = { bytes, n_bytes };
        dn__post post = { .generation = fuzz_take(&input, 8), .region_id = fuzz_take(&input, 8) };
        char *text = malloc(input.n_bytes + 1);
        fuzz_bus bus;

        EXPECT(text);
        memcpy(text, input.bytes, input.n_bytes);
        text[input.n_bytes] = '\0';
        if (dn__name_init(&post.name, text, DN__REACH_BEYOND) == 0) {
                EXPECT(post.name.n_bytes == strlen(text));
                EXPECT(post.name.reach == DN__REACH_PROCESS || post.name.n_bytes <= 511);
                if (post.name.reach == DN__REACH_BEYOND) {
                        bus = fuzz_bus_open();
                        check_interface(&post.name);
                        check_made(bus.bus, &post);
                        check_written(bus, &post, paths[0]);
                        check_written(bus, &post, paths[1]);
                        fuzz_bus_close(bus);
                }
        }
        free(text);
        return 0;
}

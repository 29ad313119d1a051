/* Reads messages of arbitrary bytes as posts, requests, replies and errors. */
#include "bus/wire.h"
#include "calls/message.h"
#include "darwinnotify/call.h"
#include "fuzz-bus.h"

#define N_ROOM 8192

typedef struct writer {
        uint8_t bytes[N_ROOM];
        size_t at;
} writer;

static void put(writer *writer, const void *bytes, size_t n_bytes)
{
        if (n_bytes > N_ROOM - writer->at)
                n_bytes = N_ROOM - writer->at;
        memcpy(writer->bytes + writer->at, bytes, n_bytes);
        writer->at += n_bytes;
}

static void put_padding(writer *writer)
{
        put(writer, (const uint8_t[8]){ 0 }, -writer->at % 8);
}

/* A field of any code and type, with the text as a string or a signature. */
static void put_field(writer *writer, fuzz_input *input, uint8_t code)
{
        uint8_t head[] = { code, 1, (uint8_t)fuzz_take(input, 1), 0 };
        char text[256];
        uint32_t n_bytes = (uint32_t)fuzz_take_text(input, text);

        put_padding(writer);
        put(writer, head, sizeof(head));
        put(writer, &n_bytes, head[2] == 'g' ? 1 : sizeof(n_bytes));
        put(writer, text, n_bytes + 1);
}

/* A message whose lengths are correct, so that sd-bus checks the rest. */
static void put_message(writer *writer, fuzz_input *input)
{
        uint8_t head[] = { 'l', (uint8_t)fuzz_take(input, 1), (uint8_t)fuzz_take(input, 1), 1 };
        uint32_t numbers[3] = { 0, 1, 0 };
        uint8_t code;

        put(writer, head, sizeof(head));
        put(writer, numbers, sizeof(numbers));
        while ((code = (uint8_t)fuzz_take(input, 1)))
                put_field(writer, input, code);
        numbers[2] = (uint32_t)writer->at - 16;
        put_padding(writer);
        numbers[0] = (uint32_t)writer->at;
        put(writer, input->bytes, input->n_bytes);
        numbers[0] = (uint32_t)writer->at - numbers[0];
        memcpy(writer->bytes + sizeof(head), numbers, sizeof(numbers));
}

/* Whatever is accepted as a post has a name that may cross a bus, and a sender. */
static void check_post(const dn__wire *wire, sd_bus_message *message)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        dn__name again;
        dn__post post;

        if (!dn__wire_read_post(wire, message, &post))
                return;
        EXPECT(dn__name_init(&again, post.name.text, DN__REACH_BEYOND) == 0);
        EXPECT(again.reach == DN__REACH_BEYOND && again.n_bytes == post.name.n_bytes);
        EXPECT(post.origin.sender && !post.origin.is_own);
        EXPECT(wire != &dn__wire_darwin || (!post.body.object && !post.body.user_info));
        dn__post_release(&post);
        (void)dn__wire_write_interface(wire, &again, interface);
        EXPECT(sd_bus_message_is_signal(message, interface, DN__WIRE_MEMBER) > 0);
}

/* Whatever is accepted as arguments or as a reply is a dictionary, a reply with one key at most. */
static void check_request(sd_bus_message *message)
{
        const sd_bus_error *error = sd_bus_message_get_error(message);
        dn_dict *dict = NULL;

        EXPECT(!error || dn__call_read_error(error) < 0);
        EXPECT(sd_bus_message_rewind(message, true) >= 0);
        EXPECT((dn__call_read_arguments(message, &dict) == 0) == (dict != NULL));
        dict = dn_dict_unref(dict);
        EXPECT(sd_bus_message_rewind(message, true) >= 0);
        EXPECT((dn__call_read_reply(message, &dict) == 0) == (dict != NULL));
        EXPECT(dn_dict_get_count(dict) == (size_t)dn_dict_get(dict, DN_REPLY_VALUE, NULL));
        dn_dict_unref(dict);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
        fuzz_input input = { bytes, n_bytes };
        bool is_raw = fuzz_take(&input, 1) & 1;
        fuzz_bus bus = fuzz_bus_open();
        writer writer = { .at = 0 };
        sd_bus_message *message;

        if (is_raw)
                put(&writer, input.bytes, input.n_bytes);
        else
                put_message(&writer, &input);
        if (writer.at)
                fuzz_bus_write(bus, writer.bytes, writer.at);
        while ((message = fuzz_bus_next(bus))) {
                check_post(&dn__wire_darwin, message);
                check_post(&dn__wire_distributed, message);
                check_request(message);
                (void)sd_bus_message_unref(message);
        }
        fuzz_bus_close(bus);
        return 0;
}

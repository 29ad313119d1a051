/* The note of a unit survives the agent, and whatever is written into it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "starts/note.h"
#include "test.h"

static note read_anew(void)
{
        note note;

        note_read(&note, "one.service");
        return note;
}

static void write_note(note *note)
{
        setenv("XDG_STATE_HOME", FORMAT("%s/state/deep", test_directory()), 1);
        CHECK_EQ(note_write(note, "one.service"), 0);
}

TEST_NO_BUS(whatIsWrittenIsRead)
{
        static const char strange[] = "com.example. \"\n0 0 0 0 b\r";
        note note = {.cause = strdup(strange), .is_open = true, .may_have_missed = true,
                     .started_us = 1234567};
        dn__table_count count = {UINT64_MAX, 1, 2, 3};

        CHECK_EQ(note_set(&note, strange, &count), 0);
        CHECK_EQ(note_set(&note, "a", &(dn__table_count){4, 5, 6, 7}), 0);
        write_note(&note);
        CHECK(note.exists);
        note_deinit(&note);
        note = read_anew();
        CHECK(note.exists && note.is_open && note.may_have_missed);
        CHECK_STREQ(note.cause, strange);
        CHECK_EQ(note.started_us, 1234567u);
        CHECK_EQ(note.n_names, 2u);
        CHECK_EQ(note_find(&note, strange)->region, UINT64_MAX);
        CHECK_EQ(note_find(&note, "a")->generation, 7u);
        CHECK(!note_find(&note, "b"));
        note_deinit(&note);
}

TEST_NO_BUS(aNoteThatWasNeverWrittenMakesNoFolder)
{
        setenv("XDG_STATE_HOME", FORMAT("%s/state", test_directory()), 1);
        note note = read_anew();

        CHECK(!note.exists);
        CHECK(access(FORMAT("%s/state", test_directory()), F_OK) < 0);
}

/* What has been cut short, or is something else. */
TEST_NO_BUS(rubbishCountsAsNoNote)
{
        static const char *const texts[] = {"", "done", "done x y", "open 99999999999999999999999",
                                            "open 5 cause without an end"};
        note empty = {0};

        write_note(&empty);
        for (size_t i = 0; i < 5; i++) {
                FILE *stream = fopen(FORMAT("%s/notifyagent/one.service",
                                            getenv("XDG_STATE_HOME")), "we");

                CHECK(stream && fputs(texts[i], stream) >= 0 && fclose(stream) == 0);
                note note = read_anew();
                CHECK(!note.is_open);
                CHECK_EQ(note.n_names, 0u);
                note_deinit(&note);
        }
}

static bool keep_even(const char *name, dn__table_count *count, void *context)
{
        (void)name, (void)context;
        return count->generation % 2 == 0;
}

TEST_NO_BUS(thousandsOfNamesAreFoundAgain)
{
        enum { N = 5000 };
        note note = {0};

        for (unsigned i = 0; i < N; i++)
                CHECK_EQ(note_set(&note, FORMAT("com.example.%u", i * 7919 % N),
                                  &(dn__table_count){1, 2, 3, i * 7919 % N}),
                         0);
        CHECK_EQ(note.n_names, N);
        note_each(&note, keep_even, NULL);
        write_note(&note);
        note_deinit(&note);
        note = read_anew();
        CHECK_EQ(note.n_names, N / 2);
        for (unsigned i = 0; i < N; i++) {
                const dn__table_count *count = note_find(&note, FORMAT("com.example.%u", i));

                CHECK_EQ(count ? count->generation : 1, i % 2 ? 1 : i);
        }
        note_deinit(&note);
}

TEST_MAIN()

/* The section of a unit is read as systemd would read it. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "starts/section.h"
#include "test.h"

static void add_file(section *section, const char *text)
{
        const char *path = FORMAT("%s/a.service", test_directory());
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        CHECK_EQ(section_read(section, path), 0);
}

static section read_text(const char *text)
{
        section section = {0};

        add_file(&section, text);
        return section;
}

/* Compares the matches with a text, and frees them. */
static void expect(section *section, const char *matches, const char *problem)
{
        char text[1024] = "";

        for (size_t i = 0; i < section->n_matches; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                         section->matches[i]);
        CHECK_STREQ(text, matches);
        CHECK_STREQ(section->problem, problem);
        section_deinit(section);
}

TEST_NO_BUS(matchesAreReadInTheirOrder)
{
        section section = read_text("[X-DarwinNotify]\nMatching = b a\n Matching=c.\n");

        CHECK(section.is_found);
        CHECK(!section.is_installable);
        expect(&section, "b a c.", "");
}

TEST_NO_BUS(otherSectionsAreLeftAlone)
{
        section section = read_text("Matching=a\n[Service]\nMatching=b\n[X-DarwinNotify]\n"
                                    "Matching=c\n[Install]\nMatching=d\n");

        CHECK(section.is_installable);
        expect(&section, "c", "");
        section = read_text("[Service]\nExecStart=true\n#[X-DarwinNotify]\n");
        CHECK(!section.is_found);
        expect(&section, "", "");
}

TEST_NO_BUS(linesMayBeContinuedAndCommented)
{
        section section = read_text("[X-DarwinNotify]\n; Matching=no\nMatching=a \\\n# no\n b\\\n"
                                    "c\n# no \\\nMatching=d");

        expect(&section, "a b c d", "");
        section = read_text("[X-DarwinNotify]\r\nMatching=a\\");
        expect(&section, "a", "");
}

TEST_NO_BUS(anEmptyValueTakesBackWhatWasSaid)
{
        section section = read_text("[X-DarwinNotify]\nMatching=a\n");

        add_file(&section, "[X-DarwinNotify]\nMatching=\nMatching=b\n");
        expect(&section, "b", "");
}

TEST_NO_BUS(theFirstMistakeIsKept)
{
        section section = read_text("[X-DarwinNotify]\nmatching=a\nrubbish\nMatching=b\n");

        expect(&section, "b", "unknown key 'matching'");
        section = read_text("[X-DarwinNotify]\nrubbish\n");
        expect(&section, "", "'rubbish' is no assignment");
        section = read_text("[X-DarwinNotify]\n=a\n\\\n");
        expect(&section, "", "unknown key ''");
}

TEST_NO_BUS(namesThatAreNeverHeardAreRefused)
{
        char text[4096];
        section section = read_text("[X-DarwinNotify]\nMatching=self.a b\n");

        expect(&section, "b", "self.a never leaves its process");
        snprintf(text, sizeof text, "[X-DarwinNotify]\nMatching=user.uid.%d.a user.uid.%d\n",
                 (int)geteuid(), (int)geteuid());
        section = read_text(text);
        expect(&section, FORMAT("user.uid.%d.a user.uid.%d", (int)geteuid(), (int)geteuid()), "");
        snprintf(text, sizeof text, "[X-DarwinNotify]\nMatching=%02000d\n", 0);
        section = read_text(text);
        CHECK(section.problem[0]);
        CHECK_EQ(section.n_matches, 0u);
        section_deinit(&section);
}

TEST_NO_BUS(aNameFitsAMatch)
{
        CHECK(section_fits("a.b", "a.b"));
        CHECK(!section_fits("a.b", "a.b.c"));
        CHECK(section_fits("a.", "a.b.c"));
        CHECK(!section_fits("a.", "a"));
        CHECK(section_is_prefix("a."));
        CHECK(!section_is_prefix("a"));
}

TEST_MAIN()

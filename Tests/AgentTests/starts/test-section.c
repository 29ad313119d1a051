/* The section of a unit is read as systemd would read it. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "starts/section.h"
#include "test.h"

static void add_bytes(section *section, const char *bytes, size_t n_bytes)
{
        const char *path = FORMAT("%s/a.service", test_directory());
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, bytes, n_bytes), (ssize_t)n_bytes);
        close(fd);
        CHECK_EQ(section_read(section, path), 0);
}

static section read_text(const char *text)
{
        section section = {0};

        add_bytes(&section, text, strlen(text));
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
        section = read_text("[X-DarwinNotify]\r\nMatching=a\\\r\nb\r\n\r\nMatching=c\\");
        expect(&section, "a b c", "");
}

/* As systemd reads them, too. */
TEST_NO_BUS(onlyALastBackslashThatIsNotEscapedContinuesALine)
{
        section section = read_text("[X-DarwinNotify]\nMatching=a\\\\\nMatching=b\\ \nMatching=c\n"
                                    "Matching=d\\\n\nMatching=e\n");

        expect(&section, "a\\\\ b\\ c d e", "");
}

TEST_NO_BUS(aNulEndsALine)
{
        static const char bytes[] = "\xef\xbb\xbf[X-DarwinNotify]\0Matching=a\0\nMatching=b\0c";
        section section = {0};

        add_bytes(&section, bytes, sizeof bytes - 1);
        expect(&section, "a b", "'c' is no assignment");
}

TEST_NO_BUS(anEmptyValueTakesBackWhatWasSaid)
{
        section section = read_text("[X-DarwinNotify]\nMatching=a\n");

        add_bytes(&section, "[X-DarwinNotify]\nMatching=\nMatching=b\n", 39);
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

TEST_NO_BUS(namesOfOtherUsersAreRefused)
{
        char text[] = "[X-DarwinNotify]\nMatching=user.uid.1234.a user.uid.0.b user.uid. "
                      "com.apple.system.timezone\n";
        section section = {0};

        SKIP_IF(geteuid() != 0, "only root can become another user");
        CHECK_EQ(seteuid(1234), 0);
        CHECK_EQ(section_parse(&section, text, sizeof text - 1), 0);

        expect(&section, "user.uid.1234.a com.apple.system.timezone",
               "user.uid.0.b belongs to another user");
        CHECK_EQ(seteuid(0), 0);
}

/* A mistake is shown as UTF-8, even if it is not, or has to be cut. */
TEST_NO_BUS(whatIsNotUTF8IsLeftOut)
{
        section section = read_text("[X-DarwinNotify]\nMatching=a \xff\nMatching=b\n");
        char text[1024] = "[X-DarwinNotify]\n";

        expect(&section, "b", "a line is not valid UTF-8");
        for (int i = 0; i < 200; i++)
                strcat(text, "\xc3\xa4");
        section = read_text(text);
        CHECK_EQ(strlen(section.problem), strlen("'' is no assignment") + 150);
        CHECK_EQ(strncmp(section.problem + 149, "\xc3\xa4' is", 6), 0);
}

TEST_NO_BUS(tooManyNamesAreAMistake)
{
        static char text[1 << 16] = "[X-DarwinNotify]\nMatching=";

        for (int i = 0; i < 300; i++)
                sprintf(text + strlen(text), "n%d ", i);
        section section = read_text(text);
        CHECK_EQ(section.n_matches, SECTION_MAX_MATCHES);
        CHECK_STREQ(section.problem, "n256 and more: too many names");
        section_deinit(&section);
}

TEST_NO_BUS(onlyAFileIsRead)
{
        section section = {0};
        const char *path = FORMAT("%s/pipe", test_directory());

        CHECK_EQ(mkfifo(path, 0600), 0);
        CHECK(section_read(&section, path) < 0);
        CHECK(section_read(&section, "/dev/zero") < 0);
        CHECK(section_read(&section, test_directory()) < 0);
        CHECK(!section.is_found);
}

TEST_NO_BUS(aNameFitsAMatch)
{
        section section = read_text("[X-DarwinNotify]\nMatching=a. c a.b a.b.\n");

        CHECK_STREQ(section_find(&section, "a.b"), "a.b");
        CHECK_STREQ(section_find(&section, "a.b.c"), "a.");
        CHECK_STREQ(section_find(&section, "a."), "a.");
        CHECK(!section_find(&section, "a"));
        CHECK(!section_find(&section, "c.d"));
        CHECK(section_is_prefix("a."));
        CHECK(!section_is_prefix("a"));
        section_deinit(&section);
}

TEST_MAIN()

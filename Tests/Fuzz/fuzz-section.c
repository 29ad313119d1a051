/* Reads sections of units from arbitrary bytes: one file, then its drop-in. */
#include <darwinnotify/center.h>

#include "fuzz.h"
#include "starts/section.h"

static void check_matches(const section *section)
{
        EXPECT(section->n_matches <= SECTION_MAX_MATCHES);
        EXPECT(section->is_found || !section->n_matches);
        for (size_t i = 0; i < section->n_matches; i++) {
                const char *match = section->matches[i];

                EXPECT(dn_may_post(match) >= 0);
                EXPECT(!strpbrk(match, " \t\r\n") && strncmp(match, "self.", 5) != 0);
                EXPECT(strcmp(section_find(section, match), match) == 0);
        }
}

/* A problem is printed as JSON, so it must be UTF-8. */
static void check_problem(const section *section)
{
        EXPECT(strnlen(section->problem, SECTION_PROBLEM_BYTES) < SECTION_PROBLEM_BYTES);
        EXPECT(!section->problem[0] || dn_may_post(section->problem) >= 0);
        EXPECT(!section->problem[0] || section->is_found);
}

static void parse(section *section, const uint8_t *bytes, size_t n_bytes)
{
        char *text = malloc(n_bytes + 1);

        EXPECT(text);
        memcpy(text, bytes, n_bytes);
        EXPECT(section_parse(section, text, n_bytes) == 0);
        free(text);
        check_matches(section);
        check_problem(section);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
        section section = { 0 };
        const uint8_t *half = n_bytes ? memchr(bytes, '\1', n_bytes) : NULL;
        size_t n_first = half ? (size_t)(half - bytes) : n_bytes;

        parse(&section, bytes, n_first);
        if (half)
                parse(&section, half + 1, n_bytes - n_first - 1);
        section_deinit(&section);
        return 0;
}

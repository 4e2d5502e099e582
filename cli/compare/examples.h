/* examples.h -- the same images at several rates, ours and each rival's at no more bytes, for the
 * page.
 *
 * A container's bytes belong to the set: an image's share of a cut is taken by its pixels. A rival
 * gets the best quality and setting whose bytes for the same image do not exceed that share
 * (rival_fit.h). For tiny images, where headers are most of a JPEG file, JPEG is shown once more
 * with its scans alone counted. */
#ifndef CLI_COMPARE_EXAMPLES_H
#define CLI_COMPARE_EXAMPLES_H
#include "cli/compare/comparison.h"
#include "cli/compare/subject.h"

typedef struct cli_examples {
    size_t most; /* images; 0: none */
    unsigned threads;
    /* So many jobs are to be done; so many more are done, from any thread. NULL: not told. */
    void (*begin)(void *user, size_t jobs);
    void (*done)(void *user, size_t jobs);
    void *user;
} cli_examples;

/* Put images onto the page. */
taper_status cli_examples_put(const cli_comparison *comparison, const cli_subject *subject,
                              const cli_originals *originals, const cli_examples *how, FILE *page,
                              taper_error *error);
#endif

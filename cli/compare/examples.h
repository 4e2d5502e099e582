/* examples.h -- images on the page of a comparison: taper's picture at several rates, and each
 * rival's picture of at most as many bytes.
 *
 * The bytes of a container belong to the set. The share of an image in a cut is proportional to its
 * pixels. A rival gets the best quality and setting whose bytes for the image do not exceed that
 * share (rival_fit.h). In tiny images most of a JPEG file is headers; there JPEG is shown a second
 * time, counting only its scans. */
#ifndef CLI_COMPARE_EXAMPLES_H
#define CLI_COMPARE_EXAMPLES_H
#include "cli/compare/comparison.h"
#include "cli/compare/subject.h"

typedef struct cli_examples {
    size_t most; /* images; 0: none */
    unsigned threads;
    /* Progress: the number of jobs; jobs finished since the last call, from any thread. Or NULL. */
    void (*begin)(void *user, size_t jobs);
    void (*done)(void *user, size_t jobs);
    void *user;
} cli_examples;

/* Put images onto the page. */
taper_status cli_examples_put(const cli_comparison *comparison, const cli_subject *subject,
                              const cli_originals *originals, const cli_examples *how, FILE *page,
                              taper_error *error);
#endif

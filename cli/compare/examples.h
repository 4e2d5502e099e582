/* examples.h -- the same images at several rates, ours and JPEG at no more bytes, for the page.
 *
 * A container's bytes belong to the set: an image's share of a cut is taken by its pixels. JPEG
 * gets the best quality and setting whose bytes for this very image do not exceed that share: once
 * with all bytes of the file counted, and for small images, where headers are most of a JPEG file,
 * once with its scans alone. */
#ifndef CLI_COMPARE_EXAMPLES_H
#define CLI_COMPARE_EXAMPLES_H
#include "cli/compare/comparison.h"
#include "cli/compare/subject.h"

/* Put at most max images onto the page; 0: none. */
taper_status cli_examples_put(const cli_comparison *comparison, const cli_subject *subject,
                              const cli_originals *originals, size_t max, FILE *page,
                              taper_error *error);
#endif

/* candidates.h -- pairs of images that may be copies: all whose descriptors agree. */
#ifndef CLI_COPIES_CANDIDATES_H
#define CLI_COPIES_CANDIDATES_H
#include "cli/common/settings.h"
#include "cli/copies/descriptor.h"

typedef struct cli_candidate {
    uint32_t a, b;          /* images, a < b */
    uint8_t turn;           /* of a, as cli_grey_turn */
    uint8_t part_a, part_b; /* parts of the turned a and of b that agree best */
} cli_candidate;

typedef struct cli_candidates {
    cli_candidate *pair; /* [n] in a fixed order; one for each turn that may be */
    size_t n;
} cli_candidates;

/* Compare the descriptors of n images, each with each. are_turned: in all eight turns, else as they
 * are. The result does not depend on the number of threads. common: threads, --max-memory, and
 * whether progress is shown. TAPER_ERR_LIMIT: the pairs exceed the memory; TAPER_ERR_NOMEM. On
 * failure *out is empty. */
taper_status cli_candidates_find(cli_candidates *out, const cli_descriptor *of, size_t n,
                                 bool are_turned, const cli_common *common, taper_error *error);
/* The parts of two versions that agree best. Returns whether they agree as much as those of a
 * candidate. */
bool cli_parts_agree(const cli_descriptor *a, const cli_descriptor *b, uint8_t *part_a,
                     uint8_t *part_b);

void cli_candidates_free(cli_candidates *candidates); /* a zeroed one is fine */

#endif

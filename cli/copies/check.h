/* check.h -- decides by pixels of grey versions whether one image is a copy of another. */
#ifndef CLI_COPIES_CHECK_H
#define CLI_COPIES_CHECK_H
#include "cli/copies/align.h"

/* At this score and above an image is a copy. */
#define CLI_COPY_SCORE 0.85F

/* True if there is enough structure for a check. Flat images and mere gradients have none: these
 * are copies only if all pixels are equal. */
bool cli_check_is_possible(const cli_template *of);

/* How well b agrees with a, which has slopes, 0 to 1. start: a map to begin with, as for cli_align.
 *
 * The grey version of a is divided into blocks of 8 x 8 pixels. From each block, and from the
 * pixels of b at the same places, the means of its rows and of its columns are subtracted: without
 * that, lines of text, axes and horizons make different images alike. What is left of the two
 * either correlates or does not; the score is the share of blocks that do, weighted by deviation.
 * Maps that are tried are `start`, the one that cli_align finds from there, and in doubtful cases
 * further starts. */
float cli_check(const cli_template *a, const cli_template *b, const cli_map *start);

#endif

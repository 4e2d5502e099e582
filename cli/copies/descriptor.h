/* descriptor.h -- few numbers of a grey version, by which candidates for copies are found: cosine
 * coefficients of low frequency, of the whole version and of parts of it. */
#ifndef CLI_COPIES_DESCRIPTOR_H
#define CLI_COPIES_DESCRIPTOR_H
#include "cli/copies/align.h"

/* The parts: the centre; the whole; the whole without a narrow edge; without a strip at one side;
 * without two strips that meet in a corner. */
enum {
    CLI_CENTRE,
    CLI_WHOLE,
    CLI_INNER,
    CLI_CENTRAL, /* number of parts with the same edge cut from all sides */
    CLI_PARTS = CLI_CENTRAL + 8,
    CLI_COEFFICIENTS = 32,
    CLI_DESCRIPTOR_UNIT = 1 << 14
};

/* Of each part: coefficients that were multiplied by their frequency, without the mean, as a vector
 * of length CLI_DESCRIPTOR_UNIT; or zeros, if the part is flat. The product of two vectors is
 * therefore at most CLI_DESCRIPTOR_UNIT squared, 2^28. */
typedef struct cli_descriptor {
    int16_t part[CLI_PARTS][CLI_COEFFICIENTS];
} cli_descriptor;

/* The cosines of each strip of an axis of 32 pixels, to which versions are halved first. One for
 * any number of calls and threads. */
enum { CLI_STRIPS = 5, CLI_COSINES = 8, CLI_COSINE_SIDE = CLI_HALF_SIDE };
typedef struct cli_cosines {
    float of[CLI_STRIPS][CLI_COSINE_SIDE][CLI_COSINES]; /* 0 outside of the strip */
} cli_cosines;
void cli_cosines_make(cli_cosines *to);

void cli_descriptor_make(cli_descriptor *to, const cli_cosines *cosines,
                         const uint8_t grey[CLI_GREY_PIXELS]);

/* That of the version after cli_grey_turn. */
void cli_descriptor_turn(const cli_descriptor *from, unsigned turn, cli_descriptor *to);

/* The map that brings one part of a version to a part of another. */
cli_map cli_part_map(unsigned from, unsigned to);

#endif

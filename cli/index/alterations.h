/* alterations.h -- alters images a little and measures how far their codes move: a distance for
 * near-duplicates. */
#ifndef CLI_ALTERATIONS_H
#define CLI_ALTERATIONS_H
#include "cli/index/index_file.h"

typedef struct cli_alterations {
    size_t images, altered; /* number of images, and of altered copies */
    uint32_t within;        /* distance within which nine of ten copies are from their image */
} cli_alterations;

/* Measure the distances between altered images and their codes in the index. Takes up to a hundred
 * images, spread over the set. Alterations: scaled to three quarters and back; brighter by 8 of
 * 255; 1/32 cropped at each side. On failure prints a message and returns an exit code; CLI_USAGE:
 * no image of the set can be used. */
int cli_alterations_try(cli_alterations *out, const taper_index *index, cli_code_set *set,
                        const cli_embedder *embedder);

#endif

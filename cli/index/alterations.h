/* alterations.h -- images altered a little, and how far that moves their codes: what may be called
 * nearly the same. */
#ifndef CLI_ALTERATIONS_H
#define CLI_ALTERATIONS_H
#include "cli/index/index_file.h"

typedef struct cli_alterations {
    size_t images, altered; /* that were tried; copies of them */
    uint32_t within;        /* nine of ten copies are that near to their image */
} cli_alterations;

/* Up to a hundred images of the set, spread over it, each at three quarters of its size and back,
 * lighter by 8 of 255, and without the outermost of 32 parts: how far their codes are from what the
 * index holds of the image. Prints what is wrong and returns an exit code; CLI_USAGE where no image
 * of the set can be used. */
int cli_alterations_try(cli_alterations *out, const taper_index *index, cli_code_set *set,
                        const codec_embedder *embedder);

#endif

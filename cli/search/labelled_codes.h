/* labelled_codes.h -- the codes of a labelled set, in memory, to search among. */
#ifndef CLI_LABELLED_CODES_H
#define CLI_LABELLED_CODES_H
#include "cli/search/code_set.h"

typedef struct cli_labelled_codes {
    size_t n, width, room;
    uint64_t held; /* bytes on the run's account */
    bool are_bits;
    float *codes;   /* [n][width] */
    int32_t *label; /* [n] class of the set, 0.. */
    size_t *image;  /* [n] number in the set, rising */
    const cli_code_set *set;
    size_t unlabelled;  /* images of the set that have no label */
    float *rest;        /* [unlabelled][width] their codes, which are part of `codes` */
    size_t *rest_image; /* [unlabelled] number in the set, falling */
} cli_labelled_codes;

/* Of an open set, which must stay open. Prints what is wrong and returns an exit code: no image has
 * a label, all have the same one, or the codes take more than --max-memory; wants_rest: all have a
 * label, where otherwise it is said when some have none. On failure nothing is held. */
int cli_labelled_codes_read(cli_labelled_codes *out, cli_code_set *set,
                            const codec_embedder *embedder, bool wants_rest);
void cli_labelled_codes_free(cli_labelled_codes *codes); /* a zeroed one is fine */

/* How many of each class of the set; the caller's to free, NULL without memory. */
size_t *cli_labelled_codes_members(const cli_labelled_codes *codes);

#endif

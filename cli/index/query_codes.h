/* query_codes.h -- the queries of a search, as codes of bits: images and containers, images of the
 * index itself, and codes that are given. */
#ifndef CLI_QUERY_CODES_H
#define CLI_QUERY_CODES_H
#include "cli/index/index_file.h"

typedef struct cli_query_codes {
    size_t n, words;
    uint64_t *code;       /* [n][words] */
    uint32_t *known_bits; /* [n] 1.. */
    int64_t *self;        /* [n] of an image of the index its number there; else -1 */
    int64_t *image;       /* [n] of an image of `set` its number there; else -1 */
    char **name;          /* [n] */
    bool keeps_margins;
    float *margin; /* [n][bits] of each bit, where they are kept: 0 of one that is not known, 1 of
                      those of queries that are no images */
    cli_code_set *set; /* of the images; NULL: there are none */
    uint32_t bits;     /* of the index */
} cli_query_codes;

/* keeps_margins: of images, too, by an embedder that keeps them. */
void cli_query_codes_open(cli_query_codes *out, const taper_index *index, bool keeps_margins);
void cli_query_codes_close(cli_query_codes *queries); /* a zeroed one is fine */

/* Those that follow append to the queries; print what is wrong and return an exit code. */

/* All images of an open set. */
int cli_query_codes_embed(cli_query_codes *queries, cli_code_set *set,
                          const codec_embedder *embedder);
/* Images of the index, as --image names them (cli/search/image_choice.h). */
int cli_query_codes_member(cli_query_codes *queries, const taper_index *index, const char *which);
/* A code in hexadecimal digits, the first bit the highest of the first: as many of its bits count
 * as are given. */
int cli_query_codes_digits(cli_query_codes *queries, const char *digits);

#endif

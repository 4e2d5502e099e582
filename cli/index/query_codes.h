/* query_codes.h -- the queries of a search as binary codes: images, containers, images of the
 * index, and given codes. */
#ifndef CLI_QUERY_CODES_H
#define CLI_QUERY_CODES_H
#include "cli/index/index_list.h"

typedef struct cli_query_codes {
    size_t n, words;
    uint64_t *code;       /* [n][words] */
    uint32_t *known_bits; /* [n] 1.. */
    int64_t *self;        /* [n] number of the query in the index; -1: not in the index */
    int64_t *image;       /* [n] number of the query in `set`; -1: not in the set */
    char **name;          /* [n] */
    bool keeps_margins;
    /* [n][bits] with keeps_margins: distance of each bit from its threshold; 0 for unknown bits, 1
     * for queries that are not images. */
    float *margin;
    cli_code_set *set; /* the images; NULL: none */
    uint32_t bits;     /* of the index */
} cli_query_codes;

/* keeps_margins: keep the margins of images; the embedder must compute them. */
void cli_query_codes_open(cli_query_codes *out, const taper_index *index, bool keeps_margins);
void cli_query_codes_close(cli_query_codes *queries); /* a zeroed one is fine */

/* The next three append queries. On failure they print a message and return an exit code. */

/* All images of an open set. */
int cli_query_codes_embed(cli_query_codes *queries, cli_code_set *set,
                          const cli_embedder *embedder);
/* Images of the index, as --image names them (cli/search/image_choice.h). */
int cli_query_codes_member(cli_query_codes *queries, const taper_index *index, const char *which);
/* A code in hexadecimal digits; the first bit is the highest of the first digit. Only the given
 * bits are known. */
int cli_query_codes_digits(cli_query_codes *queries, const char *digits);

/* Of images of the index that have the same name as another query, though they are other images:
 * put the path of their file and a colon before it. */
int cli_query_codes_tell_apart(cli_query_codes *queries, const cli_index_list *list);

#endif

/* query.h -- what follows the question mark of a request. */
#ifndef SERVE_REQUEST_QUERY_H
#define SERVE_REQUEST_QUERY_H
#include <stdbool.h>
#include <stdint.h>

enum { SERVE_MOST_SIDE = 65500 }; /* of a picture, in pixels: the most that JPEG has */

/* 0: not given. */
typedef struct serve_query {
    uint64_t bytes;         /* a prefix of the container */
    uint32_t width, height; /* of the picture, 1..SERVE_MOST_SIDE */
    uint32_t scale;         /* 1, 2, 4, 8 or 16: 1 / scale of the size */
    uint32_t quality;       /* of a JPEG, 1..100 */
    uint64_t from, count;   /* of a list of images: the first, from 1, and how many */
} serve_query;

/* Read the text behind the question mark; NULL and "" are fine. Known are bytes=N (or NK, NM, NG,
 * powers of 1024), width=N, height=N, scale=1/N, quality=N, from=N and count=N; of a name that
 * comes twice the last counts. Other names are ignored, as addresses get more on their way.
 * Returns NULL, or what is wrong with it. */
const char *serve_query_read(const char *text, serve_query *out);

#endif

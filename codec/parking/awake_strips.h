/* awake_strips.h -- which groups of a decoder are awake: the one in work, and those that were in
 * work last, as far as they take little memory. All others are parked. */
#ifndef CODEC_AWAKE_STRIPS_H
#define CODEC_AWAKE_STRIPS_H
#include "codec/parking/parked_strips.h"

enum {
    CODEC_MOST_AWAKE = 32,           /* groups */
    CODEC_MOST_AWAKE_BYTES = 8 << 20 /* of those beside the one in work */
};

/* Begins zeroed. */
typedef struct codec_awake_strips {
    codec_strips *strips[CODEC_MOST_AWAKE]; /* [n] borrowed; the one in work first */
    uint32_t n;
} codec_awake_strips;

/* These are in work next: park others, as far as it is needed. All, if the account, which may be
 * NULL, has too little left to wake these. What there is no memory to park stays awake. */
void codec_awake_use(codec_awake_strips *awake, codec_strips *strips,
                     const formats_account *account);
/* Park all but these; NULL: all. */
void codec_awake_keep(codec_awake_strips *awake, const codec_strips *strips);
/* These are freed next. */
void codec_awake_remove(codec_awake_strips *awake, const codec_strips *strips);

#endif

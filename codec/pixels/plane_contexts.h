/* plane_contexts.h -- the neighbours of a pixel of a colour plane, and what they make: hashes for
 * contexts, and the pattern of which neighbours are equal. */
#ifndef CODEC_PLANE_CONTEXTS_H
#define CODEC_PLANE_CONTEXTS_H
#include <stddef.h>
#include <stdint.h>

enum {
    CODEC_PLANE_MARGIN = 3, /* columns on both sides of a plane, and rows above it */
    CODEC_PLANE_SEEN = 13   /* neighbours */
};

/* The neighbours by number; each is (columns to the right, rows down). */
enum {
    CODEC_W,    /* -1  0 */
    CODEC_N,    /*  0 -1 */
    CODEC_NW,   /* -1 -1 */
    CODEC_NE,   /*  1 -1 */
    CODEC_WW,   /* -2  0 */
    CODEC_NN,   /*  0 -2 */
    CODEC_NEE,  /*  2 -1 */
    CODEC_NWW,  /* -2 -1 */
    CODEC_WWW,  /* -3  0 */
    CODEC_NNW,  /* -1 -2 */
    CODEC_NNE,  /*  1 -2 */
    CODEC_NEEE, /* 3 -1 */
    CODEC_NNN   /*  0 -3 */
};

typedef struct codec_plane_contexts {
    uint32_t seen[CODEC_PLANE_SEEN];
    uint32_t two, four, seven, all; /* hashes of the first 2, 4, 7, 13 neighbours */
    uint32_t shape;                 /* a hash of which of the first 8 are equal */
    int flat;                       /* the first 8 are all equal */
} codec_plane_contexts;

static inline uint32_t codec_hash(uint32_t hash, uint32_t value) {
    hash = (hash ^ value) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}

/* at: the pixel in its plane, whose rows are `stride` apart. */
void codec_plane_contexts_find(codec_plane_contexts *contexts, const uint32_t *at, size_t stride);

#endif

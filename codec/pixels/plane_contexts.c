/* plane_contexts.c -- see plane_contexts.h. */
#include "codec/pixels/plane_contexts.h"

static uint32_t shape_of(const uint32_t *seen, int *flat) {
    enum { SEEN = 8 };
    uint32_t shape = 0;
    for (int i = 1; i < SEEN; i++) {
        uint32_t first = 0; /* the first of the neighbours that are equal to this one */
        while (seen[first] != seen[i]) first++;
        shape = shape << 3 | first;
    }
    *flat = !shape;
    return shape;
}

void codec_plane_contexts_find(codec_plane_contexts *c, const uint32_t *at, size_t stride) {
    const uint32_t *above = at - stride, *second = above - stride, *third = second - stride;
    uint32_t *s = c->seen, hash = 0;
    s[CODEC_W] = at[-1], s[CODEC_WW] = at[-2], s[CODEC_WWW] = at[-3];
    s[CODEC_N] = above[0], s[CODEC_NW] = above[-1], s[CODEC_NWW] = above[-2];
    s[CODEC_NE] = above[1], s[CODEC_NEE] = above[2], s[CODEC_NEEE] = above[3];
    s[CODEC_NN] = second[0], s[CODEC_NNW] = second[-1], s[CODEC_NNE] = second[1];
    s[CODEC_NNN] = third[0];
    for (int i = 0; i < CODEC_PLANE_SEEN; i++) {
        hash = codec_hash(hash, s[i]);
        if (i == CODEC_N) c->two = hash;
        if (i == CODEC_NE) c->four = hash;
        if (i == CODEC_NEE) c->seven = hash;
    }
    c->all = hash;
    c->shape = codec_hash(1, shape_of(s, &c->flat));
}

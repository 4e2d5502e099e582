/* scenes.h -- larger pictures: dead leaves, skies and hills, surfaces, printed text, and all of
 * them together. */
#ifndef SAMPLES_SCENES_H
#define SAMPLES_SCENES_H
#include "samples/canvas.h"

typedef enum samples_scene_kind {
    SAMPLES_LEAVES,  /* occluding discs with power-law sizes: the statistics of natural images (Lee,
                        Mumford &  Huang 2001, "Occlusion models for natural images") */
    SAMPLES_SKY,     /* gradients, clouds, hills behind hills */
    SAMPLES_SURFACE, /* one or two procedural textures under slanting light */
    SAMPLES_TEXT,    /* a printed or written page, or a sign */
    SAMPLES_TABLE,   /* things standing on a plane, with shadows */
    SAMPLES_SCENE_KINDS
} samples_scene_kind;

typedef struct samples_scene {
    samples_scene_kind kind;
    int width, height;
    int grey; /* one channel */
    int deep; /* 16 bits */
} samples_scene;

/* What scene index of a set is: kinds in turn; most are 256 x 192, some upright or of odd size; one
 * in 24 is grey, one in 48 has 16 bits. */
samples_scene samples_scene_of(uint64_t index);
const char *samples_scene_name(samples_scene_kind kind); /* "leaves", ... */

/* Draw it on a canvas of its size. False when there is no memory. */
int samples_scene_draw(samples_canvas *c, uint64_t seed, uint64_t index);

#endif

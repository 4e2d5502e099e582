/* texture.h -- colours and procedural textures: what a surface looks like at a point. */
#ifndef SAMPLES_TEXTURE_H
#define SAMPLES_TEXTURE_H
#include "samples/random.h"

typedef struct samples_colour {
    float r, g, b;
} samples_colour;

typedef enum samples_texture_kind {
    SAMPLES_FLAT,
    SAMPLES_GRADIENT, /* linear from a to b over `scale` pixels */
    SAMPLES_CLOUD,    /* fractal noise between a and b, c where it is highest */
    SAMPLES_GRAIN,    /* flat with fine noise: plaster, sand, paper */
    SAMPLES_WOOD,     /* rings that are drawn out along one direction */
    SAMPLES_MARBLE,   /* veins: folded noise */
    SAMPLES_STRIPES,  /* soft, slightly wavy */
    SAMPLES_CHECKS,
    SAMPLES_BRICKS,
    SAMPLES_WEAVE, /* cloth */
    SAMPLES_CELLS, /* pebbles, leaves seen from afar: nearest of scattered points */
    SAMPLES_TEXTURE_KINDS
} samples_texture_kind;

/* scale: pixels per feature (gradient: pixels from a to b); angle turns it; seed picks the
 * instance. */
typedef struct samples_texture {
    samples_texture_kind kind;
    samples_colour a, b, c;
    float scale, cosine, sine; /* of the angle */
    float x0, y0;              /* origin, pixels */
    float rough;               /* 0.3 smooth .. 0.7 rough: how much each octave of noise keeps */
    float contrast;            /* 0..1: how far it leaves its mean colour */
    uint32_t seed;
} samples_texture;

samples_colour samples_texture_at(const samples_texture *t, float x, float y);

/* Uniform colour. */
samples_texture samples_texture_flat(samples_colour colour);
/* A random texture of a kind whose features are `scale` pixels, coloured around base. */
samples_texture samples_texture_random(samples_random *r, samples_texture_kind kind,
                                       samples_colour base, float scale);

/* Hue 0..1, saturation 0..1, value 0..1. */
samples_colour samples_hsv(float hue, float saturation, float value);
/* Each drawn from its range. */
samples_colour samples_hsv_between(samples_random *r, float hue0, float hue1, float saturation0,
                                   float saturation1, float value0, float value1);
/* As colours occur in photographs: mostly muted, earth and sky hues more often than others. */
samples_colour samples_colour_natural(samples_random *r);
/* A strong colour, as of a toy or a sign. */
samples_colour samples_colour_vivid(samples_random *r);
/* A relation of base: the same stuff in another light. spread 0..1. */
samples_colour samples_colour_near(samples_random *r, samples_colour base, float spread);
samples_colour samples_colour_mixed(samples_colour a, samples_colour b, float t);
samples_colour samples_colour_scaled(samples_colour a, float factor);
float samples_luma(samples_colour a); /* Rec. 601 weights */

/* Fractal noise around 0.5, mostly within 0..1; one feature per unit of x and y at the coarsest
 * octave. */
float samples_noise(uint32_t seed, float x, float y, int octaves, float rough);

#endif

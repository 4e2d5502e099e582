/* colour_plane.h -- planes of colours that repeat: drawings, and alpha of few values.
 *
 * Each pixel is compared with candidates: colours that followed the same neighbours before, its
 * neighbours, colours used recently. Whether it is the candidate is one bit, whose probability is
 * mixed from several contexts. A colour that was never used is coded by its samples. The statistics
 * and the list of colours go on from plane to plane, so that images of a group share them. */
#ifndef CODEC_COLOUR_PLANE_H
#define CODEC_COLOUR_PLANE_H
#include "codec/pixels/bit_mixer.h"
#include "codec/pixels/new_colour.h"
#include "codec/pixels/plane_contexts.h"
#include "formats/layout.h"

/* The colour of an indexed image of which nothing is known: grey and opaque. */
#define CODEC_UNKNOWN_COLOUR 0xFF808080u

/* A plane in memory, with its margins. */
typedef struct codec_colour_plane {
    uint32_t width, height;
    codec_colour_kind kind;
    uint32_t *colour; /* [height + margin][width + 2 margins] */
    int begun;        /* the background is known */
    uint32_t background;
    uint64_t known; /* pixels, in order; the others have the background */
} codec_colour_plane;

static inline size_t codec_plane_stride(uint32_t width) {
    return (size_t)width + 2 * CODEC_PLANE_MARGIN;
}
/* Elements of `colour`; saturates. */
uint64_t codec_plane_elements(uint32_t width, uint32_t height);
static inline uint32_t *codec_plane_row(const codec_colour_plane *p, uint32_t y) {
    return p->colour + (y + (size_t)CODEC_PLANE_MARGIN) * codec_plane_stride(p->width) +
           CODEC_PLANE_MARGIN;
}

typedef struct codec_colour_model codec_colour_model;

/* Memory of a model for planes of so many pixels in all. */
uint64_t codec_colour_model_bytes(uint64_t pixels);
/* TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. account: NULL: not counted. */
taper_status codec_colour_model_open(codec_colour_model **out, uint64_t pixels,
                                     formats_account *account);
void codec_colour_model_close(codec_colour_model *model); /* NULL is allowed */

/* Code the plane. Encoding: all of plane->colour inside the margins and the background are set.
 * Decoding: it is filled as far as the string goes, the rest with the background. */
void codec_colour_plane_code(codec_colour_model *model, codec_pixel_bits *bits,
                             codec_colour_plane *plane);

#endif

/* embed.h -- images into the codes of a model, one window an image, or into their pixels as
 * numbers; the manual of taper_embed, which embed.c defines, is codec/taper_model.h. Opened once
 * for many blocks of images: the analysis of a linear model is made when it is opened. */
#ifndef CODEC_EMBED_H
#define CODEC_EMBED_H
#include "codec/backend/pool.h"
#include "codec/model/model.h"

typedef struct codec_embedder {
    codec_window window; /* what an image must be, or ... */
    int scales;          /* ... 1: is scaled to: an embedding model's */
    size_t width;        /* numbers in a code */
    int is_binary;       /* 1: these are bits, 0 or 1, less a constant ... */
    int keeps_margins;   /* ... or, when it is set to 1, what the thresholds see */
    /* its own */
    int has_network;
    codec_network network; /* the model's arrays, with a true analysis (pseudo_inverse.h) */
    float *analysis;       /* NULL: the model's own */
    float centre;
    codec_backend backend; /* without a pool: each block is one thread's */
    codec_pool *pool;
} codec_embedder;

/* model is borrowed until closing. threads: 0: one per online core; at most 256.
 * TAPER_ERR_NOMEM; TAPER_ERR_CORRUPT: the model's rows have no analysis. On success to be closed;
 * on failure there is nothing to close. */
taper_status codec_embedder_open(codec_embedder *out, const taper_model *model, unsigned threads,
                                 taper_error *error);
/* Codes are the pixels themselves, 0..255, in the order of network.h: what search by codes is
 * compared with. */
taper_status codec_embedder_open_pixels(codec_embedder *out, codec_window window, unsigned threads,
                                        taper_error *error);
/* Codes are their first `units` numbers from now on; 0: as they are. TAPER_ERR_ARG: they have
 * fewer. */
taper_status codec_embedder_shorten(codec_embedder *embedder, size_t units, taper_error *error);
void codec_embedder_close(codec_embedder *embedder); /* a zeroed one is fine */

/* TAPER_OK, or TAPER_ERR_UNSUPPORTED: the image has another size and is not scaled, alpha, or
 * colours where the window is grey; the text has the remedy. */
taper_status codec_embedder_check(const codec_embedder *embedder, const taper_image *image,
                                  taper_error *error);
/* Scale an image that has been checked to the window now, where the codes would be of that anyway:
 * it takes less memory to keep. TAPER_ERR_NOMEM: it is as it was. */
taper_status codec_embedder_fit(const codec_embedder *embedder, taper_image *image,
                                taper_error *error);
/* codes[n][width] of images that have been checked. TAPER_ERR_NOMEM; TAPER_ERR_CORRUPT: a code is
 * not finite, as the model's weights overflow. */
taper_status codec_embedder_codes(const codec_embedder *embedder, const taper_image *images,
                                  size_t n, float *codes, taper_error *error);

#endif

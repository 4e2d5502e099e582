/* embed.h -- computing the codes of images, one window per image, or their pixels as numbers. The
 * interface of taper_embed is codec/taper_model.h. An embedder is opened once for many blocks of
 * images, because opening computes the analysis matrix of a linear model. */
#ifndef CODEC_EMBED_H
#define CODEC_EMBED_H
#include "codec/backend/pool.h"
#include "codec/model/model.h"

typedef struct codec_embedder {
    /* The size that an image must have. */
    codec_window window;
    /* 1: images of other sizes are scaled to it (embedding models). */
    int scales;
    size_t width; /* numbers in a code */
    /* 1: codes are bits, 0 or 1, minus a constant; or margins, if keeps_margins is 1. */
    int is_binary;
    /* Set by the caller, initially 0. */
    int keeps_margins;

    /* Private: */
    int has_network;
    codec_network network; /* the model's, with an analysis matrix (pseudo_inverse.h) */
    float *analysis;       /* owned; NULL: the model has one */
    float centre;
    codec_backend backend; /* without a pool: one thread computes a block */
    codec_pool *pool;
} codec_embedder;

/* Open an embedder. model is borrowed until it is closed. threads: 0: one per online core; at most
 * 256. TAPER_ERR_NOMEM. TAPER_ERR_CORRUPT: the model's matrix is singular. On failure *out owns
 * nothing. */
taper_status codec_embedder_open(codec_embedder *out, const taper_model *model, unsigned threads,
                                 taper_error *error);
/* Open an embedder whose codes are the pixels, 0..255, in the order of network.h: the reference for
 * search by codes. */
taper_status codec_embedder_open_pixels(codec_embedder *out, codec_window window, unsigned threads,
                                        taper_error *error);
/* Shorten codes to their first `units` numbers; 0: no change. TAPER_ERR_ARG: they have fewer. */
taper_status codec_embedder_shorten(codec_embedder *embedder, size_t units, taper_error *error);
/* Safe on a zeroed struct. */
void codec_embedder_close(codec_embedder *embedder);

/* Check an image. TAPER_ERR_UNSUPPORTED: it has another size and is not scaled, has alpha, or is in
 * colour for a grey window. The message contains a remedy. */
taper_status codec_embedder_check(const codec_embedder *embedder, const taper_image *image,
                                  taper_error *error);
/* If codes are computed of a scaled image, replace a checked image by the scaled one, to save
 * memory. TAPER_ERR_NOMEM: the image is unchanged. */
taper_status codec_embedder_fit(const codec_embedder *embedder, taper_image *image,
                                taper_error *error);
/* Compute codes[n][width] of checked images. TAPER_ERR_NOMEM. TAPER_ERR_CORRUPT: a code is not
 * finite, because the model's weights overflow. */
taper_status codec_embedder_codes(const codec_embedder *embedder, const taper_image *images,
                                  size_t n, float *codes, taper_error *error);

#endif

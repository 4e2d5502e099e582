/* taper_model.h -- the part of the public interface that is about models; see taper.h, which
 * includes it, and into which `make install` merges it. */
#ifndef TAPER_MODEL_H
#define TAPER_MODEL_H
#include "formats/taper_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct taper_model taper_model;

typedef enum taper_family {
    TAPER_FAMILY_PCA = 0,
    TAPER_FAMILY_DENSE = 1,
    TAPER_FAMILY_CONV = 2 /* pca whose pixels a convolutional network restores */
} taper_family;

/* "pca", "dense" or "conv"; "unknown" for what is none. Never NULL. */
TAPER_API const char *taper_family_name(taper_family family);

enum { TAPER_OBJECTIVE_BYTES = 32 }; /* of an objective's name, with its final 0 */

typedef struct taper_model_info {
    taper_family family;
    uint32_t channels; /* 1 grey, 3 RGB */
    uint32_t window_width,
        window_height;   /* pixels one code covers; larger images are a grid of windows */
    uint32_t units;      /* length of a code */
    uint32_t passes;     /* steps of the order: the finest cut is one pass */
    uint64_t weights;    /* numbers in the network */
    uint64_t id;         /* what containers refer to */
    uint64_t file_bytes; /* size of the .tpm file */
    uint32_t binary;     /* 1: each unit is one bit, so that b units are b bits a window; else 0 */
    uint32_t lap;        /* pixels by which windows reach over their edges; 0: none */
    uint32_t conditional_hidden; /* width of the network that predicts bits; 0: none */
    uint32_t head_hidden;        /* width of the network that refines what is decoded; 0: none */
    uint32_t restoration_hidden; /* of family conv: width of its convolutions; else 0 */
    uint64_t work;               /* multiply-adds a pixel to decode with all passes */
    uint64_t most_work;          /* the most that a pixel of the worst of images may take, which
                                    limits->max_work is held against */
    uint32_t feedback;           /* 1: of single bits, each of which, or its decoding, depends
                                    on those before it */
    uint32_t embedding;          /* 1: it has an encoder alone, and makes codes to be searched: no
                                    container is made with it; passes is 0, work is to encode */
    /* What an embedding model says of its training; of others "", 0 and 0. */
    char objective[TAPER_OBJECTIVE_BYTES]; /* "dt-nca"; lower-case letters, digits and hyphens; "":
                                              not said */
    float alpha;      /* of an objective with Student's kernel its degrees of freedom, above 1e-20
                         and below 1e20; 0: another kernel, or not said */
    uint32_t classes; /* of the labels: 2..1048576; 0: not said */
} taper_model_info;

/* Parse the bytes of a .tpm file. The bytes may be freed afterwards.
 * TAPER_ERR_TRUNCATED, _CORRUPT, _VERSION: not a (whole) model file of this version; _LIMIT: the
 * network is larger than limits->max_model_bytes, or takes more work than limits->max_work; limits
 * may be NULL. On success *out is the caller's; on failure it is NULL. */
TAPER_API taper_status taper_model_load(taper_model **out, const void *bytes, size_t size,
                                        const taper_limits *limits, taper_error *error);
/* NULL is fine. The model must outlive the encoders and decoders that use it. */
TAPER_API void taper_model_free(taper_model *model);
TAPER_API taper_model_info taper_model_get_info(const taper_model *model);

/* The models that ship are in the library: "photo" for photographs and other large images, "tiny"
 * for images of some 32x32 pixels. Load one by name, for an encoder: decoders that are given no
 * model find them by what the container says. TAPER_ERR_ARG: there is none of that name. */
TAPER_API taper_status taper_model_builtin(taper_model **out, const char *name, taper_error *error);
/* The bytes of its .tpm file, which stay the library's (for taper_encode_options.model_bytes), and
 * how many they are; NULL and 0: there is none of that name. size may be NULL. */
TAPER_API const void *taper_model_builtin_bytes(const char *name, size_t *size);
/* The name of the one that a container was made with, from its first n bytes (32 are enough). NULL:
 * it was made with another model, or these are too few, or not a container's. */
TAPER_API const char *taper_model_builtin_for(const void *bytes, size_t n);

/* The codes of n images, one each, for search (taper_nearest): codes[n][units], the caller's, units
 * of taper_model_get_info. An image is one window: window_width x window_height pixels, grey or,
 * with a model of 3 channels, RGB; grey ones fill its channels. An embedding model takes any size:
 * another one is scaled to its window first, each pixel the mean of what it covers (SPEC 6.2). They
 * are the codes before anything is rounded for a container; of a binary model, as of
 * taper_decoder_codes, each bit less its centre, a constant. threads: 0: one per online core; at
 * most 256. They share out images: codes are the same, bit for bit, for any number of them, and
 * whatever images are around one. Many threads may call at once.
 *
 * A model that stores one matrix for both directions, as of family pca, has the other made in every
 * call, which takes some 4 units^2 x window values multiply-adds: hand over hundreds of images at
 * once. Memory: three such matrices for a moment, then one, and 96 windows a thread.
 *
 * TAPER_ERR_ARG: an image in colour where the model is for grey ones, with alpha, or, but with an
 * embedding model, of another size, which the text names by its number, from 0, with the remedy; an
 * array is NULL. TAPER_ERR_CORRUPT: the model's matrix has no other, or its weights overflow.
 * TAPER_ERR_NOMEM. On failure what `codes` holds is undefined. */
TAPER_API taper_status taper_embed(const taper_model *model, const taper_image *images, size_t n,
                                   unsigned threads, float *codes, taper_error *error);

/* Of a binary model: what its thresholds see, margins[n][units]: above 0 where the bit is 1, and
 * the farther from 0 the surer (taper_index_pack makes bits of them, taper_index_rank ranks by
 * them). Of any other model the codes. All else as taper_embed. */
TAPER_API taper_status taper_embed_margins(const taper_model *model, const taper_image *images,
                                           size_t n, unsigned threads, float *margins,
                                           taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

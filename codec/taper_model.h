/* taper_model.h -- models, a part of the public interface. */
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
    TAPER_FAMILY_CONV = 2, /* pca, followed by a convolutional network */
    /* dense, of gradient orientations in cells instead of pixels; only embedding models */
    TAPER_FAMILY_GRADIENTS = 3,
    /* dense, after convolutional layers with pooling; only embedding models */
    TAPER_FAMILY_POOLING = 4
} taper_family;

/* "pca", "dense", "conv", "gradients" or "pooling"; "unknown" for any other value. Never NULL. */
TAPER_API const char *taper_family_name(taper_family family);

/* Size of the name of an objective, with its final 0. */
enum { TAPER_OBJECTIVE_BYTES = 32 };

typedef struct taper_model_info {
    size_t size; /* sizeof(taper_model_info), set by the caller */
    taper_family family;
    uint32_t channels; /* 1: grey, 3: RGB */
    /* Size of a window in pixels. A code describes one window; larger images are a grid of them. */
    uint32_t window_width, window_height;
    /* Length of a code. */
    uint32_t units;
    /* Steps of the coding order; the finest cut is one pass. 0 for an embedding model. */
    uint32_t passes;
    /* Number of weights of the network. */
    uint64_t weights;
    /* Identifies the model in containers and indexes. */
    uint64_t id;
    /* Size of the .tpm file. */
    uint64_t file_bytes;
    /* 1: each unit is one bit, so that b units are b bits per window; else 0. */
    uint32_t binary;
    /* Pixels by which windows overlap their neighbours; 0: none. */
    uint32_t lap;
    /* Width of the network that predicts bits; 0: none. */
    uint32_t conditional_hidden;
    /* Width of the network that refines decoded values; 0: none. */
    uint32_t head_hidden;
    /* Width of the convolutions of family conv; else 0. */
    uint32_t restoration_hidden;
    /* Multiply-adds per pixel to decode all passes; for an embedding model, to encode. */
    uint64_t work;
    /* Upper bound of work over all images; it must not exceed limits->max_work. */
    uint64_t most_work;
    /* 1: binary, and each bit, or its decoding, depends on the bits before it. */
    uint32_t feedback;
    /* 1: the model has only an encoder, whose codes are for search. It makes no containers. */
    uint32_t embedding;
    /* How an embedding model was trained. For other models "", 0 and 0.
     * Objective: lower-case letters, digits and hyphens ("dt-nca"); "": unknown. */
    char objective[TAPER_OBJECTIVE_BYTES];
    /* Degrees of freedom of an objective with Student's t kernel, above 1e-20 and below 1e20;
     * 0: another kernel, or unknown. */
    float alpha;
    /* Number of classes of the training labels, 2..1048576; 0: unknown. */
    uint32_t classes;
    /* Stages of the file, and how many of them are loaded: fewer only with
     * taper_model_load_stages. */
    uint32_t stages, stages_known;
    /* Passes that can be decoded with the loaded stages. */
    uint32_t passes_known;
    /* Layers of the containers that it makes (taper_model_get_layer). */
    uint32_t layers;
    /* Of a binary model: what is subtracted from each bit of a code, 0 to 1; else 0. */
    float centre;
    /* Of models of gradients: cells of a window; else 0. */
    uint32_t cells_across, cells_down;
    /* Family pooling: convolutional layers; else 0. */
    uint32_t convolutions;
} taper_model_info;

/* Load a model from the contents of a .tpm file. The bytes may be freed afterwards. limits: NULL
 * means the defaults. On success the caller owns *out; on failure it is NULL.
 * TAPER_ERR_TRUNCATED, _CORRUPT, _VERSION: not a complete, intact model file of this version.
 * TAPER_ERR_LIMIT: the network exceeds limits->max_model_bytes or limits->max_work. */
TAPER_API taper_status taper_model_load(taper_model **out, const void *bytes, size_t size,
                                        const taper_limits *limits, taper_error *error);
/* The same of a .tpm file. TAPER_ERR_IO also: it cannot be read. */
TAPER_API taper_status taper_model_load_file(taper_model **out, const char *path,
                                             const taper_limits *limits, taper_error *error);
/* Load a model from the first bytes of a .tpm file: the whole stages that they contain, at least
 * the first. If some are missing, the model is for decoders only: they decode up to passes_known
 * passes, to the same codes as with all stages, and refine and restore as far as the stages for
 * that are there. Load again with more bytes for more. Checksums cover the stages; the id is
 * compared once all are there. TAPER_ERR_TRUNCATED: not even the first stage. Otherwise like
 * taper_model_load. */
TAPER_API taper_status taper_model_load_stages(taper_model **out, const void *bytes, size_t size,
                                               const taper_limits *limits, taper_error *error);
/* NULL is allowed. The model must outlive the encoders and decoders that use it. */
TAPER_API void taper_model_free(taper_model *model);
/* TAPER_ERR_ARG: out->size is not set, or a pointer is NULL. */
TAPER_API taper_status taper_model_get_info(const taper_model *model, taper_model_info *out,
                                            taper_error *error);

/* A layer of the containers that a model makes: the passes and, at its end, the expected bytes per
 * million pixels from the first layer on. */
typedef struct taper_model_layer {
    size_t size; /* sizeof(taper_model_layer) */
    uint32_t passes;
    uint32_t bytes_per_megapixel;
} taper_model_layer;
/* TAPER_ERR_ARG: out->size is not set, or the layer is not 0..taper_model_info.layers - 1. */
TAPER_API taper_status taper_model_get_layer(const taper_model *model, uint32_t layer,
                                             taper_model_layer *out, taper_error *error);

/* How a unit is coded: its bit planes, the finest step on the scale of taper_decoder_codes, and its
 * usual size in such steps, the root of the mean square. */
typedef struct taper_model_unit {
    size_t size; /* sizeof(taper_model_unit) */
    uint32_t planes;
    double step;
    double usual_size;
} taper_model_unit;
/* TAPER_ERR_ARG: out->size is not set; the unit is not 0..taper_model_info.units - 1; or the model
 * is binary or an embedding model. */
TAPER_API taper_status taper_model_get_unit(const taper_model *model, uint32_t unit,
                                            taper_model_unit *out, taper_error *error);

/* The width of a layer of the network that makes codes, 1 for the first; 0: the numbers of a
 * window, or of its cells. Returns 0 for a layer that does not exist. A model of family pca has
 * none. */
TAPER_API uint32_t taper_model_layer_width(const taper_model *model, uint32_t layer);

/* The name of built-in model i, from 0; NULL: there are fewer. */
TAPER_API const char *taper_model_builtin_name(size_t i);
/* Open a built-in model by name. For an encoder: "photo" for photographs and other large images,
 * "tiny" for images of about 32x32 pixels. Decoders find these by the id in the container; their
 * weights are constants of the library: opening takes microseconds and 16 KiB. For an embedder:
 * "search", binary codes of shapes; opening it takes some milliseconds and 600 KiB. The caller
 * owns *out. TAPER_ERR_ARG: there is no built-in model of that name. TAPER_ERR_NOMEM. */
TAPER_API taper_status taper_model_builtin(taper_model **out, const char *name, taper_error *error);
/* The contents and the size of its .tpm file (for taper_encode_options.model_bytes). The library
 * owns them. NULL and 0: there is no built-in model of that name. size may be NULL. */
TAPER_API const void *taper_model_builtin_bytes(const char *name, size_t *size);
/* The name of the built-in model with this id (taper_model_info.id); NULL: it is another model. */
TAPER_API const char *taper_model_builtin_of(uint64_t id);
/* The name of the built-in model of a container, from the first n bytes of the container; 32 bytes
 * are enough. NULL: another model, too few bytes, or not a container. */
TAPER_API const char *taper_model_builtin_for(const void *bytes, size_t n);

/* --- codes of images, for search ---------------------------------------------------------- */

typedef struct taper_embedder taper_embedder;

/* Create an embedder, which computes one code per image. The model is borrowed until the embedder
 * is freed. threads: 0: one per online core; at most 256. They exist until then.
 *
 * For a model that stores one matrix for both directions, as family pca does, the other one is
 * computed here, unless the model is built in. That takes about 4 units^2 x window values
 * multiply-adds. Memory: three such matrices for that, then one, and 96 windows per thread.
 *
 * On success the caller owns *out; on failure it is NULL. TAPER_ERR_ARG: stages of the model are
 * missing. TAPER_ERR_CORRUPT: the model's matrix is singular. TAPER_ERR_NOMEM. */
TAPER_API taper_status taper_embedder_new(taper_embedder **out, const taper_model *model,
                                          unsigned threads, taper_error *error);
/* NULL is allowed. */
TAPER_API void taper_embedder_free(taper_embedder *embedder);

/* Compute codes[n][units], the caller's array, with the units of taper_model_get_info.
 *
 * An image must be one window: window_width x window_height pixels, grey or, with a model of 3
 * channels, RGB. Grey images fill all channels. An embedding model takes images of any size and
 * scales them to its window: each pixel is the mean of the area that it covers (specification,
 * 6.2). Codes are not quantised. For a binary model they are on the scale of taper_decoder_codes:
 * the bit minus the model's centre.
 *
 * Codes are bit-identical for every number of threads and do not depend on the other images. One
 * thread at a time may use an embedder. Threads work on blocks of 96 images.
 *
 * TAPER_ERR_ARG: an array is NULL, or taper_model_check_image refuses an image. The message gives
 * its number, from 0, and a remedy. TAPER_ERR_CORRUPT: the model's weights overflow.
 * TAPER_ERR_NOMEM. On failure the contents of `codes` are undefined. */
TAPER_API taper_status taper_embedder_codes(taper_embedder *embedder, const taper_image *images,
                                            size_t n, float *codes, taper_error *error);
/* Compute the margins of a binary model: margins[n][units]. A margin is the value that the unit
 * compares with its threshold, minus the threshold: above 0 where the bit is 1, and the larger its
 * absolute value, the more certain the bit. taper_index_pack makes bits of margins, and
 * taper_index_rank ranks by them. For other models, computes the codes. Otherwise like
 * taper_embedder_codes. */
TAPER_API taper_status taper_embedder_margins(taper_embedder *embedder, const taper_image *images,
                                              size_t n, float *margins, taper_error *error);

/* Check that the model has a code for an image of this size and kind. image->pixels may be NULL.
 * TAPER_ERR_UNSUPPORTED: it is in colour for a grey model, has alpha, or, except for an embedding
 * model, has another size than the window. The message contains a remedy. */
TAPER_API taper_status taper_model_check_image(const taper_model *model, const taper_image *image,
                                               taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

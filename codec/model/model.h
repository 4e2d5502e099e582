/* model.h -- the struct of a model. The interface is codec/taper_model.h.
 *
 * The directory codec/model/: trained models.
 *   model                     the struct of a model
 *   model_read model_write    read and write the payload of a .tpm; model_payload: shared fields
 *   model_load                opens a file
 *   architecture              the first part of the payload; linear_rows: the linear path in it
 *   embedding_record          how a model without a decoder was trained
 *   builtin_models            the built-in models
 *   model_parts               its layers and units, and the kernels, for the public interface
 *   analysis                  the network for encoding
 *   work                      the multiply-adds per pixel of a model
 *   embed                     images to codes for search, one window per image
 *   model_synthesis           the linear path in integers
 *   scale_passes              how many passes show at a small size */
#ifndef CODEC_MODEL_H
#define CODEC_MODEL_H
#include "codec/bitplane/code_tables.h"
#include "codec/taper_model.h"
#include "codec/transform/gradients.h"
#include "codec/transform/lap.h"
#include "codec/transform/network.h"
#include "codec/transform/restoration.h"
#include "codec/transform/small_basis.h"
#include "codec/transform/synthesis.h"
#include "codec/transform/windows.h"

/* The maximal width of a layer. Readers check it before they allocate memory. */
enum {
    CODEC_MAX_LAYER_WIDTH = 65536,
    CODEC_MAX_CHANNELS = 65535 /* of a convolutional layer */
};

struct taper_model {
    taper_model_info info;
    codec_window window;
    codec_lap lap; /* window.lap points here, or is NULL */
    /* Families gradients and pooling: the inputs of the network are codec_gradients of a window;
     * across 0: they are its pixels. */
    codec_cells cells;
    /* 1: analysis is the pseudo-inverse of synthesis and is not stored. After loading,
     * network.analysis equals synthesis; encoders compute it (pseudo_inverse.h). 0 for direct
     * networks, whose stacks have network.tied_gain. */
    int tied;
    codec_network network;
    /* The linear path in integers, as decoders use it; weight NULL: not made. After loading a
     * linear model it is. */
    codec_synthesis synthesis;
    /* [units][inputs] of a built-in tied model: the analysis, stored; NULL: encoders compute it. */
    float *analysis;
    /* All zero in an embedding model, whose network has only an encoder. */
    codec_code_tables tables;
    /* layers 0: none, as in all families except conv. */
    codec_restoration restoration;
    /* The precision that its layers need (codec_weight_precision); 0: any. */
    int layer_bits;
    /* [units] 1: a unit whose set is in no stage that was there (taper_model_load_stages); NULL:
     * all units are known. */
    uint8_t *unit_is_missing;
    /* 1: all arrays, the conditional model and the head are constants of the library: a built-in
     * model (builtin_models.h), of which only this struct is allocated. */
    int is_constant;
};

/* Nonzero if its units are single bits. */
static inline int codec_model_is_binary(const taper_model *m) {
    return codec_network_has_decoder(&m->network) ? m->tables.density != NULL : m->info.binary;
}

/* What its network gets of a window, as a feature map. */
static inline codec_map codec_model_map(codec_window w, codec_cells c) {
    const codec_map pixels = {w.width, w.height, w.channels, 1};
    const codec_map gradients = {c.across, c.down, CODEC_GRADIENT_PLANES + w.channels, 1};
    return c.across ? gradients : pixels;
}
/* The family of an embedding model with these parts. */
static inline taper_family codec_model_embedding_family(const taper_model *m) {
    return codec_stack_convolutions(&m->network.encoder) ? TAPER_FAMILY_POOLING
           : m->cells.across                             ? TAPER_FAMILY_GRADIENTS
                                                         : TAPER_FAMILY_DENSE;
}

/* TAPER_ERR_ARG if stages of the model are missing; the message says that it is `use` that needs
 * all of them. */
taper_status codec_model_need_whole(const taper_model *model, const char *use, taper_error *error);
/* How many passes of these tables, the model's or those with raised planes, the known stages
 * decode: those before passes_known and before the first one of a missing unit. UINT32_MAX: all. */
uint32_t codec_model_known_passes(const taper_model *model, const codec_code_tables *tables);

/* Copy the model's network to *network for encoding: with an analysis, also if the model is tied.
 * threads: to compute one. cannot: as for codec_make_analysis. *made: NULL, or memory that the
 * caller frees after the last use of *network, also after a failure. Also the errors of
 * codec_make_analysis. */
taper_status codec_model_encoder(const taper_model *model, unsigned threads, const char *cannot,
                                 codec_network *network, float **made, taper_error *error);

/* The precision of stored weights. */
typedef struct codec_weight_precision {
    /* Squared error per pixel, on the 8-bit scale, that rounding the linear path may add; default
     * 0.25. */
    double linear_mse;
    /* Bits of the largest weight of a row of a layer, 2..20. 0: 8, or 12 in an embedding model.
     * Raised to the model's layer_bits. */
    int layer_bits;
} codec_weight_precision;

/* Nonzero: its codes become pixels by the synthesis alone, in integers. */
int codec_model_is_linear(const taper_model *model);
/* Make the synthesis of a linear model. TAPER_ERR_NOMEM: *out is zeroed. */
taper_status codec_model_make_synthesis(const taper_model *model, codec_synthesis *out);
/* Nonzero if it has a small basis of this scale (small_basis.h): linear, with a window that fits.
 */
int codec_model_has_small(const taper_model *model, uint32_t scale);
/* Make that basis; the usual size of a unit is its scale in the tables. TAPER_ERR_NOMEM: *out is
 * zeroed. */
taper_status codec_model_make_small(const taper_model *model, uint32_t scale,
                                    codec_small_basis *out);

/* Set *passes to the number of the model's passes that show at the scale of this basis of it, at
 * least 1: it depends on the model and the scale alone, on every machine. TAPER_ERR_NOMEM. */
taper_status codec_model_scale_passes(const taper_model *model, const codec_small_basis *basis,
                                      uint32_t *passes);

/* Append the complete .tpm file, of version FORMATS_MODEL_VERSION, to out. The model's weights are
 * replaced by the rounded ones of the file, so that later measurements apply to the file. info.id
 * and info.file_bytes are set.
 *
 * Of an embedding model (dense, gradients or pooling, the network a CODEC_ENCODER, no other parts)
 * info.objective, alpha, classes and binary are written. TAPER_ERR_ARG: one of the first three is
 * not legal, or the model has other parts; or the model is constant or lacks stages.
 * TAPER_ERR_NOMEM. */
taper_status codec_model_write(taper_model *model, const codec_weight_precision *precision,
                               formats_buffer *out, taper_error *error);

/* Round the network's weights to the precision of the file, as codec_model_write does first.
 * TAPER_ERR_ARG: the model is constant. TAPER_ERR_NOMEM. */
taper_status codec_model_round_weights(taper_model *model, const codec_weight_precision *precision,
                                       taper_error *error);

#endif

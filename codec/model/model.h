/* model.h -- a model in memory and as the payload of a .tpm file. The public face is in taper.h.
 *
 * The room codec/model/: what was trained.
 *   model                     a model in memory
 *   model_read model_write    from and to the payload of a .tpm; model_payload: what the two share
 *   embedding_record          what a model without a decoder says of its training
 *   builtin_models            the models that ship
 *   work                      how many multiply-adds a pixel a model asks for
 *   embed                     images into codes for search, one window an image
 *   render                    from decoded windows to pixels with its restoration network */
#ifndef CODEC_MODEL_H
#define CODEC_MODEL_H
#include "codec/bitplane/code_tables.h"
#include "codec/taper_model.h"
#include "codec/transform/lap.h"
#include "codec/transform/network.h"
#include "codec/transform/restoration.h"
#include "codec/transform/windows.h"

/* Ranges of a legal architecture: the closed list that a file is checked against before memory is
 * taken. */
enum { CODEC_MAX_LAYER_WIDTH = 65536 };

struct taper_model {
    taper_model_info info;
    codec_window window;
    codec_lap lap; /* window.lap points here, or is NULL */
    int tied; /* analysis is the pseudo-inverse of synthesis and not stored; it is absent (equal to
                 synthesis) after loading, and made by encoders: pseudo_inverse.h. 0 for direct
                 networks, whose stacks have network.tied_gain */
    codec_network network;
    codec_code_tables tables; /* all zero in an embedding model: its network is an encoder alone */
    codec_restoration restoration; /* layers 0: none, as in all families but conv */
    int layer_bits; /* its layers need so many to be stored (codec_weight_precision); 0: any will do
                     */
};

/* Are its units single bits? */
static inline int codec_model_is_binary(const taper_model *m) {
    return codec_network_has_decoder(&m->network) ? m->tables.density != NULL : m->info.binary;
}

/* How finely weights are stored. */
typedef struct codec_weight_precision {
    double linear_mse; /* squared error on a pixel (8-bit scale) that rounding the linear path may
                          add; default 0.25 */
    int layer_bits;    /* bits of the largest weight of a row of a layer, 2..20; 0: 8, or 12 in an
                          embedding model; a model that needs more gets more */
} codec_weight_precision;

/* The pixels of an image from its windows as the network gives them: laps undone, restored as after
 * so many complete passes, rounded. image as for codec_windows_write; pool: NULL or threads to
 * share. TAPER_ERR_NOMEM: as much again as `from` is needed, and as much again for restoring. */
taper_status codec_model_render(const taper_model *model, uint32_t pass, codec_pool *pool,
                                const float *from, taper_image *image);

/* The same, after which `windows` holds nothing of use, and no copy is made of it. */
taper_status codec_model_render_over(const taper_model *model, uint32_t pass, codec_pool *pool,
                                     float *windows, taper_image *image);

/* Append the whole .tpm file to out, of version FORMATS_MODEL_VERSION. The model's own weights are
 * replaced by what a reader will get, so that what is measured afterwards is what users get;
 * info.id and info.file_bytes are set. Of an embedding model (dense, its network a CODEC_ENCODER,
 * no other parts) info.objective, alpha, classes and binary are written. TAPER_ERR_ARG: one of the
 * first three is illegal, or it has other parts; TAPER_ERR_NOMEM. */
taper_status codec_model_write(taper_model *model, const codec_weight_precision *precision,
                               formats_buffer *out, taper_error *error);

/* Replace the network's weights by their stored precision (what write does first). scale[units]:
 * root mean square of each unit. */
taper_status codec_model_round_weights(taper_model *model, const codec_weight_precision *precision,
                                       taper_error *error);

#endif

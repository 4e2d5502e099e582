/* search_layer.h -- codes for search in a container: made by a separate model while the images are
 * encoded.
 *
 *     int code = cli_search_layer_open(&layer, "encode", path, bits, common);
 *     ... status = cli_search_layer_take(&layer, image, &error) of each image that was added ...
 *     status = cli_search_layer_finish(&layer, encoder, &error);
 *     cli_search_layer_close(&layer); */
#ifndef CLI_SEARCH_LAYER_H
#define CLI_SEARCH_LAYER_H
#include "cli/common/inputs.h"
#include "cli/search/embedder.h"
#include "codec/taper.h"

enum { CLI_SEARCH_LAYER_WAITING = 64 };

typedef struct cli_search_layer {
    cli_model model;
    cli_embedder embedder;
    uint32_t bits;
    bool carries_model; /* also store the model in the container; set after opening */
    taper_image waiting[CLI_SEARCH_LAYER_WAITING]; /* images scaled to the window of the model */
    size_t held;
    float *numbers;  /* [CLI_SEARCH_LAYER_WAITING][units] */
    uint64_t *codes; /* [n] */
    size_t n, room;
} cli_search_layer;

/* bits: use the first `bits` of each code; 0: all. On failure prints a message and returns an exit
 * code. */
int cli_search_layer_open(cli_search_layer *layer, const char *verb, const char *path,
                          uint32_t bits, const cli_common *common);
/* The same with a model that is open, which must outlive the layer. */
int cli_search_layer_take_model(cli_search_layer *layer, const char *verb, const taper_model *model,
                                uint32_t bits, const cli_common *common);
void cli_search_layer_close(cli_search_layer *layer); /* a zeroed one is fine */

/* TAPER_ERR_UNSUPPORTED: the model cannot code this image. */
taper_status cli_search_layer_check(const cli_search_layer *layer, const taper_image *image,
                                    taper_error *error);
/* Add an image that has been checked; its pixels stay the caller's. TAPER_ERR_NOMEM. */
taper_status cli_search_layer_take(cli_search_layer *layer, const taper_image *image,
                                   taper_error *error);
/* Pass all codes to the encoder. */
taper_status cli_search_layer_finish(cli_search_layer *layer, taper_encoder *encoder,
                                     taper_error *error);

#endif

/* search_layer.h -- codes for search that a container takes with it: each image's, by a model of
 * their own, gathered while the images are encoded.
 *
 *     int code = cli_search_layer_open(&layer, "encode", path, bits, common);
 *     ... status = cli_search_layer_take(&layer, image, &error) of each image that was added ...
 *     status = cli_search_layer_finish(&layer, encoder, &error);
 *     cli_search_layer_close(&layer); */
#ifndef CLI_SEARCH_LAYER_H
#define CLI_SEARCH_LAYER_H
#include "cli/common/inputs.h"
#include "codec/model/embed.h"
#include "codec/taper.h"

enum { CLI_SEARCH_LAYER_WAITING = 64 };

typedef struct cli_search_layer {
    cli_model model;
    codec_embedder embedder;
    uint32_t bits;
    bool carries_model; /* the container gets the model, too; set it after opening */
    taper_image waiting[CLI_SEARCH_LAYER_WAITING]; /* of the model's window */
    size_t held;
    float *numbers;  /* [CLI_SEARCH_LAYER_WAITING][units] */
    uint64_t *codes; /* [n] */
    size_t n, room;
} cli_search_layer;

/* bits: the first so many of each code; 0: all. Prints what is wrong and returns an exit code. */
int cli_search_layer_open(cli_search_layer *layer, const char *verb, const char *path,
                          uint32_t bits, const cli_common *common);
void cli_search_layer_close(cli_search_layer *layer); /* a zeroed one is fine */

/* TAPER_OK, or TAPER_ERR_UNSUPPORTED: no code can be made of this image. */
taper_status cli_search_layer_check(const cli_search_layer *layer, const taper_image *image,
                                    taper_error *error);
/* One that has been checked; its pixels stay the caller's. TAPER_ERR_NOMEM. */
taper_status cli_search_layer_take(cli_search_layer *layer, const taper_image *image,
                                   taper_error *error);
/* Hand all codes over. */
taper_status cli_search_layer_finish(cli_search_layer *layer, taper_encoder *encoder,
                                     taper_error *error);

#endif

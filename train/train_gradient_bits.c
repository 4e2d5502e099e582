/* train_gradient_bits.c -- see train_gradient_bits.h. */
#include "train/train_gradient_bits.h"
#include "codec/model/model.h"
#include <stdlib.h>
#include <string.h>

/* --- pictures ---------------------------------------------------------------------------- */

static taper_status draw_picture(const taper_image *image, codec_window window, codec_cells cells,
                                 taper_image *picture) {
    picture->pixels = malloc(codec_gradients_count(window, cells));
    if (!picture->pixels) return TAPER_ERR_NOMEM;
    return codec_gradients_of_image(window, cells, image, picture->pixels);
}

taper_status train_gradient_pictures(train_dataset *to, const train_dataset *data,
                                     codec_cells cells) {
    const codec_window window = {data->image[0].width, data->image[0].height, data->channels, NULL};
    const uint32_t width = cells.across * cells.down;
    const uint32_t height = CODEC_GRADIENT_PLANES + window.channels;
    TAPER_TRY(train_dataset_copy(to, data));
    to->channels = 1, to->pixels = (uint64_t)width * height * data->n;
    for (size_t i = 0; i < data->n; i++) {
        to->image[i].width = width, to->image[i].height = height, to->image[i].channels = 1;
        if (train_is_here(data, i))
            TAPER_TRY(draw_picture(&data->image[i], window, cells, &to->image[i]));
    }
    return TAPER_OK;
}

/* --- the model ----------------------------------------------------------------------------- */

/* The encoder becomes that of an embedding model; the rest of its network is freed. */
static void take_encoder(taper_model *from, taper_model *to) {
    codec_network *net = &to->network;
    *net = from->network;
    free(net->feedback), free(net->mixing);
    for (uint32_t l = 0; l < net->decoder.depth; l++)
        free(net->decoder.layer[l].weight), free(net->decoder.layer[l].bias);
    net->decoder = (codec_stack){0};
    net->feedback = net->mixing = NULL;
    net->tied_gain = 0.0f;
    from->network = (codec_network){0};
}

taper_status train_keep_gradient_encoder(formats_buffer *file, codec_window window,
                                         codec_cells cells, taper_error *error) {
    const codec_weight_precision precision = {.layer_bits = 16}; /* hardly a bit differs */
    taper_model *learned, *kept = calloc(1, sizeof *kept);
    if (!kept) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model");
    taper_status status = taper_model_load(&learned, file->data, file->size, NULL, error);
    if (status == TAPER_OK) {
        take_encoder(learned, kept);
        kept->window = window, kept->cells = cells;
        kept->info.family = TAPER_FAMILY_GRADIENTS;
        kept->info.binary = 1;
        formats_buffer_clear(file);
        status = codec_model_write(kept, &precision, file, error);
        taper_model_free(learned);
    }
    taper_model_free(kept);
    return status;
}

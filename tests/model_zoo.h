/* model_zoo.h -- models with every kind of code, and small containers made with them, for tests of
 * decoders: bit planes with and without networks for prediction and refinement, and binary units.
 *  */
#ifndef TESTS_MODEL_ZOO_H
#define TESTS_MODEL_ZOO_H
#include "tests/open_decoder.h"
#include "tiny_binary_model.h"

enum { ZOO_MODELS = 4, ZOO_FILES = 5, ZOO_IMAGES = 7 };

typedef struct model_zoo {
    const char *name[ZOO_MODELS];
    taper_model *model[ZOO_MODELS];
    taper_image image[ZOO_IMAGES];
    /* one group, with holds; groups of 3; the same, another allocation; layout image */
    formats_buffer file[ZOO_MODELS][ZOO_FILES];
} model_zoo;

static inline taper_model *zoo_builtin(const char *name) {
    taper_model *model;
    if (taper_model_builtin(&model, name, NULL) != TAPER_OK) abort();
    return model;
}

/* Units of one bit, and a decoder of two layers. */
static inline taper_model *zoo_binary(void) {
    tiny_shape shape = {.window = {8, 8, 3, NULL},
                        .units = 48,
                        .depth = 2,
                        .hidden = CODEC_RELU,
                        .tied = 0,
                        .density = 0.4f,
                        .centre = 0.25f};
    formats_buffer unused = formats_buffer_make(1 << 24);
    taper_model *model = tiny_binary_make(shape, 5, &unused);
    formats_buffer_free(&unused);
    return model;
}

/* drawings: how the encoder codes images of few colours. */
static inline void zoo_make_drawings(model_zoo *z, taper_drawings drawings) {
    static const taper_encode_options options[ZOO_FILES] = {
        {.quick = 0},
        {.group_images = 3},
        {.group_images = 3, .allocation = TAPER_ALLOCATION_MEAN},
        {.layout = TAPER_LAYOUT_IMAGE},
        {.layout = TAPER_LAYOUT_GALLERY}};
    formats_buffer unused = formats_buffer_make(1 << 24);
    *z = (model_zoo){.name = {"dct", "binary", "photo", "tiny"}};
    z->model[0] = dct_model_make((codec_window){4, 4, 3, NULL}, 0, 6, &unused);
    z->model[1] = zoo_binary();
    z->model[2] = zoo_builtin("photo"), z->model[3] = zoo_builtin("tiny");
    for (uint32_t i = 0; i < ZOO_IMAGES; i++)
        z->image[i] = dct_picture(9 + 4 * (i % 4), 8 + 5 * (i % 3), i % 4 ? 3 : 1, i + 1);
    uint8_t *board =
        z->image[5].pixels; /* alternating black and white, which needs raised planes */
    for (size_t p = 0; p < formats_image_bytes(&z->image[5]); p++)
        board[p] =
            (p / z->image[5].channels + p / z->image[5].channels / z->image[5].width) % 2 ? 255 : 0;
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++) {
            taper_encode_options o = options[k];
            o.drawings = drawings;
            if (m == 1) o.allocation = TAPER_ALLOCATION_EVEN;
            z->file[m][k] = dct_encode(z->model[m], z->image, ZOO_IMAGES, &o, k == 1);
        }
    formats_buffer_free(&unused);
}

static inline void zoo_make(model_zoo *z) { zoo_make_drawings(z, TAPER_DRAWINGS_AUTO); }

static inline void zoo_free(model_zoo *z) {
    for (int m = 0; m < ZOO_MODELS; m++) {
        taper_model_free(z->model[m]);
        for (int k = 0; k < ZOO_FILES; k++) formats_buffer_free(&z->file[m][k]);
    }
    for (int i = 0; i < ZOO_IMAGES; i++) formats_image_free(&z->image[i]);
}

/* Image i as a decoder renders it; pixels are the caller's to free. */
typedef struct zoo_rendered {
    taper_status status;
    taper_completeness done;
    uint8_t pixels[4096];
    size_t bytes;
} zoo_rendered;

static inline zoo_rendered zoo_render(taper_decoder *decoder, uint64_t i) {
    zoo_rendered r = {.status = TAPER_OK};
    taper_image_info info = {.size = sizeof info};
    taper_image out = {.pixels = r.pixels};
    r.status = taper_container_get_image(taper_decoder_container(decoder), i, &info, NULL);
    if (!taper_decoder_container(decoder))
        r.status = taper_decoder_render(decoder, i, &out, NULL, NULL);
    if (r.status != TAPER_OK) return r;
    if (info.bytes > sizeof r.pixels) abort();
    r.bytes = (size_t)info.bytes;
    r.status = taper_decoder_render(decoder, i, &out, &r.done, NULL);
    return r;
}

/* A decoder on the first bytes of a file. memory and source must outlive it. */
static inline taper_decoder *zoo_open(const taper_model *model, formats_memory *memory,
                                      taper_source *source) {
    taper_decoder *decoder;
    *source = formats_memory_source(memory);
    if (open_decoder(&decoder, source, model, NULL, NULL) != TAPER_OK) abort();
    return decoder;
}

static inline taper_decoder *zoo_new(const taper_model *model) {
    taper_decoder *decoder;
    if (stream_decoder(&decoder, model, NULL, NULL) != TAPER_OK) abort();
    return decoder;
}

/* Supply the bytes that image i needs at this cut; *data: how many of them follow the front matter.
 *  */
static inline taper_status zoo_supply_planned(taper_decoder *decoder, const formats_buffer *file,
                                              uint64_t i, uint64_t cut, size_t room,
                                              uint64_t *data) {
    taper_range range[8];
    size_t wanted;
    taper_status status;
    *data = 0;
    while ((status = taper_decoder_plan(decoder, i, cut, range, room, &wanted, NULL)) == TAPER_OK &&
           wanted) {
        int is_data = !taper_decoder_bytes_needed(decoder);
        for (size_t k = 0; k < wanted && k < room; k++) {
            if (is_data) *data += range[k].size;
            if (range[k].offset > file->size || range[k].size > file->size - range[k].offset)
                abort();
            status = taper_decoder_supply(decoder, range[k].offset, file->data + range[k].offset,
                                          (size_t)range[k].size, NULL);
            if (status != TAPER_OK) return status;
        }
    }
    return status;
}

#endif

/* dct_model.h -- a model without training, images and containers in memory, for tests and fuzz
 * targets.
 *
 * The units are a cosine transform of windows, times an orthonormal colour transform, by rising
 * frequency; the code tables follow formulas. Everything is deterministic and takes milliseconds.
 */
#ifndef TESTS_DCT_MODEL_H
#define TESTS_DCT_MODEL_H
#include "tests/open_decoder.h"
#include "codec/bitplane/strips.h"
#include "codec/model/model.h"
#include "codec/taper.h"
#include "formats/container.h"
#include "formats/file.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Column c, row y, colour: value of the basis vector of frequencies (fx, fy) and colour axis a. */
static inline float dct_value(codec_window w, uint32_t fx, uint32_t fy, uint32_t a, uint32_t x,
                              uint32_t y, uint32_t c) {
    static const double colour[3][3] = {{1, 1, 1}, {1, -1, 0}, {1, 1, -2}};
    static const double norm[3] = {3, 2, 6};
    const double pi = 3.14159265358979;
    double column = cos(pi * fx * (2 * x + 1) / (2.0 * w.width)) * sqrt((fx ? 2.0 : 1.0) / w.width);
    double row = cos(pi * fy * (2 * y + 1) / (2.0 * w.height)) * sqrt((fy ? 2.0 : 1.0) / w.height);
    double shade = w.channels == 1 ? 1 : colour[a][c] / sqrt(norm[a]);
    return (float)(column * row * shade);
}

/* Rows of the synthesis, by ascending frequency. */
static inline void dct_fill_network(taper_model *m) {
    codec_window w = m->window;
    uint32_t unit = 0;
    for (uint32_t sum = 0; sum < w.width + w.height; sum++)
        for (uint32_t fy = 0; fy < w.height; fy++)
            for (uint32_t a = 0; a < w.channels; a++) {
                if (fy > sum || sum - fy >= w.width || unit >= m->network.units) continue;
                float *to = m->network.synthesis + (size_t)unit++ * m->network.inputs;
                for (uint32_t c = 0; c < w.channels; c++)
                    for (uint32_t y = 0; y < w.height; y++)
                        for (uint32_t x = 0; x < w.width; x++)
                            *to++ = dct_value(w, sum - fy, fy, a, x, y, c);
            }
    for (uint32_t i = 0; i < m->network.inputs; i++) m->network.mean[i] = 128;
}

/* The context part of the tables: simple, but with all fields in use. */
static inline void dct_fill_contexts(codec_code_tables *t) {
    for (uint32_t b = 0; b < CODEC_RATIO_BINS; b++) {
        for (uint32_t l = 0; l < CODEC_RECON_LEVELS; l++)
            t->recon[b][l] = (uint8_t)(80 + 8 * l + b);
        t->zero_norm[b] = (uint8_t)(b < 20 ? 2 + b : 40);
    }
    for (uint32_t c = 0; c < CODEC_CLASSES; c++) {
        static const int16_t weight[CODEC_FEATURES] = {90, 40, 60, 10, 2, 1, 1, 30};
        static const int16_t sign[CODEC_FEATURES] = {20, 30};
        int is_sign = c / CODEC_BANDS == CODEC_SIGN;
        memcpy(t->weight[c], is_sign ? sign : weight, sizeof weight);
        t->bias[c] = (int16_t)(c / CODEC_BANDS == CODEC_SIGNIFICANCE ? -40 : 0);
        for (uint32_t b = 0; b < CODEC_BINS; b++) t->prior[c][b] = (int8_t)((b * 7 + c) % 9 - 4);
    }
    for (int side = 0; side < 4; side++) t->signed_weight[0][side][0] = 14;
    t->signed_weight[1][0][1] = -9;
}

/* Causal passes: a mean of the neighbouring positions, and a logit that decreases with the place
 * for significance and increases for the others. */
static inline void dct_fill_causal(codec_code_tables *t) {
    t->causal = 1;
    for (uint32_t u = 0; u < CODEC_CAUSAL_UNITS; u++)
        for (uint32_t i = 0; i < CODEC_AROUND; i++)
            t->causal_weight[u][i] = (int16_t)((i < 4 ? 1200 : -200) / (int)(1 + u / 4));
    for (uint32_t c = 0; c < CODEC_CAUSAL_CLASSES; c++)
        for (uint32_t i = 0; i < CODEC_CAUSAL_CONTEXTS; i++)
            t->causal_logit[c][i] = (int8_t)(((int)(i / 6) - 8) * (8 - (int)(i % 6)) / 2);
}

/* Claimed bytes per million pixels of all passes: far too many, so that small sets have many
 * layers. */
enum { LAYERS_SIZE = 200000000 };

/* Slopes of planes. Of three planes, the parts of one have different slopes, and those of another
 * have one. */
static inline void dct_fill_rd_slopes(codec_code_tables *t) {
    uint8_t *rd_slope = t->rd_slope;
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t i = 0; i < t->planes[u] * t->fractions; i++) {
            uint32_t d = i / t->fractions, part = i % t->fractions, left = t->fractions - 1 - part;
            uint32_t whole = 16 * (t->planes[u] - d) - (u < 14 ? u : 14), kind = (u + d) % 3;
            *rd_slope++ = (uint8_t)(whole + (kind == 0   ? 2 * left
                                             : kind == 1 ? 4 * (left > 1)
                                                         : 0));
        }
}

/* Quantiser, order and layers. Each layer has an eighth more passes than before, at least one. */
static inline void dct_fill_tables(codec_code_tables *t, uint32_t inputs, float step,
                                   uint32_t parts) {
    static const uint8_t least[CODEC_MAX_FRACTIONS - 1] = {50, 46, 42};
    t->fractions = parts;
    memcpy(t->least, least, sizeof least);
    uint8_t planes = 1;
    while (planes < 12 && 128 * sqrt(inputs) / step >= (1 << planes)) planes++;
    for (uint32_t u = 0; u < t->units; u++) {
        t->step[u] = step;
        t->planes[u] = (uint8_t)(u ? planes - (planes > 1) : planes);
        t->log_scale[u] = (int16_t)lrint(16 * log2(60.0 / (1 + u) / step + 0.5));
    }
    if (codec_code_tables_set_planes(t) != TAPER_OK) abort();
    dct_fill_rd_slopes(t);
    if (codec_order_make(t) != TAPER_OK) abort();
    t->n_layers = 0;
    for (uint32_t pass = 0; pass < t->n_passes;) {
        pass += 1 + pass / 8;
        int last = t->n_layers + 1 == CODEC_MAX_LAYERS_IN_MODEL || pass > t->n_passes;
        if (last) pass = t->n_passes;
        t->layer[t->n_layers++] = (codec_layer_end){pass, LAYERS_SIZE / t->n_passes * pass};
    }
    dct_fill_contexts(t);
    if (parts > 1) dct_fill_causal(t);
}

/* The model, the caller's to free (taper_model_free). parts: parts of each plane; with several,
 * passes are causal. The .tpm file is appended to file. */
static inline taper_model *dct_model_in_parts(codec_window window, uint32_t units, float step,
                                              uint32_t parts, formats_buffer *file) {
    taper_model *m = calloc(1, sizeof *m), *out;
    if (!m) abort();
    m->window = window;
    if (window.lap) m->lap = *window.lap, m->window.lap = &m->lap;
    m->tied = 1;
    m->info.family = TAPER_FAMILY_PCA;
    uint32_t inputs = codec_window_values(window);
    if (units == 0 || units > inputs) units = inputs;
    if (codec_network_alloc(&m->network, inputs, units, CODEC_TIED, NULL, 0, NULL, 0)) abort();
    if (codec_code_tables_alloc(&m->tables, units)) abort();
    dct_fill_network(m);
    dct_fill_tables(&m->tables, inputs, step, parts);
    codec_weight_precision precision = {0.05, 8};
    size_t start = file->size;
    if (codec_model_write(m, &precision, file, NULL) != TAPER_OK) abort();
    taper_model_free(m);
    if (taper_model_load(&out, file->data + start, file->size - start, NULL, NULL)) abort();
    return out;
}

static inline taper_model *dct_model_make(codec_window window, uint32_t units, float step,
                                          formats_buffer *file) {
    return dct_model_in_parts(window, units, step, 1, file);
}

/* A picture with a gradient, a box and some noise, 8 bits, different for each seed. */
static inline taper_image dct_picture(uint32_t width, uint32_t height, unsigned channels,
                                      uint64_t seed) {
    taper_image image = picture_noise(width, height, channels, 8, seed + 1);
    uint64_t state = 77 * seed + 13;
    for (int i = 0; i < 4; i++) picture_random(&state);
    double angle = (double)(picture_random(&state) % 628) / 100;
    double steep = (double)(picture_random(&state) % 90) / 10, left = (double)(state >> 8 & 127);
    uint32_t x0 = (uint32_t)(picture_random(&state) % width), y0 = (uint32_t)(state >> 40) % height;
    uint32_t x1 = x0 + width / 3, y1 = y0 + height / 2;
    uint64_t colours = picture_random(&state);
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (unsigned c = 0; c < channels; c++, to++) {
                double v = 60 + left / 2 + steep * (x * cos(angle) + y * sin(angle)) + (*to & 7);
                if (x >= x0 && x < x1 && y >= y0 && y < y1) v += (int)(colours >> 8 * c & 127) - 64;
                *to = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
    return image;
}

static inline taper_status dct_buffer_write(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

/* Append to the buffer. */
static inline taper_sink dct_sink(formats_buffer *buffer) {
    return (taper_sink){buffer, dct_buffer_write};
}

/* Encode n pictures; names "f/0.png".. and labels i % 3 - 1 when named. The options need no
 * size. Aborts on failure. */
static inline formats_buffer dct_encode(const taper_model *model, const taper_image *image,
                                        size_t n, const taper_encode_options *options, int named) {
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    taper_encoder *encoder;
    taper_encode_options own = options ? *options : (taper_encode_options){0};
    taper_sink sink = dct_sink(&out);
    static const char *const classes[] = {"cat", "dog"};
    own.size = sizeof own;
    if (taper_encoder_new(&encoder, model, &own, NULL) != TAPER_OK) abort();
    if (named && taper_encoder_set_classes(encoder, classes, 2, NULL) != TAPER_OK) abort();
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "f/%zu.png", i);
        if (taper_encoder_add(encoder, &image[i], named ? name : NULL,
                              named ? (int32_t)(i % 3) - 1 : -1, NULL) != TAPER_OK)
            abort();
    }
    if (taper_encoder_finish(encoder, 0, &sink, NULL) != TAPER_OK) abort();
    taper_encoder_free(encoder);
    return out;
}

/* All pixels of a container, image after image, and the completeness of each. done may be NULL. */
/* The same container with another embedded model (size 0: none) and another model for search (if
 * given), which the encoder would refuse. */
static inline formats_buffer dct_carry(const formats_buffer *file, const void *model, size_t size,
                                       const void *search_model, size_t search_size) {
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_front f;
    if (formats_front_read(file->data, file->size, NULL, &f, NULL)) abort();
    const uint8_t *data = file->data + f.front_size, *end = file->data + file->size;
    free(f.model);
    f.model = size ? malloc(size) : NULL;
    f.model_size = size;
    if (size) memcpy(f.model, model, size);
    if (search_model) {
        free(f.search_model);
        f.search_model = malloc(search_size);
        f.search_model_size = search_size;
        memcpy(f.search_model, search_model, search_size);
    }
    if (formats_front_write(&f, &out, NULL)) abort();
    formats_write_bytes(&out, data, (size_t)(end - data));
    formats_front_free(&f);
    return out;
}

static inline taper_status dct_render_all(taper_decoder *decoder, formats_buffer *pixels,
                                          taper_completeness *done) {
    taper_container_info info = {.size = sizeof info};
    taper_status status = taper_container_get_info(taper_decoder_container(decoder), &info, NULL),
                 worst = TAPER_OK;
    if (!taper_decoder_container(decoder)) return TAPER_ERR_TRUNCATED;
    if (status != TAPER_OK) return status;
    for (uint64_t i = 0; i < info.images; i++) {
        taper_image_info image = {.size = sizeof image};
        if (taper_container_get_image(taper_decoder_container(decoder), i, &image, NULL) !=
            TAPER_OK)
            abort();
        taper_image out = {.pixels = malloc((size_t)image.bytes)}; /* aligned for 16 bits */
        if (!out.pixels) abort();
        memset(out.pixels, 0xA5, (size_t)image.bytes);
        status = taper_decoder_render(decoder, i, &out, done ? &done[i] : NULL, NULL);
        if (formats_write_bytes(pixels, out.pixels, (size_t)image.bytes) != TAPER_OK) abort();
        free(out.pixels);
        if (status != TAPER_OK) worst = status;
    }
    return worst;
}

/* Decode the first size bytes of a container from memory: all pixels appended. */
static inline taper_status dct_pull(const uint8_t *bytes, size_t size, const taper_model *model,
                                    formats_buffer *pixels, taper_completeness *done) {
    formats_memory memory = {bytes, size};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *decoder;
    taper_status status = open_decoder(&decoder, &source, model, NULL, NULL);
    if (status == TAPER_OK) status = dct_render_all(decoder, pixels, done);
    close_decoder(decoder);
    return status;
}

static inline taper_container_info dct_info(const formats_buffer *file, const taper_model *model) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    if (open_decoder(&decoder, &source, model, NULL, NULL) != TAPER_OK) abort();
    if (taper_container_get_info(taper_decoder_container(decoder), &info, NULL) != TAPER_OK)
        abort();
    close_decoder(decoder);
    return info;
}

/* The memory of the state of a group of one image. */
static inline uint64_t dct_state_bytes(const taper_model *model, uint32_t columns, uint32_t rows) {
    const codec_grid grid = {columns, rows};
    const codec_group_shape shape = codec_group_shape_of(&grid, 1);
    return codec_strips_bytes(&model->tables, &shape);
}

/* Mean over images of each image's PSNR, 8 bits; an exact image counts as 100 dB. */
static inline double dct_mean_psnr(const taper_image *image, size_t n, const uint8_t *decoded) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *original = image[i].pixels;
        size_t samples = formats_image_samples(&image[i]);
        uint64_t error = 0;
        for (size_t k = 0; k < samples; k++) {
            int d = original[k] - decoded[k];
            error += (uint64_t)(d * d);
        }
        double db = error ? 10 * log10(65025.0 * (double)samples / (double)error) : 100;
        sum += db < 100 ? db : 100;
        decoded += samples;
    }
    return sum / (double)n;
}

#endif

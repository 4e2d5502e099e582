/* test_restoration.c -- restoration networks: as restoration.h defines them, whatever their shape
 * and the threads that work on them; their file form, and what is not legal in it; models of family
 * conv, whole and cut. */
#include "cmocka_all.h"
#include "codec/bitplane/head.h"
#include "codec/model/model_payload.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/model_file.h"
#include "front.h"
#include "random_restoration.h"
#include <math.h>

enum { SEED = 5, PASSES = 90 };

static const uint64_t most_bytes = 1 << 20; /* of a network, as floats */

/* --- the reference: every layer over the whole picture, in 64 bits -------------------------- */

typedef struct reference {
    codec_window window;
    codec_grid grid;
    int64_t rows, columns;
    float *windows;
} reference;

static float *sample(const reference *t, int64_t patch_x, int64_t patch_y, uint32_t value) {
    codec_window w = t->window;
    uint32_t pixel = value / w.channels, channel = value % w.channels;
    uint32_t x = (uint32_t)patch_x * 2 + pixel % 2, y = (uint32_t)patch_y * 2 + pixel / 2;
    size_t window = (size_t)(y / w.height) * t->grid.columns + x / w.width;
    return t->windows + (window * w.channels + channel) * w.width * w.height +
           y % w.height * w.width + x % w.width;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

static int64_t floor_shift(int64_t x, int shift) { /* x >> shift, said otherwise */
    int64_t by = (int64_t)1 << shift, rest = (x % by + by) % by;
    return (x - rest) / by;
}

/* z of a layer everywhere: [rows][columns][outputs]. */
static int64_t *convolve(const reference *t, const codec_convolution *c, const int64_t *bias,
                         const int64_t *a) {
    int64_t *z = malloc((size_t)(t->rows * t->columns) * c->outputs * sizeof *z), *to = z;
    for (int64_t y = 0; y < t->rows; y++)
        for (int64_t x = 0; x < t->columns; x++)
            for (uint32_t o = 0; o < c->outputs; o++) {
                int64_t sum = 0;
                for (int64_t tap = 0; tap < 9; tap++) {
                    int64_t ax = x + tap % 3 - 1, ay = y + tap / 3 - 1;
                    if (ax < 0 || ay < 0 || ax >= t->columns || ay >= t->rows) continue;
                    for (uint32_t i = 0; i < c->inputs; i++)
                        sum += a[(ay * t->columns + ax) * c->inputs + i] *
                               c->weight[(o * 9 + (size_t)tap) * c->inputs + i];
                }
                assert_true(llabs(8 * sum) + 65536 < (int64_t)1 << 31);
                *to++ = floor_shift(8 * sum, c->shift[o]) + bias[o];
            }
    return z;
}

static void restore_twin(const codec_restoration *r, uint32_t pass, reference *t) {
    size_t patches = (size_t)(t->rows * t->columns), values = 4 * t->window.channels;
    int64_t bias[48], gain, *a = malloc(patches * 48 * sizeof *a),
                            *h = calloc(patches * 48, sizeof *h);
    uint32_t s = r->stages - 1;
    while (r->at[s] > pass) s--;
    int64_t part = s + 1 < r->stages
                       ? 256 * (int64_t)(pass - r->at[s]) / (int64_t)(r->at[s + 1] - r->at[s])
                       : 0;
    uint32_t next = s + 1 < r->stages ? s + 1 : s;
    gain = r->gain[s] + floor_shift((r->gain[next] - r->gain[s]) * part, 8);
    for (uint32_t i = 0; i < r->hidden; i++) {
        int64_t from = r->stage[s * r->hidden + i], to = r->stage[next * r->hidden + i];
        bias[i] = from + floor_shift((to - from) * part, 8);
    }
    for (size_t i = 0; i < patches * values; i++) {
        int64_t patch = (int64_t)(i / values);
        float y = *sample(t, patch % t->columns, patch / t->columns, (uint32_t)(i % values));
        a[i] = clamp((int64_t)floorf(16 * (y - 128) + 0.5f), -2048, 2047);
    }
    for (uint32_t l = 0; l < r->layers; l++) {
        const codec_convolution *c = &r->layer[l];
        for (uint32_t o = 0; l && o < c->outputs; o++) bias[o] = c->bias[o];
        int64_t *z = convolve(t, c, bias, a);
        for (size_t i = 0; i < patches * c->outputs; i++) {
            int64_t patch = (int64_t)(i / values);
            if (l + 1 < r->layers) {
                h[i] = clamp(h[i] + floor_shift(z[i] + 4, 3), -4095, 4095);
                a[i] = h[i] > 0 ? h[i] : 0;
            } else {
                *sample(t, patch % t->columns, patch / t->columns, (uint32_t)(i % values)) +=
                    (float)z[i] * ((float)gain / 1048576.0f);
            }
        }
        free(z);
    }
    free(a), free(h);
}

/* --- kernels against it --------------------------------------------------------------------- */

static float *random_windows(codec_window w, codec_grid g, uint64_t seed) {
    size_t n = (size_t)g.columns * g.rows * codec_window_values(w);
    float *windows = malloc(n * sizeof *windows);
    assert_non_null(windows);
    for (size_t i = 0; i < n; i++) /* some outside 0 .. 255, as decoded pixels are */
        windows[i] = (float)(picture_random(&seed) >> 40) / (float)(1 << 24) * 320 - 30;
    return windows;
}

static void check(uint32_t channels, uint32_t hidden, uint32_t layers, uint32_t stages,
                  codec_grid grid, int extreme, codec_pool *pool) {
    codec_window w = {8, 6, channels, NULL};
    size_t n = (size_t)grid.columns * grid.rows * codec_window_values(w);
    codec_restoration r =
        restoration_random(channels, hidden, layers, stages, PASSES, extreme, SEED + hidden);
    for (uint32_t pass = 0; pass <= PASSES; pass += PASSES / 3 - 1) {
        float *windows = random_windows(w, grid, SEED + pass);
        reference t = {w, grid, grid.rows * 3, grid.columns * 4,
                       random_windows(w, grid, SEED + pass)};
        assert_int_equal(codec_restoration_apply(&r, pass, w, grid, pool, windows), TAPER_OK);
        restore_twin(&r, pass, &t);
        assert_memory_equal(windows, t.windows, n * sizeof *windows);
        free(windows), free(t.windows);
    }
    codec_restoration_free(&r);
}

static void restores_as_defined(void **unused) {
    (void)unused;
    codec_pool *pool;
    assert_int_equal(codec_pool_create(&pool, 3), TAPER_OK);
    const codec_grid grids[] = {{1, 1}, {3, 2}, {2, 25}, {11, 1}, {2, 25}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (uint32_t channels = 1; channels <= 3; channels += 2)
            for (uint32_t layers = 2; layers <= 5; layers++) {
                uint32_t hidden = layers == 4 ? 32 : 8 * (layers + (uint32_t)g % 2);
                /* 75 rows: one band, or with three threads five */
                check(channels, hidden, layers, layers, grids[g], 0, g % 2 || g > 3 ? pool : NULL);
            }
    check(3, 48, 5, 1, (codec_grid){2, 2}, 1, NULL);
    check(3, 32, 4, 2, (codec_grid){2, 2}, 1, pool);
    codec_pool_destroy(pool);
}

/* Every kernel that runs here, against the definition: columns that fill no block, all widths. */
static void kernels_are_as_defined(void **unused) {
    (void)unused;
    enum { COLUMNS = 11 };
    size_t n;
    const codec_convolve_kernel *kernel = codec_convolve_kernels(&n);
    uint64_t state = SEED;
    for (uint32_t hidden = 8; hidden <= 48; hidden += 8) {
        codec_restoration r = restoration_random(3, hidden, 3, 1, PASSES, hidden == 48, SEED);
        int16_t row[3][(COLUMNS + 2) * 48];
        const int16_t *const in[3] = {row[0], row[1], row[2]};
        for (int y = 0; y < 3; y++)
            for (size_t i = 0; i < sizeof row[y] / sizeof *row[y]; i++)
                row[y][i] =
                    (int16_t)(hidden == 48 ? 4095
                                           : (int32_t)(picture_random(&state) % 8192) - 4096);
        for (uint32_t columns = 1; columns <= COLUMNS; columns++)
            for (uint32_t l = 0; l < 3; l++) {
                int32_t expected[COLUMNS * 48], z[COLUMNS * 48 + 1];
                size_t size = columns * r.layer[l].outputs;
                const int32_t *bias = l ? r.layer[l].bias : r.stage;
                codec_convolve_row_plain(&r.layer[l], in, columns, bias, expected);
                for (size_t k = 0; k < n; k++) {
                    if (!kernel[k].runs()) {
                        if (hidden + columns + l == 9)
                            print_message("SKIP no %s here\n", kernel[k].name);
                        continue;
                    }
                    memset(z, 85, sizeof z);
                    kernel[k].row(&r.layer[l], in, columns, bias, z);
                    assert_memory_equal(z, expected, size * sizeof *z);
                    assert_int_equal(z[size], 0x55555555); /* and no further */
                }
            }
        codec_restoration_free(&r);
    }
}

/* NaN and infinity, which a model may well make of its numbers, are no reason to fall. */
static void any_pixel_is_taken(void **unused) {
    (void)unused;
    codec_window w = {2, 2, 1, NULL};
    codec_grid grid = {3, 1};
    float windows[12] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
    codec_restoration r = restoration_random(1, 8, 3, 2, PASSES, 0, SEED);
    assert_int_equal(codec_restoration_apply(&r, 4, w, grid, NULL, windows), TAPER_OK);
    assert_true(isnan(windows[0]) && isinf(windows[1]) && isfinite(windows[11]));
    codec_restoration_free(&r);
}

/* --- file form ------------------------------------------------------------------------------ */

static taper_status read_back(const codec_restoration *r, codec_restoration *back,
                              taper_error *error) {
    formats_buffer file = formats_buffer_make(1 << 24);
    assert_int_equal(codec_restoration_write(r, &file), TAPER_OK);
    formats_cursor in = formats_cursor_over(file.data, file.size);
    taper_status status =
        codec_restoration_read(back, r->channels == 3 ? 3 : 1, PASSES, most_bytes, &in, error);
    if (status == TAPER_OK) assert_int_equal(formats_cursor_left(&in), 0);
    formats_buffer_free(&file);
    return status;
}

static void file_form_is_read_as_written(void **unused) {
    (void)unused;
    codec_restoration r = restoration_random(3, 24, 4, 7, PASSES, 0, SEED), back;
    assert_int_equal(read_back(&r, &back, NULL), TAPER_OK);
    assert_memory_equal(back.at, r.at, 7 * sizeof *r.at);
    assert_memory_equal(back.gain, r.gain, 7 * sizeof *r.gain);
    assert_memory_equal(back.stage, r.stage, 7 * 24 * sizeof *r.stage);
    for (int l = 0; l < 4; l++) {
        const codec_convolution *a = &r.layer[l], *b = &back.layer[l];
        assert_true(a->inputs == b->inputs && a->outputs == b->outputs);
        assert_memory_equal(a->weight, b->weight, a->outputs * 9 * a->inputs * sizeof *a->weight);
        assert_memory_equal(a->shift, b->shift, a->outputs);
        if (l) assert_memory_equal(a->bias, b->bias, a->outputs * sizeof *a->bias);
    }
    codec_restoration_free(&back);
    codec_restoration_free(&r);
}

static void large_ones_meet_the_limit(void **unused) {
    (void)unused;
    codec_restoration r = restoration_random(1, 16, 3, 5, PASSES, 0, SEED), back;
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_error error = {0};
    assert_int_equal(codec_restoration_write(&r, &file), TAPER_OK);
    const uint64_t weights = 9 * 16 * (4 + 16 + 4) + 16 + 4 + 5 * 16 + 5;
    for (uint64_t less = 0; less < 2; less++) {
        formats_cursor in = formats_cursor_over(file.data, file.size);
        assert_int_equal(codec_restoration_read(&back, 1, PASSES, 4 * weights - less, &in, &error),
                         less ? TAPER_ERR_LIMIT : TAPER_OK);
        if (!less) codec_restoration_free(&back);
    }
    assert_non_null(strstr(error.text, "--max-model"));
    formats_buffer_free(&file);
    codec_restoration_free(&r);
}

static void large_weight(codec_restoration *r) { r->layer[1].weight[3] = 128; }
static void large_first(codec_restoration *r) { r->layer[0].weight[0] = -128; }
static void large_stage(codec_restoration *r) { r->stage[2] = CODEC_RESTORATION_MOST_BIAS + 1; }
static void large_bias(codec_restoration *r) {
    r->layer[2].bias[1] = -CODEC_RESTORATION_MOST_BIAS - 1;
}
static void large_gain(codec_restoration *r) { r->gain[1] = CODEC_RESTORATION_MOST_GAIN + 1; }
static void fine_step(codec_restoration *r) {
    r->layer[1].shift[2] = CODEC_INT_MATRIX_MOST_SHIFT + 1;
}
static void stage_twice(codec_restoration *r) { r->at[2] = r->at[1]; }
static void stage_past_the_end(codec_restoration *r) { r->at[r->stages - 1] = PASSES + 1; }
static void no_layers(codec_restoration *r) { r->layers = 1; }
static void odd_width(codec_restoration *r) { r->hidden = 12; }
static void no_width(codec_restoration *r) { r->hidden = 0; }
static void no_stage(codec_restoration *r) { r->stages = 0; }

static void illegal_fields_are_refused(void **unused) {
    (void)unused;
    void (*const change[])(codec_restoration *) = {
        large_weight, large_first, large_stage,        large_bias, large_gain, fine_step,
        stage_twice,  no_layers,   stage_past_the_end, odd_width,  no_width,   no_stage};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        codec_restoration r = restoration_random(1, 16, 3, 5, PASSES, 0, SEED), keep = r, back;
        taper_error error = {0};
        print_message("change %zu\n", i);
        change[i](&r);
        assert_int_equal(read_back(&r, &back, &error), TAPER_ERR_CORRUPT);
        assert_true(strlen(error.text) > 0 && !back.at && !back.stage);
        codec_restoration_free(&keep); /* the arrays are the same */
    }
    /* wider and deeper than there are: by the bytes, as no such network can be made */
    for (int at = 0; at < 3; at++) {
        codec_restoration r = restoration_random(1, 16, 3, 5, PASSES, 0, SEED), back;
        formats_buffer file = formats_buffer_make(1 << 24);
        assert_int_equal(codec_restoration_write(&r, &file), TAPER_OK);
        file.data[at] = (uint8_t)(at == 0   ? CODEC_RESTORATION_MOST_HIDDEN + 8
                                  : at == 1 ? CODEC_RESTORATION_MOST_LAYERS + 1
                                            : CODEC_RESTORATION_MOST_STAGES + 1);
        formats_cursor in = formats_cursor_over(file.data, file.size);
        assert_int_equal(codec_restoration_read(&back, 1, PASSES, most_bytes, &in, NULL),
                         TAPER_ERR_CORRUPT);
        formats_buffer_free(&file);
        codec_restoration_free(&r);
    }
}

/* Any byte changed, and cut anywhere: refused, or a network that stays within its arrays. */
static void any_byte_is_refused_or_usable(void **unused) {
    (void)unused;
    codec_restoration r = restoration_random(1, 8, 3, 4, PASSES, 0, SEED), back;
    codec_window w = {4, 4, 1, NULL};
    formats_buffer file = formats_buffer_make(1 << 24);
    uint64_t state = SEED;
    size_t usable = 0, refused = 0;
    assert_int_equal(codec_restoration_write(&r, &file), TAPER_OK);
    for (size_t at = 0; at < file.size; at++) {
        uint8_t was = file.data[at];
        formats_cursor in = formats_cursor_over(file.data, file.size),
                       cut = formats_cursor_over(file.data, at);
        assert_int_not_equal(codec_restoration_read(&back, 1, PASSES, most_bytes, &cut, NULL),
                             TAPER_OK);
        file.data[at] = (uint8_t)picture_random(&state);
        int legal = codec_restoration_read(&back, 1, PASSES, most_bytes, &in, NULL) == TAPER_OK;
        file.data[at] = was;
        refused += !legal, usable += (size_t)legal;
        if (!legal) continue;
        float windows[32] = {0};
        for (uint32_t pass = 0; pass <= PASSES; pass += 10)
            assert_int_equal(
                codec_restoration_apply(&back, pass, w, (codec_grid){1, 2}, NULL, windows),
                TAPER_OK);
        codec_restoration_free(&back);
    }
    print_message("%zu changes refused, %zu usable\n", refused, usable);
    assert_true(refused > 50 && usable > 50);
    formats_buffer_free(&file);
    codec_restoration_free(&r);
}

/* --- models of family conv ------------------------------------------------------------------ */

/* A model that restores next to nothing, as P2 does not hold for random corrections. */
static taper_model *conv_model(formats_buffer *file) {
    formats_buffer plain = formats_buffer_make(1 << 24);
    codec_weight_precision precision = {0.05, 8};
    taper_model *m = dct_model_in_parts((codec_window){8, 8, 3, NULL}, 40, 8, 2, &plain), *loaded;
    taper_error error = {0};
    m->info.family = TAPER_FAMILY_CONV;
    m->restoration = restoration_random(3, 16, 3, 4, m->tables.n_passes, 0, SEED);
    for (uint32_t s = 0; s < 4; s++) m->restoration.gain[s] = 2;
    assert_int_equal(codec_model_write(m, &precision, file, NULL), TAPER_OK);
    if (taper_model_load(&loaded, file->data, file->size, NULL, &error)) fail_msg("%s", error.text);
    assert_int_equal(taper_model_get_info(loaded).family, TAPER_FAMILY_CONV);
    assert_int_equal(taper_model_get_info(loaded).restoration_hidden, 16);
    taper_model_free(m);
    formats_buffer_free(&plain);
    return loaded;
}

static void models_carry_it(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 24), pixels = formats_buffer_make(1 << 20);
    taper_model *m = conv_model(&file);
    taper_image image[3];
    for (uint32_t i = 0; i < 3; i++) image[i] = dct_picture(19 + i, 23, 3, i);
    formats_buffer with = dct_encode(m, image, 3, NULL, 0);
    double last = 0;
    size_t decoded = 0;
    for (size_t size = dct_info(&with, m).front_bytes; size <= with.size; size++) { /* P1, P2 */
        formats_buffer_clear(&pixels);
        assert_int_equal(dct_pull(with.data, size, m, &pixels, NULL), TAPER_OK);
        double psnr = dct_mean_psnr(image, 3, pixels.data);
        assert_true(psnr >= last - 0.05);
        last = fmax(last, psnr), decoded++;
    }
    print_message("%zu cuts, %.2f dB\n", decoded, last);
    assert_true(decoded > 200 && last > 30);
    /* it does something: without it other pixels */
    formats_buffer plain = formats_buffer_make(1 << 20);
    for (uint32_t s = 0; s < 4; s++) m->restoration.gain[s] = 4000;
    assert_int_equal(dct_pull(with.data, with.size, m, &plain, NULL), TAPER_OK);
    assert_int_equal(plain.size, pixels.size);
    assert_memory_not_equal(plain.data, pixels.data, pixels.size);
    formats_buffer_free(&plain);
    formats_buffer_free(&with);
    formats_buffer_free(&pixels);
    formats_buffer_free(&file);
    for (uint32_t i = 0; i < 3; i++) free(image[i].pixels);
    taper_model_free(m);
}

/* What is restored goes with the passes that are complete, and is done once, however often an image
 * is asked for; windows lap here. */
static void a_decoder_restores_as_its_passes_say(void **unused) {
    (void)unused;
    formats_buffer plain = formats_buffer_make(1 << 24), pixels = formats_buffer_make(1 << 20);
    codec_lap lap = {.reach = 1, .stored = {5000}};
    assert_int_equal(codec_lap_prepare(&lap), TAPER_OK);
    taper_model *m = dct_model_in_parts((codec_window){8, 8, 1, &lap}, 40, 8, 2, &plain);
    taper_image image = dct_picture(24, 16, 1, 3);
    formats_buffer with = dct_encode(m, &image, 1, NULL, 0);
    assert_int_equal(dct_pull(with.data, with.size, m, &pixels, NULL), TAPER_OK);
    uint32_t passes = dct_info(&with, m).passes;
    for (int late = 0; late < 2; late++) { /* nothing is added until the last pass is there */
        m->restoration = restoration_random(1, 16, 3, 3, passes, 0, SEED);
        m->restoration.at[1] = passes - 1 + (uint32_t)late, m->restoration.at[2] = passes + 1;
        m->restoration.gain[0] = 0, m->restoration.gain[1] = late ? 0 : 4000;
        m->restoration.gain[2] = late ? 0 : 4000;
        taper_decoder *d;
        formats_memory memory = {with.data, with.size};
        taper_source source = formats_memory_source(&memory);
        assert_int_equal(taper_decoder_open(&d, &source, m, NULL, NULL), TAPER_OK);
        uint8_t seen[2][24 * 16];
        for (int i = 0; i < 2; i++) {
            taper_image out = {.pixels = seen[i]};
            assert_int_equal(taper_decoder_render(d, 0, &out, NULL, NULL), TAPER_OK);
        }
        assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
        if (late)
            assert_memory_equal(seen[0], pixels.data, pixels.size);
        else
            assert_memory_not_equal(seen[0], pixels.data, pixels.size);
        taper_decoder_free(d);
        codec_restoration_free(&m->restoration);
    }
    free(image.pixels);
    taper_model_free(m);
    formats_buffer_free(&with), formats_buffer_free(&plain);
    formats_buffer_free(&pixels);
}

/* Memory for restoring counts against the limit, also where an image has been drawn along with the
 * one before it. */
static void memory_is_limited(void **unused) {
    (void)unused;
    formats_buffer plain = formats_buffer_make(1 << 24);
    taper_model *m = dct_model_in_parts((codec_window){256, 2, 1, NULL}, 4, 8, 2, &plain);
    m->restoration = restoration_random(1, 48, 5, 1, 1, 0, SEED);
    taper_image image[2] = {dct_picture(256, 2, 1, 1), dct_picture(100000, 2, 1, 2)};
    formats_buffer with = dct_encode(m, image, 2, NULL, 0);
    uint8_t *seen = malloc(200000);
    taper_limits limits = formats_limits_or_default(NULL);
    taper_error error = {0};
    taper_image out = {.pixels = seen};
    taper_decoder *d;
    formats_memory memory = {with.data, with.size};
    taper_source source = formats_memory_source(&memory);
    for (int large = 0; large < 2; large++) {
        limits.max_memory = (uint64_t)(large ? 256 : 8) << 20;
        assert_int_equal(taper_decoder_open(&d, &source, m, &limits, &error), TAPER_OK);
        assert_int_equal(taper_decoder_render(d, 0, &out, NULL, &error), TAPER_OK);
        assert_int_equal(taper_decoder_render(d, 1, &out, NULL, &error),
                         large ? TAPER_OK : TAPER_ERR_LIMIT);
        taper_decoder_free(d);
    }
    assert_non_null(strstr(error.text, "--max-memory"));
    free(seen), free(image[0].pixels), free(image[1].pixels);
    taper_model_free(m);
    formats_buffer_free(&with), formats_buffer_free(&plain);
}

/* What does not go with family conv, by the bytes of the payload's architecture. */
static void illegal_models_are_refused(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        formats_buffer file = formats_buffer_make(1 << 24), packed = formats_buffer_make(1 << 24);
        uint8_t *payload;
        size_t size;
        uint64_t id;
        taper_limits limits = formats_limits_or_default(NULL);
        taper_error error = {0};
        taper_model *m = conv_model(&file), *loaded;
        assert_int_equal(
            formats_model_unpack(file.data, file.size, &limits, &payload, &size, &id, NULL),
            TAPER_OK);
        if (i == 1) payload[2] = 7;                  /* an odd width */
        if (i == 2) payload[4] = 7;                  /* an odd height */
        if (i == 3) payload[8] |= CODEC_FLAG_DIRECT; /* no linear path */
        assert_int_equal(formats_model_pack(payload, size, &packed, NULL), TAPER_OK);
        taper_status status = taper_model_load(&loaded, packed.data, packed.size, &limits, &error);
        print_message("%d: %s\n", i, error.text);
        assert_int_equal(status, i ? TAPER_ERR_CORRUPT : TAPER_OK);
        taper_model_free(loaded), taper_model_free(m);
        free(payload);
        formats_buffer_free(&file), formats_buffer_free(&packed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restores_as_defined),
        cmocka_unit_test(kernels_are_as_defined),
        cmocka_unit_test(any_pixel_is_taken),
        cmocka_unit_test(file_form_is_read_as_written),
        cmocka_unit_test(large_ones_meet_the_limit),
        cmocka_unit_test(illegal_fields_are_refused),
        cmocka_unit_test(any_byte_is_refused_or_usable),
        cmocka_unit_test(models_carry_it),
        cmocka_unit_test(a_decoder_restores_as_its_passes_say),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(illegal_models_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

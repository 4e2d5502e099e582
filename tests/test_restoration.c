/* test_restoration.c -- restoration networks: as restoration.h defines them, whatever their shape
 * and the threads that work on them; their file form, and what is not legal in it; models of family
 * conv, whole and cut. */
#include "cmocka_all.h"
#include "codec/bitplane/head.h"
#include "codec/model/model_payload.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "infos.h"
#include "model_payload.h"
#include "front.h"
#include "random_restoration.h"
#include <math.h>

enum { SEED = 5, PASSES = 90 };

static const uint64_t most_bytes = 1 << 20; /* of a network, as floats */

/* --- the reference: every layer over the whole picture, in 64 bits -------------------------- */

typedef struct reference {
    codec_picture picture;
    int64_t rows, columns;
} reference;

/* Value [channel][y][x] of a patch. */
static int16_t *sample(const reference *t, int64_t patch, uint32_t value) {
    int64_t y = patch / t->columns * 2 + value / 2 % 2, x = patch % t->columns * 2 + value % 2;
    return codec_picture_row(&t->picture, value / 4, (uint32_t)y) + x;
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
                sum *= c->bytes ? 256 : 8;
                assert_true(llabs(sum) + 65536 < (int64_t)1 << 31);
                *to++ = floor_shift(sum, c->shift[o]) + bias[o];
            }
    return z;
}

static void restore_twin(const codec_restoration *r, uint32_t pass, reference *t) {
    size_t patches = (size_t)(t->rows * t->columns), values = 4 * t->picture.channels;
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
        int16_t v = *sample(t, (int64_t)(i / values), (uint32_t)(i % values));
        a[i] = clamp(v, -2048, 2047);
    }
    for (uint32_t l = 0; l < r->layers; l++) {
        const codec_convolution *c = &r->layer[l];
        for (uint32_t o = 0; l && o < c->outputs; o++) bias[o] = c->bias[o];
        int64_t *z = convolve(t, c, bias, a);
        for (size_t i = 0; i < patches * c->outputs; i++) {
            if (l + 1 < r->layers) {
                h[i] = clamp(h[i] + floor_shift(z[i] + 4, 3), -4095, 4095);
                a[i] = clamp(floor_shift(clamp(h[i], 0, 4095) + 16, 5), 0, 127);
            } else {
                int16_t *v = sample(t, (int64_t)(i / values), (uint32_t)(i % values));
                int64_t add = floor_shift(gain * clamp(z[i], -32767, 32767) + 32768, 16);
                *v = (int16_t)clamp(*v + clamp(add, -32768, 32767), -32768, 32767);
            }
        }
        free(z);
    }
    free(a), free(h);
}

/* --- kernels against it --------------------------------------------------------------------- */

/* Noise from 30 levels below 0 to 290; the caller's to free. */
static codec_picture random_picture(codec_window w, codec_grid g, uint64_t seed) {
    codec_picture p;
    assert_int_equal(codec_picture_alloc(&p, w, g), TAPER_OK);
    for (size_t i = 0; i < (size_t)p.width * p.height * p.channels; i++)
        p.value[i] = (int16_t)((int32_t)(picture_random(&seed) % (320 * 32)) - 158 * 32);
    return p;
}

static void check(uint32_t channels, uint32_t hidden, uint32_t layers, uint32_t stages,
                  codec_grid grid, int extreme, codec_pool *pool) {
    codec_window w = {8, 6, channels, NULL};
    size_t n = (size_t)grid.columns * grid.rows * codec_window_values(w);
    codec_restoration r =
        restoration_random(channels, hidden, layers, stages, PASSES, extreme, SEED + hidden);
    for (uint32_t pass = 0; pass <= PASSES; pass += PASSES / 3 - 1) {
        codec_picture p = random_picture(w, grid, SEED + pass);
        reference t = {random_picture(w, grid, SEED + pass), grid.rows * 3, grid.columns * 4};
        assert_int_equal(codec_restoration_apply(&r, pass, pool, &p), TAPER_OK);
        restore_twin(&r, pass, &t);
        assert_memory_equal(p.value, t.picture.value, n * sizeof *p.value);
        codec_picture_free(&p), codec_picture_free(&t.picture);
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

enum { COLUMNS = 11, ROW = (COLUMNS + 2) * 48 };

/* One layer by every kernel that runs here. row: inputs of three rows. */
static void check_kernels(const codec_convolution *c, const void *const row[3], const int32_t *bias,
                          uint32_t columns) {
    size_t n, size = columns * c->outputs;
    const codec_convolve_kernel *kernel = codec_convolve_kernels(&n);
    int32_t expected[COLUMNS * 48], z[COLUMNS * 48 + 1];
    codec_convolve_row_plain(c, row, columns, bias, expected);
    for (size_t k = 0; k < n; k++) {
        if (!kernel[k].runs()) {
            if (c->outputs + columns == 9) print_message("SKIP no %s here\n", kernel[k].name);
            continue;
        }
        memset(z, 85, sizeof z);
        kernel[k].row(c, row, columns, bias, z);
        assert_memory_equal(z, expected, size * sizeof *z);
        assert_int_equal(z[size], 0x55555555); /* and no further */
    }
}

/* Every kernel against the definition: columns that fill no block, all widths, and bytes. */
static void kernels_are_as_defined(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    for (uint32_t hidden = 8; hidden <= 48; hidden += 8) {
        codec_restoration r = restoration_random(3, hidden, 3, 1, PASSES, hidden == 48, SEED);
        int16_t number[3][ROW];
        uint8_t byte[3][ROW];
        for (int y = 0; y < 3; y++)
            for (size_t i = 0; i < ROW; i++) {
                uint64_t draw = picture_random(&state);
                number[y][i] = (int16_t)(hidden == 48 ? 2047 : (int32_t)(draw % 4096) - 2048);
                byte[y][i] = (uint8_t)(hidden == 48 ? 127 : draw >> 16 & 127);
            }
        const void *const numbers[3] = {number[0], number[1], number[2]}, *const bytes[3] = {
                                                                              byte[0], byte[1],
                                                                              byte[2]};
        for (uint32_t columns = 1; columns <= COLUMNS; columns++)
            for (uint32_t l = 0; l < 3; l++)
                check_kernels(&r.layer[l], l ? bytes : numbers, l ? r.layer[l].bias : r.stage,
                              columns);
        codec_restoration_free(&r);
    }
}

static void pack_again(codec_convolution *c) {
    free(c->quads), free(c->shifts);
    assert_int_equal(codec_convolution_pack(c), TAPER_OK);
}

/* Weights whose sums over a tap just fit 16 bits, and one more. Inputs are the largest ones. */
static void sums_of_a_tap_fit_16_bits(void **unused) {
    (void)unused;
    enum { INPUTS = 24, EACH = 21, MORE = 6 }; /* 12 EACH + MORE = 258, and 258 127 < 32768 */
    codec_restoration r = restoration_random(3, INPUTS, 3, 1, PASSES, 0, SEED);
    uint8_t byte[ROW];
    memset(byte, CODEC_RESTORATION_BYTE_MAX, sizeof byte);
    const void *const bytes[3] = {byte, byte, byte};
    for (uint32_t l = 1; l < 3; l++) {
        codec_convolution *c = &r.layer[l];
        for (uint32_t o = 0; o < c->outputs; o++)
            for (uint32_t i = 0; i < 9 * INPUTS; i++) {
                int32_t w = EACH + (i % INPUTS < 4 ? MORE / 2 : 0), odd = (o ^ i) & 1;
                c->weight[o * 9 * INPUTS + i] = (int16_t)(o % 3 ? (o % 3 == 1 || odd ? -w : w) : w);
            }
        pack_again(c);
        assert_true(c->narrow);
        for (uint32_t columns = 1; columns <= COLUMNS; columns++)
            check_kernels(c, bytes, c->bias, columns);
        for (uint32_t i = 0; i < 4; i++) { /* each is in one of the two sums */
            int16_t *w = &c->weight[(size_t)(c->outputs - 1) / 3 * 3 * 9 * INPUTS + 5 * INPUTS + i];
            ++*w;
            pack_again(c);
            assert_false(c->narrow);
            check_kernels(c, bytes, c->bias, COLUMNS);
            --*w;
        }
    }
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
    assert_int_equal(error.fact, TAPER_FACT_MAX_MODEL_BYTES);
    formats_buffer_free(&file);
    codec_restoration_free(&r);
}

static void large_weight(codec_restoration *r) { r->layer[1].weight[3] = 64; }
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
        file.data[1 + at] = (uint8_t)(at == 0   ? CODEC_RESTORATION_MOST_HIDDEN + 8
                                      : at == 1 ? CODEC_RESTORATION_MOST_LAYERS + 1
                                                : CODEC_RESTORATION_MOST_STAGES + 1);
        formats_cursor in = formats_cursor_over(file.data, file.size);
        assert_int_equal(codec_restoration_read(&back, 1, PASSES, most_bytes, &in, NULL),
                         TAPER_ERR_CORRUPT);
        formats_buffer_free(&file);
        codec_restoration_free(&r);
    }
}

/* A network of before begins with its width. */
static void other_kinds_are_named(void **unused) {
    (void)unused;
    static const struct {
        uint8_t kind;
        const char *words;
    } cases[] = {{8, "older taper"}, {48, "older taper"}, {0, "kind 0"}, {2, "update taper"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        codec_restoration r = restoration_random(1, 16, 3, 5, PASSES, 0, SEED), back;
        formats_buffer file = formats_buffer_make(1 << 24);
        taper_error error = {0};
        assert_int_equal(codec_restoration_write(&r, &file), TAPER_OK);
        assert_int_equal(file.data[0], CODEC_RESTORATION_KIND);
        file.data[0] = cases[i].kind;
        formats_cursor in = formats_cursor_over(file.data, file.size);
        assert_int_equal(codec_restoration_read(&back, 1, PASSES, most_bytes, &in, &error),
                         TAPER_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, cases[i].words));
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
        codec_picture p = random_picture(w, (codec_grid){1, 2}, SEED);
        for (uint32_t pass = 0; pass <= PASSES; pass += 10)
            assert_int_equal(codec_restoration_apply(&back, pass, NULL, &p), TAPER_OK);
        codec_picture_free(&p);
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
    assert_int_equal(info_of_model(loaded).family, TAPER_FAMILY_CONV);
    assert_int_equal(info_of_model(loaded).restoration_hidden, 16);
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
        assert_int_equal(open_decoder(&d, &source, m, NULL, NULL), TAPER_OK);
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
        close_decoder(d);
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
        assert_int_equal(open_decoder(&d, &source, m, &limits, &error), TAPER_OK);
        assert_int_equal(taper_decoder_render(d, 0, &out, NULL, &error), TAPER_OK);
        assert_int_equal(taper_decoder_render(d, 1, &out, NULL, &error),
                         large ? TAPER_OK : TAPER_ERR_LIMIT);
        close_decoder(d);
    }
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    free(seen), free(image[0].pixels), free(image[1].pixels);
    taper_model_free(m);
    formats_buffer_free(&with), formats_buffer_free(&plain);
}

/* What does not go with family conv, by the bytes of the payload's architecture. */
static void illegal_models_are_refused(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        formats_buffer file = formats_buffer_make(1 << 24), packed = formats_buffer_make(1 << 24);
        taper_limits limits = formats_limits_or_default(NULL);
        taper_error error = {0};
        taper_model *m = conv_model(&file), *loaded;
        formats_buffer all = payload_of(&file);
        uint8_t *payload = all.data;
        if (i == 1) payload[2] = 7;                  /* an odd width */
        if (i == 2) payload[4] = 7;                  /* an odd height */
        if (i == 3) payload[8] |= CODEC_FLAG_DIRECT; /* no linear path */
        assert_int_equal(pack_payload(payload, all.size, &packed), TAPER_OK);
        taper_status status = taper_model_load(&loaded, packed.data, packed.size, &limits, &error);
        print_message("%d: %s\n", i, error.text);
        assert_int_equal(status, i ? TAPER_ERR_CORRUPT : TAPER_OK);
        taper_model_free(loaded), taper_model_free(m);
        formats_buffer_free(&file), formats_buffer_free(&packed), formats_buffer_free(&all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restores_as_defined),
        cmocka_unit_test(kernels_are_as_defined),
        cmocka_unit_test(sums_of_a_tap_fit_16_bits),
        cmocka_unit_test(file_form_is_read_as_written),
        cmocka_unit_test(large_ones_meet_the_limit),
        cmocka_unit_test(illegal_fields_are_refused),
        cmocka_unit_test(other_kinds_are_named),
        cmocka_unit_test(any_byte_is_refused_or_usable),
        cmocka_unit_test(models_carry_it),
        cmocka_unit_test(a_decoder_restores_as_its_passes_say),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(illegal_models_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_lap.c -- windows that lap: the filter against its definition, its inverse, and what models
 * and images make of it. */
#include "cmocka_all.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "codec/transform/lap.h"
#include "dct_model.h"
#include "infos.h"
#include "model_payload.h"
#include "train/linear/lap_design.h"

static codec_lap lap_of(uint32_t reach) {
    codec_lap lap;
    train_lap_design(&lap, reach);
    assert_int_equal(lap.reach, reach);
    return lap;
}

/* Noise in windows of a grid; the caller's to free. */
static float *noise(codec_window w, codec_grid g, size_t *n) {
    uint64_t state = 99;
    *n = (size_t)g.columns * g.rows * codec_window_values(w);
    float *x = malloc(*n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < *n; i++) x[i] = (float)(picture_random(&state) % 2560) / 10.0f;
    return x;
}

/* Value x, y of channel c of the whole image, in windows. */
static float *at(codec_window w, codec_grid g, float *windows, uint32_t x, uint32_t y, uint32_t c) {
    size_t window = (size_t)(y / w.height) * g.columns + x / w.width;
    return windows + window * codec_window_values(w) +
           (size_t)(c * w.height + y % w.height) * w.width + x % w.width;
}

/* SPEC.md, section 11, "Lap", a line of pixels at a time, in double. down: along y. */
static void filter_lines(codec_window w, codec_grid g, float *windows, int down) {
    const codec_lap *lap = w.lap;
    uint32_t side = down ? w.height : w.width, edges = (down ? g.rows : g.columns) - 1;
    uint32_t lines = down ? g.columns * w.width : g.rows * w.height;
    for (uint32_t c = 0; c < w.channels; c++)
        for (uint32_t line = 0; line < lines; line++)
            for (uint32_t edge = side; edge <= edges * side; edge += side) {
                float *a[CODEC_LAP_MOST], *b[CODEC_LAP_MOST];
                double d[CODEC_LAP_MOST];
                for (uint32_t k = 0; k < lap->reach; k++) {
                    uint32_t before = edge - 1 - k, after = edge + k;
                    a[k] = at(w, g, windows, down ? line : before, down ? before : line, c);
                    b[k] = at(w, g, windows, down ? line : after, down ? after : line, c);
                    d[k] = (double)*a[k] - (double)*b[k];
                }
                for (uint32_t k = 0; k < lap->reach; k++) {
                    double sum = 0;
                    for (uint32_t j = 0; j < lap->reach; j++)
                        sum += lap->stored[k * lap->reach + j] / (double)CODEC_LAP_ONE * d[j];
                    *a[k] = (float)((double)*a[k] + (sum - d[k]) / 2);
                    *b[k] = (float)((double)*b[k] - (sum - d[k]) / 2);
                }
            }
}

static const struct {
    uint32_t width, height, channels, reach, columns, rows;
} shape[] = {{8, 8, 3, 4, 3, 2}, {16, 16, 1, 8, 2, 3},  {6, 9, 3, 3, 1, 4},
             {5, 4, 1, 1, 4, 1}, {32, 32, 1, 16, 2, 2}, {8, 8, 3, 2, 1, 1}};
enum { SHAPES = sizeof shape / sizeof *shape };

static int64_t floor_shift(int64_t x, int by) {
    int64_t one = (int64_t)1 << by;
    return (x - ((x % one) + one) % one) / one;
}
static int64_t clamp16(int64_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }

/* lap.h, in 64 bits: one line of pixels across its edges. at: the first pixel, the rest are `step`
 * apart. */
static void filter_line(const codec_lap *lap, int16_t *at, size_t step, uint32_t n, uint32_t side) {
    for (uint32_t edge = side; edge < n; edge += side) {
        int64_t d[CODEC_LAP_MOST];
        int16_t *right = at + edge * step;
        for (uint32_t k = 0; k < lap->reach; k++)
            d[k] = clamp16((int64_t)right[-(ptrdiff_t)((k + 1) * step)] - right[k * step]);
        for (uint32_t k = 0; k < lap->reach; k++) {
            int64_t sum = 4096 - 4096 * d[k];
            for (uint32_t j = 0; j < lap->reach; j++) sum += lap->stored[k * lap->reach + j] * d[j];
            int64_t c = clamp16(floor_shift(sum, 13));
            int16_t *a = right - (k + 1) * step, *b = right + k * step;
            *a = (int16_t)clamp16(*a + c), *b = (int16_t)clamp16(*b - c);
        }
    }
}

static void the_filter_of_pictures_is_as_defined(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (uint32_t most = 8192; most <= 65536; most *= 8) { /* usual, and beyond 16 bits */
            codec_lap lap = lap_of(shape[i].reach);
            codec_window w = {shape[i].width, shape[i].height, shape[i].channels, &lap};
            codec_picture is, ought;
            codec_grid g = {shape[i].columns, shape[i].rows};
            uint64_t state = 7;
            assert_int_equal(codec_picture_alloc(&is, w, g), TAPER_OK);
            assert_int_equal(codec_picture_alloc(&ought, w, g), TAPER_OK);
            size_t n = (size_t)is.width * is.height * is.channels;
            for (size_t k = 0; k < n; k++)
                is.value[k] = ought.value[k] =
                    (int16_t)((int32_t)(picture_random(&state) % most) - (int32_t)most / 2);
            codec_lap_postfilter(w, &is);
            for (uint32_t c = 0; c < w.channels; c++) {
                for (uint32_t y = 0; y < ought.height; y++)
                    filter_line(&lap, codec_picture_row(&ought, c, y), 1, ought.width, w.width);
                for (uint32_t x = 0; x < ought.width; x++)
                    filter_line(&lap, codec_picture_row(&ought, c, 0) + x, ought.width,
                                ought.height, w.height);
            }
            assert_memory_equal(is.value, ought.value, n * sizeof *is.value);
            codec_picture_free(&is), codec_picture_free(&ought);
        }
}

/* Black and white squares that meet at corners of windows: the largest differences that images
 * have. The post-filter undoes the pre-filter, so they fit a picture. */
static void corners_of_black_and_white_come_back(void **unused) {
    (void)unused;
    for (uint32_t reach = 4; reach <= CODEC_LAP_MOST; reach *= 2)
        for (uint32_t square = 1; square <= 4 * reach; square *= 2) {
            codec_lap lap = lap_of(reach);
            codec_window w = {2 * reach, 2 * reach, 1, &lap};
            codec_grid g = {3, 3};
            codec_picture p;
            size_t n;
            float *x = noise(w, g, &n);
            int16_t *value = malloc(n * sizeof *value);
            assert_non_null(value);
            for (uint32_t y = 0; y < 6 * reach; y++)
                for (uint32_t i = 0; i < 6 * reach; i++)
                    *at(w, g, x, i, y, 0) = (i / square + y / square) % 2 ? 255 : 0;
            codec_lap_prefilter(w, g, x);
            codec_picture_values(x, n, value);
            assert_int_equal(codec_picture_alloc(&p, w, g), TAPER_OK);
            codec_picture_put(&p, w, 0, 9, value);
            codec_lap_postfilter(w, &p);
            for (uint32_t y = 0; y < 6 * reach; y++)
                for (uint32_t i = 0; i < 6 * reach; i++) {
                    int want = ((i / square + y / square) % 2 ? 127 : -128) * CODEC_PICTURE_ONE;
                    assert_in_range(codec_picture_row(&p, 0, y)[i] - want + CODEC_PICTURE_ONE, 0,
                                    2 * CODEC_PICTURE_ONE);
                }
            codec_picture_free(&p);
            free(x), free(value);
        }
}

/* The filter in floats, which trains, is the same filter. */
static void the_filter_is_what_the_specification_says(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        codec_lap lap = lap_of(shape[i].reach);
        codec_window w = {shape[i].width, shape[i].height, shape[i].channels, &lap};
        codec_grid g = {shape[i].columns, shape[i].rows};
        size_t n;
        float *is = noise(w, g, &n), *ought = noise(w, g, &n);
        codec_lap_unfilter(w, g, is);
        filter_lines(w, g, ought, 1); /* the other way round */
        filter_lines(w, g, ought, 0);
        for (size_t k = 0; k < n; k++) assert_true(fabsf(is[k] - ought[k]) < 2e-3f);
        free(is), free(ought);
    }
}

static void prefilter_is_its_inverse(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        codec_lap lap = lap_of(shape[i].reach);
        codec_window w = {shape[i].width, shape[i].height, shape[i].channels, &lap};
        codec_grid g = {shape[i].columns, shape[i].rows};
        size_t n, changed = 0;
        float *x = noise(w, g, &n), *was = noise(w, g, &n);
        codec_lap_prefilter(w, g, x);
        for (size_t k = 0; k < n; k++) changed += x[k] != was[k];
        assert_int_equal(changed > 0, g.columns * g.rows > 1);
        codec_lap_unfilter(w, g, x);
        for (size_t k = 0; k < n; k++) assert_true(fabsf(x[k] - was[k]) < 2e-3f);
        free(x), free(was);
    }
}

/* An even surface stays one, whatever the matrix: no seams where nothing happens. */
static void even_images_pass_unchanged(void **unused) {
    (void)unused;
    codec_lap lap = lap_of(4);
    codec_window w = {8, 8, 1, &lap};
    float x[4 * 64];
    for (int i = 0; i < 4 * 64; i++) x[i] = 77;
    codec_lap_prefilter(w, (codec_grid){2, 2}, x);
    for (int i = 0; i < 4 * 64; i++) assert_true(x[i] == 77);
}

static void matrices_without_inverse_are_refused(void **unused) {
    (void)unused;
    codec_lap lap = {.reach = 2, .stored = {4096, 8192, 2048, 4096}};
    assert_int_equal(codec_lap_prepare(&lap), TAPER_ERR_CORRUPT);
    lap.stored[0] = 200, lap.stored[1] = lap.stored[2] = 0; /* an inverse of more than 16 */
    assert_int_equal(codec_lap_prepare(&lap), TAPER_ERR_CORRUPT);
    lap.stored[0] = 0, lap.stored[1] = lap.stored[2] = 4096; /* wants its rows exchanged */
    lap.stored[3] = 0;
    assert_int_equal(codec_lap_prepare(&lap), TAPER_OK);
    lap.reach = CODEC_LAP_MOST + 1;
    assert_int_equal(codec_lap_prepare(&lap), TAPER_ERR_CORRUPT);
}

/* --- models ---------------------------------------------------------------------------- */

static void gains_are_those_of_errors_in_an_image(void **unused) {
    (void)unused;
    codec_lap lap = lap_of(4), none = {.reach = 1, .stored = {CODEC_LAP_ONE}};
    assert_int_equal(codec_lap_prepare(&none), TAPER_OK);
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = dct_model_make((codec_window){8, 8, 1, &none}, 20, 2, &file);
    double gain[20], one[20];
    assert_int_equal(train_lap_gains(m, one), TAPER_OK);
    m->lap = lap;
    assert_int_equal(train_lap_gains(m, gain), TAPER_OK);
    double widest = 0;
    for (int u = 0; u < 20; u++) {
        double length = 0; /* nothing is filtered: that of the row */
        const float *row = m->network.synthesis + (size_t)u * 64;
        for (int i = 0; i < 64; i++) length += (double)row[i] * (double)row[i];
        assert_true(fabs(one[u] - length) < 1e-5);
        widest = fmax(widest, fabs(gain[u] - one[u]));
    }
    assert_true(fabs(gain[0] - one[0]) > 0.02 && widest < 3);
    taper_model_free(m);
    formats_buffer_free(&file);
}

static taper_model *lapped_model(formats_buffer *file) {
    codec_lap lap = lap_of(4);
    return dct_model_make((codec_window){8, 8, 3, &lap}, 0, 2, file);
}

static void models_carry_it(void **unused) {
    (void)unused;
    codec_lap lap = lap_of(4);
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = lapped_model(&file);
    assert_int_equal(info_of_model(m).lap, 4);
    assert_ptr_equal(m->window.lap, &m->lap);
    assert_memory_equal(m->lap.stored, lap.stored, 16 * sizeof *lap.stored);
    assert_memory_equal(m->lap.prefilter, lap.prefilter, 16 * sizeof *lap.prefilter);
    assert_memory_equal(m->lap.postfilter, lap.postfilter, 16 * sizeof *lap.postfilter);
    taper_model_free(m);
    formats_buffer_free(&file);
}

/* Where the lap lies in the payload of lapped_model. */
enum { FLAGS_AT = 8, REACH_AT = 13, MATRIX_AT = 14 };

static taper_status load_changed(size_t position, const uint8_t *bytes, size_t n,
                                 taper_error *error) {
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = lapped_model(&file);
    taper_model_free(m);
    *error = (taper_error){0};
    formats_buffer payload = payload_of(&file);
    memcpy(payload.data + position, bytes, n);
    formats_buffer_clear(&file);
    assert_int_equal(pack_payload(payload.data, payload.size, &file), TAPER_OK);
    taper_status status = taper_model_load(&m, file.data, file.size, NULL, error);
    taper_model_free(m);
    formats_buffer_free(&payload);
    formats_buffer_free(&file);
    return status;
}

static void illegal_laps_are_refused_by_name(void **unused) {
    (void)unused;
    taper_error error;
    assert_int_equal(load_changed(REACH_AT, (uint8_t[]){4}, 1, &error), TAPER_OK);
    static const uint8_t reach[] = {0, 5, 17, 255};
    for (size_t i = 0; i < sizeof reach; i++) {
        assert_int_equal(load_changed(REACH_AT, &reach[i], 1, &error), TAPER_ERR_CORRUPT);
        assert_non_null(strstr(error.text, "lap by"));
    }
    uint8_t zeros[8] = {0}; /* its first row */
    assert_int_equal(load_changed(MATRIX_AT, zeros, 8, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "no inverse"));
    assert_int_equal(load_changed(FLAGS_AT, (uint8_t[]){1 + 64 + 128}, 1, &error),
                     TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "that only dense models have"));
}

/* Drawn twice, the same; odd sizes, grey and one window too; whole files near the original. */
static void images_come_back(void **unused) {
    (void)unused;
    static const uint32_t size[][3] = {{40, 33, 3}, {17, 9, 1}, {8, 8, 3}, {5, 60, 3}};
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = lapped_model(&file);
    for (int i = 0; i < 4; i++) {
        taper_image image = dct_picture(size[i][0], size[i][1], size[i][2], 3);
        formats_buffer container = dct_encode(m, &image, 1, NULL, 0);
        formats_memory memory = {container.data, container.size};
        taper_source source = formats_memory_source(&memory);
        taper_decoder *decoder;
        assert_int_equal(open_decoder(&decoder, &source, m, NULL, NULL), TAPER_OK);
        formats_buffer pixels = formats_buffer_make(1 << 20), again = formats_buffer_make(1 << 20);
        assert_int_equal(dct_render_all(decoder, &pixels, NULL), TAPER_OK);
        assert_int_equal(dct_render_all(decoder, &again, NULL), TAPER_OK);
        assert_int_equal(pixels.size, again.size);
        assert_memory_equal(pixels.data, again.data, pixels.size);
        assert_true(dct_mean_psnr(&image, 1, pixels.data) > 44);
        close_decoder(decoder);
        formats_buffer_free(&pixels), formats_buffer_free(&again), formats_buffer_free(&container);
        formats_image_free(&image);
    }
    taper_model_free(m);
    formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_of_pictures_is_as_defined),
        cmocka_unit_test(corners_of_black_and_white_come_back),
        cmocka_unit_test(the_filter_is_what_the_specification_says),
        cmocka_unit_test(prefilter_is_its_inverse),
        cmocka_unit_test(even_images_pass_unchanged),
        cmocka_unit_test(matrices_without_inverse_are_refused),
        cmocka_unit_test(gains_are_those_of_errors_in_an_image),
        cmocka_unit_test(models_carry_it),
        cmocka_unit_test(illegal_laps_are_refused_by_name),
        cmocka_unit_test(images_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

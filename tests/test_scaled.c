/* test_scaled.c -- images at 1/2 to 1/16 of their size: small bases by their definition, and what
 * taper_decoder_render_scaled makes, against means of the whole picture without restoration. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/decoder/decoder.h"
#include "codec/render/window_renderer.h"
#include "codec/transform/lap.h"
#include "formats/model_file.h"
#include "model_zoo.h"
#include "train/linear/lap_design.h"

static const uint32_t scales[] = {2, 4, 8, 16};
enum { SCALES = sizeof scales / sizeof *scales };

/* --- small bases ---------------------------------------------------------------------------- */

static const struct {
    uint32_t width, height, channels, reach;
} shape[] = {{16, 16, 3, 8},  {32, 16, 1, 5}, {8, 8, 3, 4}, {16, 24, 1, 1},
             {48, 32, 3, 16}, {16, 32, 3, 0}, {2, 4, 1, 1}};
enum { SHAPES = sizeof shape / sizeof *shape, UNITS = 5 };

/* Random weights of 12 bits, and means below `most`; the caller's to free. */
static codec_synthesis random_synthesis(codec_window w, uint32_t most, uint64_t seed) {
    uint32_t inputs = codec_window_values(w), lanes = codec_sparse_lanes(inputs);
    codec_synthesis s = {.units = UNITS, .inputs = inputs, .lanes = lanes, .known = UNITS};
    s.weight = calloc((UNITS + 1) / 2 * 2 * (size_t)lanes, sizeof *s.weight);
    s.mean = calloc(lanes, sizeof *s.mean);
    s.bits = calloc(UNITS, 1);
    assert_true(s.weight && s.mean && s.bits);
    for (uint32_t i = 0; i < inputs; i++) {
        for (uint32_t u = 0; u < UNITS; u++)
            s.weight[codec_sparse_at(lanes, u, i)] =
                (int16_t)((int32_t)(picture_random(&seed) % 8192) - 4096);
        s.mean[i] = (int32_t)(picture_random(&seed) % most);
    }
    return s;
}

/* A row in the middle of 3 x 3 windows, after the lap: floats on the picture of these windows, of
 * which the lap's float form is the definition. */
static float *lapped(codec_window w, const codec_synthesis *s, uint32_t row) {
    size_t values = codec_window_values(w);
    float *all = calloc(9 * values, sizeof *all);
    assert_non_null(all);
    for (uint32_t i = 0; i < values; i++)
        all[4 * values + i] =
            row < UNITS ? s->weight[codec_sparse_at(s->lanes, row, i)] : (float)s->mean[i];
    codec_lap_unfilter(w, (codec_grid){3, 3}, all);
    return all;
}

static double value_at(codec_window w, const float *all, uint32_t c, int64_t x, int64_t y) {
    size_t window = (size_t)(y / w.height) * 3 + (size_t)(x / w.width);
    return all[(window * w.channels + c) * w.height * w.width + (size_t)(y % w.height) * w.width +
               (size_t)(x % w.width)];
}

/* The mean for value i of a small row. */
static double mean_of(codec_window w, const codec_small_basis *b, const float *all, uint32_t i) {
    uint32_t across = b->window.width + 2 * b->reach, down = b->window.height + 2 * b->reach;
    int64_t s = b->scale, x0 = w.width + ((int64_t)(i % across) - b->reach) * s,
            y0 = w.height + ((int64_t)(i / across % down) - b->reach) * s;
    double sum = 0;
    for (int64_t y = y0; y < y0 + s; y++)
        for (int64_t x = x0; x < x0 + s; x++) sum += value_at(w, all, i / across / down, x, y);
    return sum / (double)(s * s);
}

static void check_basis(codec_window w, uint32_t scale, uint32_t most) {
    static const uint8_t some[UNITS] = {1, 0, 0, 1, 0}, none[UNITS] = {0};
    codec_synthesis s = random_synthesis(w, most, 31 + scale);
    codec_small_basis b;
    assert_int_equal(codec_small_basis_make(&s, w, scale, NULL, &b), TAPER_OK);
    assert_int_equal(b.rows.units, UNITS);
    assert_true(codec_small_basis_bytes(&b) < codec_small_basis_most_bytes(UNITS, w, scale));
    for (uint32_t row = 0; row <= UNITS; row++) {
        float *all = lapped(w, &s, row);
        for (uint32_t i = 0; i < b.rows.inputs; i++) {
            double is =
                row < UNITS ? b.rows.weight[codec_sparse_at(b.rows.lanes, row, i)] : b.rows.mean[i];
            double off = fabs(is - mean_of(w, &b, all, i));
            assert_true(off < (row < UNITS ? 4 : 4 + most / 1000.0));
        }
        free(all);
    }
    codec_small_basis_free(&b);
    assert_int_equal(codec_small_basis_make(&s, w, scale, some, &b), TAPER_OK);
    assert_true(b.rows.units == 2 && b.unit[0] == 0 && b.unit[1] == 3);
    codec_small_basis_free(&b);
    assert_int_equal(codec_small_basis_make(&s, w, scale, none, &b), TAPER_OK);
    assert_int_equal(b.rows.units, 1);
    codec_small_basis_free(&b);
    codec_synthesis_free(&s);
}

static void small_rows_are_means_of_lapped_rows(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        codec_lap lap = {0};
        if (shape[i].reach) train_lap_design(&lap, shape[i].reach);
        codec_window w = {shape[i].width, shape[i].height, shape[i].channels,
                          shape[i].reach ? &lap : NULL};
        for (int k = 0; k < SCALES; k++)
            if (codec_small_basis_fits(w, scales[k])) {
                check_basis(w, scales[k], 120 << 20);
                check_basis(w, scales[k], 3000);
            }
    }
}

/* Sums with the rows of some units are those with the rows of all units, of which others are 0. */
static void check_some_units(taper_decoder *d, uint32_t scale) {
    const taper_model *m = d->container->model;
    codec_small_basis some, all;
    codec_window_renderer r[2];
    codec_decoder_image image;
    int32_t *sum[2];
    uint8_t *kept = malloc(m->network.units);
    assert_non_null(kept);
    for (uint32_t u = 0; u < m->network.units; u++) kept[u] = u % 3 && u % 7;
    assert_int_equal(codec_small_basis_make(&m->synthesis, m->window, scale, kept, &some), 0);
    assert_int_equal(codec_small_basis_make(&m->synthesis, m->window, scale, NULL, &all), 0);
    assert_true(some.rows.units > 9 && some.rows.units < all.rows.units);
    uint32_t lanes = all.rows.lanes;
    for (uint32_t u = 0; u < all.rows.units; u++)
        for (uint32_t i = 0; i < lanes && !(u % 3 && u % 7); i++)
            all.rows.weight[codec_sparse_at(lanes, u, i)] = 0;
    assert_int_equal(codec_decoder_load_image(d, 4, UINT32_MAX, &image, NULL), TAPER_OK);
    const codec_group *g = &image.group->strips.coder->group;
    for (int k = 0; k < 2; k++) {
        sum[k] = malloc(20 * (size_t)lanes * sizeof *sum[k]);
        assert_non_null(sum[k]);
        assert_int_equal(
            codec_window_renderer_begin_small(&r[k], m, g, image.first, 20, k ? &all : &some, NULL),
            0);
        assert_int_equal(codec_window_renderer_sums(&r[k], image.first, 20, sum[k]), 0);
        codec_window_renderer_end(&r[k]);
    }
    assert_memory_equal(sum[0], sum[1], 20 * (size_t)lanes * sizeof *sum[0]);
    free(sum[0]), free(sum[1]), free(kept);
    codec_small_basis_free(&some), codec_small_basis_free(&all);
}

/* --- images --------------------------------------------------------------------------------- */

/* A set of pictures with smooth parts, edges and noise, encoded with the model. */
enum { IMAGES = 6 };
typedef struct picture_set {
    const taper_model *model;
    taper_image image[IMAGES];
    formats_buffer file;
} picture_set;

static void to_16_bits(taper_image *image) {
    size_t n = formats_image_bytes(image);
    uint16_t *wide = malloc(n * 2);
    assert_non_null(wide);
    for (size_t i = 0; i < n; i++)
        wide[i] = (uint16_t)(((const uint8_t *)image->pixels)[i] * 257 + (i * 37) % 257);
    free(image->pixels);
    image->pixels = wide, image->depth = 16;
}

/* Of 1 to some windows a side. */
static picture_set set_of(const taper_model *model, int in_groups) {
    codec_window w = model->window;
    const uint32_t side[IMAGES][2] = {
        {3 * w.width + 1, 2 * w.height}, {1, 1},
        {w.width, 3 * w.height - 1},     {2 * w.width - 1, w.height / 2},
        {5 * w.width, 4 * w.height + 3}, {2, 2 * w.height + 1}};
    picture_set s = {.model = model};
    for (uint32_t i = 0; i < IMAGES; i++) {
        s.image[i] = dct_picture(side[i][0], side[i][1], w.channels == 3 && i != 3 ? 3 : 1, i + 9);
        if (i == 4) to_16_bits(&s.image[i]);
    }
    taper_encode_options options = {.group_images = in_groups ? 2 : 0};
    s.file = dct_encode(model, s.image, IMAGES, &options, 0);
    return s;
}

static void free_set(picture_set *s) {
    for (int i = 0; i < IMAGES; i++) formats_image_free(&s->image[i]);
    formats_buffer_free(&s->file);
}

static double sample_of(const taper_image *image, size_t i) {
    return image->depth == 16 ? ((const uint16_t *)image->pixels)[i] / 257.0
                              : ((const uint8_t *)image->pixels)[i];
}

/* The level of a small pixel by definition: the mean of the picture's values, where there are any.
 */
static double mean_level(const codec_picture *p, uint32_t scale, uint32_t x, uint32_t y,
                         uint32_t c) {
    double sum = 0, n = 0;
    for (uint32_t j = y * scale; j < (y + 1) * scale && j < p->height; j++)
        for (uint32_t i = x * scale; i < (x + 1) * scale && i < p->width; i++, n++)
            sum += codec_picture_row(p, c, j)[i];
    return 128 + sum / n / CODEC_PICTURE_ONE;
}

/* The largest difference of a small image. */
static double most_off(const codec_picture *p, uint32_t scale, const taper_image *small) {
    double most = 0;
    size_t at = 0;
    for (uint32_t y = 0; y < small->height; y++)
        for (uint32_t x = 0; x < small->width; x++)
            for (uint32_t c = 0; c < small->channels; c++) {
                double level = 0;
                uint32_t n = p->channels > small->channels ? p->channels : 1;
                for (uint32_t k = 0; k < n; k++) level += mean_level(p, scale, x, y, c + k) / n;
                level = level < 0 ? 0 : level > 255 ? 255 : level;
                most = fmax(most, fabs(sample_of(small, at++) - level));
            }
    return most;
}

static codec_picture whole_picture(taper_decoder *d, uint64_t i) {
    codec_decoder_image image;
    codec_picture p;
    assert_int_equal(codec_decoder_load_image(d, i, UINT32_MAX, &image, NULL), TAPER_OK);
    assert_int_equal(codec_decoder_picture(d, &image, &p, NULL), TAPER_OK);
    if (d->container->model->window.lap) codec_lap_postfilter(d->container->model->window, &p);
    return p;
}

/* Render image i, of which `original` has the size, at this scale; the caller's to free. */
static taper_image render(taper_decoder *d, const taper_image *original, uint64_t i,
                          uint32_t scale) {
    taper_image out = {0};
    uint32_t width = (original->width - 1) / scale + 1, height = (original->height - 1) / scale + 1;
    assert_int_equal(
        formats_image_make(&out, width, height, original->channels, original->depth, NULL, NULL),
        TAPER_OK);
    taper_completeness done = {0};
    out.width = out.height = out.channels = out.depth = 0; /* the call sets them */
    assert_int_equal(taper_decoder_render_scaled(d, i, scale, &out, &done, NULL), TAPER_OK);
    assert_true(out.width == width && out.height == height && out.channels == original->channels &&
                out.depth == original->depth);
    assert_true(done.passes_in_file > 0);
    return out;
}

/* Each pixel of all images of a prefix is right. */
static void check_prefix(const picture_set *s, size_t size) {
    formats_memory memory = {.bytes = s->file.data, .size = size};
    taper_source source;
    taper_decoder *d = zoo_open(s->model, &memory, &source);
    for (int k = 0; k < SCALES; k++)
        for (uint64_t i = 0; i < IMAGES; i++) {
            codec_picture p = whole_picture(d, i);
            taper_image out = render(d, &s->image[i], i, scales[k]);
            assert_true(most_off(&p, scales[k], &out) < (out.depth == 16 ? 0.15 : 0.7));
            formats_image_free(&out);
            codec_picture_free(&p);
        }
    close_decoder(d);
}

static void check_model(taper_model *m) {
    for (int in_groups = 0; in_groups < 2; in_groups++) {
        picture_set s = set_of(m, in_groups);
        uint64_t front;
        assert_int_equal(formats_front_need(s.file.data, s.file.size, &front, NULL), TAPER_OK);
        size_t data = s.file.size - (size_t)front;
        for (size_t part = 0; part <= 6; part += in_groups ? 3 : 1)
            check_prefix(&s, (size_t)front + data * part * part / 36);
        free_set(&s);
    }
    taper_model_free(m);
}

static taper_model *dct_of(uint32_t width, uint32_t height, uint32_t channels, uint32_t reach) {
    formats_buffer file = formats_buffer_make(1 << 24);
    codec_lap lap = {0};
    if (reach) train_lap_design(&lap, reach);
    taper_model *m =
        dct_model_make((codec_window){width, height, channels, reach ? &lap : NULL}, 0, 4, &file);
    formats_buffer_free(&file);
    return m;
}

static void linear_models_make_means(void **unused) {
    (void)unused;
    check_model(dct_of(16, 16, 3, 8));
    check_model(dct_of(8, 8, 1, 4));
    check_model(dct_of(16, 8, 3, 3));
    check_model(dct_of(4, 4, 3, 0));
    check_model(dct_of(32, 16, 1, 8));
}

static void built_in_models_make_means(void **unused) {
    (void)unused;
    check_model(zoo_builtin("photo"));
    check_model(zoo_builtin("tiny"));
}

/* Windows whose sides are no multiples, and units of one bit. */
static void other_models_make_means(void **unused) {
    (void)unused;
    check_model(dct_of(6, 9, 3, 3));
    check_model(dct_of(5, 5, 1, 0));
    check_model(zoo_binary());
}

static void some_units_give_what_they_give_of_all(void **unused) {
    (void)unused;
    taper_model *m[2] = {zoo_builtin("photo"), zoo_builtin("tiny")};
    for (int k = 0; k < 2; k++) {
        picture_set s = set_of(m[k], 0);
        for (size_t size = s.file.size / 2; size <= s.file.size / 2 + 5; size++) {
            formats_memory memory = {.bytes = s.file.data, .size = size};
            taper_source source;
            taper_decoder *d = zoo_open(m[k], &memory, &source);
            check_some_units(d, 2), check_some_units(d, 8);
            close_decoder(d);
        }
        free_set(&s);
        taper_model_free(m[k]);
    }
}

/* Pictures whose sides are and are not multiples, rounded exactly. */
static void pictures_shrink_to_means(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (uint32_t scale = 2; scale <= 16; scale++)
        for (uint32_t side = 1; side < 40; side += 6) {
            codec_picture p, of;
            codec_window w = {side, 19, 3, NULL};
            assert_int_equal(codec_picture_alloc(&p, w, (codec_grid){1, 1}), TAPER_OK);
            assert_int_equal(codec_picture_alloc(&of, w, (codec_grid){1, 1}), TAPER_OK);
            for (size_t i = 0; i < (size_t)side * 19 * 3; i++)
                p.value[i] = of.value[i] = (int16_t)picture_random(&state);
            codec_picture_shrink(&p, scale);
            assert_true(p.width == (side - 1) / scale + 1 && p.height == 18 / scale + 1);
            for (uint32_t i = 0; i < p.width * p.height * 3; i++) {
                double level = mean_level(&of, scale, i % p.width, i / p.width % p.height,
                                          i / p.width / p.height);
                assert_true(p.value[i] == floor((level - 128) * CODEC_PICTURE_ONE + 0.5 + 1e-9));
            }
            codec_picture_free(&p), codec_picture_free(&of);
        }
}

/* --- ways to decode ------------------------------------------------------------------------- */

static void assert_same(const taper_image *a, const taper_image *b) {
    assert_true(a->width == b->width && a->height == b->height);
    assert_memory_equal(a->pixels, b->pixels, formats_image_bytes(a));
}

/* Pushed, supplied and with threads, images are the same as from a source. */
static void check_ways(const picture_set *s, size_t size) {
    formats_memory memory = {.bytes = s->file.data, .size = size};
    taper_source source;
    uint64_t data;
    taper_decoder *way[4] = {zoo_open(s->model, &memory, &source), zoo_new(s->model),
                             zoo_new(s->model), zoo_open(s->model, &memory, &source)};
    for (size_t at = 0; at < size; at += 97)
        assert_int_equal(
            taper_decoder_push(way[1], s->file.data + at, size - at < 97 ? size - at : 97, NULL),
            TAPER_OK);
    assert_int_equal(taper_decoder_set_threads(way[3], 3, NULL), TAPER_OK);
    for (uint64_t i = 0; i < IMAGES; i++) {
        assert_int_equal(zoo_supply_planned(way[2], &s->file, i, size, 4, &data), TAPER_OK);
        for (int k = 0; k < SCALES; k++) {
            taper_image first = render(way[0], &s->image[i], i, scales[k]);
            for (int v = 1; v < 4; v++) {
                taper_image other = render(way[v], &s->image[i], i, scales[k]);
                assert_same(&first, &other);
                formats_image_free(&other);
            }
            formats_image_free(&first);
        }
        taper_image whole = render(way[0], &s->image[i], i, 1),
                    same = render(way[1], &s->image[i], i, 1);
        assert_int_equal(taper_decoder_render(way[1], i, &same, NULL, NULL), TAPER_OK);
        assert_same(&whole, &same);
        formats_image_free(&whole), formats_image_free(&same);
    }
    for (int v = 0; v < 4; v++) close_decoder(way[v]);
}

static void all_ways_give_the_same(void **unused) {
    (void)unused;
    taper_model *m[3] = {zoo_builtin("tiny"), dct_of(16, 16, 1, 8), dct_of(5, 6, 3, 2)};
    for (int k = 0; k < 3; k++) {
        picture_set s = set_of(m[k], 1);
        check_ways(&s, s.file.size);
        check_ways(&s, s.file.size * 2 / 3 + 1);
        free_set(&s);
        taper_model_free(m[k]);
    }
}

/* --- memory --------------------------------------------------------------------------------- */

/* The least limit, in KB, with which an image can be rendered. */
static uint64_t least_memory(const taper_model *m, const formats_buffer *file, uint32_t scale) {
    formats_memory memory = {.bytes = file->data, .size = file->size};
    static uint8_t pixels[512 * 512];
    for (uint64_t kb = 1;; kb += kb / 16 + 1) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = kb << 10};
        taper_decoder *d;
        taper_error error = {0};
        taper_source source = formats_memory_source(&memory);
        taper_image out = {.pixels = pixels};
        taper_status status = open_decoder(&d, &source, m, &limits, &error);
        if (status == TAPER_OK)
            status = taper_decoder_render_scaled(d, 0, scale, &out, NULL, &error);
        if (status == TAPER_OK) assert_true(d->account.used <= limits.max_memory);
        close_decoder(d);
        if (status == TAPER_OK) return kb;
        assert_int_equal(status, TAPER_ERR_LIMIT);
        assert_true(strlen(error.text) > 0 && kb < 1 << 20);
    }
}

static void small_images_need_less_memory(void **unused) {
    (void)unused;
    taper_model *m = zoo_builtin("photo");
    taper_image image = dct_picture(512, 512, 1, 3);
    formats_buffer file = dct_encode(m, &image, 1, NULL, 0);
    uint64_t whole = least_memory(m, &file, 1);
    for (int k = 1; k < SCALES; k++) assert_true(least_memory(m, &file, scales[k]) < whole);
    formats_image_free(&image);
    formats_buffer_free(&file);
    taper_model_free(m);
}

/* --- what is refused ------------------------------------------------------------------------ */

static void other_scales_are_refused(void **unused) {
    (void)unused;
    static const uint32_t bad[] = {0, 3, 5, 6, 7, 9, 12, 24, 32, 64, UINT32_MAX};
    taper_model *m = zoo_builtin("tiny");
    picture_set s = set_of(m, 0);
    formats_memory memory = {.bytes = s.file.data, .size = s.file.size};
    taper_source source;
    taper_decoder *d = zoo_open(m, &memory, &source);
    uint8_t pixels[16];
    taper_image out = {.pixels = pixels}, nowhere = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(taper_decoder_render_scaled(d, 1, bad[i], &out, NULL, NULL),
                         TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_scaled(d, IMAGES, 2, &out, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_scaled(d, 1, 2, &nowhere, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_scaled(d, 1, 2, NULL, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_scaled(NULL, 1, 2, &out, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render_scaled(d, 1, 2, &out, NULL, NULL), TAPER_OK);
    close_decoder(d);
    free_set(&s);
    taper_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_rows_are_means_of_lapped_rows),
        cmocka_unit_test(linear_models_make_means),
        cmocka_unit_test(built_in_models_make_means),
        cmocka_unit_test(other_models_make_means),
        cmocka_unit_test(some_units_give_what_they_give_of_all),
        cmocka_unit_test(pictures_shrink_to_means),
        cmocka_unit_test(all_ways_give_the_same),
        cmocka_unit_test(small_images_need_less_memory),
        cmocka_unit_test(other_scales_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

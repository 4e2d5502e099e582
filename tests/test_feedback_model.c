/* test_feedback_model.c -- a model with feedback at work: a container of it at every cut, against
 * the definition in double precision.
 *
 * The model needs no training. Its units are the bits of a converter by successive approximation,
 * which is decision feedback: of each coefficient of a cosine transform first the sign, then bits
 * of half the weight of the last, each decided on what the bits before have left. Its M is small
 * and random. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "dct_model.h"

enum { SIDE = 8, D = SIDE * SIDE, COEFFICIENTS = 10, LEVELS = 5, UNITS = COEFFICIENTS * LEVELS };
enum { IMAGES = 5, SEED = 17 };
static const codec_window k_window = {SIDE, SIDE, 1, NULL};

/* Weight of unit k's bit: of half the range of its coefficient, and so on. */
static float weight_of(uint32_t k) {
    return (k % COEFFICIENTS ? 256.0f : 1024.0f) / (float)(1 << k / COEFFICIENTS);
}

static float basis(uint32_t coefficient, uint32_t at) {
    static const uint8_t fx[COEFFICIENTS] = {0, 1, 0, 1, 2, 0, 2, 1, 3, 0},
                         fy[COEFFICIENTS] = {0, 0, 1, 1, 0, 2, 1, 2, 0, 3};
    double x = cos((at % SIDE + 0.5) * fx[coefficient] * acos(-1) / SIDE),
           y = cos((at / SIDE + 0.5) * fy[coefficient] * acos(-1) / SIDE);
    return (float)(x * y * (fx[coefficient] ? sqrt(2) : 1) * (fy[coefficient] ? sqrt(2) : 1) /
                   SIDE);
}

/* The bits of one coefficient follow each other at COEFFICIENTS units. */
static void fill_unit(codec_network *net, uint32_t k, float late, uint64_t *random) {
    for (uint32_t i = 0; i < D; i++) {
        net->encoder.layer[0].weight[k * D + i] = basis(k % COEFFICIENTS, i);
        net->decoder.layer[0].weight[i * UNITS + k] = weight_of(k) * basis(k % COEFFICIENTS, i);
    }
    for (uint32_t j = k % COEFFICIENTS; j < k; j += COEFFICIENTS) {
        net->feedback[k * UNITS + j] = weight_of(j);
        net->encoder.layer[0].bias[k] += weight_of(j) / 2;
    }
    for (uint32_t j = 0; j < k; j++)
        net->mixing[k * UNITS + j] = k >= UNITS - COEFFICIENTS && late != 0
                                         ? late
                                         : (float)(picture_random(random) % 101) / 1000 - 0.05f;
}

/* As a reader gets it. late: not 0: in place of what M has for the units of the last level. */
static taper_model *make_model(float late) {
    taper_model *m = calloc(1, sizeof *m), *back;
    float density[UNITS];
    uint64_t random = SEED;
    assert_non_null(m);
    m->window = k_window;
    m->info.family = TAPER_FAMILY_DENSE;
    assert_int_equal(codec_network_alloc(&m->network, D, UNITS, CODEC_DIRECT, NULL, 0, NULL, 0), 0);
    assert_int_equal(codec_network_add_feedback(&m->network), TAPER_OK);
    for (uint32_t i = 0; i < D; i++) m->network.mean[i] = 128;
    for (uint32_t k = 0; k < UNITS; k++)
        density[k] = 0.5f, fill_unit(&m->network, k, late, &random);
    assert_int_equal(codec_code_tables_make_binary(&m->tables, UNITS, D, density), TAPER_OK);
    m->tables.centre = 0.5f;
    codec_weight_precision precision = {0.05, 12};
    formats_buffer file = formats_buffer_make(1 << 20);
    assert_int_equal(codec_model_write(m, &precision, &file, NULL), TAPER_OK);
    assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
    formats_buffer_free(&file);
    taper_model_free(m);
    return back;
}

typedef struct fixture {
    taper_model *model;
    taper_image image[IMAGES];
    formats_buffer file; /* two groups of images of several windows */
    size_t front;
} fixture;

static int make_fixture(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->model = make_model(0);
    for (uint32_t i = 0; i < IMAGES; i++) f->image[i] = dct_picture(19 + 3 * i, 17, 1, i);
    taper_encode_options options = {.group_images = 3};
    f->file = dct_encode(f->model, f->image, IMAGES, &options, 0);
    f->front = (size_t)dct_info(&f->file, f->model).front_bytes;
    *state = f;
    return 0;
}

static int drop_fixture(void **state) {
    fixture *f = *state;
    for (int i = 0; i < IMAGES; i++) formats_image_free(&f->image[i]);
    formats_buffer_free(&f->file);
    taper_model_free(f->model);
    free(f);
    return 0;
}

/* y of one window from its first b bits, as SPEC 11 has it. */
static void window_in_double(const codec_network *net, const float *x, uint32_t b, double *y) {
    const codec_layer *layer = &net->decoder.layer[0];
    double z[UNITS] = {0};
    for (uint32_t k = 0; k < b; k++) {
        z[k] = x[k];
        for (uint32_t j = 0; j < k; j++) z[k] += (double)net->mixing[k * UNITS + j] * x[j];
    }
    for (uint32_t i = 0; i < D; i++) {
        y[i] = (double)net->mean[i] + layer->bias[i];
        for (uint32_t k = 0; k < UNITS; k++) y[i] += layer->weight[i * UNITS + k] * z[k];
    }
}

/* Windows side by side, cut to the image; codes as the decoder gives them. */
static void image_in_double(const fixture *f, const taper_image *image, const float *x,
                            const uint8_t *known, double *to) {
    uint32_t columns = (image->width - 1) / SIDE + 1, rows = (image->height - 1) / SIDE + 1;
    for (uint32_t w = 0; w < columns * rows; w++) {
        uint32_t b = 0;
        double y[D];
        for (uint32_t k = 0; k < UNITS; k++) b += known[w * UNITS + k];
        window_in_double(&f->model->network, x + w * UNITS, b, y);
        for (uint32_t i = 0; i < D; i++) {
            uint32_t px = w % columns * SIDE + i % SIDE, py = w / columns * SIDE + i / SIDE;
            if (px < image->width && py < image->height) to[py * image->width + px] = y[i];
        }
    }
}

/* Are there windows of one image that know one bit more than others? */
static int is_uneven(const uint8_t *known, size_t windows) {
    for (size_t w = 1; w < windows; w++)
        if (memcmp(known, known + w * UNITS, UNITS)) return 1;
    return 0;
}

/* Returns the squared error of the images from the file's first `size` bytes. */
static double check_cut(const fixture *f, size_t size, int *uneven) {
    enum { MOST = 40 * 24, WINDOWS = 20 };
    static double want[MOST];
    static float x[WINDOWS * UNITS];
    static uint8_t known[WINDOWS * UNITS], pixels[MOST];
    formats_memory memory = {f->file.data, size};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *d;
    double sum = 0;
    assert_int_equal(open_decoder(&d, &source, f->model, NULL, NULL), TAPER_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        taper_image out = {.pixels = pixels};
        assert_int_equal(taper_decoder_render(d, i, &out, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_codes(d, i, UNITS, UINT32_MAX, x, known, NULL, NULL),
                         TAPER_OK);
        image_in_double(f, &f->image[i], x, known, want);
        *uneven += is_uneven(known, (size_t)((out.width + 7) / 8) * ((out.height + 7) / 8));
        const uint8_t *original = f->image[i].pixels;
        for (size_t k = 0; k < (size_t)out.width * out.height; k++) {
            double clamped = fmin(fmax(want[k], 0), 255);
            if (!(fabs(pixels[k] - clamped) <= 0.5 + 1.0 / 32 + 1e-3)) /* of 1/16 */
                fail_msg("%zu bytes, image %u, sample %zu: %d, not %g", size, i, k, pixels[k],
                         clamped);
            sum += (original[k] - pixels[k]) * (original[k] - pixels[k]);
        }
    }
    close_decoder(d);
    return sum;
}

/* At every byte. Bits are worth what they are in the mean only: errors fall from eighth to eighth.
 */
static void every_cut_is_what_its_bits_make(void **state) {
    const fixture *f = *state;
    double before = INFINITY, sum = 0, first = 0, last = 0;
    size_t n = 0, eighth = (f->file.size - f->front) / 8;
    int uneven = 0;
    for (size_t size = f->front; size <= f->file.size; size++) {
        last = check_cut(f, size, &uneven);
        if (size == f->front) first = last;
        sum += last, n++;
        if (n < eighth) continue;
        assert_true(sum / (double)n < before);
        before = sum / (double)n, sum = 0, n = 0;
    }
    assert_true(uneven > 10); /* cuts between two windows of an image */
    assert_true(last < first / 10);
}

/* How far the mixing matrix is off after a model that needs `bits` is written for 8. */
static double off_after_writing(int bits) {
    const codec_weight_precision precision = {0.25, 8};
    taper_model *m = make_model(0), *back;
    formats_buffer file = formats_buffer_make(1 << 20);
    const size_t n = (size_t)UNITS * UNITS;
    float *was = malloc(n * sizeof *was);
    double off = 0.0;
    assert_non_null(was);
    memcpy(was, m->network.mixing, n * sizeof *was);
    m->layer_bits = bits;
    assert_int_equal(codec_model_write(m, &precision, &file, NULL), TAPER_OK);
    assert_int_equal(taper_model_load(&back, file.data, file.size, NULL, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++) off = fmax(off, fabs((double)was[i] - back->network.mixing[i]));
    free(was), formats_buffer_free(&file);
    taper_model_free(m), taper_model_free(back);
    return off;
}

static void a_model_is_stored_as_finely_as_it_needs(void **state) {
    (void)state;
    assert_true(off_after_writing(0) > 1e-5);
    assert_true(off_after_writing(12) < 1e-7); /* as it was stored before */
}

/* The bits are those that the definition gives; without feedback others would be sent. */
static void bits_are_decided_on_what_is_left(void **state) {
    const fixture *f = *state;
    const codec_network *net = &f->model->network;
    codec_backend be;
    codec_backend_cpu(&be);
    float pixels[D], codes[UNITS];
    uint64_t random = SEED;
    uint32_t differ = 0;
    for (int round = 0; round < 50; round++) {
        double a[UNITS];
        for (int i = 0; i < D; i++) pixels[i] = (float)(picture_random(&random) >> 56);
        assert_int_equal(codec_network_encode(net, &be, pixels, 1, codes), TAPER_OK);
        for (uint32_t k = 0; k < UNITS; k++) {
            a[k] = net->encoder.layer[0].bias[k];
            for (uint32_t i = 0; i < D; i++)
                a[k] += (double)net->encoder.layer[0].weight[k * D + i] *
                        ((double)pixels[i] - net->mean[i]);
            differ += (a[k] > 0) != (codes[k] > 0);
            for (uint32_t j = 0; j < k; j++) a[k] -= net->feedback[k * UNITS + j] * (codes[j] > 0);
            assert_true(fabs(a[k] - codes[k]) <= 2e-3);
        }
    }
    assert_true(differ > 50 * UNITS / 4);
    codec_backend_close(&be);
}

/* P5: any number of threads, any image first; pushed bytes and read ones. */
static void threads_and_order_change_nothing(void **state) {
    const fixture *f = *state;
    for (size_t size = f->front; size <= f->file.size; size += 3) {
        formats_buffer want = formats_buffer_make(1 << 20), got = formats_buffer_make(1 << 20);
        assert_int_equal(dct_pull(f->file.data, size, f->model, &want, NULL), TAPER_OK);
        taper_decoder *d;
        formats_memory memory = {f->file.data, size};
        taper_source source = formats_memory_source(&memory);
        static uint8_t pixels[40 * 24];
        taper_image out = {.pixels = pixels};
        assert_int_equal(open_decoder(&d, &source, f->model, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_set_threads(d, 3, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_render(d, IMAGES - 1, &out, NULL, NULL), TAPER_OK);
        size_t n = (size_t)out.width * out.height;
        assert_memory_equal(pixels, want.data + want.size - n, n);
        assert_int_equal(dct_render_all(d, &got, NULL), TAPER_OK);
        assert_int_equal(got.size, want.size);
        assert_memory_equal(got.data, want.data, got.size);
        close_decoder(d);
        formats_buffer_free(&want), formats_buffer_free(&got);
    }
}

/* A ceiling in the middle of the units: what is measured is what will be rendered, by no unit that
 * is not coded. Those of the last level would spoil it. */
static void quality_is_of_the_units_coded(void **state) {
    const fixture *f = *state;
    taper_model *m = make_model(20);
    taper_encode_options options = {
        .size = sizeof options, .measure = 1, .target_bytes_per_megapixel = 50000};
    taper_encoder *encoder;
    taper_encode_quality quality = {.size = sizeof quality};
    formats_buffer file = formats_buffer_make(1 << 20), pixels = formats_buffer_make(1 << 20);
    taper_sink sink = dct_sink(&file);
    taper_completeness done;
    assert_int_equal(taper_encoder_new(&encoder, m, &options, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add(encoder, &f->image[4], NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_quality(encoder, &quality, NULL), TAPER_OK);
    assert_int_equal(dct_pull(file.data, file.size, m, &pixels, &done), TAPER_OK);
    assert_in_range(done.passes, 15, 35);
    double rendered = dct_mean_psnr(&f->image[4], 1, pixels.data);
    if (!(quality.least_psnr_db >= rendered)) /* of an eighth more bits, before the ceiling cuts */
        fail_msg("%g dB was measured, %g are rendered", quality.least_psnr_db, rendered);
    taper_encoder_free(encoder);
    taper_model_free(m);
    formats_buffer_free(&file), formats_buffer_free(&pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_stored_as_finely_as_it_needs),
        cmocka_unit_test(every_cut_is_what_its_bits_make),
        cmocka_unit_test(bits_are_decided_on_what_is_left),
        cmocka_unit_test(threads_and_order_change_nothing),
        cmocka_unit_test(quality_is_of_the_units_coded),
    };
    return cmocka_run_group_tests(tests, make_fixture, drop_fixture);
}

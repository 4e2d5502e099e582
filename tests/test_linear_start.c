/* test_linear_start.c -- where linear maps begin: what each kind promises, of bytes and of floats.
 */
#include "train/embedding/linear_start.h"
#include "on_device.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 9, N = 300, SEED = 307 };

/* Bytes in three clouds, one in twenty without a label, and the numbers that they stand for. */
static uint8_t byte[N * D];
static float number[N * D];
static uint32_t label[N];
static float weight[D * D], bias[D];

static void draw(void) {
    uint64_t state = SEED;
    for (int r = 0; r < N; r++) {
        const uint64_t class = picture_random(&state) % 3;
        label[r] = r % 20 == 3 ? UINT32_MAX : (uint32_t) class;
        for (int i = 0; i < D; i++) {
            const uint64_t noise = picture_random(&state) % (i == 0 ? 120 : 40);
            byte[r * D + i] = (uint8_t)(i == 5 ? 77 : noise + 30 * ((class + (uint64_t)i) % 3));
            number[r * D + i] = (float)byte[r * D + i] / 255.0f;
        }
    }
}

static train_labelled_rows bytes(void) {
    return (train_labelled_rows){.bytes = byte, .n = N, .inputs = D, .label = label};
}
static train_labelled_rows numbers(void) {
    return (train_labelled_rows){.numbers = number, .n = N, .inputs = D, .label = label};
}

static taper_status start(train_linear_options options, const train_labelled_rows *rows,
                          uint32_t units, taper_error *error) {
    on_device d;
    codec_layer layer = {.inputs = D, .outputs = units, .weight = weight, .bias = bias};
    for (int k = 0; k < D * D; k++) weight[k] = NAN;
    for (int k = 0; k < D; k++) bias[k] = NAN;
    on_device_open(&d, TRAIN_PROCESSOR);
    taper_status status = train_linear_layer(&options, rows, &d.device, &layer, error);
    on_device_close(&d);
    return status;
}

static double code(int r, int u) {
    double sum = (double)bias[u];
    for (int i = 0; i < D; i++) sum += (double)weight[u * D + i] * (double)number[r * D + i];
    return sum;
}

/* The mean of unit u's codes times unit v's; labelled: of rows with a label, less class means. */
static double product_of(int u, int v, int labelled) {
    double mean[3][2] = {{0}}, count[3] = {0}, sum = 0, n = 0;
    for (int r = 0; labelled && r < N; r++)
        if (label[r] != UINT32_MAX) {
            count[label[r]]++;
            mean[label[r]][0] += code(r, u), mean[label[r]][1] += code(r, v);
        }
    for (int r = 0; r < N; r++) {
        if (labelled && label[r] == UINT32_MAX) continue;
        const uint32_t c = labelled ? label[r] : 0;
        const double a = labelled ? mean[c][0] / count[c] : 0,
                     b = labelled ? mean[c][1] / count[c] : 0;
        sum += (code(r, u) - a) * (code(r, v) - b), n++;
    }
    return sum / n;
}

static void identity_takes_the_first_numbers(void **unused) {
    (void)unused;
    const train_labelled_rows rows = bytes();
    assert_int_equal(start((train_linear_options){0}, &rows, 4, NULL), TAPER_OK);
    for (int u = 0; u < 4; u++) {
        assert_true(bias[u] == 0);
        for (int i = 0; i < D; i++) assert_true(weight[u * D + i] == (u == i ? 1.0f : 0.0f));
    }
}

static void random_weights_are_small_and_repeat(void **unused) {
    (void)unused;
    const train_labelled_rows rows = numbers();
    train_linear_options options = {.kind = TRAIN_START_RANDOM, .seed = 5};
    float first[D * D];
    double sum = 0, square = 0;
    assert_int_equal(start(options, &rows, D, NULL), TAPER_OK);
    memcpy(first, weight, sizeof first);
    for (int k = 0; k < D * D; k++)
        sum += first[k] / (D * D), square += first[k] * first[k] / (D * D);
    assert_true(fabs(sum) <= 0.004 && fabs(sqrt(square) / 0.01 - 1) <= 0.25);
    for (int u = 0; u < D; u++) assert_true(bias[u] == 0);
    assert_int_equal(start(options, &rows, D, NULL), TAPER_OK);
    assert_memory_equal(weight, first, sizeof first);
    options.seed = 6;
    assert_int_equal(start(options, &rows, D, NULL), TAPER_OK);
    assert_memory_not_equal(weight, first, sizeof first);
}

static void components_are_orthonormal_and_uncorrelated(void **unused) {
    (void)unused;
    for (int floats = 0; floats < 2; floats++) {
        const train_labelled_rows rows = floats ? numbers() : bytes();
        assert_int_equal(start((train_linear_options){.kind = TRAIN_START_PCA}, &rows, 5, NULL),
                         TAPER_OK);
        for (int u = 0; u < 5; u++)
            for (int v = 0; v < 5; v++) {
                double dot = 0;
                for (int i = 0; i < D; i++) dot += (double)(weight[u * D + i] * weight[v * D + i]);
                assert_true(fabs(dot - (u == v)) <= 1e-5);
                if (u != v) assert_true(fabs(product_of(u, v, 0)) <= 1e-6);
                if (u < v) assert_true(product_of(u, u, 0) > product_of(v, v, 0));
            }
        for (int u = 0; u < 5; u++) {
            double mean = 0;
            for (int r = 0; r < N; r++) mean += code(r, u) / N;
            assert_true(fabs(mean) <= 1e-5);
        }
    }
}

/* Discriminants of labelled rows alone: within classes uncorrelated and of variance 1, but for the
 * ridge, which is small here. */
static void discriminants_are_of_labelled_rows(void **unused) {
    (void)unused;
    float of_bytes[3 * D];
    for (int floats = 0; floats < 2; floats++) {
        const train_labelled_rows rows = floats ? numbers() : bytes();
        train_linear_options options = {.kind = TRAIN_START_LDA, .ridge = 1e-6};
        assert_int_equal(start(options, &rows, 3, NULL), TAPER_OK);
        for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++) assert_true(fabs(product_of(u, v, 1) - (u == v)) <= 1e-3);
        if (!floats) memcpy(of_bytes, weight, sizeof of_bytes);
    }
    for (int k = 0; k < 3 * D; k++) assert_true(fabs(of_bytes[k] - weight[k]) <= 2e-3);
}

/* Numbers far from 0 lose no digits but their own. */
static void where_numbers_lie_does_not_matter(void **unused) {
    (void)unused;
    for (int lda = 0; lda < 2; lda++) {
        const train_labelled_rows rows = numbers();
        train_linear_options options = {.kind = lda ? TRAIN_START_LDA : TRAIN_START_PCA,
                                        .ridge = 1e-6};
        float here[2 * D], most = 0;
        assert_int_equal(start(options, &rows, 2, NULL), TAPER_OK);
        memcpy(here, weight, sizeof here);
        for (int k = 0; k < N * D; k++) number[k] += 100.375f;
        assert_int_equal(start(options, &rows, 2, NULL), TAPER_OK);
        for (int u = 0; u < 2; u++) {
            double mean = 0;
            for (int r = 0; r < N; r++) mean += label[r] == UINT32_MAX && lda ? 0 : code(r, u) / N;
            assert_true(fabs(mean) <= 0.02);
        }
        draw();
        for (int k = 0; k < 2 * D; k++) most = fmaxf(most, fabsf(here[k]));
        for (int k = 0; k < 2 * D; k++) assert_true(fabs(here[k] - weight[k]) <= 2e-3 * most);
    }
}

static void spread_is_the_mean_squared_distance(void **unused) {
    (void)unused;
    static const train_linear_kind kinds[] = {TRAIN_START_IDENTITY, TRAIN_START_RANDOM,
                                              TRAIN_START_PCA, TRAIN_START_LDA};
    for (int k = 0; k < 8; k++) {
        const train_labelled_rows rows = k % 2 ? numbers() : bytes();
        double sum = 0;
        assert_int_equal(
            start((train_linear_options){.kind = kinds[k / 2], .spread = 7.5}, &rows, 4, NULL),
            TAPER_OK);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < i; j++)
                for (int u = 0; u < 4; u++) sum += pow(code(i, u) - code(j, u), 2);
        assert_true(fabs(sum / (N * (N - 1) / 2.0) / 7.5 - 1) <= 1e-3);
    }
}

static void a_network_takes_pixels(void **unused) {
    (void)unused;
    static const codec_linear_path paths[] = {CODEC_ENCODER, CODEC_DIRECT};
    const train_pixels pixels = {.pixels = byte, .n = N, .inputs = D, .label = label};
    const train_labelled_rows rows = bytes();
    const train_linear_options options = {.kind = TRAIN_START_LDA};
    static float pixel[N * D], codes[N * 3];
    for (int k = 0; k < N * D; k++) pixel[k] = byte[k];
    for (int p = 0; p < 2; p++) {
        codec_network net;
        on_device d;
        assert_int_equal(codec_network_alloc(&net, D, 3, paths[p], NULL, 0, NULL, 0), TAPER_OK);
        for (int i = 0; i < D; i++) net.mean[i] = 9;
        on_device_open(&d, TRAIN_SHADOW);
        assert_int_equal(train_linear_start(&options, &pixels, &d.device, &net, NULL), TAPER_OK);
        assert_int_equal(codec_network_encode(&net, &d.be, pixel, N, codes), TAPER_OK);
        on_device_close(&d);
        assert_int_equal(start(options, &rows, 3, NULL), TAPER_OK);
        for (int r = 0; r < N; r++)
            for (int u = 0; u < 3; u++) assert_true(fabs(codes[r * 3 + u] - code(r, u)) <= 1e-3);
        codec_network_free(&net);
    }
}

static void refused(train_linear_options options, const train_labelled_rows *rows, uint32_t units,
                    const char *why) {
    taper_error error = {0};
    assert_int_equal(start(options, rows, units, &error), TAPER_ERR_ARG);
    if (!strstr(error.text, why)) fail_msg("'%s' does not say '%s'", error.text, why);
}

static void bad_input_is_named(void **unused) {
    (void)unused;
    const train_linear_options pca = {.kind = TRAIN_START_PCA}, lda = {.kind = TRAIN_START_LDA},
                               spread = {.spread = 1};
    train_labelled_rows rows = numbers();
    float kept = number[4 * D + 2];
    uint32_t one[N];
    static float flat[N * D];
    refused(pca, &rows, D + 1, "1 to 9 units");
    refused(pca, &rows, 0, "1 to 9 units");
    number[4 * D + 2] = INFINITY;
    refused(pca, &rows, 2, "row 4");
    number[4 * D + 2] = kept;
    for (int i = 0; i < N; i++) one[i] = i % 2 ? UINT32_MAX : 4;
    rows.label = one;
    refused(lda, &rows, 2, "the same label");
    for (int i = 0; i < N; i++) one[i] = UINT32_MAX;
    refused(lda, &rows, 2, "no row has a label");
    one[7] = TRAIN_MOST_CLASSES;
    refused(lda, &rows, 2, "row 7 has the label 65536");
    rows.label = NULL;
    refused(lda, &rows, 2, "needs labels");
    rows.n = 1;
    refused(pca, &rows, 2, "two rows");
    rows = (train_labelled_rows){.numbers = flat, .n = N, .inputs = D, .label = label};
    refused(pca, &rows, 2, "all rows are the same");
    refused(lda, &rows, 2, "all rows are the same");
    refused(spread, &rows, 2, "same code");
}

static void other_networks_are_refused(void **unused) {
    (void)unused;
    const train_pixels pixels = {.pixels = byte, .n = N, .inputs = D, .label = label};
    const uint32_t hidden = 4;
    const train_linear_options options = {0};
    codec_network net;
    on_device d;
    on_device_open(&d, TRAIN_PROCESSOR);
    for (int kind = 0; kind < 3; kind++) {
        assert_int_equal(codec_network_alloc(&net, kind == 2 ? D + 1 : D, 3,
                                             kind == 0 ? CODEC_TIED : CODEC_DIRECT, &hidden,
                                             kind == 1, NULL, 0),
                         TAPER_OK);
        assert_int_equal(train_linear_start(&options, &pixels, &d.device, &net, NULL),
                         TAPER_ERR_ARG);
        codec_network_free(&net);
    }
    on_device_close(&d);
}

int main(void) {
    draw();
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_takes_the_first_numbers),
        cmocka_unit_test(random_weights_are_small_and_repeat),
        cmocka_unit_test(components_are_orthonormal_and_uncorrelated),
        cmocka_unit_test(discriminants_are_of_labelled_rows),
        cmocka_unit_test(where_numbers_lie_does_not_matter),
        cmocka_unit_test(spread_is_the_mean_squared_distance),
        cmocka_unit_test(a_network_takes_pixels),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(other_networks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

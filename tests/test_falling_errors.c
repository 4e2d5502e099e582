/* test_falling_errors.c -- every unit of a network trained by nested dropout is worth something: on
 * the images it has learned from, the error at b + 1 units is not above that at b, for all kinds of
 * networks. Units that are never drawn are told from them. */
#include "on_device.h"
#include "train/nested/nested_errors.h"
#include "train/nested/nested_trainer.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>

enum { D = 24, K = 8, N = 600 };
static uint8_t pixels[N * D];
static const train_pixels data = {.pixels = pixels, .n = N, .inputs = D};
static on_device at;

/* Twelve waves whose weights fall. */
static int set_up(void **state) {
    (void)state;
    on_device_open(&at, TRAIN_PROCESSOR);
    for (uint64_t n = 0; n < N; n++) {
        double v[D] = {0};
        for (uint64_t w = 0; w < 12; w++) {
            uint32_t word[4];
            train_philox(3, n * 12 + w, 900, word);
            double weight = 90.0 / (1.0 + (double)w) * (train_philox_uniform(word[0]) - 0.5f);
            for (int i = 0; i < D; i++) v[i] += weight * sin(0.3 * ((double)w + 1.0) * (i + 1.0));
        }
        for (int i = 0; i < D; i++)
            pixels[n * D + (uint64_t)i] = (uint8_t)fmax(0, fmin(255, 128 + v[i]));
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    on_device_close(&at);
    return 0;
}

typedef struct kind {
    const char *name;
    int binary, tied, deep, feedback, sweep, orthonormal;
    const char *truncation; /* NULL: uniform */
} kind;

static const kind kinds[] = {
    {.name = "linear, tied", .tied = 1},
    {.name = "linear, untied"},
    {.name = "linear, orthonormal", .tied = 1, .orthonormal = 1},
    {.name = "linear, deep", .tied = 1, .deep = 1},
    {.name = "linear, swept", .tied = 1, .sweep = 1},
    {.name = "binary, tied", .binary = 1, .tied = 1},
    {.name = "binary, untied", .binary = 1},
    {.name = "binary, deep", .binary = 1, .deep = 1},
    {.name = "binary, feedback, tied", .binary = 1, .tied = 1, .feedback = 1},
    {.name = "binary, feedback, untied", .binary = 1, .feedback = 1},
    {.name = "binary, swept", .binary = 1, .tied = 1, .sweep = 1},
};

/* Errors at 0 .. K units of a network of this kind, trained. */
static void errors_of(const kind *k, double mse[K + 1]) {
    train_nested_shape shape = {.inputs = D,
                                .layers = k->deep ? 2 : 1,
                                .width = {k->deep ? 32 : K, K},
                                .hidden = CODEC_RELU,
                                .tied = k->tied,
                                .binary = k->binary,
                                .feedback = k->feedback,
                                .centre = k->binary ? 0.5f : 0.0f};
    train_nested_options o = train_nested_defaults();
    train_truncation truncation;
    train_nested_network net;
    train_nested_source source;
    taper_error error = {0};
    float mean[D], scale;
    uint32_t length[K + 1];
    for (uint32_t b = 0; b <= K; b++) length[b] = b;
    assert_int_equal(
        train_truncation_make(&truncation, k->truncation ? k->truncation : "uniform", K, NULL),
        TAPER_OK);
    o.truncation = &truncation;
    o.sweep.on = k->sweep, o.orthonormal = k->orthonormal;
    o.epochs = 150, o.batch = 60, o.rate = 0.01f, o.max_validation = 0;
    train_nested_statistics(&data, mean, &scale);
    assert_int_equal(train_nested_create(&net, &shape, &at.device, mean, scale, 7), TAPER_OK);
    if (train_nested(&o, &data, &net, NULL, NULL, &error) != TAPER_OK) fail_msg("%s", error.text);
    assert_int_equal(train_nested_source_open(&source, &net, &data, NULL, N), TAPER_OK);
    assert_int_equal(train_nested_errors(&net, &source.data, length, K + 1, mse), TAPER_OK);
    train_nested_source_close(&source);
    train_nested_free(&net), train_truncation_free(&truncation);
}

static double largest_rise(const double mse[K + 1]) {
    double most = -INFINITY;
    for (int b = 0; b < K; b++) most = fmax(most, mse[b + 1] / mse[b] - 1.0);
    return most;
}

static void errors_fall_with_every_unit(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double mse[K + 1];
        errors_of(&kinds[i], mse);
        printf("%s:", kinds[i].name);
        for (int b = 0; b <= K; b++) printf(" %.1f", mse[b]);
        printf("\n");
        if (!(largest_rise(mse) < 0.0))
            fail_msg("%s: an error rises by %.2g", kinds[i].name, largest_rise(mse));
    }
}

/* What the test is able to see: the last units stay as they were drawn, noise. */
static void units_that_are_never_drawn_add_errors(void **state) {
    (void)state;
    const kind steep = {.name = "steep", .binary = 1, .tied = 1, .truncation = "geometric:0.02"};
    double mse[K + 1];
    errors_of(&steep, mse);
    assert_true(largest_rise(mse) > 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_fall_with_every_unit),
        cmocka_unit_test(units_that_are_never_drawn_add_errors),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

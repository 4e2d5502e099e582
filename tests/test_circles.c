/* test_circles.c -- the synthetic data of bench/paper-embedding, and what principal components make
 * of it. */
#include "bench/paper-embedding/circles.h"
#include "on_device.h"
#include "train/embedding/linear_start.h"
#include <math.h>

enum { N = 5000 };
static float row[N * CIRCLES_INPUTS];
static uint32_t label[N];

static void classes_are_circles(void **unused) {
    (void)unused;
    double east[CIRCLES_CLASSES] = {0}, north[CIRCLES_CLASSES] = {0}, square = 0, mean = 0,
           aside = 0;
    circles_draw(3, N, CIRCLES_NOISE, row, label);
    for (int i = 0; i < N; i++) {
        const float *x = row + i * CIRCLES_INPUTS;
        assert_int_equal(label[i], i % CIRCLES_CLASSES);
        assert_true(fabs(hypot((double)x[0], (double)x[1]) - (label[i] + 1.0)) <= 1e-5);
        east[label[i]] += (double)x[0] / (label[i] + 1.0) * CIRCLES_CLASSES / N;
        north[label[i]] += (double)x[1] / (label[i] + 1.0) * CIRCLES_CLASSES / N;
        aside += (x[1] > 0 ? 1.0 : -1.0) * fabs((double)x[2]) / N; /* noise knows no angle */
        mean += (double)x[2] / N, square += (double)x[2] * (double)x[2] / N;
    }
    for (int c = 0; c < CIRCLES_CLASSES; c++)
        assert_true(fabs(east[c]) <= 0.1 && fabs(north[c]) <= 0.1);
    assert_true(fabs(aside) <= 0.3 && fabs(mean) <= 0.3 &&
                fabs(sqrt(square) / (double)CIRCLES_NOISE - 1) <= 0.05);
}

static void rows_depend_on_the_seed_and_their_number(void **unused) {
    (void)unused;
    float few[10 * CIRCLES_INPUTS];
    uint32_t labels[10];
    circles_draw(3, N, 1.0f, row, label);
    circles_draw(3, 10, 1.0f, few, labels);
    assert_memory_equal(few, row, sizeof few);
    circles_draw(4, 10, 1.0f, few, labels);
    assert_memory_not_equal(few, row, sizeof few);
}

/* Loud noise comes first, quiet noise last. */
static void principal_components_follow_the_noise(void **unused) {
    (void)unused;
    for (int loud = 0; loud < 2; loud++) {
        float weight[2 * CIRCLES_INPUTS], bias[2];
        const train_labelled_rows rows = {.numbers = row, .n = N, .inputs = CIRCLES_INPUTS};
        codec_layer layer = {
            .inputs = CIRCLES_INPUTS, .outputs = 2, .weight = weight, .bias = bias};
        on_device d;
        circles_draw(5, N, loud ? CIRCLES_NOISE : 0.1f, row, label);
        on_device_open(&d, TRAIN_PROCESSOR);
        assert_int_equal(train_linear_layer(&(train_linear_options){.kind = TRAIN_START_PCA}, &rows,
                                            &d.device, &layer, NULL),
                         TAPER_OK);
        on_device_close(&d);
        if (loud) assert_true(weight[2] > 0.99);
        if (!loud) assert_true(fabs(weight[2]) < 0.01 && fabs(weight[5]) < 0.01);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_circles),
        cmocka_unit_test(rows_depend_on_the_seed_and_their_number),
        cmocka_unit_test(principal_components_follow_the_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

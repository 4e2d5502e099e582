/* test_refit.c -- the decoder that a network of bits is given at the end: least squares at
 * every length, so that on its own rows the error falls with every unit; a ridge chosen on other
 * rows; thresholds of units that see those before them. */
#include "on_device.h"
#include "codec/transform/triangle.h"
#include "train/nested/refit.h"
#include "train/sampling/thresholds.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { D = 20, K = 14, N = 900 };
static uint8_t pixels[N * D];
static const train_pixels data = {.pixels = pixels, .n = N, .inputs = D};
static on_device place;

static float draw(uint64_t index, uint64_t stream) {
    uint32_t word[4];
    train_philox(8, index, stream, word);
    return train_philox_uniform(word[0]) - 0.5f;
}

/* Waves whose weights fall, and some noise. */
static int set_up(void **state) {
    (void)state;
    on_device_open(&place, TRAIN_SHADOW);
    for (uint64_t n = 0; n < N; n++)
        for (uint64_t i = 0; i < D; i++) {
            double v = 6.0 * draw(n * D + i, 2);
            for (uint64_t w = 0; w < 8; w++)
                v += 120.0 / (1.0 + (double)w) * draw(n * 8 + w, 1) *
                     sin(0.3 * ((double)w + 1.0) * ((double)i + 1.0));
            pixels[n * D + i] = (uint8_t)fmax(0.0, fmin(255.0, 128.0 + v));
        }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    on_device_close(&place);
    return 0;
}

/* A network of random weights, whose units see those before them or do not. */
static void make(train_nested_network *net, int tied, int feedback) {
    const train_nested_shape shape = {.inputs = D,
                                      .layers = 1,
                                      .width = {K},
                                      .tied = tied,
                                      .binary = 1,
                                      .feedback = feedback,
                                      .centre = 0.5f};
    float mean[D] = {0}, scale = 40.0f;
    for (size_t i = 0; i < N * D; i++) mean[i % D] += (float)pixels[i] / N;
    assert_int_equal(train_nested_create(net, &shape, &place.device, mean, scale, 3), TAPER_OK);
    assert_int_equal(train_nested_feed_back(net), TAPER_OK);
}

/* Errors at all lengths 0 .. K on rows first .. first + n - 1. */
static void errors(train_nested_network *net, size_t first, size_t n, double *mse) {
    uint32_t length[K + 1];
    const train_pixels some = {.pixels = pixels + first * D, .n = n, .inputs = D};
    train_nested_source source;
    for (uint32_t b = 0; b <= K; b++) length[b] = b;
    assert_int_equal(train_nested_source_open(&source, net, &some, NULL, n), TAPER_OK);
    assert_int_equal(train_nested_errors(net, &source.data, length, K + 1, mse), TAPER_OK);
    train_nested_source_close(&source);
}

/* Solve the symmetric A x = b by elimination. */
static void solve(double *a, double *b, int n) {
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double f = a[i * K + k] / a[k * K + k];
            for (int j = k; j < n; j++) a[i * K + j] -= f * a[k * K + j];
            b[i] -= f * b[k];
        }
    for (int k = n; k-- > 0;) {
        for (int j = k + 1; j < n; j++) b[k] -= a[k * K + j] * b[j];
        b[k] /= a[k * K + k];
    }
}

/* Least squares of the centred pixels from the first b units, component by component. */
static double least_error(train_nested_network *net, const float *x, uint32_t b) {
    float mean[D];
    double error = 0.0;
    on_device_take(&place, mean, net->mean, sizeof mean);
    for (int i = 0; i < D; i++) {
        double a[K * K] = {0}, r[K] = {0}, squares = 0.0, q[K];
        for (size_t n = 0; n < N; n++) {
            double y = (double)pixels[n * D + (size_t)i] - mean[i];
            squares += y * y;
            for (uint32_t k = 0; k < b; k++) {
                r[k] += x[n * K + k] * y;
                for (uint32_t j = 0; j < b; j++) a[k * K + j] += x[n * K + k] * x[n * K + j];
            }
        }
        memcpy(q, r, sizeof q);
        solve(a, q, (int)b);
        for (uint32_t k = 0; k < b; k++) squares -= q[k] * r[k];
        error += squares / ((double)N * D);
    }
    return error;
}

static void check_least_squares(int feedback) {
    train_nested_network net;
    train_nested_source source;
    static float x[N * K];
    double mse[K + 1];
    make(&net, 0, feedback);
    assert_int_equal(train_nested_source_open(&source, &net, &data, NULL, N), TAPER_OK);
    assert_int_equal(train_nested_refit(&net, &source.data, &source.data, NULL), TAPER_OK);
    assert_int_equal(train_nested_codes(&net, &source.data, 0, x), TAPER_OK);
    errors(&net, 0, N, mse);
    for (uint32_t b = 1; b <= K; b++) {
        double want = least_error(&net, x, b);
        if (!(fabs(mse[b] - want) <= 1e-4 * want))
            fail_msg("%u units: %.6g, least squares %.6g", b, mse[b], want);
        assert_true(mse[b] < mse[b - 1]);
    }
    train_nested_source_close(&source);
    train_nested_free(&net);
}

static void refitted_is_least_squares_at_every_length(void **state) {
    (void)state;
    check_least_squares(1);
    check_least_squares(0); /* independent units */
}

/* Codes of one length decode alike, all at once or one by one. */
static void short_codes_are_decoded_as_they_were_fitted(void **state) {
    (void)state;
    enum { ROWS = 50, KEPT = 9 };
    train_nested_network net;
    train_nested_source source;
    static float x[N * K], out[ROWS * D];
    double mse[K + 1], sum = 0.0;
    make(&net, 0, 1);
    assert_int_equal(train_nested_source_open(&source, &net, &data, NULL, N), TAPER_OK);
    assert_int_equal(train_nested_refit(&net, &source.data, &source.data, NULL), TAPER_OK);
    assert_int_equal(train_nested_codes(&net, &source.data, 0, x), TAPER_OK);
    assert_int_equal(train_nested_decode(&net, x, ROWS, KEPT, out), TAPER_OK);
    errors(&net, 0, ROWS, mse);
    for (size_t i = 0; i < ROWS * D; i++) sum += pow((double)out[i] - pixels[i], 2.0) / (ROWS * D);
    assert_true(fabs(sum - mse[KEPT]) < 1e-4 * sum);
    train_nested_source_close(&source);
    train_nested_free(&net);
}

/* On rows enough the refit is taken; where it knows nothing, or nothing new, the decoder stays. */
static void what_is_worse_is_not_taken(void **state) {
    (void)state;
    train_nested_network net;
    train_nested_source source, few;
    double before[K + 1], after[K + 1];
    float v[K * D], kept[K * D];
    make(&net, 0, 1);
    errors(&net, 0, 100, before);
    assert_int_equal(train_nested_source_open(&few, &net, &data, NULL, 100), TAPER_OK);
    assert_int_equal(train_nested_source_open(&source, &net, &data, NULL, N), TAPER_OK);
    assert_int_equal(train_nested_refit(&net, &source.data, &few.data, NULL), TAPER_OK);
    errors(&net, 0, 100, after);
    assert_true(net.mixed && after[K] < 0.9 * before[K]);
    on_device_take(&place, kept, net.layer[0].v, sizeof kept);
    net.mixed = 0; /* the same rows say the same again: M and v are what they were */
    assert_int_equal(train_nested_refit(&net, &source.data, &few.data, NULL), TAPER_OK);
    on_device_take(&place, v, net.layer[0].v, sizeof v);
    assert_memory_equal(v, kept, sizeof v);
    train_nested_data none = {.feed = &few.feed};
    assert_int_equal(train_nested_refit(&net, &none, &none, NULL), TAPER_ERR_ARG);
    train_nested_source_close(&source), train_nested_source_close(&few);
    train_nested_free(&net);
    make(&net, 1, 1);
    assert_null(net.mixing);
    assert_int_equal(train_nested_refit(&net, &none, &none, NULL), TAPER_ERR_ARG);
    train_nested_free(&net);
}

/* Thresholds in order give every unit its share of ones, and what the codec decides by them. */
static void thresholds_follow_each_other(void **state) {
    (void)state;
    enum { UNITS = 70, ROWS = 301 };
    static float a[ROWS * UNITS], x[ROWS * UNITS], feedback[UNITS * UNITS], bias[UNITS],
        decided[ROWS * UNITS];
    for (uint64_t i = 0; i < ROWS * UNITS; i++) a[i] = x[i] = 4.0f * draw(i, 5);
    for (uint64_t i = 0; i < UNITS * UNITS; i++)
        feedback[i] = i % UNITS < i / UNITS ? draw(i, 6) : NAN;
    assert_int_equal(train_exact_thresholds(feedback, UNITS, ROWS, 0.3, 0.5f, x, bias), TAPER_OK);
    assert_int_equal(codec_triangle_decide(feedback, UNITS, UNITS, bias, 0.5f, ROWS, a, decided),
                     TAPER_OK);
    assert_memory_equal(decided, x, sizeof x);
    for (int k = 0; k < UNITS; k++) {
        int ones = 0;
        for (int i = 0; i < ROWS; i++) ones += x[i * UNITS + k] > 0.0f;
        assert_in_range(ones, 90, 91);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refitted_is_least_squares_at_every_length),
        cmocka_unit_test(short_codes_are_decoded_as_they_were_fitted),
        cmocka_unit_test(what_is_worse_is_not_taken),
        cmocka_unit_test(thresholds_follow_each_other),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

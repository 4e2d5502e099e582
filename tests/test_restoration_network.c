/* test_restoration_network.c -- training a restoration network: its gradient against finite
 * differences of a twin in double, its integers against its floats, and that it learns what can be
 * learned, repeats, and can be interrupted. */
#include "../train/restoration_network.h"
#include "../train/train.h"
#include "cmocka_all.h"
#include "random_restoration.h"
#include "scratch.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { TAPS = CODEC_RESTORATION_TAPS, HIDDEN = 8, STAGES = 3, VALUES = 4 };

static const uint32_t at[STAGES] = {0, 10, 30};

static double uniform(uint64_t *state) { /* -1 .. 1 */
    return (double)(picture_random(state) >> 11) / (double)((uint64_t)1 << 52) - 1;
}

/* Two pictures of patches of grey: rows x columns. */
static const uint32_t sizes[2][2] = {{3, 4}, {2, 1}};

static train_restoration_batch make_batch(uint64_t seed) {
    train_restoration_batch b = {.values = VALUES};
    for (int i = 0; i < 2; i++) b.rows += sizes[i][0] * sizes[i][1];
    b.decoded = malloc(b.rows * VALUES * sizeof *b.decoded);
    b.target = malloc(b.rows * VALUES * sizeof *b.target);
    b.beside = malloc(TAPS * b.rows * sizeof *b.beside);
    assert_true(b.decoded && b.target && b.beside);
    for (size_t i = 0; i < b.rows * VALUES; i++) {
        b.target[i] = (float)(128 + 120 * uniform(&seed));
        b.decoded[i] = b.target[i] + (float)(20 * uniform(&seed));
    }
    size_t first = 0;
    for (int i = 0; i < 2; first += sizes[i][0] * sizes[i][1], i++)
        for (int y = 0; y < (int)sizes[i][0]; y++)
            for (int x = 0; x < (int)sizes[i][1]; x++)
                for (int tap = 0; tap < TAPS; tap++) {
                    int to_x = x + tap % 3 - 1, to_y = y + tap / 3 - 1, columns = (int)sizes[i][1];
                    int inside =
                        to_x >= 0 && to_y >= 0 && to_x < columns && to_y < (int)sizes[i][0];
                    b.beside[(size_t)tap * b.rows + first + (size_t)(y * columns + x)] =
                        (uint32_t)(inside ? first + (size_t)(to_y * columns + to_x) : b.rows);
                }
    return b;
}

static train_restoration_network make_network(uint32_t layers, codec_backend *be, uint64_t seed) {
    codec_restoration shape = {
        .channels = 1, .hidden = HIDDEN, .layers = layers, .stages = STAGES, .at = (uint32_t *)at};
    train_restoration_network net;
    assert_int_equal(train_restoration_create(&net, &shape, be, seed), TAPER_OK);
    for (size_t i = 0; i < net.n; i++) net.parameter[i] += (float)(0.2 * uniform(&seed));
    return net;
}

/* --- the twin ------------------------------------------------------------------------------- */

/* Distance of the nearest corner of a clip: differences must not step over one. */
static double corner;

static double clip(double x, double low, double high) {
    corner = fmin(corner, fmin(fabs(x - low), fabs(x - high)));
    return fmin(fmax(x, low), high);
}

/* Squared error with the network, in double, from parameters w. */
static double twin_loss(const train_restoration_network *net, const double *w,
                        const train_restoration_batch *b, uint32_t pass) {
    const double top = 4095.0 / 256;
    uint32_t s = pass >= at[2] ? 2 : pass >= at[1] ? 1 : 0, next = s < 2 ? s + 1 : 2;
    double part = s < 2 ? (double)(pass - at[s]) / (at[s + 1] - at[s]) : 0;
    const double *gains = w + STAGES * HIDDEN, *layer = gains + STAGES;
    double a[32][HIDDEN] = {{0}}, h[32][HIDDEN] = {{0}}, now = 0;
    double gain = (1 - part) * gains[s] + part * gains[next];
    for (size_t r = 0; r < b->rows; r++)
        for (int v = 0; v < VALUES; v++)
            a[r][v] = clip(((double)b->decoded[r * VALUES + (size_t)v] - 128) / 64, -2047.0 / 1024,
                           2047.0 / 1024);
    for (uint32_t l = 0; l < net->shape.layers; l++) {
        int last = l + 1 == net->shape.layers, in = l ? HIDDEN : VALUES,
            out = last ? VALUES : HIDDEN;
        const double *bias = layer + TAPS * in * out;
        double z[32][HIDDEN];
        for (size_t r = 0; r < b->rows; r++)
            for (int o = 0; o < out; o++) {
                z[r][o] = l ? bias[o]
                            : (1 - part) * w[s * HIDDEN + (uint32_t)o] +
                                  part * w[next * HIDDEN + (uint32_t)o];
                for (int tap = 0; tap < TAPS; tap++) {
                    uint32_t from = b->beside[(size_t)tap * b->rows + r];
                    for (int i = 0; from < b->rows && i < in; i++)
                        z[r][o] += a[from][i] * layer[(tap * in + i) * out + o];
                }
            }
        layer = bias + (l ? out : 0);
        for (size_t r = 0; r < b->rows && !last; r++)
            for (int o = 0; o < out; o++) {
                h[r][o] = clip(h[r][o] + z[r][o], -top, top);
                a[r][o] = clip(h[r][o], 0, INFINITY);
            }
        for (size_t r = 0; r < b->rows && last; r++)
            for (int v = 0; v < VALUES; v++) {
                size_t i = r * VALUES + (size_t)v;
                double was = (double)b->decoded[i] - (double)b->target[i];
                now += (was + 8 * gain * z[r][v]) * (was + 8 * gain * z[r][v]);
            }
    }
    return now;
}

static void check_gradient(uint32_t layers, uint32_t pass, codec_backend *be, uint64_t seed) {
    const double step = 1e-6;
    train_restoration_network net = make_network(layers, be, seed);
    train_restoration_batch b = make_batch(seed);
    train_restoration_errors errors;
    double *w = malloc(net.n * sizeof *w), worst = 0, scale = 0;
    size_t checked = 0;
    assert_non_null(w);
    for (size_t i = 0; i < net.n; i++) w[i] = (double)net.parameter[i];
    assert_int_equal(train_restoration_forward(&net, &b, pass), TAPER_OK);
    assert_int_equal(train_restoration_backward(&net, 1, &errors), TAPER_OK);
    double expected = twin_loss(&net, w, &b, pass);
    assert_true(fabs(errors.now - expected) < 1e-5 * expected);
    double before = train_restoration_mse(&b) * (double)(b.rows * b.values);
    assert_true(fabs(errors.before - before) < 1e-3);
    for (size_t i = 0; i < net.n; i++) scale = fmax(scale, fabs((double)net.gradient[i]));
    for (size_t i = 0; i < net.n; i += 1 + i % 3) {
        double keep = w[i], up, down;
        corner = INFINITY;
        w[i] = keep + step, up = twin_loss(&net, w, &b, pass);
        w[i] = keep - step, down = twin_loss(&net, w, &b, pass);
        w[i] = keep;
        if (corner < 4 * step) continue;
        checked++;
        worst = fmax(worst, fabs((up - down) / (2 * step) - (double)net.gradient[i]) / scale);
    }
    print_message("%u layers: %zu of %zu parameters, worst difference %.1e of the largest slope\n",
                  layers, checked, net.n, worst);
    assert_true(worst < 1e-5 && checked > net.n / 4);
    free(w);
    train_restoration_batch_free(&b);
    train_restoration_free(&net);
}

static void gradient_equals_finite_differences(void **unused) {
    (void)unused;
    codec_backend be;
    codec_backend_plain(&be);
    for (uint32_t layers = 2; layers <= 5; layers++)
        for (uint32_t pass = 0; pass <= 30; pass += 15) check_gradient(layers, pass, &be, layers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_equals_finite_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

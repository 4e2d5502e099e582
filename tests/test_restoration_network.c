/* test_restoration_network.c -- training a restoration network: its gradient against finite
 * differences of a twin in double, its integers against its floats, and what it learns from. */
#include "codec/backend/plain.h"
#include "cmocka_all.h"
#include "dct_model.h"
#include "random_restoration.h"
#include "train/restoration/restoration_network.h"
#include <math.h>
#include <string.h>

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
    b.neighbour = malloc(TAPS * b.rows * sizeof *b.neighbour);
    assert_true(b.decoded && b.target && b.neighbour);
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
                    b.neighbour[(size_t)tap * b.rows + first + (size_t)(y * columns + x)] =
                        (uint32_t)(inside ? first + (size_t)(to_y * columns + to_x) : b.rows);
                }
    return b;
}

/* wild: activations that reach their clips. */
static train_restoration_network make_network(uint32_t layers, int wild, codec_backend *be,
                                              uint64_t seed) {
    codec_restoration shape = {
        .channels = 1, .hidden = HIDDEN, .layers = layers, .stages = STAGES, .at = (uint32_t *)at};
    train_restoration_network net;
    assert_int_equal(train_restoration_create(&net, &shape, be, seed), TAPER_OK);
    for (size_t i = 0; i < net.n; i++)
        net.parameter[i] += (float)((wild ? 4 : 0.2) * uniform(&seed));
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
                    uint32_t from = b->neighbour[(size_t)tap * b->rows + r];
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

static void check_gradient(uint32_t layers, uint32_t pass, int wild, codec_backend *be,
                           uint64_t seed) {
    const double step = 1e-6, share = 0.5;
    train_restoration_network net = make_network(layers, wild, be, seed);
    train_restoration_batch b = make_batch(seed);
    train_steps_sums errors;
    double *w = malloc(net.n * sizeof *w), worst = 0, scale = 0;
    size_t checked = 0;
    assert_non_null(w);
    for (size_t i = 0; i < net.n; i++) w[i] = (double)net.parameter[i];
    assert_int_equal(train_restoration_forward(&net, &b, pass), TAPER_OK);
    for (int twice = 0; twice < 2; twice++) { /* gradients add up */
        assert_int_equal(train_restoration_forward(&net, &b, pass), TAPER_OK);
        assert_int_equal(train_restoration_backward(&net, share, &errors), TAPER_OK);
    }
    double expected = twin_loss(&net, w, &b, pass);
    assert_true(fabs(errors.now - expected) < 1e-5 * expected);
    double before = train_restoration_mse(&b) * (double)(b.rows * b.values);
    assert_true(fabs(errors.before - before) < 1e-3);
    size_t clipped = 0;
    for (uint32_t l = 0; l + 1 < layers; l++)
        for (size_t i = 0; i < b.rows * HIDDEN; i++) clipped += fabsf(net.h[l][i]) >= 4095.0f / 256;
    for (size_t i = 0; i < net.n; i++) scale = fmax(scale, fabs((double)net.gradient[i]));
    for (size_t i = 0; i < net.n; i += 1 + i % 3) {
        double keep = w[i], up, down;
        corner = INFINITY;
        w[i] = keep + step, up = twin_loss(&net, w, &b, pass);
        w[i] = keep - step, down = twin_loss(&net, w, &b, pass);
        w[i] = keep;
        if (corner < 4 * step) continue;
        checked++;
        worst = fmax(worst,
                     fabs(2 * share * (up - down) / (2 * step) - (double)net.gradient[i]) / scale);
    }
    print_message(
        "%u layers%s: %zu of %zu parameters, worst difference %.1e of the largest gradient, "
        "clipped %zu\n",
        layers, wild ? ", wild" : "", checked, net.n, worst, clipped);
    assert_true(worst < (wild ? 1e-4 : 1e-5) && checked > net.n / 8 && (!wild || clipped));
    free(w);
    train_restoration_batch_free(&b);
    train_restoration_free(&net);
}

static void gradient_equals_finite_differences(void **unused) {
    (void)unused;
    codec_backend be;
    codec_backend_plain(&be);
    for (uint32_t layers = 2; layers <= 5; layers++)
        for (uint32_t pass = 0; pass <= 30; pass += 15)
            for (int wild = 0; wild < 2; wild++) check_gradient(layers, pass, wild, &be, layers);
}

/* --- integers ------------------------------------------------------------------------------- */

/* The integers that ship do what the floats do that were trained, up to rounding; and back. */
static void integers_are_near_the_floats(void **unused) {
    enum { ROWS = 9, COLUMNS = 7, PIXELS = 12, WIDTH = 16, LAYERS = 4 };
    (void)unused;
    const codec_window w = {2 * COLUMNS, 2 * ROWS, 3, NULL};
    const codec_grid one = {1, 1};
    codec_backend be;
    codec_backend_plain(&be);
    uint64_t seed = 3;
    codec_restoration r, shape = {.channels = 3,
                                  .hidden = WIDTH,
                                  .layers = LAYERS,
                                  .stages = STAGES,
                                  .at = (uint32_t *)at};
    train_restoration_network net, back;
    assert_int_equal(train_restoration_create(&net, &shape, &be, 1), TAPER_OK);
    for (size_t i = 0; i < net.n; i++) net.parameter[i] += (float)(0.05 * uniform(&seed));
    for (uint32_t i = 0; i < STAGES * WIDTH; i++) net.w.stage[i] = (float)uniform(&seed);
    for (uint32_t l = 1; l < LAYERS; l++)
        for (uint32_t i = 0; i < (l + 1 < LAYERS ? WIDTH : PIXELS); i++)
            net.w.bias[l][i] = (float)uniform(&seed);
    for (uint32_t s = 0; s < STAGES; s++) net.w.gain[s] = 1.0f + (float)s;
    assert_int_equal(train_restoration_export(&net, &r), TAPER_OK);
    /* a picture */
    size_t rows = ROWS * COLUMNS;
    train_restoration_batch b = {.rows = rows, .values = PIXELS};
    b.decoded = malloc(rows * PIXELS * sizeof(float)),
    b.target = calloc(rows * PIXELS, sizeof(float));
    b.neighbour = malloc(TAPS * rows * sizeof *b.neighbour);
    float windows[2 * ROWS * 2 * COLUMNS * 3], before[2 * ROWS * 2 * COLUMNS * 3];
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        windows[i] = before[i] = (float)(128 + 120 * uniform(&seed));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            for (int v = 0; v < PIXELS; v++)
                b.decoded[(y * COLUMNS + x) * PIXELS + v] =
                    before[(v % 3 * 2 * ROWS + 2 * y + v / 6) * 2 * COLUMNS + 2 * x + v / 3 % 2];
            for (int tap = 0; tap < TAPS; tap++) {
                int to_x = x + tap % 3 - 1, to_y = y + tap / 3 - 1;
                int in = to_x >= 0 && to_y >= 0 && to_x < COLUMNS && to_y < ROWS;
                b.neighbour[(size_t)tap * rows + (size_t)(y * COLUMNS + x)] =
                    in ? (uint32_t)(to_y * COLUMNS + to_x) : (uint32_t)rows;
            }
        }
    for (uint32_t pass = 0; pass <= 30; pass += 15) {
        memcpy(windows, before, sizeof windows);
        assert_int_equal(codec_restoration_apply(&r, pass, w, one, NULL, windows), TAPER_OK);
        assert_int_equal(train_restoration_forward(&net, &b, pass), TAPER_OK);
        float gain = pass == 0 ? 1 : pass == 15 ? 2.25f : 3;
        double worst = 0, largest = 0;
        for (int i = 0; i < ROWS * COLUMNS; i++)
            for (int v = 0; v < PIXELS; v++) {
                int p = (v % 3 * 2 * ROWS + 2 * (i / COLUMNS) + v / 6) * 2 * COLUMNS +
                        2 * (i % COLUMNS) + v / 3 % 2;
                double added = 8 * (double)(gain * net.z[i * PIXELS + v]);
                largest = fmax(largest, fabs(added));
                worst = fmax(worst, fabs((double)(windows[p] - before[p]) - added));
            }
        print_message("pass %u: up to %.2f added, differs by %.3f\n", pass, largest, worst);
        assert_true(largest > 5 && worst < 0.01 * largest);
    }
    codec_restoration again;
    assert_int_equal(train_restoration_create(&back, &shape, &be, 2), TAPER_OK);
    train_restoration_import(&back, &r);
    assert_int_equal(train_restoration_export(&back, &again), TAPER_OK);
    assert_memory_equal(again.gain, r.gain, sizeof *r.gain * STAGES);
    assert_memory_equal(again.stage, r.stage, sizeof *r.stage * STAGES * WIDTH);
    for (int l = 0; l < LAYERS; l++) {
        const codec_convolution *x = &again.layer[l], *y = &r.layer[l];
        assert_memory_equal(x->shift, y->shift, x->outputs);
        assert_memory_equal(x->weight, y->weight, x->outputs * 9 * x->inputs * sizeof *x->weight);
        if (l) assert_memory_equal(x->bias, y->bias, x->outputs * sizeof *x->bias);
    }
    codec_restoration_free(&again), codec_restoration_free(&r);
    train_restoration_free(&net), train_restoration_free(&back);
    train_restoration_batch_free(&b);
}
/* --- batches -------------------------------------------------------------------------------- */

/* Squares of images larger than they are: decoded and original lie on each other, and within the
 * image, half of them mirrored. */
static void batches_are_parts_of_images(void **unused) {
    (void)unused;
    enum { WIDTH = 70, HEIGHT = 90, PIXELS = 256 };
    codec_backend be;
    codec_backend_plain(&be);
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = dct_model_make((codec_window){8, 8, 1, NULL}, 64, 1, &file);
    taper_image image = picture_noise(WIDTH, HEIGHT, 1, 8, 1);
    for (int y = 0; y < HEIGHT; y++) /* a sample tells where it was */
        for (int x = 0; x < WIDTH; x++)
            ((uint8_t *)image.pixels)[y * WIDTH + x] = (uint8_t)(x + 2 * y);
    train_dataset data = {.image = &image, .n = 1, .available = 1, .channels = 1};
    const size_t only = 0;
    int mirrored = 0, plain = 0;
    codec_network *net = &m->network;
    net->analysis = net->synthesis; /* orthonormal */
    for (uint64_t step = 0; step < 40; step++) {
        train_restoration_batch b;
        assert_int_equal(train_restoration_batch_make(&b, m, &be, &data, &only, 1, PIXELS,
                                                      m->tables.n_passes, 7, step, NULL),
                         TAPER_OK);
        assert_true(b.rows == 64 && b.values == 4);
        assert_true(train_restoration_mse(&b) < 2); /* the finest cut */
        int dx = (int)(b.target[1] - b.target[0]), dy = (int)(b.target[2] - b.target[0]);
        assert_true((dx == 1 || dx == -1) && dy == 2); /* a whole square of the image, in place */
        mirrored += dx<0, plain += dx> 0;
        for (size_t r = 0; r < b.rows; r++)
            for (int tap = 0; tap < TAPS; tap++) {
                int x = (int)(r % 8) + tap % 3 - 1, y = (int)(r / 8) + tap / 3 - 1;
                uint32_t at_tap = b.neighbour[(size_t)tap * b.rows + r];
                assert_int_equal(at_tap, x < 0 || y < 0 || x > 7 || y > 7 ? 64 : y * 8 + x);
                if (at_tap < 64)
                    assert_true(b.target[at_tap * 4] - b.target[r * 4] ==
                                (float)(2 * dx * (tap % 3 - 1) + 4 * (tap / 3 - 1)));
            }
        train_restoration_batch_free(&b);
    }
    assert_true(mirrored > 5 && plain > 5);
    free(image.pixels);
    net->analysis = NULL;
    taper_model_free(m);
    formats_buffer_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_equals_finite_differences),
        cmocka_unit_test(integers_are_near_the_floats),
        cmocka_unit_test(batches_are_parts_of_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

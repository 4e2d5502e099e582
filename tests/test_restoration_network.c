/* test_restoration_network.c -- training a restoration network: its gradient against finite
 * differences of a reference in double, its integers against its floats, and what it learns from.
 */
#include "codec/backend/plain.h"
#include "dct_model.h"
#include "on_device.h"
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

/* A network, and the host's copy of its parameters. */
typedef struct subject {
    train_restoration_network net;
    float *parameter;
} subject;

static void send(subject *s) {
    const train_weights *w = &s->net.weights;
    assert_int_equal(
        train_upload(&s->net.stream, w->parameter, s->parameter, w->n * sizeof *s->parameter),
        TAPER_OK);
}

static void make(subject *s, const codec_restoration *shape, on_device *d, uint64_t seed) {
    train_restoration_network *net = &s->net;
    assert_int_equal(train_restoration_create(net, shape, &d->device, seed), TAPER_OK);
    assert_int_equal(train_weights_download(&net->weights, &net->stream, &s->parameter), TAPER_OK);
}

static void drop(subject *s) {
    train_restoration_free(&s->net);
    free(s->parameter);
}

/* Where the host's copy has what a view of the device's parameters points to. */
static float *host_of(subject *s, const float *view) {
    return s->parameter + (view - s->net.weights.parameter);
}

/* wild: activations that reach their clips. */
static void make_network(subject *s, uint32_t layers, int wild, on_device *d, uint64_t seed) {
    codec_restoration shape = {
        .channels = 1, .hidden = HIDDEN, .layers = layers, .stages = STAGES, .at = (uint32_t *)at};
    make(s, &shape, d, seed);
    for (size_t i = 0; i < s->net.weights.n; i++)
        s->parameter[i] += (float)((wild ? 4 : 0.2) * uniform(&seed));
    send(s);
}

/* --- the reference -------------------------------------------------------------------------- */

/* Distance of the nearest corner of a clip: differences must not step over one. */
static double corner;

static double clip(double x, double low, double high) {
    corner = fmin(corner, fmin(fabs(x - low), fabs(x - high)));
    return fmin(fmax(x, low), high);
}

/* Squared error with the network, in double, from parameters w. */
static double reference_loss(const train_restoration_network *net, const double *w,
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

static size_t count_clipped(on_device *d, const train_restoration_network *net, size_t rows) {
    size_t clipped = 0;
    float h[32 * HIDDEN];
    for (uint32_t l = 0; l + 1 < net->shape.layers; l++) {
        on_device_take(d, h, net->h[l], rows * HIDDEN * sizeof *h);
        for (size_t i = 0; i < rows * HIDDEN; i++) clipped += fabsf(h[i]) >= 4095.0f / 256;
    }
    return clipped;
}

static void check_gradient(uint32_t layers, uint32_t pass, int wild, on_device *d, uint64_t seed) {
    const double step = 1e-6, share = 0.5;
    subject s;
    make_network(&s, layers, wild, d, seed);
    train_restoration_network *net = &s.net;
    train_restoration_batch b = make_batch(seed);
    size_t n = net->weights.n, checked = 0;
    double *w = malloc(n * sizeof *w), errors[2], worst = 0, scale = 0;
    float *gradient = malloc(n * sizeof *gradient);
    assert_true(w && gradient);
    for (size_t i = 0; i < n; i++) w[i] = (double)s.parameter[i];
    for (int twice = 0; twice < 2; twice++) { /* gradients add up */
        assert_int_equal(train_restoration_forward(net, &b, pass), TAPER_OK);
        assert_int_equal(train_restoration_backward(net, share), TAPER_OK);
    }
    on_device_take(d, errors, net->errors, sizeof errors);
    on_device_take(d, gradient, net->weights.gradient, n * sizeof *gradient);
    double expected = reference_loss(net, w, &b, pass);
    assert_true(fabs(errors[0] - expected) < 1e-5 * expected);
    double before = train_restoration_mse(&b) * (double)(b.rows * b.values);
    assert_true(fabs(errors[1] - before) < 1e-3);
    size_t clipped = count_clipped(d, net, b.rows);
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs((double)gradient[i]));
    for (size_t i = 0; i < n; i += 1 + i % 3) {
        double keep = w[i], up, down;
        corner = INFINITY;
        w[i] = keep + step, up = reference_loss(net, w, &b, pass);
        w[i] = keep - step, down = reference_loss(net, w, &b, pass);
        w[i] = keep;
        if (corner < 4 * step) continue;
        checked++;
        worst =
            fmax(worst, fabs(2 * share * (up - down) / (2 * step) - (double)gradient[i]) / scale);
    }
    print_message("%s, %u layers%s: %zu of %zu parameters, worst difference %.1e of the largest "
                  "gradient, clipped %zu\n",
                  d->device.name, layers, wild ? ", wild" : "", checked, n, worst, clipped);
    assert_true(worst < (wild ? 1e-4 : 1e-5) && checked > n / 8 && (!wild || clipped));
    free(w), free(gradient);
    train_restoration_batch_free(&b);
    drop(&s);
}

static void gradient_equals_finite_differences(void **unused) {
    (void)unused;
    on_device d[2];
    on_device_open(&d[0], TRAIN_PROCESSOR);
    on_device_open(&d[1], TRAIN_SHADOW);
    for (uint32_t layers = 2; layers <= 5; layers++)
        for (uint32_t pass = 0; pass <= 30; pass += 15)
            for (int wild = 0; wild < 2; wild++)
                check_gradient(layers, pass, wild, &d[(layers + pass) % 2], layers);
    on_device_close(&d[0]), on_device_close(&d[1]);
}

/* Batches that grow and shrink: each gets what it would get alone. */
static void batches_of_any_size_follow_each_other(void **unused) {
    (void)unused;
    enum { SIZES = 4 };
    const size_t rows[SIZES] = {5, 14, 1, 9};
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++) {
        on_device d;
        subject all;
        on_device_open(&d, (train_processor_kind)kind);
        make_network(&all, 3, 0, &d, 4);
        for (int i = 0; i < SIZES; i++) {
            train_restoration_batch b = make_batch((uint64_t)i);
            float z[14 * VALUES], want[14 * VALUES];
            for (size_t k = 0; k < TAPS * rows[i]; k++) /* of fewer rows */
                b.neighbour[k] = (uint32_t)(k * 7 % (rows[i] + 1));
            b.rows = rows[i];
            subject one;
            make_network(&one, 3, 0, &d, 4);
            assert_int_equal(train_restoration_forward(&all.net, &b, 12), TAPER_OK);
            assert_int_equal(train_restoration_forward(&one.net, &b, 12), TAPER_OK);
            on_device_take(&d, z, all.net.z, rows[i] * VALUES * sizeof *z);
            on_device_take(&d, want, one.net.z, rows[i] * VALUES * sizeof *z);
            assert_memory_equal(z, want, rows[i] * VALUES * sizeof *z);
            assert_int_equal(all.net.capacity, i ? 14 : 5);
            drop(&one);
            train_restoration_batch_free(&b);
        }
        drop(&all);
        on_device_close(&d);
    }
}

/* --- integers ------------------------------------------------------------------------------- */

enum { PATCH_ROWS = 9, PATCH_COLUMNS = 7, PATCHES = PATCH_ROWS * PATCH_COLUMNS };
enum { PATCH = 12, WIDTH = 16, LAYERS = 4, PICTURE = PATCHES * PATCH };

/* A network of three colours that adds some levels. */
static void make_colours(subject *s, on_device *d, uint64_t seed) {
    codec_restoration shape = {
        .channels = 3, .hidden = WIDTH, .layers = LAYERS, .stages = STAGES, .at = (uint32_t *)at};
    make(s, &shape, d, seed);
    const train_restoration_network *net = &s->net;
    for (size_t i = 0; i < net->weights.n; i++) s->parameter[i] += (float)(0.05 * uniform(&seed));
    for (uint32_t i = 0; i < STAGES * WIDTH; i++)
        host_of(s, net->w.stage)[i] = (float)uniform(&seed);
    for (uint32_t l = 1; l < LAYERS; l++)
        for (uint32_t i = 0; i < (l + 1 < LAYERS ? WIDTH : PATCH); i++)
            host_of(s, net->w.bias[l])[i] = (float)uniform(&seed);
    for (uint32_t i = 0; i < STAGES; i++) host_of(s, net->w.gain)[i] = 1.0f + (float)i;
    send(s);
}

/* Where value v of patch i, [channel][y][x], is in a planar picture. */
static size_t pixel_of(int i, int v) {
    return (size_t)((v / 4 * 2 * PATCH_ROWS + 2 * (i / PATCH_COLUMNS) + v / 2 % 2) * 2 *
                        PATCH_COLUMNS +
                    2 * (i % PATCH_COLUMNS) + v % 2);
}

/* The picture's patches. */
static train_restoration_batch patches_of(const float *picture) {
    train_restoration_batch b = {.rows = PATCHES, .values = PATCH};
    b.decoded = malloc(PICTURE * sizeof *b.decoded), b.target = calloc(PICTURE, sizeof *b.target);
    b.neighbour = malloc(TAPS * PATCHES * sizeof *b.neighbour);
    assert_true(b.decoded && b.target && b.neighbour);
    for (int i = 0; i < PATCHES; i++) {
        for (int v = 0; v < PATCH; v++) b.decoded[i * PATCH + v] = picture[pixel_of(i, v)];
        for (int tap = 0; tap < TAPS; tap++) {
            const int x = i % PATCH_COLUMNS + tap % 3 - 1, y = i / PATCH_COLUMNS + tap / 3 - 1;
            const int in = x >= 0 && y >= 0 && x < PATCH_COLUMNS && y < PATCH_ROWS;
            b.neighbour[tap * PATCHES + i] = (uint32_t)(in ? y * PATCH_COLUMNS + x : PATCHES);
        }
    }
    return b;
}

/* What the integers of r add to a picture is what the network adds, of this gain, up to rounding.
 */
static void check_pass(on_device *d, train_restoration_network *net, const codec_restoration *r,
                       const float *picture, uint32_t pass, float gain) {
    static int16_t restored[PICTURE], before[PICTURE];
    static float z[PICTURE];
    const codec_picture p = {2 * PATCH_COLUMNS, 2 * PATCH_ROWS, 3, restored};
    train_restoration_batch b = patches_of(picture);
    double worst = 0, largest = 0;
    codec_picture_values(picture, PICTURE, before);
    memcpy(restored, before, sizeof restored);
    assert_int_equal(codec_restoration_apply(r, pass, NULL, &p), TAPER_OK);
    assert_int_equal(train_restoration_forward(net, &b, pass), TAPER_OK);
    on_device_take(d, z, net->z, sizeof z);
    for (int i = 0; i < PATCHES; i++)
        for (int v = 0; v < PATCH; v++) {
            const size_t at_pixel = pixel_of(i, v);
            const double added = 8 * (double)(gain * z[i * PATCH + v]);
            largest = fmax(largest, fabs(added));
            const double is = (restored[at_pixel] - before[at_pixel]) / (double)CODEC_PICTURE_ONE;
            worst = fmax(worst, fabs(is - added));
        }
    print_message("pass %u: up to %.2f added, differs by %.3f\n", pass, largest, worst);
    /* activations have 7 bits, and the picture is rounded */
    assert_true(largest > 5 && worst < 0.02 * largest + 1.0 / CODEC_PICTURE_ONE);
    train_restoration_batch_free(&b);
}

/* The integers that ship do what the floats do that were trained. */
static void integers_are_near_the_floats(void **unused) {
    (void)unused;
    static float picture[PICTURE];
    on_device d;
    subject s;
    codec_restoration r;
    uint64_t seed = 3;
    on_device_open(&d, TRAIN_SHADOW);
    make_colours(&s, &d, 1);
    assert_int_equal(train_restoration_export(&s.net, &r), TAPER_OK);
    for (size_t i = 0; i < PICTURE; i++) picture[i] = (float)(128 + 120 * uniform(&seed));
    check_pass(&d, &s.net, &r, picture, 0, 1.0f);
    check_pass(&d, &s.net, &r, picture, 15, 2.25f);
    check_pass(&d, &s.net, &r, picture, 30, 3.0f);
    codec_restoration_free(&r);
    drop(&s);
    on_device_close(&d);
}

/* What activations gain in scale the output loses: the network adds the same, up to rounding. */
static void scaled_networks_add_the_same(void **unused) {
    (void)unused;
    static float picture[PICTURE];
    static int16_t value[2][PICTURE];
    on_device d;
    subject s;
    codec_restoration r;
    uint64_t seed = 3;
    int worst = 0, largest = 0;
    on_device_open(&d, TRAIN_SHADOW);
    make_colours(&s, &d, 1);
    assert_int_equal(train_restoration_export(&s.net, &r), TAPER_OK);
    for (size_t i = 0; i < PICTURE; i++) picture[i] = (float)(128 + 120 * uniform(&seed));
    for (int k = 0; k < 2; k++) {
        const codec_picture p = {2 * PATCH_COLUMNS, 2 * PATCH_ROWS, 3, value[k]};
        codec_picture_values(picture, PICTURE, value[k]);
        if (k) assert_int_equal(train_restoration_scale(&r, 1), TAPER_OK);
        assert_int_equal(codec_restoration_apply(&r, 15, NULL, &p), TAPER_OK);
    }
    for (size_t i = 0; i < PICTURE; i++) {
        int was = (int)((picture[i] - 128) * CODEC_PICTURE_ONE);
        int apart = abs(value[1][i] - value[0][i]), added = abs(value[0][i] - was);
        worst = apart > worst ? apart : worst, largest = added > largest ? added : largest;
    }
    print_message("up to %d added, %d apart\n", largest, worst);
    assert_true(worst > 0 && worst < largest / 20);
    /* a shift or a bias at its end: nothing changes */
    uint8_t shift = r.layer[0].shift[0];
    r.layer[0].shift[0] = 0;
    assert_int_equal(train_restoration_scale(&r, 1), TAPER_ERR_ARG);
    r.layer[0].shift[0] = shift, r.stage[3] = CODEC_RESTORATION_MOST_BIAS / 2 + 1;
    assert_int_equal(train_restoration_scale(&r, 1), TAPER_ERR_ARG);
    assert_int_equal(r.layer[0].shift[0], shift);
    codec_restoration_free(&r);
    drop(&s);
    on_device_close(&d);
}

/* Integers taken in and made again are the same. */
static void integers_come_back(void **unused) {
    (void)unused;
    on_device d;
    subject s, back;
    codec_restoration r, again;
    on_device_open(&d, TRAIN_SHADOW);
    make_colours(&s, &d, 1), make_colours(&back, &d, 2);
    assert_int_equal(train_restoration_export(&s.net, &r), TAPER_OK);
    assert_int_equal(train_restoration_import(&back.net, &r), TAPER_OK);
    assert_int_equal(train_restoration_export(&back.net, &again), TAPER_OK);
    assert_memory_equal(again.gain, r.gain, sizeof *r.gain * STAGES);
    assert_memory_equal(again.stage, r.stage, sizeof *r.stage * STAGES * WIDTH);
    for (int l = 0; l < LAYERS; l++) {
        const codec_convolution *x = &again.layer[l], *y = &r.layer[l];
        assert_memory_equal(x->shift, y->shift, x->outputs);
        assert_memory_equal(x->weight, y->weight, x->outputs * 9 * x->inputs * sizeof *x->weight);
        if (l) assert_memory_equal(x->bias, y->bias, x->outputs * sizeof *x->bias);
    }
    codec_restoration_free(&again), codec_restoration_free(&r);
    drop(&s), drop(&back);
    on_device_close(&d);
}

/* --- batches -------------------------------------------------------------------------------- */

/* Squares of images larger than they are: decoded and original lie on each other, and within the
 * image, half of them mirrored. */
static void batches_are_parts_of_images(void **unused) {
    (void)unused;
    enum { ACROSS = 70, HEIGHT = 90, PIXELS = 256 };
    codec_backend be;
    codec_backend_plain(&be);
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_model *m = dct_model_make((codec_window){8, 8, 1, NULL}, 64, 1, &file);
    taper_image image = picture_noise(ACROSS, HEIGHT, 1, 8, 1);
    for (int y = 0; y < HEIGHT; y++) /* a sample tells where it was */
        for (int x = 0; x < ACROSS; x++)
            ((uint8_t *)image.pixels)[y * ACROSS + x] = (uint8_t)(x + 2 * y);
    train_dataset data = {.image = &image, .n = 1, .available = 1, .channels = 1};
    size_t only = 0;
    const train_selection images = {.image = &only, .n = 1};
    int mirrored = 0, plain = 0;
    codec_network *net = &m->network;
    net->analysis = net->synthesis; /* orthonormal */
    for (uint64_t step = 0; step < 40; step++) {
        train_restoration_batch b;
        train_restoration_squares squares;
        const train_draw draw = {&data, &images, 7, step};
        assert_int_equal(
            train_restoration_squares_draw(&squares, m->window, &draw, PIXELS, 1, NULL), TAPER_OK);
        assert_int_equal(
            train_restoration_batch_make(&b, &squares, m, &be, m->tables.n_passes, NULL), TAPER_OK);
        train_restoration_squares_free(&squares);
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
        cmocka_unit_test(batches_of_any_size_follow_each_other),
        cmocka_unit_test(integers_are_near_the_floats),
        cmocka_unit_test(scaled_networks_add_the_same),
        cmocka_unit_test(integers_come_back),
        cmocka_unit_test(batches_are_parts_of_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_convolutions.c -- convolutional layers: the operations against their definition, on every
 * device; the codes of a network, and the gradient of all its weights, against double precision. */
#include "every_device.h"
#include "neighbours_reference.h"
#include "train/embedding/embedder.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/philox.h"

static float draw(uint64_t i, uint64_t stream) {
    uint32_t word[4];
    train_philox(11, i, stream, word);
    return train_philox_uniform(word[0]) - 0.5f;
}

static void fill(float *x, size_t n, uint64_t stream) {
    for (size_t i = 0; i < n; i++) x[i] = draw(i, stream);
}

/* --- operations ------------------------------------------------------------------------------ */

static const codec_map maps[] = {{5, 4, 3, 0}, {5, 4, 3, 1},  {1, 1, 2, 0}, {2, 7, 1, 1},
                                 {8, 8, 9, 0}, {1, 33, 4, 1}, {6, 3, 16, 0}};
enum { MAPS = sizeof maps / sizeof *maps, MOST_VALUES = 8 * 8 * 16, MOST_ROWS = 5 };
enum { MOST_PATCHES = 9 * MOST_VALUES * MOST_ROWS };

static size_t place(codec_map m, uint32_t x, uint32_t y, uint32_t c) {
    const size_t at = (size_t)y * m.width + x;
    return m.planar ? c * codec_map_places(m) + at : at * m.channels + c;
}

/* The value that element i of a row of patches is a copy of; SIZE_MAX: 0. */
static size_t source(codec_map m, size_t i) {
    const uint32_t c = (uint32_t)(i % m.channels), tap = (uint32_t)(i / m.channels % 9);
    const size_t at = i / m.channels / 9;
    const int64_t x = (int64_t)(at % m.width) + tap % 3 - 1;
    const int64_t y = (int64_t)(at / m.width) + tap / 3 - 1;
    if (x < 0 || y < 0 || x >= m.width || y >= m.height) return SIZE_MAX;
    return place(m, (uint32_t)x, (uint32_t)y, c);
}

static void patches_are_copies(void **state) {
    (void)state;
    static float from[MOST_ROWS * MOST_VALUES], got[MOST_PATCHES], back[MOST_PATCHES];
    fill(from, MOST_ROWS * MOST_VALUES, 1);
    for (int k = 0; k < MAPS * 2 * DEVICES; k++) {
        const codec_map m = maps[k / 2 % MAPS];
        on_device *d = &device[k / 2 / MAPS];
        const size_t rows = k % 2 ? MOST_ROWS : 1, values = codec_map_values(m);
        const float *x = on_device_give(d, from, rows * values * 4);
        float *to = on_device_give(d, NULL, rows * values * 9 * 4);
        assert_int_equal(d->stream.ops->patches(&d->stream, m, rows, x, to), TAPER_OK);
        on_device_take(d, got, to, rows * values * 9 * 4);
        for (size_t i = 0; i < rows * values * 9; i++) {
            const size_t at = source(m, i % (values * 9));
            const float want = at == SIZE_MAX ? 0.0f : from[i / (values * 9) * values + at];
            assert_true(got[i] == want);
            back[i] = draw(i, 2);
        }
        /* the adjoint: a sum over the copies */
        static float sums[MOST_ROWS * MOST_VALUES], want[MOST_ROWS * MOST_VALUES];
        memset(want, 0, sizeof want);
        for (size_t i = 0; i < rows * values * 9; i++) {
            const size_t at = source(m, i % (values * 9));
            if (at != SIZE_MAX) want[i / (values * 9) * values + at] += back[i];
        }
        const float *p = on_device_give(d, back, rows * values * 9 * 4);
        float *sum = on_device_give(d, NULL, rows * values * 4);
        assert_int_equal(d->stream.ops->add_patches(&d->stream, m, rows, p, sum), TAPER_OK);
        on_device_take(d, sums, sum, rows * values * 4);
        for (size_t i = 0; i < rows * values; i++) assert_true(sums[i] == want[i]);
        on_device_forget(d);
    }
}

static void pools_have_the_largest(void **state) {
    (void)state;
    enum { CHANNELS = 6, MOST = MOST_ROWS * 8 * 8 * CHANNELS };
    static float from[MOST], got[MOST], back[MOST], spread[MOST];
    static uint8_t which[MOST];
    for (size_t i = 0; i < MOST; i++) from[i] = floorf(4.0f * draw(i, 3)); /* with ties */
    fill(back, MOST, 4);
    for (int k = 0; k < MAPS * 2 * DEVICES; k++) {
        const codec_map m = maps[k / 2 % MAPS], to = codec_map_pooled(m, CHANNELS);
        on_device *d = &device[k / 2 / MAPS];
        train_stream *s = &d->stream;
        const size_t rows = k % 2 ? MOST_ROWS : 1, places = codec_map_places(m);
        const size_t before = rows * places * CHANNELS, after = rows * codec_map_values(to);
        const float *x = on_device_give(d, from, before * 4), *dy;
        float *y = on_device_give(d, NULL, after * 4), *dx;
        uint8_t *w = on_device_give(d, NULL, after);
        assert_int_equal(s->ops->pool(s, m, CHANNELS, rows, x, y, w), TAPER_OK);
        on_device_take(d, got, y, after * 4), on_device_take(d, which, w, after);
        dy = on_device_give(d, back, after * 4), dx = on_device_give(d, NULL, before * 4);
        assert_int_equal(s->ops->unpool(s, m, CHANNELS, rows, dy, w, dx), TAPER_OK);
        on_device_take(d, spread, dx, before * 4);
        size_t nonzero = 0;
        for (size_t i = 0; i < before; i++) nonzero += spread[i] != 0.0f;
        assert_true(nonzero <= after);
        for (size_t i = 0; i < after; i++) {
            const size_t row = i / codec_map_values(to), c = i % CHANNELS;
            const size_t at = i / CHANNELS % codec_map_places(to);
            float most = -9.0f;
            int first = -1;
            size_t of = 0;
            for (int q = 0; q < 4; q++) {
                const size_t x2 = at % to.width * 2 + q % 2, y2 = at / to.width * 2 + q / 2;
                if (x2 >= m.width || y2 >= m.height) continue;
                const size_t j = (row * places + y2 * m.width + x2) * CHANNELS + c;
                if (from[j] > most) most = from[j], first = q, of = j;
            }
            assert_true(got[i] == most && which[i] == first && spread[of] == back[i]);
        }
        on_device_forget(d);
    }
}

/* --- networks -------------------------------------------------------------------------------- */

enum { ROWS = 14, UNITS = 3, INPUTS = 6 * 5 * 3, MOST_WEIGHTS = 1500 };
static const uint32_t channels[] = {4, 5}, hidden[] = {6};
static uint8_t pixels[ROWS * INPUTS];
static uint32_t label[ROWS];

/* 6 x 5 pixels of 1 or 3 channels; 1 or 2 convolutional layers, 0 or 1 others before the code. */
static codec_network network(uint32_t of, uint32_t convolutions, uint32_t others,
                             codec_activation between) {
    codec_network net;
    assert_int_equal(codec_network_alloc_convolutions(&net, (codec_map){6, 5, of, 1}, channels,
                                                      convolutions, UNITS, hidden, others),
                     TAPER_OK);
    net.hidden = between;
    for (uint32_t l = 0; l < net.encoder.depth; l++) {
        codec_layer *layer = &net.encoder.layer[l];
        const float scale = l ? 1.5f : 2.0f / 255.0f;
        for (size_t i = 0; i < codec_layer_weights(layer); i++)
            layer->weight[i] = scale * draw(i, 10 + l);
        for (uint32_t i = 0; i < codec_layer_rows(layer); i++) layer->bias[i] = draw(i, 20 + l);
    }
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(255 * (draw(i, 30) + 0.5f));
    for (uint32_t i = 0; i < ROWS; i++) label[i] = i == 3 ? TRAIN_UNLABELLED : i % 3;
    return net;
}

static double activate(codec_activation how, double a) {
    return how == CODEC_RELU ? fmax(a, 0.0) : how == CODEC_LOGISTIC ? 1.0 / (1.0 + exp(-a)) : a;
}

static void convolve(const codec_layer *l, codec_activation how, const double *p, const double *x,
                     double *y) {
    const uint32_t rows = codec_layer_rows(l);
    const size_t columns = codec_layer_columns(l);
    const codec_map m = l->map, to = codec_map_pooled(m, rows);
    for (size_t i = 0; i < codec_map_values(to); i++) {
        const size_t k = i % rows, at = i / rows;
        double most = -1e30;
        for (size_t q = 0; q < 4; q++) {
            const size_t px = at % to.width * 2 + q % 2, py = at / to.width * 2 + q / 2;
            if (px >= m.width || py >= m.height) continue;
            double sum = 0.0;
            for (size_t c = 0; c < columns; c++) {
                const size_t from = source(m, (py * m.width + px) * columns + c);
                if (from != SIZE_MAX) sum += p[k * columns + c] * x[from];
            }
            most = fmax(most, sum);
        }
        y[i] = activate(how, most + p[rows * columns + k]);
    }
}

/* Codes of pixels / 255 by parameters in the order of the embedder's vector. */
static void encode(const codec_network *net, const double *parameter, double *code) {
    for (size_t row = 0; row < ROWS; row++) {
        const double *p = parameter;
        double x[INPUTS], y[INPUTS];
        for (size_t i = 0; i < net->inputs; i++) x[i] = pixels[row * net->inputs + i] / 255.0;
        for (uint32_t l = 0; l < net->encoder.depth; l++) {
            const codec_layer *layer = &net->encoder.layer[l];
            const codec_activation how = l + 1 == net->encoder.depth ? CODEC_LINEAR : net->hidden;
            const uint32_t n = layer->inputs;
            if (layer->map.width) convolve(layer, how, p, x, y);
            for (uint32_t o = 0; o < layer->outputs && !layer->map.width; o++) {
                double a = p[(size_t)layer->outputs * n + o];
                for (uint32_t i = 0; i < n; i++) a += p[(size_t)o * n + i] * x[i];
                y[o] = activate(how, a);
            }
            memcpy(x, y, sizeof x);
            p += codec_layer_weights(layer) + codec_layer_rows(layer);
        }
        memcpy(code + row * UNITS, x, UNITS * sizeof *x);
    }
}

static void check_gradient(int d, const codec_network *net, size_t block) {
    const train_embedder_options options = {.batch = ROWS,
                                            .objective = {.loss = TRAIN_NCA},
                                            .block = block,
                                            .use = TRAIN_WEIGHTS_GRADIENT};
    train_embedder e;
    assert_int_equal(train_embedder_create(&e, net, &device[d].device, &options), TAPER_OK);
    const uint8_t *rows = on_device_give(&device[d], pixels, sizeof pixels);
    const uint32_t *labels = on_device_give(&device[d], label, sizeof label);
    double *losses = on_device_give(&device[d], NULL, TRAIN_LOSSES * sizeof *losses), got[2];
    static float parameter[MOST_WEIGHTS], gradient[MOST_WEIGHTS];
    static double at[MOST_WEIGHTS];
    double code[ROWS * UNITS], most = 0.0, error = 0.0;
    const size_t n = e.weights.n;
    const double h = 1e-6;
    assert_true(n <= MOST_WEIGHTS);
    assert_int_equal(train_embedder_load(&e, rows, NULL, labels, NULL, ROWS), TAPER_OK);
    assert_int_equal(train_embedder_compute(&e, losses), TAPER_OK);
    assert_int_equal(train_download(&e.stream, got, losses, sizeof got), TAPER_OK);
    assert_int_equal(train_download(&e.stream, parameter, e.weights.parameter, n * 4), TAPER_OK);
    assert_int_equal(train_download(&e.stream, gradient, e.weights.gradient, n * 4), TAPER_OK);
    const reference r = {.loss = TRAIN_NCA, .n = ROWS, .d = UNITS, .label = label};
    for (size_t i = 0; i < n; i++) at[i] = (double)parameter[i];
    encode(net, at, code);
    assert_true(fabs(reference_loss(&r, code) - got[0]) < 1e-5);
    for (size_t i = 0; i < n; i++) {
        const double kept = at[i];
        at[i] = kept + h, encode(net, at, code);
        const double above = reference_loss(&r, code);
        at[i] = kept - h, encode(net, at, code);
        const double want = (above - reference_loss(&r, code)) / (2.0 * h);
        at[i] = kept;
        most = fmax(most, fabs(want));
        error = fmax(error, fabs((double)gradient[i] - want));
    }
    if (!(error < 2e-5 * most)) fail_msg("device %d, block %zu: %g of %g", d, block, error, most);
    train_embedder_free(&e);
    on_device_forget(&device[d]);
}

static void gradients_are_differences(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        codec_network net = network(k & 1 ? 3 : 1, k & 2 ? 2 : 1, k & 4 ? 1 : 0,
                                    k % 3 ? CODEC_RELU : CODEC_LOGISTIC);
        for (int d = 0; d < DEVICES; d++) check_gradient(d, &net, k % 2 ? 5 : 0);
        codec_network_free(&net);
    }
}

/* The library's codes are those of the definition, and do not depend on the other rows. */
static void codes_are_those_of_the_definition(void **state) {
    (void)state;
    codec_backend be;
    codec_backend_cpu(&be);
    for (int k = 0; k < 4; k++) {
        codec_network net = network(k & 1 ? 3 : 1, k & 2 ? 2 : 1, 1, CODEC_RELU);
        static float from[ROWS * INPUTS], got[ROWS * UNITS], one[UNITS];
        static double at[MOST_WEIGHTS];
        double want[ROWS * UNITS], *p = at;
        for (uint32_t l = 0; l < net.encoder.depth; l++) {
            const codec_layer *layer = &net.encoder.layer[l];
            for (size_t i = 0; i < codec_layer_weights(layer); i++)
                *p++ = (double)layer->weight[i] * (l ? 1.0 : 255.0);
            for (uint32_t i = 0; i < codec_layer_rows(layer); i++) *p++ = (double)layer->bias[i];
        }
        for (size_t i = 0; i < ROWS * net.inputs; i++) from[i] = pixels[i];
        encode(&net, at, want);
        assert_int_equal(codec_network_encode(&net, &be, from, ROWS, got), TAPER_OK);
        for (size_t i = 0; i < ROWS * UNITS; i++)
            assert_true(fabs((double)got[i] - want[i]) < 1e-4 * (1.0 + fabs(want[i])));
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(codec_network_encode(&net, &be, from + i * net.inputs, 1, one),
                             TAPER_OK);
            assert_memory_equal(one, got + i * UNITS, sizeof one);
        }
        codec_network_free(&net);
    }
}

static void shapes_that_are_none_are_refused(void **state) {
    (void)state;
    static const uint32_t none[] = {0}, many[CODEC_MAX_LAYERS] = {1, 1, 1, 1, 1, 1, 1, 1};
    codec_network net;
    const codec_map map = {6, 5, 1, 1};
    assert_int_equal(codec_network_alloc_convolutions(&net, map, none, 1, 3, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(codec_network_alloc_convolutions(&net, map, many, 0, 3, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(codec_network_alloc_convolutions(&net, map, many, 8, 3, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(
        codec_network_alloc_convolutions(&net, (codec_map){0, 5, 1, 1}, many, 1, 3, NULL, 0),
        TAPER_ERR_ARG);
    const uint32_t most[] = {UINT32_MAX};
    assert_int_equal(codec_network_alloc_convolutions(&net, map, most, 1, 3, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(codec_network_alloc_convolutions(&net, map, many, 7, 3, NULL, 0), TAPER_OK);
    codec_network_free(&net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patches_are_copies),
                                       cmocka_unit_test(pools_have_the_largest),
                                       cmocka_unit_test(gradients_are_differences),
                                       cmocka_unit_test(codes_are_those_of_the_definition),
                                       cmocka_unit_test(shapes_that_are_none_are_refused)};
    return cmocka_run_group_tests(tests, open_every_device, close_every_device);
}

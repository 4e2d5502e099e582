/* test_conditional_network.c -- training the conditional model: its gradient against finite
 * differences of a reference in double, its integers against its floats, and what it learns. */
#include "codec/bitplane/quantiser.h"
#include "dct_model.h"
#include "on_device.h"
#include "pictures.h"
#include "train/conditional/conditional_batch.h"
#include "train/conditional/conditional_network.h"

enum { HIDDEN = 16, OWN = 6, BESIDE = 3, UNITS = 7, STAGES = 3, END = 20, ROWS = 37, ASKED = 4 };
enum {
    KINDS = CODEC_CONDITIONAL_KINDS,
    SIDES = CODEC_CONDITIONAL_SIDES,
    MIDDLES = CODEC_CONDITIONAL_MIDDLES
};

static const uint32_t asked[ASKED] = {5, 0, 6, 2};
static const codec_conditional shape = {.kinds = CODEC_CONDITIONAL_KINDS,
                                        .hidden = HIDDEN,
                                        .own = OWN,
                                        .neighbour_units = BESIDE,
                                        .units = UNITS,
                                        .end = END,
                                        .stages = STAGES};

static double uniform(uint64_t *state) { /* -1 .. 1 */
    return (double)(picture_random(state) >> 11) / (double)((uint64_t)1 << 52) - 1;
}

/* A network, and the host's copies of what is on the device. */
typedef struct subject {
    train_conditional_network net;
    float *parameter, *x;
} subject;

static subject make(on_device *d, uint64_t seed) {
    subject s;
    train_conditional_network *net = &s.net;
    assert_int_equal(train_conditional_create(net, &shape, &d->device, ROWS, ASKED, seed),
                     TAPER_OK);
    size_t n = net->weights.n, inputs = ROWS * net->columns;
    assert_int_equal(train_weights_download(&net->weights, &net->stream, &s.parameter), TAPER_OK);
    s.x = malloc(inputs * sizeof *s.x);
    assert_non_null(s.x);
    for (size_t i = 0; i < n; i++) s.parameter[i] += (float)(0.3 * uniform(&seed));
    for (size_t i = 0; i < inputs; i++)
        s.x[i] = picture_random(&seed) % 3 ? 0 : (float)(2 * uniform(&seed));
    train_upload(&net->stream, net->weights.parameter, s.parameter, n * sizeof *s.parameter);
    train_upload(&net->stream, net->x, s.x, inputs * sizeof *s.x);
    return s;
}

static void drop(subject *s) {
    train_conditional_free(&s->net);
    free(s->parameter), free(s->x);
}

/* Where the host's copy has what a view of the device's parameters points to. */
static const float *host_of(const subject *s, const float *view) {
    return s->parameter + (view - s->net.weights.parameter);
}

/* --- the reference --------------------------------------------------------------------------- */

/* Distance of the nearest corner of a clip, in all sums: differences must not step over one. */
static double corner;

static double clip(double z) {
    const double top = 127.0 / 16;
    corner = fmin(corner, fmin(fabs(z), fabs(z - top)));
    return z < 0 ? 0 : z > top ? top : z;
}

/* sum of weight x logit over rows and outputs, in double, from parameters w. */
static double reference_loss(const subject *s, const double *w, uint32_t stage,
                             const float *weight) {
    const double top = 127.0 / 16;
    size_t c = s->net.columns;
    const double *first = w, *of_stage = first + c * HIDDEN + stage * HIDDEN;
    const double *middle = first + c * HIDDEN + STAGES * HIDDEN;
    const double *out = middle + MIDDLES * (HIDDEN * HIDDEN + HIDDEN);
    double loss = 0;
    for (size_t r = 0; r < ROWS; r++) {
        double h[HIDDEN], next[HIDDEN];
        for (int j = 0; j < HIDDEN; j++) {
            double z = of_stage[j];
            for (size_t i = 0; i < c; i++) z += (double)s->x[r * c + i] * first[i * HIDDEN + j];
            h[j] = clip(z);
        }
        for (int l = 0; l < MIDDLES; l++) {
            const double *m = middle + l * (HIDDEN * HIDDEN + HIDDEN), *bias = m + HIDDEN * HIDDEN;
            for (int j = 0; j < HIDDEN; j++) {
                double z = bias[j];
                for (int i = 0; i < HIDDEN; i++) z += m[j * HIDDEN + i] * h[i];
                double sum = h[j] + clip(z);
                if (sum != top) corner = fmin(corner, fabs(sum - top)); /* else both are at rest */
                next[j] = fmin(sum, top);
            }
            memcpy(h, next, sizeof h);
        }
        for (int a = 0; a < ASKED; a++)
            for (int k = 0; k < KINDS; k++)
                for (int j = 0; j < HIDDEN; j++)
                    loss += (double)weight[(r * ASKED + (size_t)a) * KINDS + (size_t)k] *
                            out[(asked[a] * KINDS + (uint32_t)k) * HIDDEN + (uint32_t)j] * h[j];
    }
    return loss;
}

static void check_gradient(on_device *d, uint64_t seed) {
    const double step = 1e-6;
    uint32_t stage = (uint32_t)(seed % STAGES);
    subject s = make(d, seed);
    train_conditional_network *net = &s.net;
    size_t n = net->weights.n, checked = 0;
    float weight[ROWS * ASKED * KINDS], logit[ROWS * ASKED * KINDS];
    for (size_t i = 0; i < sizeof weight / sizeof *weight; i++) weight[i] = (float)uniform(&seed);
    double *w = malloc(n * sizeof *w), loss = 0, worst = 0;
    float *gradient = malloc(n * sizeof *gradient);
    assert_true(w && gradient);
    for (size_t i = 0; i < n; i++) w[i] = (double)s.parameter[i];
    const uint32_t *units = on_device_give(d, asked, sizeof asked);
    const float *slope = on_device_give(d, weight, sizeof weight);
    float *output = on_device_give(d, NULL, sizeof logit);
    assert_int_equal(train_conditional_forward(net, stage, ROWS), TAPER_OK);
    assert_int_equal(train_conditional_logits(net, units, ASKED, output), TAPER_OK);
    on_device_take(d, logit, output, sizeof logit);
    for (size_t i = 0; i < sizeof logit / sizeof *logit; i++)
        loss += (double)weight[i] * (double)logit[i];
    corner = INFINITY;
    double expected = reference_loss(&s, w, stage, weight), scale = 0;
    assert_true(fabs(loss - expected) < 1e-4 * (fabs(expected) + 1));
    assert_int_equal(train_conditional_backward(net, stage, units, ASKED, slope), TAPER_OK);
    on_device_take(d, gradient, net->weights.gradient, n * sizeof *gradient);
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs((double)gradient[i]));
    for (size_t i = 0; i < n; i += 1 + i % 3) {
        double keep = w[i], up, down;
        corner = INFINITY;
        w[i] = keep + step, up = reference_loss(&s, w, stage, weight);
        w[i] = keep - step, down = reference_loss(&s, w, stage, weight);
        w[i] = keep;
        if (corner < 4 * step) continue;
        checked++;
        worst = fmax(worst, fabs((up - down) / (2 * step) - (double)gradient[i]) / scale);
    }
    print_message("%s: %zu of %zu parameters, worst difference %.1e of the largest gradient\n",
                  d->device.name, checked, n, worst);
    assert_true(worst < 1e-6 && checked > n / 4);
    free(w), free(gradient);
    drop(&s);
}

static void gradient_equals_finite_differences(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++) {
        on_device d;
        on_device_open(&d, (train_processor_kind)kind);
        for (uint64_t seed = 1; seed <= 3; seed++) check_gradient(&d, seed + 2 * (uint64_t)kind);
        on_device_close(&d);
    }
}

/* --- integers ---------------------------------------------------------------------------- */

static void export_is_near(void **unused) {
    (void)unused;
    on_device d;
    codec_conditional c;
    on_device_open(&d, TRAIN_SHADOW);
    subject s = make(&d, 9);
    train_conditional_network *net = &s.net;
    const float *first = host_of(&s, net->w.first), *middle = host_of(&s, net->w.middle[0]),
                *stage = host_of(&s, net->w.stage), *bias = host_of(&s, net->w.pass_bias);
    assert_int_equal(train_conditional_export(net, &c), TAPER_OK);
    size_t inputs = net->columns - SIDES;
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < HIDDEN; j++) {
            double step = ldexp(1, -c.first_shift[j]);
            assert_true(fabs(c.first[i * HIDDEN + j] * step - (double)first[i * HIDDEN + j]) <=
                        step / 2 + 1e-7);
        }
    for (size_t j = 0; j < HIDDEN; j++) { /* the step is as fine as 8 bits allow */
        int most = 0;
        for (size_t i = 0; i < inputs; i++)
            most = abs(c.first[i * HIDDEN + j]) > most ? abs(c.first[i * HIDDEN + j]) : most;
        assert_true(most >= 63);
    }
    for (size_t i = 0; i < HIDDEN * HIDDEN; i++) {
        double step = ldexp(1, -c.middle_shift[0][i / HIDDEN]);
        int8_t stored = c.middle[0][i % HIDDEN * HIDDEN + i / HIDDEN];
        assert_true(fabs(stored * step - (double)middle[i]) <= step / 2 + 1e-7);
    }
    for (size_t i = 0; i < STAGES * HIDDEN; i++)
        assert_true(fabs(c.stage[i] / 256.0 - (double)stage[i]) <= 0.5 / 256 + 1e-6);
    for (size_t i = 0; i < (size_t)KINDS * END; i++)
        assert_true(fabs(c.bias[i] / 64.0 - (double)bias[i]) <= 0.5 / 64 + 1e-6);
    codec_conditional_free(&c);
    drop(&s);
    on_device_close(&d);
}

/* What was stored can be learned on from: back to numbers, and stored again, it is the same. */
static void import_is_exact(void **unused) {
    (void)unused;
    on_device d;
    codec_conditional c, again;
    on_device_open(&d, TRAIN_SHADOW);
    subject net = make(&d, 9), other = make(&d, 10);
    formats_buffer first = formats_buffer_make(1 << 24), second = formats_buffer_make(1 << 24);
    assert_int_equal(train_conditional_export(&net.net, &c), TAPER_OK);
    assert_int_equal(train_conditional_import(&other.net, &c), TAPER_OK);
    assert_int_equal(train_conditional_export(&other.net, &again), TAPER_OK);
    for (uint32_t s = 0; s < STAGES; s++) c.begin[s] = again.begin[s] = s;
    assert_int_equal(codec_conditional_write(&c, &first), TAPER_OK);
    assert_int_equal(codec_conditional_write(&again, &second), TAPER_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    codec_conditional_free(&c), codec_conditional_free(&again);
    drop(&net), drop(&other);
    on_device_close(&d);
    formats_buffer_free(&first), formats_buffer_free(&second);
}

/* The whole way: a group's state as inputs, floats against the codec's integers. */
static void integers_say_what_floats_say(void **unused) {
    (void)unused;
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *m = dct_model_make((codec_window){4, 4, 3, NULL}, 24, 2, &file);
    formats_buffer_free(&file);
    codec_code_tables *t = &m->tables;
    codec_grid grid[2] = {{4, 3}, {1, 1}};
    train_conditional_batch batch = {.grid = grid, .images = 2};
    assert_int_equal(codec_chunk_coder_alloc(&batch.coder, t, grid, 2, NULL), TAPER_OK);
    uint32_t stride = batch.coder.group.stride, n = batch.coder.group.n;
    batch.code = calloc((size_t)24 * stride, sizeof *batch.code);
    uint64_t state = 5;
    for (uint32_t u = 0; u < 24; u++)
        for (uint32_t p = 0; p < n; p++)
            batch.code[u * stride + p] =
                codec_quantise(t, u, (float)(90 * uniform(&state) / (1 + u)));
    on_device d;
    on_device_open(&d, TRAIN_SHADOW);
    codec_conditional c = {.kinds = CODEC_CONDITIONAL_KINDS,
                           .hidden = 32,
                           .own = 20,
                           .neighbour_units = 8,
                           .units = 24,
                           .end = 60,
                           .stages = 4};
    train_conditional_network net;
    assert_int_equal(train_conditional_create(&net, &c, &d.device, n, 1, 3), TAPER_OK);
    float out[24 * KINDS * 32];
    for (int i = 0; i < 24 * KINDS * 32; i++) out[i] = (float)(0.2 * uniform(&state));
    train_upload(&net.stream, net.w.out, out, sizeof out);
    codec_conditional *ints = calloc(1, sizeof *ints);
    assert_int_equal(train_conditional_export(&net, ints), TAPER_OK);
    for (uint32_t s = 0; s < 4; s++) ints->begin[s] = 15 * s;
    int8_t *seen = malloc(n * 20);
    float *logit = malloc(n * KINDS * sizeof *logit);
    uint32_t *links = malloc(TRAIN_SIDES * n * sizeof *links);
    train_conditional_neighbours(&batch, links);
    const uint32_t *neighbour = on_device_give(&d, links, TRAIN_SIDES * n * sizeof *links);
    float *output = on_device_give(&d, NULL, n * KINDS * sizeof *logit);
    for (uint32_t s = 0; s < 4; s++) {
        uint32_t unit = t->pass[15 * s].unit;
        train_conditional_see(&batch, NULL, 15 * s, 20, seen);
        const int8_t *there = on_device_give(&d, seen, n * 20);
        const uint32_t *asked_unit = on_device_give(&d, &unit, sizeof unit);
        assert_int_equal(
            d.stream.ops->conditional_inputs(&d.stream, n, 20, 8, there, neighbour, net.x),
            TAPER_OK);
        assert_int_equal(train_conditional_forward(&net, s, n), TAPER_OK);
        assert_int_equal(train_conditional_logits(&net, asked_unit, 1, output), TAPER_OK);
        on_device_take(&d, logit, output, n * KINDS * sizeof *logit);
        t->conditional = ints;
        codec_chunk_coder g;
        assert_int_equal(codec_chunk_coder_alloc(&g, t, grid, 2, NULL), TAPER_OK);
        codec_group_know(&g.group, batch.code, 15 * s);
        codec_contexts_predict(&g.contexts, &g.group);
        for (uint32_t p = 0; p < n; p++) {
            int k = g.group.level[unit * stride + p] ? 2 : 0;
            double got = g.contexts.conditional.logit[p] / 4096.0,
                   say = (double)logit[p * KINDS + (uint32_t)k];
            if (fabs(got - say) > 0.15) fail_msg("stage %u: %g instead of %g", s, got, say);
        }
        codec_chunk_coder_free(&g);
        t->conditional = NULL;
    }
    free(seen), free(logit), free(links), free(batch.code);
    codec_conditional_free(ints);
    free(ints);
    codec_chunk_coder_free(&batch.coder);
    train_conditional_free(&net);
    on_device_close(&d);
    taper_model_free(m);
}

/* The next pass of a group, position by position as the coder does it: each context is the bin of
 * the logit that training is given. Counts the bits. */
static size_t compare_pass(codec_chunk_coder *coder, const int16_t *codes, const train_bit *bit,
                           uint32_t passes) {
    codec_group *g = &coder->group;
    codec_context_model *m = &coder->contexts;
    codec_pass pass = g->tables->pass[g->pass];
    size_t at = (size_t)pass.unit * g->stride, bits = 0;
    int shift = g->tables->planes[pass.unit] - pass.depth - 1;
    codec_contexts_predict(m, g);
    for (uint32_t p = 0; p < g->n; p++, bit += passes) {
        uint32_t context = codec_contexts_at(m, g, p);
        assert_int_equal(bit->kind == 1, context == CODEC_SKIP);
        if (context == CODEC_SKIP) continue;
        double bin = floor((double)bit->offset[0] * 4 + CODEC_BINS / 2 + 0.5);
        assert_true(fabs(bin - context % CODEC_BINS) < 0.5);
        int q = abs(codes[at + p]) >> shift;
        assert_int_equal(bit->bit, q & 1);
        if (bit->sign && codec_sign_is_predicted(m, g, pass.unit)) {
            bin = floor((double)bit->offset[1] * 4 + CODEC_BINS / 2 + 0.5);
            assert_true(fabs(bin - codec_contexts_sign(m, g, p) % CODEC_BINS) < 0.5);
        }
        g->level[at + p] = (int16_t)(codes[at + p] < 0 ? -q : q);
        g->plane_known[at + p] = 1;
        codec_contexts_update(m, g, p, g->level[at + p]);
        bits++;
    }
    codec_group_finish_pass(g);
    return bits;
}

/* What training is told of the contexts is what the coder has, be passes made whole, in parts, or
 * such that look at themselves. */
static void bits_are_those_of_the_coder(void **unused) {
    (void)unused;
    enum { CODE_UNITS = 40, PASSES = 150 };
    for (uint32_t parts = 1; parts <= 3; parts += 2) {
        formats_buffer file = formats_buffer_make(1 << 24);
        taper_model *m =
            dct_model_in_parts((codec_window){4, 4, 3, NULL}, CODE_UNITS, 2, parts, &file);
        formats_buffer_free(&file);
        codec_code_tables *t = &m->tables;
        codec_grid grid[3] = {{14, 10}, {1, 1}, {3, 2}};
        train_conditional_batch batch = {.grid = grid, .images = 3};
        codec_chunk_coder g;
        assert_int_equal(codec_chunk_coder_alloc(&batch.coder, t, grid, 3, NULL), TAPER_OK);
        assert_int_equal(codec_chunk_coder_alloc(&g, t, grid, 3, NULL), TAPER_OK);
        batch.code = calloc((size_t)CODE_UNITS * g.group.stride, sizeof *batch.code);
        train_bit *bit = malloc((size_t)g.group.n * PASSES * sizeof *bit);
        codec_backend be;
        codec_backend_cpu(&be);
        codec_backend_set_threads(&be, 2);
        assert_true(batch.code && bit);
        uint64_t state = 8;
        for (uint32_t u = 0; u < CODE_UNITS; u++)
            for (uint32_t p = 0; p < g.group.n; p++)
                batch.code[u * g.group.stride + p] =
                    codec_quantise(t, u, (float)(90 * uniform(&state) / (1 + u)));
        assert_true(t->n_passes >= PASSES);
        train_conditional_bits(&batch, be.pool, PASSES, bit);
        size_t bits = 0;
        for (uint32_t i = 0; i < PASSES; i++) bits += compare_pass(&g, batch.code, bit + i, PASSES);
        printf("%zu bits of models of %u parts\n", bits, parts);
        assert_true(bits > 1000);
        codec_backend_close(&be);
        free(bit), free(batch.code);
        codec_chunk_coder_free(&g), codec_chunk_coder_free(&batch.coder);
        taper_model_free(m);
    }
}

static void illegal_shapes_are_refused(void **unused) {
    (void)unused;
    on_device d;
    on_device_open(&d, TRAIN_PROCESSOR);
    train_conditional_network net;
    codec_conditional c = shape;
    c.hidden = 12;
    assert_int_equal(train_conditional_create(&net, &c, &d.device, ROWS, ASKED, 1), TAPER_ERR_ARG);
    on_device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_equals_finite_differences),
        cmocka_unit_test(export_is_near),
        cmocka_unit_test(import_is_exact),
        cmocka_unit_test(integers_say_what_floats_say),
        cmocka_unit_test(bits_are_those_of_the_coder),
        cmocka_unit_test(illegal_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

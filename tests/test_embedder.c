/* test_embedder.c -- the encoder of an embedding forward and back: losses and gradients against
 * finite differences in double, of every weight, L2 and alpha too; on every device. */
#include "every_device.h"
#include "neighbours_reference.h"
#include "train/embedding/embedder.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/philox.h"

enum { ROWS = 14, INPUTS = 9, UNITS = 3 };
static const uint32_t widths[] = {6, 5};

static uint8_t pixels[ROWS * INPUTS];
static uint32_t label[ROWS];

static float draw(uint64_t i, uint64_t stream) {
    uint32_t word[4];
    train_philox(7, i, stream, word);
    return train_philox_uniform(word[0]) - 0.5f;
}

/* A decoder's share, and units that it alone has; part 0: there is none. */
static struct {
    double part;
    uint32_t free_units;
    size_t labelled; /* rows that have a label, where it is told */
} split;

static codec_network network(uint32_t hidden, codec_activation between) {
    static const uint32_t back[] = {5, 6};
    codec_network net;
    assert_int_equal(codec_network_alloc(&net, INPUTS, UNITS, CODEC_DIRECT, widths, hidden,
                                         hidden == 2 ? back : widths, hidden),
                     TAPER_OK);
    for (uint32_t l = 0; l < net.decoder.depth; l++) {
        codec_layer *layer = &net.decoder.layer[l];
        const float scale = l + 1 < net.decoder.depth ? 2.0f : 2.0f * 64.0f;
        for (uint32_t i = 0; i < layer->outputs * layer->inputs; i++)
            layer->weight[i] = scale * draw(i, 30 + l);
        for (uint32_t i = 0; i < layer->outputs; i++) layer->bias[i] = scale * draw(i, 40 + l);
    }
    net.hidden = between;
    for (uint32_t l = 0; l < net.encoder.depth; l++) {
        codec_layer *layer = &net.encoder.layer[l];
        const float scale = l ? 3.0f : 3.0f / 255.0f;
        for (uint32_t i = 0; i < layer->outputs * layer->inputs; i++)
            layer->weight[i] = scale * draw(i, 10 + l);
        for (uint32_t i = 0; i < layer->outputs; i++) layer->bias[i] = draw(i, 20 + l);
    }
    for (uint32_t i = 0; i < ROWS * INPUTS; i++) pixels[i] = (uint8_t)(255 * (draw(i, 1) + 0.5f));
    for (uint32_t i = 0; i < ROWS; i++) label[i] = i == 3 ? TRAIN_UNLABELLED : i % 3;
    return net;
}

/* --- the definition ------------------------------------------------------------------------- */

static double activate(codec_activation how, double a) {
    return how == CODEC_RELU ? fmax(a, 0.0) : how == CODEC_LOGISTIC ? 1.0 / (1.0 + exp(-a)) : a;
}

/* What noise makes of each pixel and of each hidden unit: the definitions, of ones. */
static float input_kept[ROWS * INPUTS], unit_kept[CODEC_MAX_LAYERS][ROWS * 8];
static uint8_t moved[ROWS * INPUTS];

static void draw_noise(const train_embedder_noise *n, uint64_t step) {
    const train_noise noise = {n->seed, step, 0, NULL};
    for (size_t i = 0; i < ROWS * INPUTS; i++) input_kept[i] = 1.0f;
    memcpy(moved, pixels, sizeof moved);
    if (n->jitter.fraction > 0.0f)
        for (size_t r = 0; r < ROWS; r++)
            train_jitter_row(&n->jitter, pixels + r * INPUTS, n->seed, step, r, moved + r * INPUTS);
    if (n->corrupt > 0.0f) train_corrupt_rows(&noise, n->corrupt, ROWS, INPUTS, INPUTS, input_kept);
    for (uint32_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < ROWS * 8; i++) unit_kept[l][i] = 1.0f;
        if (n->dropout > 0.0f)
            train_dropout_rows(&noise, l, n->dropout, ROWS, widths[l], 8, unit_kept[l]);
    }
}

/* Codes by parameters in the order of the embedder's vector; *squares: of the weights. */
static void encode(const codec_network *net, const double *parameter, double *code,
                   double *squares) {
    *squares = 0.0;
    for (size_t row = 0; row < ROWS; row++) {
        const double *p = parameter;
        double x[16], y[16];
        for (size_t i = 0; i < INPUTS; i++)
            x[i] = (double)input_kept[row * INPUTS + i] * moved[row * INPUTS + i] / 255.0;
        for (uint32_t l = 0; l < net->encoder.depth; l++) {
            const codec_layer *layer = &net->encoder.layer[l];
            const int last = l + 1 == net->encoder.depth;
            const double *bias = p + layer->outputs * layer->inputs;
            for (uint32_t o = 0; o < layer->outputs; o++) {
                double a = bias[o];
                for (uint32_t i = 0; i < layer->inputs; i++) {
                    const double w = p[o * layer->inputs + i];
                    a += w * x[i];
                    if (!row) *squares += w * w;
                }
                y[o] = last ? a : activate(net->hidden, a) * (double)unit_kept[l][row * 8 + o];
            }
            memcpy(x, y, sizeof x);
            p = bias + layer->outputs;
        }
        memcpy(code + row * UNITS, x, UNITS * sizeof *x);
    }
}

/* Lengths of which each counts; none: whole codes alone do. */
static train_prefix_list nested;

/* Mean cross-entropy of what a decoder by `p` makes of the codes. */
static double reconstruction(const codec_network *net, const double *p, const double *code) {
    double sum = 0.0;
    for (size_t row = 0; row < ROWS; row++) {
        const double *at = p;
        double x[16], y[16];
        memcpy(x, code + row * UNITS, UNITS * sizeof *x);
        for (uint32_t l = 0; l < net->decoder.depth; l++) {
            const codec_layer *layer = &net->decoder.layer[l];
            const double *bias = at + layer->outputs * layer->inputs;
            for (uint32_t o = 0; o < layer->outputs; o++) {
                double a = bias[o];
                for (uint32_t i = 0; i < layer->inputs; i++) a += at[o * layer->inputs + i] * x[i];
                y[o] = l + 1 == net->decoder.depth ? a : activate(net->hidden, a);
            }
            memcpy(x, y, sizeof x);
            at = bias + layer->outputs;
        }
        for (uint32_t i = 0; i < INPUTS; i++)
            sum += log1p(exp(x[i])) - x[i] * moved[row * INPUTS + i] / 255.0;
    }
    return sum / ROWS;
}

/* Codes of bits: what the thresholds see of the parameters in question. */
static struct {
    int are_on, as_numbers;
    double a[ROWS * UNITS];
} bits;

/* Their gradient is that of a line through the bit with the slope of a logistic function. */
static void threshold(double *code) {
    for (size_t i = 0; i < ROWS * UNITS && bits.are_on && !bits.as_numbers; i++) {
        const double steep = 2.0 / (double)TRAIN_BIT_SPREAD;
        const double p = 1.0 / (1.0 + exp(-steep * bits.a[i]));
        code[i] = (bits.a[i] > 0 ? 0.5 : -0.5) + steep * p * (1.0 - p) * (code[i] - bits.a[i]);
    }
}

static double mean_over_prefixes(reference r, const double *code) {
    double sum = 0.0, prefix[ROWS * UNITS];
    for (uint32_t i = 0; i < nested.lengths; i++) {
        r.d = nested.length[i];
        r.alpha = r.d > 2 ? (double)r.d - 1.0 : 1.0;
        for (size_t k = 0; k < ROWS * r.d; k++) prefix[k] = code[k / r.d * UNITS + k % r.d];
        sum += reference_loss(&r, prefix);
    }
    return sum / nested.lengths;
}

static double loss_at(const codec_network *net, reference r, int learns_alpha, double l2,
                      const double *parameter, size_t n_network) {
    double code[ROWS * UNITS], class_code[ROWS * UNITS], squares;
    size_t encoder = 0;
    if (learns_alpha) r.alpha *= exp(parameter[n_network]);
    encode(net, parameter, code, &squares);
    threshold(code);
    for (uint32_t l = 0; l < net->encoder.depth; l++)
        encoder += (net->encoder.layer[l].inputs + 1) * net->encoder.layer[l].outputs;
    for (size_t i = 0; i < ROWS * r.d; i++) class_code[i] = code[i / r.d * UNITS + i % r.d];
    const double share = split.labelled ? (1.0 - split.part) * ROWS / (double)split.labelled : 1.0;
    const double own =
        nested.lengths ? mean_over_prefixes(r, code) : reference_loss(&r, class_code);
    const double other = split.part > 0.0 ? reconstruction(net, parameter + encoder, code) : 0.0;
    return share * own + split.part * other + l2 / 2 * squares;
}

/* About as many rows above each threshold as below. */
static void centre(codec_network *net) {
    const uint32_t depth = net->encoder.depth;
    double parameter[512], code[ROWS * UNITS], squares, *p = parameter;
    for (uint32_t l = 0; l < depth; l++) {
        const codec_layer *layer = &net->encoder.layer[l];
        for (uint32_t i = 0; i < layer->outputs * layer->inputs; i++)
            *p++ = (double)layer->weight[i] * (l ? 1.0 : 255.0);
        for (uint32_t i = 0; i < layer->outputs; i++) *p++ = (double)layer->bias[i];
    }
    draw_noise(&(train_embedder_noise){.seed = 0}, 0);
    encode(net, parameter, code, &squares);
    for (size_t i = 0; i < ROWS * UNITS; i++)
        net->encoder.layer[depth - 1].bias[i % UNITS] -= (float)(code[i] / ROWS);
}

/* --- against differences -------------------------------------------------------------------- */

static void check_gradient(int d, uint32_t hidden, codec_activation between,
                           train_neighbour_objective objective, double l2, size_t block,
                           train_embedder_noise noise) {
    codec_network net = network(hidden, between);
    train_embedder e;
    if (bits.are_on) centre(&net);
    const train_embedder_options options = {.batch = ROWS,
                                            .objective = objective,
                                            .prefixes = nested.lengths ? &nested : NULL,
                                            .binary = bits.are_on,
                                            .l2 = l2,
                                            .block = block,
                                            .noise = noise,
                                            .part = split.part,
                                            .free_units = split.free_units,
                                            .use = TRAIN_WEIGHTS_GRADIENT};
    assert_int_equal(train_embedder_create(&e, &net, &device[d].device, &options), TAPER_OK);
    train_stream *s = &e.stream;
    uint8_t *rows = on_device_give(&device[d], pixels, sizeof pixels);
    uint32_t *labels = on_device_give(&device[d], label, sizeof label);
    double *losses = on_device_give(&device[d], NULL, TRAIN_LOSSES * sizeof *losses), got[2];
    float parameter[512], gradient[512];
    double at[512];
    const size_t n = e.weights.n, n_network = n - e.n_numbers;
    assert_true(n <= 512);
    draw_noise(&noise, 77);
    e.noisy = 1, e.step = 77, e.as_numbers = bits.as_numbers;
    assert_int_equal(train_embedder_load(&e, rows, NULL, labels, NULL, ROWS), TAPER_OK);
    if (split.labelled) e.labelled = split.labelled;
    assert_int_equal(train_embedder_compute(&e, losses), TAPER_OK);
    assert_int_equal(train_download(s, got, losses, sizeof got), TAPER_OK);
    assert_int_equal(train_download(s, parameter, e.weights.parameter, n * 4), TAPER_OK);
    assert_int_equal(train_download(s, gradient, e.weights.gradient, n * 4), TAPER_OK);
    for (size_t i = 0; i < n; i++) at[i] = (double)parameter[i];
    double squares;
    encode(&net, at, bits.a, &squares);
    reference r = {.loss = objective.loss,
                   .all_pairs = objective.all_pairs,
                   .student = objective.student,
                   .alpha = objective.alpha,
                   .n = ROWS,
                   .d = UNITS - split.free_units,
                   .label = label};
    const double loss = loss_at(&net, r, objective.learns_alpha, l2, at, n_network), h = 1e-6;
    double most = 0.0, error = 0.0;
    assert_true(fabs(loss - got[0]) < 1e-5 * (1.0 + fabs(loss)));
    if (!split.labelled)
        assert_true(fabs(loss_at(&net, r, objective.learns_alpha, 0.0, at, n_network) - got[1]) <
                    1e-5 * (1.0 + fabs(loss)));
    for (size_t i = 0; i < n; i++) {
        const double kept = at[i];
        at[i] = kept + h;
        const double above = loss_at(&net, r, objective.learns_alpha, l2, at, n_network);
        at[i] = kept - h;
        const double want =
            (above - loss_at(&net, r, objective.learns_alpha, l2, at, n_network)) / (2.0 * h);
        at[i] = kept;
        most = fmax(most, fabs(want));
        error = fmax(error, fabs((double)gradient[i] - want));
    }
    if (!(error < 2e-5 * most))
        fail_msg("device %d, %u hidden, activation %d, loss %d, l2 %g, block %zu: %g of %g", d,
                 (unsigned)hidden, (int)between, (int)objective.loss, l2, block, error, most);
    train_embedder_free(&e);
    on_device_forget(&device[d]);
    codec_network_free(&net);
}

static void gradients_are_differences(void **state) {
    (void)state;
    const train_embedder_noise none = {.seed = 0},
                               noises[] = {{.corrupt = 0.3f, .dropout = 0.25f, .seed = 9},
                                           {.jitter = {3, 3, 1, 0.8f, 2.0f, 0.5f, 0.4f},
                                            .dropout = 0.4f,
                                            .seed = 10}};
    const train_neighbour_objective objectives[] = {
        {.loss = TRAIN_NCA, .student = 1, .alpha = 2.0, .learns_alpha = 1},
        {.loss = TRAIN_NCA},
        {.loss = TRAIN_LOG_NCA, .student = 1, .alpha = 1.0},
        {.loss = TRAIN_MCML, .all_pairs = 1, .student = 1, .alpha = 1.0, .learns_alpha = 1}};
    for (int d = 0; d < DEVICES; d++)
        for (size_t o = 0; o < sizeof objectives / sizeof *objectives; o++)
            for (uint32_t hidden = 0; hidden < 3; hidden++) {
                check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.0, 0, none);
                check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.03, 5, none);
                check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.0, 5, noises[1]);
                check_gradient(d, hidden, CODEC_RELU, objectives[o], 0.0, 7, none);
                check_gradient(d, hidden, CODEC_RELU, objectives[o], 0.0, 0, noises[0]);
            }
}

static void nested_gradients_are_differences(void **state) {
    (void)state;
    const train_neighbour_objective objectives[] = {
        {.loss = TRAIN_NCA, .student = 1, .alpha = 2.0},
        {.loss = TRAIN_MCML, .all_pairs = 1, .student = 1, .alpha = 1.0},
        {.loss = TRAIN_LOG_NCA}};
    const train_prefix_list lists[] = {{{1, 2, 3}, 3}, {{2, 3}, 2}, {{3}, 1}};
    const train_embedder_noise none = {.seed = 0};
    for (int d = 0; d < DEVICES; d++)
        for (size_t o = 0; o < sizeof objectives / sizeof *objectives; o++)
            for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
                nested = lists[k];
                check_gradient(d, 1, CODEC_LOGISTIC, objectives[o], 0.02, 0, none);
            }
    nested.lengths = 0;
}

static void decoders_learn_beside_labels(void **state) {
    (void)state;
    const train_embedder_noise none = {.seed = 0},
                               noise = {.corrupt = 0.3f,
                                        .jitter = {3, 3, 1, 0.8f, 2.0f, 0.5f, 0.4f},
                                        .dropout = 0.25f,
                                        .seed = 9};
    const train_neighbour_objective objectives[] = {
        {.loss = TRAIN_NCA, .student = 1, .alpha = 2.0, .learns_alpha = 1},
        {.loss = TRAIN_MCML, .all_pairs = 1, .student = 1, .alpha = 1.0}};
    static const double parts[] = {0.01, 0.4, 1.0};
    for (int d = 0; d < DEVICES; d++)
        for (size_t o = 0; o < 2; o++)
            for (uint32_t hidden = 0; hidden < 3; hidden++)
                for (size_t k = 0; k < 3; k++) {
                    split.part = parts[k], split.free_units = (uint32_t)k,
                    split.labelled = ROWS - 1;
                    check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.03, 0, none);
                    check_gradient(d, hidden, CODEC_RELU, objectives[o], 0.0, 5, noise);
                }
    split.part = 0.0, split.free_units = 0, split.labelled = 0;
}

static void bits_learn_through_their_thresholds(void **state) {
    (void)state;
    const train_embedder_noise none = {.seed = 0},
                               noise = {.corrupt = 0.3f, .dropout = 0.25f, .seed = 12};
    const train_neighbour_objective objectives[] = {
        {.loss = TRAIN_LOG_NCA, .student = 1, .alpha = 2.0, .learns_alpha = 1},
        {.loss = TRAIN_NCA},
        {.loss = TRAIN_MCML, .all_pairs = 1, .student = 1, .alpha = 1.0}};
    bits.are_on = 1;
    for (int d = 0; d < DEVICES; d++)
        for (size_t o = 0; o < sizeof objectives / sizeof *objectives; o++)
            for (uint32_t hidden = 0; hidden < 3; hidden++) {
                check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.03, 5, none);
                check_gradient(d, hidden, CODEC_RELU, objectives[o], 0.0, 0, noise);
                nested = (train_prefix_list){{1, 3}, 2};
                if (!objectives[o].learns_alpha)
                    check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.0, 0, none);
                nested.lengths = 0;
                split.part = 0.4, split.free_units = 1, split.labelled = ROWS - 1;
                check_gradient(d, hidden, CODEC_LOGISTIC, objectives[o], 0.0, 0, none);
                split.part = 0.0, split.free_units = 0, split.labelled = 0;
            }
    bits.as_numbers = 1;
    for (int d = 0; d < DEVICES; d++)
        check_gradient(d, 1, CODEC_LOGISTIC, objectives[0], 0.03, 5, none);
    bits.are_on = bits.as_numbers = 0;
}

/* --- in blocks ------------------------------------------------------------------------------ */

enum { MANY = 1700, BLOCK = 768 };

/* The gradient of many rows, picked by an order, with blocks of so many; how many numbers it has.
 */
static size_t many_gradients(int d, uint32_t hidden, size_t block, float *gradient) {
    codec_network net = network(hidden, CODEC_LOGISTIC);
    const train_embedder_options options = {
        .batch = MANY, .objective = {.loss = TRAIN_NCA}, .block = block};
    static uint8_t many[MANY * INPUTS];
    uint32_t many_labels[MANY], many_order[MANY];
    train_embedder e;
    double losses[2] = {0};
    for (uint32_t i = 0; i < sizeof many; i++) many[i] = (uint8_t)(255 * (draw(i, 2) + 0.5f));
    for (uint32_t i = 0; i < MANY; i++) many_labels[i] = i % 3, many_order[i] = i * 7 % MANY;
    assert_int_equal(train_embedder_create(&e, &net, &device[d].device, &options), TAPER_OK);
    assert_int_equal(e.block, block);
    uint8_t *rows = on_device_give(&device[d], many, sizeof many);
    uint32_t *labels = on_device_give(&device[d], many_labels, sizeof many_labels);
    uint32_t *order = on_device_give(&device[d], many_order, sizeof many_order);
    double *there = on_device_give(&device[d], losses, sizeof losses);
    const size_t n = e.weights.n;
    assert_true(n <= 512);
    assert_int_equal(train_embedder_load(&e, rows, order, labels, order, MANY), TAPER_OK);
    assert_int_equal(train_embedder_compute(&e, there), TAPER_OK);
    assert_int_equal(train_download(&e.stream, gradient, e.weights.gradient, n * 4), TAPER_OK);
    train_embedder_free(&e);
    on_device_forget(&device[d]);
    codec_network_free(&net);
    return n;
}

static void blocks_of_rows_change_nothing(void **state) {
    (void)state;
    codec_backend be;
    codec_backend_cpu(&be);
    const int exact = strcmp(be.kernels, "plain C") != 0; /* it adds all products up at once */
    for (uint32_t hidden = 0; hidden < 3; hidden++) {
        float whole[512], blocks[512];
        const size_t n = many_gradients(0, hidden, MANY, whole);
        many_gradients(0, hidden, BLOCK, blocks);
        if (exact) assert_memory_equal(whole, blocks, n * sizeof *whole);
        for (size_t i = 0; i < n; i++)
            assert_true(fabsf(whole[i] - blocks[i]) <= 1e-7f + 1e-4f * fabsf(whole[i]));
    }
    codec_backend_close(&be);
}

/* --- there and back ------------------------------------------------------------------------- */

static void networks_come_back(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        codec_network net = network(2, CODEC_LOGISTIC), back = network(2, CODEC_LOGISTIC);
        const train_embedder_options options = {
            .batch = ROWS, .objective = {.loss = TRAIN_NCA}, .part = 0.5};
        train_embedder e;
        memset(back.decoder.layer[2].weight, 0, sizeof(float));
        memset(back.encoder.layer[1].weight, 0, sizeof(float));
        assert_int_equal(train_embedder_create(&e, &net, &device[d].device, &options), TAPER_OK);
        assert_int_equal(train_embedder_export(&e, e.weights.parameter, &back), TAPER_OK);
        for (uint32_t l = 0; l < 3; l++) {
            const codec_layer *a = &net.encoder.layer[l], *b = &back.encoder.layer[l];
            for (uint32_t i = 0; i < a->outputs * a->inputs; i++)
                assert_true(fabsf(a->weight[i] - b->weight[i]) <= 2e-7f * fabsf(a->weight[i]));
            assert_memory_equal(a->bias, b->bias, a->outputs * sizeof(float));
            a = &net.decoder.layer[l], b = &back.decoder.layer[l];
            for (uint32_t i = 0; i < a->outputs * a->inputs; i++)
                assert_true(fabsf(a->weight[i] - b->weight[i]) <= 2e-7f * fabsf(a->weight[i]));
            for (uint32_t i = 0; i < a->outputs; i++)
                assert_true(fabsf(a->bias[i] - b->bias[i]) < 1e-4f);
        }
        train_embedder_free(&e);
        codec_network_free(&net), codec_network_free(&back);
    }
}

/* --- rows of pixels of which the network gets the gradients -------------------------------- */

enum { SIDE = 6, VALUES = SIDE * SIDE, COUNT = 4 * (CODEC_GRADIENT_PLANES + 1) };
static const codec_cells cells = {2, 2};

static codec_network network_of_gradients(void) {
    static const uint32_t hidden[] = {5};
    codec_network net;
    assert_int_equal(codec_network_alloc(&net, COUNT, UNITS, CODEC_ENCODER, hidden, 1, NULL, 0),
                     TAPER_OK);
    net.hidden = CODEC_LOGISTIC;
    for (uint32_t l = 0; l < 2; l++) {
        codec_layer *layer = &net.encoder.layer[l];
        for (uint32_t i = 0; i < layer->outputs * layer->inputs; i++)
            layer->weight[i] = (l ? 3.0f : 1.0f / 255.0f) * draw(i, 50 + l);
    }
    return net;
}

/* The gradient of all weights by rows of pixels with this noise, or by rows of gradients. */
static void gradient_by(int d, const codec_network *net, train_embedder_noise noise, int is_told,
                        const uint8_t *rows, size_t bytes, float *gradient) {
    train_embedder e;
    const train_embedder_options options = {.batch = ROWS,
                                            .objective = {.loss = TRAIN_NCA},
                                            .block = 5,
                                            .noise = noise,
                                            .cells = is_told ? cells : (codec_cells){0, 0},
                                            .use = TRAIN_WEIGHTS_GRADIENT};
    assert_int_equal(train_embedder_create(&e, net, &device[d].device, &options), TAPER_OK);
    const uint8_t *there = on_device_give(&device[d], rows, bytes);
    const uint32_t *labels = on_device_give(&device[d], label, sizeof label);
    double *losses = on_device_give(&device[d], NULL, TRAIN_LOSSES * sizeof *losses);
    e.noisy = 1, e.step = 77;
    assert_int_equal(train_embedder_load(&e, there, NULL, labels, NULL, ROWS), TAPER_OK);
    assert_int_equal(train_embedder_compute(&e, losses), TAPER_OK);
    assert_int_equal(train_download(&e.stream, gradient, e.weights.gradient, e.weights.n * 4),
                     TAPER_OK);
    train_embedder_free(&e);
    on_device_forget(&device[d]);
}

static void rows_are_described_after_they_moved(void **state) {
    (void)state;
    static uint8_t rows[ROWS * VALUES], seen[ROWS * VALUES], described[ROWS * COUNT];
    static float got[5 * COUNT + 64], want[5 * COUNT + 64];
    codec_network unused = network(1, CODEC_LOGISTIC), net = network_of_gradients();
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (uint8_t)(255 * (draw(i, 60) + 0.5f));
    for (int moves = 0; moves < 2; moves++) {
        const train_jitter jitter = {SIDE, SIDE, 1, moves ? 1.0f : 0.0f, 2.0f, 0.5f, 0.4f, NULL};
        const train_embedder_noise noise = {.jitter = jitter, .seed = 8}, none = {.seed = 8};
        memcpy(seen, rows, sizeof seen);
        for (size_t r = 0; r < ROWS && moves; r++)
            train_jitter_row(&jitter, rows + r * VALUES, 8, 77, r, seen + r * VALUES);
        assert_int_equal(
            codec_gradients((codec_window){SIDE, SIDE, 1, NULL}, cells, ROWS, seen, described),
            TAPER_OK);
        for (int d = 0; d < DEVICES; d++) {
            gradient_by(d, &net, noise, 1, rows, sizeof rows, got);
            gradient_by(d, &net, none, 0, described, sizeof described, want);
            assert_memory_equal(got, want, (5 * COUNT + 5 + 5 * UNITS + UNITS) * sizeof *got);
        }
    }
    codec_network_free(&net), codec_network_free(&unused);
}

static void networks_that_are_not_plain_are_refused(void **state) {
    (void)state;
    codec_network net = network(1, CODEC_LOGISTIC);
    const train_embedder_options options = {.batch = ROWS, .objective = {.loss = TRAIN_NCA}};
    train_embedder e;
    net.mean[2] = 1.0f;
    assert_int_equal(train_embedder_create(&e, &net, &device[0].device, &options), TAPER_ERR_ARG);
    net.mean[2] = 0.0f;
    net.code = CODEC_LOGISTIC;
    assert_int_equal(train_embedder_create(&e, &net, &device[0].device, &options), TAPER_ERR_ARG);
    net.code = CODEC_LINEAR;
    train_embedder_options told = options;
    told.cells = (codec_cells){1, 1}; /* of windows of no size */
    assert_int_equal(train_embedder_create(&e, &net, &device[0].device, &told), TAPER_ERR_ARG);
    codec_network_free(&net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_differences),
                                       cmocka_unit_test(nested_gradients_are_differences),
                                       cmocka_unit_test(decoders_learn_beside_labels),
                                       cmocka_unit_test(bits_learn_through_their_thresholds),
                                       cmocka_unit_test(blocks_of_rows_change_nothing),
                                       cmocka_unit_test(networks_come_back),
                                       cmocka_unit_test(rows_are_described_after_they_moved),
                                       cmocka_unit_test(networks_that_are_not_plain_are_refused)};
    return cmocka_run_group_tests(tests, open_every_device, close_every_device);
}

/* test_teacher.c -- a network that names classes: its losses and gradients against finite
 * differences in double, with labels and without, on every device; and as a plain network. */
#include "every_device.h"
#include "train/labelling/folding.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/philox.h"

enum { ROWS = 12, INPUTS = 7, CLASSES = 3, LAYERS = 3, MOST = 8 };
static const uint32_t widths[] = {6, 5};
static uint8_t pixels[ROWS * INPUTS];
static uint32_t label[ROWS];

static float draw(uint64_t i, uint64_t stream) {
    uint32_t word[4];
    train_philox(11, i, stream, word);
    return train_philox_uniform(word[0]) - 0.5f;
}

static codec_network network(void) {
    codec_network net;
    assert_int_equal(
        codec_network_alloc(&net, INPUTS, CLASSES, CODEC_ENCODER, widths, LAYERS - 1, NULL, 0),
        TAPER_OK);
    for (uint32_t l = 0; l < LAYERS; l++) {
        codec_layer *layer = &net.encoder.layer[l];
        for (uint32_t i = 0; i < layer->outputs * layer->inputs; i++)
            layer->weight[i] = (l ? 3.0f : 3.0f / 255.0f) * draw(i, 10 + l);
        for (uint32_t i = 0; i < layer->outputs; i++) layer->bias[i] = draw(i, 20 + l);
    }
    for (uint32_t i = 0; i < ROWS * INPUTS; i++) pixels[i] = (uint8_t)(255 * (draw(i, 1) + 0.5f));
    for (uint32_t i = 0; i < ROWS; i++) label[i] = i % CLASSES;
    return net;
}

/* --- the definition ------------------------------------------------------------------------- */

/* z[ROWS][n] normalised by column, then ReLU with a bias. */
static void normalise(uint32_t n, const double *bias, double z[ROWS][MOST]) {
    for (uint32_t o = 0; o < n; o++) {
        double mean = 0.0, variance = 0.0;
        for (int r = 0; r < ROWS; r++) mean += z[r][o] / ROWS;
        for (int r = 0; r < ROWS; r++) variance += (z[r][o] - mean) * (z[r][o] - mean) / ROWS;
        for (int r = 0; r < ROWS; r++)
            z[r][o] = fmax((z[r][o] - mean) / sqrt(variance + 1e-5) + bias[o], 0.0);
    }
}

/* Logits of x[ROWS][INPUTS] by parameters in the order of the teacher's vector. */
static void forward(const codec_network *net, const double *p, const double *x,
                    double logit[ROWS][MOST]) {
    double y[ROWS][MOST], z[ROWS][MOST];
    for (int i = 0; i < ROWS * INPUTS; i++) y[i / INPUTS][i % INPUTS] = x[i];
    for (uint32_t l = 0; l < LAYERS; l++) {
        const codec_layer *layer = &net->encoder.layer[l];
        const double *bias = p + layer->outputs * layer->inputs;
        for (int r = 0; r < ROWS; r++)
            for (uint32_t o = 0; o < layer->outputs; o++) {
                z[r][o] = l + 1 == LAYERS ? bias[o] : 0.0;
                for (uint32_t i = 0; i < layer->inputs; i++)
                    z[r][o] += p[o * layer->inputs + i] * y[r][i];
            }
        if (l + 1 < LAYERS) normalise(layer->outputs, bias, z);
        memcpy(y, z, sizeof y);
        p = bias + layer->outputs;
    }
    memcpy(logit, y, sizeof y);
}

static double log_share(const double *logit, uint32_t c) {
    double sum = 0.0;
    for (int k = 0; k < CLASSES; k++) sum += exp(logit[k]);
    return logit[c] - log(sum);
}

/* What a step's loss is made of: the rows, where they are moved to, what is believed of them. */
typedef struct problem {
    codec_network net;
    double x[ROWS * INPUTS], moved[ROWS * INPUTS], believed[ROWS][MOST];
    int labelled;
} problem;

static double loss_of(const problem *b, const double *p) {
    double logit[ROWS][MOST], far[ROWS][MOST], sum = 0.0;
    forward(&b->net, p, b->x, logit);
    forward(&b->net, p, b->moved, far);
    for (int r = 0; r < ROWS; r++)
        for (uint32_t c = 0; c < CLASSES; c++) {
            const double own = log_share(logit[r], c), held = log_share(b->believed[r], c);
            if (b->labelled)
                sum -= c == label[r] ? own : 0.0;
            else
                sum += -exp(own) * own + exp(held) * (held - log_share(far[r], c));
        }
    return sum / ROWS;
}

/* --- against it ------------------------------------------------------------------------------ */

static train_teacher make(on_device *d, const codec_network *net) {
    train_teacher t;
    assert_int_equal(train_teacher_create(&t, net, &d->device, ROWS), TAPER_OK);
    t.reach = 0.3f, t.seed = 4;
    const uint8_t *rows = on_device_give(d, pixels, sizeof pixels);
    const uint32_t *labels = on_device_give(d, label, sizeof label);
    assert_int_equal(train_teacher_load(&t, rows, NULL, labels, NULL, ROWS), TAPER_OK);
    return t;
}

static void widen(on_device *d, const float *memory, size_t n, double *to) {
    float *host = malloc(n * sizeof *host);
    assert_non_null(host);
    on_device_take(d, host, memory, n * sizeof *host);
    for (size_t i = 0; i < n; i++) to[i] = (double)host[i];
    free(host);
}

/* The gradients are added to what is there, which is 1. */
static void check_gradient(on_device *d, const train_teacher *t, const problem *b, double loss) {
    const size_t n = t->weights.n;
    double *p = malloc(n * sizeof *p), *got = malloc(n * sizeof *got);
    assert_true(p && got);
    widen(d, t->weights.parameter, n, p);
    widen(d, t->weights.gradient, n, got);
    const double wanted = loss_of(b, p), step = 1e-6;
    if (fabs(wanted - loss) > 2e-5 * (1 + fabs(wanted))) fail_msg("loss %g, %g", loss, wanted);
    for (size_t i = 0; i < n; i++) {
        const double at = p[i];
        p[i] = at + step;
        const double above = loss_of(b, p);
        p[i] = at - step;
        const double slope = (above - loss_of(b, p)) / (2 * step);
        p[i] = at;
        if (fabs(got[i] - 1.0 - slope) > 2e-4 * (1 + fabs(slope)))
            fail_msg("%s, number %zu: gradient %g, difference %g", d->device.name, i, got[i] - 1.0,
                     slope);
    }
    free(p), free(got);
}

static void ones(on_device *d, float *memory, size_t n) {
    float *host = malloc(n * sizeof *host);
    assert_non_null(host);
    for (size_t i = 0; i < n; i++) host[i] = 1.0f;
    assert_int_equal(train_upload(&d->stream, memory, host, n * sizeof *host), TAPER_OK);
    free(host);
}

static void gradients_are_those_of_losses(void **state) {
    (void)state;
    for (int i = 0; i < 2 * DEVICES; i++) {
        on_device *d = &device[i / 2];
        problem b = {.net = network(), .labelled = i % 2};
        train_teacher t = make(d, &b.net);
        double *losses =
            on_device_give(d, (double[TRAIN_LOSSES]){0}, TRAIN_LOSSES * sizeof *losses);
        ones(d, t.weights.gradient, t.weights.n);
        assert_int_equal(b.labelled ? train_teacher_learn_labelled(&t, losses)
                                    : train_teacher_learn_unlabelled(&t, 3, losses),
                         TAPER_OK);
        widen(d, t.x, ROWS * INPUTS, b.x);
        memcpy(b.moved, b.x, sizeof b.x);
        double loss[TRAIN_LOSSES], believed[ROWS * CLASSES] = {0};
        if (!b.labelled) widen(d, t.moved, ROWS * INPUTS, b.moved);
        if (!b.labelled) widen(d, t.believed, ROWS * CLASSES, believed);
        for (int k = 0; k < ROWS * CLASSES; k++) b.believed[k / CLASSES][k % CLASSES] = believed[k];
        on_device_take(d, loss, losses, sizeof loss);
        assert_float_equal(loss[0], loss[1] + loss[2] + loss[3], 1e-12);
        assert_true(b.labelled ? loss[1] > 0 && loss[2] == 0 : loss[2] > 0 && loss[3] > 0);
        check_gradient(d, &t, &b, loss[0]);
        train_teacher_free(&t);
        codec_network_free(&b.net);
        on_device_forget(d);
    }
}

/* Rows are moved by the length asked for, and further from what is believed than by a random
 * step of that length. */
static void moves_are_those_that_matter(void **state) {
    (void)state;
    on_device *d = &device[0];
    problem b = {.net = network()};
    train_teacher t = make(d, &b.net);
    double *losses = on_device_give(d, (double[TRAIN_LOSSES]){0}, TRAIN_LOSSES * sizeof *losses);
    double found[TRAIN_LOSSES], by_chance = 0.0, p[256];
    assert_int_equal(train_teacher_learn_unlabelled(&t, 3, losses), TAPER_OK);
    on_device_take(d, found, losses, sizeof found);
    widen(d, t.x, ROWS * INPUTS, b.x);
    widen(d, t.moved, ROWS * INPUTS, b.moved);
    assert_true(t.weights.n <= 256);
    widen(d, t.weights.parameter, t.weights.n, p);
    for (int r = 0; r < ROWS; r++) {
        double square = 0.0;
        for (int i = r * INPUTS; i < (r + 1) * INPUTS; i++)
            square += (b.moved[i] - b.x[i]) * (b.moved[i] - b.x[i]);
        assert_float_equal(sqrt(square), 0.3, 1e-5);
    }
    forward(&b.net, p, b.x, b.believed);
    enum { TRIES = 50 };
    const double entropy = found[2];
    for (int k = 0; k < TRIES; k++) {
        for (int r = 0; r < ROWS; r++) {
            double step[INPUTS], square = 0.0;
            for (int i = 0; i < INPUTS; i++) {
                step[i] = (double)draw((uint64_t)((k * ROWS + r) * INPUTS + i), 40);
                square += step[i] * step[i];
            }
            for (int i = 0; i < INPUTS; i++)
                b.moved[r * INPUTS + i] = b.x[r * INPUTS + i] + 0.3 * step[i] / sqrt(square);
        }
        by_chance += (loss_of(&b, p) - entropy) / TRIES;
    }
    if (found[3] < 1.5 * by_chance) fail_msg("%g, by chance %g", found[3], by_chance);
    train_teacher_free(&t);
    codec_network_free(&b.net);
    on_device_forget(d);
}

/* Of one batch the plain network gives what the teacher gave. */
static void folded_it_is_the_same(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        codec_network net = network();
        train_teacher t = make(d, &net);
        train_feed feed = {0};
        train_order order = {0};
        uint32_t rows[ROWS];
        float input[ROWS * INPUTS], code[ROWS * CLASSES], logit[ROWS * CLASSES];
        for (uint32_t r = 0; r < ROWS; r++) rows[r] = (r + 5) % ROWS;
        assert_int_equal(train_order_open(&order, &t.stream, rows, ROWS), TAPER_OK);
        assert_int_equal(train_feed_open(&feed, &t.stream, pixels, ROWS, INPUTS, ROWS), TAPER_OK);
        const train_folding folding = {&t, &feed, &order, ROWS, 1};
        assert_int_equal(train_fold(&folding, &net), TAPER_OK);
        on_device_take(d, logit, t.logit, sizeof logit);
        for (uint32_t k = 0; k < ROWS * INPUTS; k++)
            input[k] = pixels[rows[k / INPUTS] * INPUTS + k % INPUTS];
        assert_int_equal(codec_network_encode(&net, &device[0].be, input, ROWS, code), TAPER_OK);
        for (int k = 0; k < ROWS * CLASSES; k++)
            assert_float_equal(code[k], logit[k], 2e-4 * (1 + fabs((double)logit[k])));
        train_feed_close(&feed);
        train_order_free(&order);
        train_teacher_free(&t);
        codec_network_free(&net);
        on_device_forget(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_losses),
        cmocka_unit_test(moves_are_those_that_matter),
        cmocka_unit_test(folded_it_is_the_same),
    };
    return cmocka_run_group_tests(tests, open_every_device, close_every_device);
}

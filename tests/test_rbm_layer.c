/* test_rbm_layer.c -- what a batch does to a machine, by contrastive divergence and as a denoising
 * autoencoder: against a definition in double, and for the latter against finite differences of
 * its loss. On the processor with one thread and with three and on the shadow. */
#include "device_numbers.h"
#include "train/rbm/contrastive.h"
#include "train/rbm/denoising.h"
#include <math.h>

enum { V = 9, H = 6, BATCH = 8, STEPS = 3, NUMBERS = H * V + H + V };
static const float rate = 0.07f, momentum = 0.6f;

/* A machine in double: its numbers as in train_rbm, and their velocities. */
typedef struct machine {
    train_states visible, hidden;
    double at[NUMBERS], velocity[NUMBERS];
} machine;

static double mean_of(train_states states, double a) {
    return states == TRAIN_GAUSSIAN ? a : 1.0 / (1.0 + exp(-a));
}

static void up(const machine *m, const double *v, double *h) {
    for (int j = 0; j < H; j++) {
        double a = m->at[H * V + j];
        for (int i = 0; i < V; i++) a += m->at[j * V + i] * v[i];
        h[j] = mean_of(m->hidden, a);
    }
}

static void down(const machine *m, const double *h, double *v) {
    for (int i = 0; i < V; i++) {
        double a = m->at[H * V + H + i];
        for (int j = 0; j < H; j++) a += m->at[j * V + i] * h[j];
        v[i] = mean_of(m->visible, a);
    }
}

/* --- contrastive divergence ----------------------------------------------------------------- */

static double state_of(const machine *m, const train_noise *noise, size_t row, int j, double mean) {
    uint32_t word[4];
    train_philox(noise->seed, ((noise->first_row + row) << 24) + (uint64_t)j / 4,
                 TRAIN_STREAM_STATES + (noise->step << 16), word);
    if (m->hidden == TRAIN_BERNOULLI) return (word[j % 4] >> 8) * 0x1p-24 < mean;
    const uint32_t *pair = word + j % 4 / 2 * 2;
    const double radius = sqrt(-2.0 * log((pair[0] >> 8) * 0x1p-24 + 0x1p-25)),
                 angle = 6.283185307179586 * pair[1] * 0x1p-32;
    return mean + radius * (j % 2 ? sin(angle) : cos(angle));
}

/* Sums over rows of <p v> - <q r> and the biases'; returns the squared errors. */
static double contrast(const machine *m, const train_noise *noise, size_t rows,
                       const double (*data)[V], double *gradient) {
    double error = 0.0;
    for (size_t r = 0; r < rows; r++) {
        double p[H], s[H], again[V], q[H];
        up(m, data[r], p);
        for (int j = 0; j < H; j++) s[j] = state_of(m, noise, r, j, p[j]);
        down(m, s, again), up(m, again, q);
        for (int j = 0; j < H; j++) gradient[H * V + j] += p[j] - q[j];
        for (int i = 0; i < V; i++) {
            const double e = data[r][i] - again[i];
            gradient[H * V + H + i] += e, error += e * e;
            for (int j = 0; j < H; j++) gradient[j * V + i] += p[j] * data[r][i] - q[j] * again[i];
        }
    }
    return error;
}

/* --- denoising ------------------------------------------------------------------------------ */

/* Its loss summed over rows, and the squared errors. */
static double denoising_loss(const machine *m, const train_rbm_options *o, const train_noise *noise,
                             size_t rows, const double (*data)[V], double *squares) {
    double loss = 0.0;
    *squares = 0.0;
    for (size_t r = 0; r < rows; r++) {
        const train_noise here = {noise->seed, noise->step, noise->first_row + r, NULL};
        float ones[V];
        double corrupted[V], h[H], again[V];
        for (int i = 0; i < V; i++) ones[i] = 1.0f;
        train_dropout_rows(&here, 0, o->corruption, 1, V, V, ones);
        for (int i = 0; i < V; i++) corrupted[i] = ones[i] > 0.0f ? data[r][i] : 0.0;
        up(m, corrupted, h), down(m, h, again);
        for (int i = 0; i < V; i++) {
            const double v = data[r][i], e = (v - again[i]) * (v - again[i]);
            *squares += e;
            loss += o->squared_error || m->visible == TRAIN_GAUSSIAN
                        ? e / 2.0
                        : -v * log(again[i]) - (1.0 - v) * log(1.0 - again[i]);
        }
    }
    return loss;
}

static double denoise(machine m, const train_rbm_options *o, const train_noise *noise, size_t rows,
                      const double (*data)[V], double *gradient) {
    const double step = 1e-5;
    double squares;
    for (int k = 0; k < NUMBERS; k++) {
        const double at = m.at[k];
        m.at[k] = at + step;
        const double above = denoising_loss(&m, o, noise, rows, data, &squares);
        m.at[k] = at - step;
        gradient[k] = -(above - denoising_loss(&m, o, noise, rows, data, &squares)) / (2.0 * step);
        m.at[k] = at;
    }
    (void)denoising_loss(&m, o, noise, rows, data, &squares);
    return squares;
}

/* --- a few batches -------------------------------------------------------------------------- */

/* The last of them has fewer rows, which count as they are many. */
static size_t rows_of(int step) { return step + 1 < STEPS ? BATCH : BATCH - 3; }

static double one_step(machine *m, const train_rbm_options *o, int step, const double (*data)[V]) {
    const train_noise noise = {o->seed, (uint64_t)step, 0, NULL};
    double gradient[NUMBERS] = {0};
    const double error = o->method == TRAIN_DENOISE
                             ? denoise(*m, o, &noise, rows_of(step), data, gradient)
                             : contrast(m, &noise, rows_of(step), data, gradient);
    for (int k = 0; k < NUMBERS; k++) {
        const double decay = k < H * V ? (double)o->decay * m->at[k] : 0.0;
        m->velocity[k] =
            (double)momentum * m->velocity[k] + (double)rate * (gradient[k] / BATCH - decay);
    }
    for (int k = 0; k < NUMBERS; k++) m->at[k] += m->velocity[k];
    return error;
}

/* The same on a device, from `first`; its numbers become those after it. */
static double learn_on(on_device *d, const train_rbm_options *o, train_rbm *rbm,
                       const float *data) {
    train_rbm_layer layer = {0};
    double error = NAN;
    assert_int_equal(train_rbm_layer_open(&layer, &d->stream, rbm, BATCH), TAPER_OK);
    for (int step = 0; step < STEPS; step++) {
        const train_rbm_batch batch = {
            rows_of(step), rate, momentum, {o->seed, (uint64_t)step, 0}, o};
        assert_int_equal(train_upload(&d->stream, layer.below, data + (size_t)step * BATCH * V,
                                      batch.rows * V * sizeof *data),
                         TAPER_OK);
        assert_int_equal(train_rbm_layer_learn(&layer, &batch,
                                               o->method == TRAIN_DENOISE
                                                   ? train_denoising_gradient
                                                   : train_contrastive_gradient),
                         TAPER_OK);
    }
    assert_int_equal(train_rbm_layer_errors(&layer, &error), TAPER_OK);
    assert_int_equal(train_rbm_layer_fetch(&layer, rbm), TAPER_OK);
    train_rbm_layer_close(&layer);
    return error;
}

static void few_batches(const train_rbm_options *o, train_states visible, train_states hidden) {
    static double data[STEPS][BATCH][V];
    static float first[NUMBERS], there[STEPS * BATCH * V], got[NUMBERS];
    machine m = {.visible = visible, .hidden = hidden};
    double error = 0.0, *flat = &data[0][0][0];
    for (int k = 0; k < STEPS * BATCH * V; k++) flat[k] = there[k] = draw(0.0f, 1.0f);
    for (int k = 0; k < NUMBERS; k++) m.at[k] = first[k] = draw(-0.7f, 0.7f);
    for (int step = 0; step < STEPS; step++)
        error += one_step(&m, o, step, (const double(*)[V])data[step]);
    for (int i = 0; i < DEVICES; i++) {
        train_rbm rbm;
        assert_int_equal(train_rbm_alloc(&rbm, V, H, visible, hidden), TAPER_OK);
        memcpy(rbm.weight, first, sizeof first);
        const double its = learn_on(&device[i], o, &rbm, there);
        close_to(rbm.weight, m.at, NUMBERS, 1e-5, "a number");
        assert_true(fabs(its - error) < 1e-5 * error);
        if (!i) memcpy(got, rbm.weight, sizeof got);
        same(i, got, rbm.weight, sizeof got, "numbers");
        train_rbm_free(&rbm);
    }
}

static void contrastive_divergence_is_its_definition(void **state) {
    (void)state;
    train_rbm_options o = train_rbm_defaults();
    o.decay = 0.03f;
    for (int kinds = 0; kinds < 4; kinds++)
        few_batches(&o, (train_states)(kinds % 2), (train_states)(kinds / 2));
}

static void denoising_goes_down_its_loss(void **state) {
    (void)state;
    train_rbm_options o = train_rbm_defaults();
    o.method = TRAIN_DENOISE, o.decay = 0.03f;
    for (int kinds = 0; kinds < 8; kinds++) {
        o.squared_error = kinds / 4;
        few_batches(&o, (train_states)(kinds % 2), (train_states)(kinds / 2 % 2));
    }
    o.corruption = 0.0f;
    few_batches(&o, TRAIN_BERNOULLI, TRAIN_BERNOULLI);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(contrastive_divergence_is_its_definition),
                                       cmocka_unit_test(denoising_goes_down_its_loss)};
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}

/* test_autoencoder.c -- random numbers, truncation, the objective, and the gradient of a whole
 * network against finite differences of a reference written in double from the definitions in the
 * headers. */
#include "on_device.h"
#include "train/dense/autoencoder.h"
#include "train/dense/dense_start.h"
#include "train/optimise/adam.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>

static const train_processor_kind kinds[] = {TRAIN_PROCESSOR, TRAIN_SHADOW};

/* --- Philox: the known answers published with the algorithm (Random123, kat_vectors) ---------- */

static void philox_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        train_philox_block(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
    uint32_t a[4], b[4];
    train_philox(0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x0370734413198a2eu, a);
    train_philox_block(known[2].counter, known[2].key, b);
    assert_memory_equal(a, b, sizeof a);
}

static void deviates_have_their_moments(void **state) {
    (void)state;
    enum { N = 40000 };
    double sum = 0, square = 0, mean = 0;
    for (uint64_t i = 0; i < N; i++) {
        uint32_t word[4];
        float normal[2];
        train_philox(11, i, 77, word);
        train_philox_normal(word, normal);
        sum += normal[0] + normal[1];
        square += normal[0] * normal[0] + normal[1] * normal[1];
        float u = train_philox_uniform(word[2]);
        assert_true(u >= 0.0f && u < 1.0f);
        assert_true(train_philox_below(word[3], 7) < 7);
        mean += u;
    }
    assert_true(fabs(sum / (2 * N)) < 0.02 && fabs(square / (2 * N) - 1.0) < 0.03 &&
                fabs(mean / N - 0.5) < 0.01);
}

static void truncation_is_geometric(void **state) {
    (void)state;
    enum { N = 40000, UNITS = 10 };
    const train_cut_range range = {
        .threshold_low = 20.0f, .threshold_high = 320.0f, .rho = 0.8f, .truncated_fraction = 0.5f};
    double kept[UNITS + 1] = {0}, octave[4] = {0};
    for (uint64_t i = 0; i < N; i++) {
        train_cut cut = train_cut_draw(&range, UNITS, 3, i / 100, i % 100);
        assert_true(cut.kept >= 1 && cut.kept <= UNITS);
        assert_true(cut.threshold >= 19.99f && cut.threshold <= 320.1f);
        kept[cut.kept] += 1.0 / N;
        octave[(int)fmin(3, log2(cut.threshold / 20.0))] += 1.0 / N;
    }
    for (int b = 1; b < UNITS; b++) assert_true(fabs(kept[b] - 0.5 * pow(0.8, b - 1) * 0.2) < 0.01);
    for (int o = 0; o < 4; o++) assert_true(fabs(octave[o] - 0.25) < 0.01); /* log-uniform */
    assert_int_equal(train_truncation_from_uniform(0.5f, 0.0f, 9), 1);
    assert_int_equal(train_truncation_from_uniform(0.5f, 1.0f, 9), 9);
    assert_int_equal(train_truncation_from_uniform(0.0f, 0.9f, 9), 1);
    assert_int_equal(train_truncation_from_uniform(0.99999f, 0.9f, 9), 9);
}

static void exponential_is_close(void **state) {
    (void)state;
    for (double x = -87.0; x <= 88.0; x += 0.0371) {
        double relative = train_exp((float)x) / exp((double)(float)x) - 1.0;
        assert_true(fabs(relative) < 4e-7);
    }
    assert_true(train_exp(-1e9f) >= 0.0f && train_exp(-1e9f) < 1e-37f);
}

/* The operations, a row at a time. */
static void quantise_row(uint32_t units, train_cut cut, float gradient_floor, const float *x,
                         float *x_q, float *gradient) {
    on_device d;
    size_t bytes = units * sizeof *x;
    on_device_open(&d, TRAIN_SHADOW);
    float *q = on_device_give(&d, NULL, bytes), *g = on_device_give(&d, NULL, bytes);
    const train_cut_codes codes = {1, units, on_device_give(&d, x, bytes),
                                   on_device_give(&d, &cut, sizeof cut), 1.0f};
    assert_int_equal(d.stream.ops->quantise(&d.stream, &codes, gradient_floor, q, g), TAPER_OK);
    on_device_take(&d, x_q, q, bytes);
    on_device_take(&d, gradient, g, bytes);
    on_device_close(&d);
}

static float rate_of(float threshold, float x, float inverse_scale, float *dx) {
    on_device d;
    train_cut cut = {threshold, 1};
    double bits;
    on_device_open(&d, TRAIN_SHADOW);
    train_stream *s = &d.stream;
    float *slope = on_device_give(&d, NULL, sizeof x),
          *inverse = on_device_give(&d, &inverse_scale, sizeof x), zero = 0.0f,
          *to = on_device_give(&d, &zero, sizeof x);
    const train_cut_codes codes = {1, 1, on_device_give(&d, &x, sizeof x),
                                   on_device_give(&d, &cut, sizeof cut), 1.0f};
    double *price = on_device_give(&d, NULL, sizeof bits);
    assert_int_equal(s->ops->rate(s, &codes, inverse, 1.0f, price, slope), TAPER_OK);
    assert_int_equal(s->ops->rate_gradient(s, &codes, inverse, 1.0f, to), TAPER_OK);
    on_device_take(&d, &bits, price, sizeof bits);
    on_device_take(&d, dx, to, sizeof *dx);
    on_device_close(&d);
    return (float)bits;
}

static void quantiser_truncates_and_has_a_dead_zone(void **state) {
    (void)state;
    const float x[7] = {0.0f, 9.9f, -9.9f, 10.1f, -25.0f, 1e9f, 77.0f};
    float q[7], gradient[7];
    quantise_row(7, (train_cut){10.0f, 6}, 0.25f, x, q, gradient);
    const float want[7] = {0.0f, 0.0f, 0.0f, 14.5f, -24.5f, 1e9f, 0.0f};
    for (int i = 0; i < 7; i++)
        assert_true(fabsf(q[i] - want[i]) <= 1e-6f * (1.0f + fabsf(want[i])));
    assert_true(fabsf(gradient[0] - 0.25f) < 1e-6f && gradient[1] == 1.0f && gradient[4] == 1.0f &&
                gradient[6] == 0.0f);
    const float bad = NAN;
    quantise_row(1, (train_cut){10.0f, 1}, 1.0f, &bad, q, gradient);
    assert_true(isnan(q[0])); /* a diverged code must not look like an empty one */
}

/* Code length of a quantised magnitude, of which the rate gives the mean over noise. */
static double stair(double q, double t) {
    return -log2(1.0 - exp(-t)) + (q > 0.0 ? 1.0 + q * t / log(2.0) : 0.0);
}

static void rate_is_the_mean_code_length(void **state) {
    (void)state;
    enum { STEPS = 4000 };
    const float inverse_scale = 1.0f / 7.0f;
    for (float x = -38.0f; x < 40.0f; x += 3.7f) {
        float dx, threshold = 10.0f;
        double want = 0.0, t = (double)(threshold * inverse_scale);
        for (int i = 0; i < STEPS; i++) {
            double moved = fabs((double)x) / 10.0 + (i + 0.5) / STEPS - 0.5;
            want += stair(floor(fmax(moved, 0.0)), t) / STEPS;
        }
        float bits = rate_of(threshold, x, inverse_scale, &dx);
        if (!(fabs((double)bits - want) < 2e-3))
            fail_msg("x %g: %g, %g", (double)x, (double)bits, want);
        assert_true(dx * x >= 0.0f); /* further from 0 is never cheaper */
    }
    double all = stair(0.0, 0.6), each = 0.0; /* the lengths are those of a code: masses sum to 1 */
    all = pow(2.0, -all);
    for (int q = 1; q < 100; q++) each += 2.0 * pow(2.0, -stair(q, 0.6));
    assert_true(fabs(all + each - 1.0) < 1e-9);
    float dx;
    assert_true(isnan(rate_of(10.0f, NAN, inverse_scale, &dx)));
}

/* --- the reference ----------------------------------------------------------------------- */

enum { D = 12, K = 10, ROWS = 9, WIDE = 16 };

typedef struct reference {
    train_autoencoder *ae;
    train_trade trade;
    const train_cut *cuts; /* NULL: the decoder's loss on codes_q */
    double (*pixels)[D];   /* centred and scaled */
    double gradient[ROWS][K],
        rest[ROWS][K]; /* x_q = gradient x + rest, frozen: the straight-through surrogate */
    const float *codes_q;
    double weight[ROWS]; /* w of reconstruction.h, frozen as well */
    double *error;       /* [ROWS], written: the rows' squared errors */
    int tied;
    const codec_network *shape;
} reference;

static const double *dense(const double *p, const codec_stack *stack, const double *x, double *y) {
    double buffer[2][WIDE];
    const double *in = x;
    for (uint32_t l = 0; l < stack->depth; l++) {
        const codec_layer *layer = &stack->layer[l];
        int last = l + 1 == stack->depth;
        double *out = buffer[l & 1];
        const double *bias = p + (size_t)layer->outputs * layer->inputs;
        for (uint32_t o = 0; o < layer->outputs; o++) {
            double sum = bias[o];
            for (uint32_t i = 0; i < layer->inputs; i++) sum += p[o * layer->inputs + i] * in[i];
            if (last)
                y[o] += sum;
            else
                out[o] = sum > 0.0 ? sum : 0.0;
        }
        p = bias + layer->outputs;
        in = out;
    }
    return p;
}

static double rate_in_double(double x, double threshold, double b) {
    double t = threshold / b, r = fmax(fabs(x) / threshold - 0.5, 0.0);
    return -log2(1.0 - exp(-t)) + fmin(r, 1.0) + r * t / log(2.0);
}

static double reference_loss(const reference *t, const double *p) {
    const double *synthesis = t->tied ? p : p + K * D, *encoder = synthesis + K * D;
    double total = 0.0, scale = t->ae->scale;
    for (int r = 0; r < ROWS; r++) {
        double x[K] = {0}, q[K], y[D] = {0}, error = 0.0, bits = 0.0;
        for (int u = 0; u < K; u++)
            for (int i = 0; i < D; i++) x[u] += p[u * D + i] * t->pixels[r][i];
        const double *decoder = dense(encoder, &t->shape->encoder, t->pixels[r], x);
        for (int u = 0; u < K; u++)
            q[u] = t->cuts ? t->gradient[r][u] * x[u] + t->rest[r][u]
                           : (double)t->codes_q[r * K + u] / scale;
        for (int i = 0; i < D; i++)
            for (int u = 0; u < K; u++) y[i] += synthesis[u * D + i] * q[u];
        const double *log_scale = dense(decoder, &t->shape->decoder, q, y);
        for (int i = 0; i < D; i++) error += (y[i] - t->pixels[r][i]) * (y[i] - t->pixels[r][i]);
        if (!t->cuts) {
            total += log(error + D * 0.25 / (scale * scale));
            continue;
        }
        double threshold = t->cuts[r].threshold / scale;
        for (uint32_t u = 0; u < t->cuts[r].kept; u++)
            bits += rate_in_double(x[u], threshold, exp(10.0 * log_scale[u]));
        t->error[r] = error;
        total += t->weight[r] * error / (threshold * threshold) + t->trade.lambda * bits;
    }
    return total / ROWS;
}

/* w from the errors at the point itself: bins of equal width in log T over the batch's range. */
static void freeze_weights(reference *t, const double *p) {
    double low = 1e30, high = 0.0, mean[8] = {0};
    int count[8] = {0}, bin[ROWS];
    for (int r = 0; r < ROWS; r++) t->weight[r] = 1.0;
    if (!t->cuts) return;
    reference_loss(t, p);
    for (int r = 0; r < ROWS; r++) {
        low = fmin(low, log((double)t->cuts[r].threshold));
        high = fmax(high, log((double)t->cuts[r].threshold));
    }
    for (int r = 0; r < ROWS; r++) {
        bin[r] = (int)fmin(7.0, 8.0 * (log((double)t->cuts[r].threshold) - low) / (high - low));
        mean[bin[r]] += t->error[r];
        count[bin[r]]++;
    }
    for (int r = 0; r < ROWS; r++) {
        double ratio = mean[bin[r]] / count[bin[r]] / t->error[r];
        t->weight[r] = pow(fmin(10.0, fmax(0.1, ratio)), t->trade.balance);
    }
}

static void check_gradient(reference *t, const char *what, double loss) {
    size_t n = t->ae->weights.n;
    float *parameter = malloc(n * sizeof *parameter), *gradient = malloc(n * sizeof *gradient);
    assert_true(parameter && gradient);
    train_stream *s = &t->ae->stream;
    train_download(s, parameter, t->ae->weights.parameter, n * sizeof *parameter);
    train_download(s, gradient, t->ae->weights.gradient, n * sizeof *gradient);
    double error[ROWS];
    t->error = error;
    double *p = calloc(n, sizeof *p), largest = 0.0;
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) {
        p[i] = parameter[i];
        largest = fmax(largest, fabs((double)gradient[i]));
    }
    assert_true(largest > 1e-3);
    freeze_weights(t, p);
    assert_true(fabs(reference_loss(t, p) - loss) <= 1e-5 * fabs(loss));
    for (size_t i = 0; i < n; i++) {
        double keep = p[i], h = 1e-6;
        p[i] = keep + h;
        double up = reference_loss(t, p);
        p[i] = keep - h;
        double numeric = (up - reference_loss(t, p)) / (2.0 * h), got = gradient[i];
        p[i] = keep;
        if (!(fabs(numeric - got) <= 2e-4 * (fabs(numeric) + largest)))
            fail_msg("%s: gradient %zu of %zu is %g, finite differences say %g", what, i, n, got,
                     numeric);
    }
    free(p), free(parameter), free(gradient);
}

static void random_start(codec_network *net, int tied, int deep, uint64_t seed) {
    static const uint32_t encoder[] = {11, 7}, decoder[] = {13};
    assert_int_equal(
        codec_network_alloc(net, D, K, tied, encoder, deep ? 2 : 0, decoder, deep ? 1 : 0),
        TAPER_OK);
    train_initialise_stacks(net, seed);
    codec_layer *last[2] = {deep ? &net->encoder.layer[2] : NULL,
                            deep ? &net->decoder.layer[1] : NULL};
    for (uint64_t i = 0; i < K * D; i++) {
        uint32_t w[4];
        train_philox(seed, i, 900, w);
        net->analysis[i] = train_philox_uniform(w[0]) - 0.5f;
        if (!tied) net->synthesis[i] = train_philox_uniform(w[1]) - 0.5f;
        for (int k = 0; k < 2 && deep; k++) { /* so that something flows through the stacks */
            if (i < (uint64_t)last[k]->inputs * last[k]->outputs)
                last[k]->weight[i] = train_philox_uniform(w[2 + k]) - 0.5f;
            if (i < last[k]->outputs) last[k]->bias[i] = 20.0f * train_philox_uniform(w[3]) - 10.0f;
        }
    }
    if (deep) { /* no unit exactly at the kink of its ReLU when nothing is sent */
        for (int j = 0; j < 11; j++) net->encoder.layer[0].bias[j] = (float)(j - 5) * 3.0f + 1.0f;
        for (int j = 0; j < 13; j++) net->decoder.layer[0].bias[j] = (float)(j - 6) * 3.0f + 1.0f;
    }
    for (int i = 0; i < D; i++) net->mean[i] = 100.0f + (float)i;
}

/* Load rows, compute loss and gradient, and set the reference up at the same point. */
static void set_up(reference *t, on_device *d, train_autoencoder *ae, const codec_network *net,
                   const uint8_t *pixels, double (*centred)[D], int tied) {
    uint32_t order[ROWS];
    for (uint32_t r = 0; r < ROWS; r++) {
        order[r] = (r * 4) % ROWS;
        for (int i = 0; i < D; i++)
            centred[r][i] =
                (float)(((float)pixels[order[r] * D + i] - net->mean[i]) * (1.0f / ae->scale));
    }
    const uint8_t *there = on_device_give(d, pixels, ROWS * D);
    const uint32_t *order_there = on_device_give(d, order, sizeof order);
    assert_int_equal(train_autoencoder_load(ae, there, order_there, ROWS), TAPER_OK);
    *t = (reference){.ae = ae, .pixels = centred, .tied = tied, .shape = net};
}

static void freeze_quantiser(reference *t, const train_trade *trade, const train_cut *cuts) {
    float codes[ROWS * K];
    t->trade = *trade;
    t->cuts = cuts;
    assert_int_equal(train_autoencoder_codes(t->ae, codes), TAPER_OK);
    for (int r = 0; r < ROWS; r++) {
        float x[K], q[K], gradient[K];
        for (int u = 0; u < K; u++) x[u] = codes[r * K + u] / t->ae->scale;
        train_cut cut = {cuts[r].threshold / t->ae->scale, cuts[r].kept};
        quantise_row(K, cut, trade->gradient_floor, x, q, gradient);
        for (int u = 0; u < K; u++) {
            double place = fmod(fabs((double)x[u]) / (double)cut.threshold + 0.5, 1.0);
            if (place < 1e-5 || place > 1.0 - 1e-5) fail_msg("a kink: take another seed");
            t->gradient[r][u] = gradient[u];
            t->rest[r][u] = q[u] - gradient[u] * x[u];
        }
    }
}

static taper_status make(train_autoencoder *ae, const codec_network *net, on_device *d,
                         size_t batch, float scale, const float *magnitude) {
    train_autoencoder_options o = {.batch = batch, .scale = scale, .rate_scale = magnitude};
    return train_autoencoder_create(ae, net, &d->device, &o);
}

/* The losses that lie on the device, as means over the rows. */
static train_loss means_of(train_autoencoder *ae) {
    double sums[TRAIN_LOSSES];
    assert_int_equal(train_download(&ae->stream, sums, ae->sums, sizeof sums), TAPER_OK);
    return train_autoencoder_means(ae, sums, ROWS);
}

static void gradient_equals_finite_differences(void **state) {
    (void)state;
    uint8_t pixels[ROWS * D];
    for (uint64_t i = 0; i < ROWS * D; i++) {
        uint32_t w[4];
        train_philox(5, i, 901, w);
        pixels[i] = (uint8_t)train_philox_below(w[0], 256);
    }
    for (int variant = 0; variant < 8; variant++) {
        on_device d;
        on_device_open(&d, kinds[variant >> 2]);
        int tied = variant & 1, deep = variant >> 1 & 1;
        char what[64];
        snprintf(what, sizeof what, "tied %d, deep %d, gradient floor %d", tied, deep,
                 variant >> 2);
        codec_network net;
        train_autoencoder ae;
        reference t;
        double centred[ROWS][D];
        float magnitude[K];
        for (int u = 0; u < K; u++) magnitude[u] = 30.0f + 5.0f * (float)u;
        random_start(&net, tied, deep, (uint64_t)variant + 50);
        assert_int_equal(make(&ae, &net, &d, ROWS + 2, 50.0f, magnitude), TAPER_OK);
        set_up(&t, &d, &ae, &net, pixels, centred, tied);
        const train_trade trade = {0.3f, variant >> 2 ? 1.0f : 0.3f, variant & 2 ? 0.7f : 0.0f};
        const train_cut_range range = {.threshold_low = 10.0f,
                                       .threshold_high = 90.0f,
                                       .rho = 0.7f,
                                       .truncated_fraction = 0.5f};
        train_cut cuts[ROWS];
        for (uint64_t r = 0; r < ROWS; r++) cuts[r] = train_cut_draw(&range, K, 8, 2, r);
        freeze_quantiser(&t, &trade, cuts);
        train_autoencoder_set_trade(&ae, &trade);
        assert_int_equal(train_autoencoder_forward(&ae, cuts, ae.sums), TAPER_OK);
        assert_int_equal(train_autoencoder_backward(&ae), TAPER_OK);
        check_gradient(&t, what, means_of(&ae).loss);
        train_autoencoder_free(&ae);
        on_device_close(&d);
        codec_network_free(&net);
    }
}

static void decoder_gradient_equals_finite_differences(void **state) {
    (void)state;
    on_device d;
    on_device_open(&d, TRAIN_SHADOW);
    uint8_t pixels[ROWS * D];
    float codes_q[ROWS * K], magnitude[K];
    for (int i = 0; i < ROWS * D; i++) pixels[i] = (uint8_t)(i * 37);
    for (int i = 0; i < ROWS * K; i++) codes_q[i] = i % 3 ? 0.0f : (float)(i * 29 % 200) - 100.0f;
    for (int u = 0; u < K; u++) magnitude[u] = 20.0f;
    codec_network net;
    train_autoencoder ae;
    reference t;
    double centred[ROWS][D];
    random_start(&net, 0, 1, 60);
    assert_int_equal(make(&ae, &net, &d, ROWS, 50.0f, magnitude), TAPER_OK);
    set_up(&t, &d, &ae, &net, pixels, centred, 0);
    t.codes_q = codes_q;
    assert_int_equal(train_autoencoder_decode_loss(&ae, codes_q, 1, ae.sums), TAPER_OK);
    check_gradient(&t, "decoder", means_of(&ae).loss);
    float encoder_half[K * D];
    on_device_take(&d, encoder_half, ae.weights.gradient, sizeof encoder_half);
    for (int i = 0; i < K * D; i++) assert_true(encoder_half[i] == 0.0f);
    train_autoencoder_free(&ae);
    on_device_close(&d);
    codec_network_free(&net);
}

/* What goes in comes out: the trained network decodes as the trainer thought it would. */
static void export_keeps_the_function(void **state) {
    (void)state;
    on_device d;
    on_device_open(&d, TRAIN_SHADOW);
    codec_network net, copy;
    train_autoencoder ae;
    float magnitude[K] = {0}, pixels[ROWS * D], codes[ROWS * K], trained[ROWS * K];
    uint8_t bytes[ROWS * D];
    uint32_t order[ROWS];
    for (int i = 0; i < ROWS * D; i++) bytes[i] = (uint8_t)(i * 53), pixels[i] = bytes[i];
    for (uint32_t r = 0; r < ROWS; r++) order[r] = r;
    random_start(&net, 0, 1, 61);
    random_start(&copy, 0, 1, 62);
    memcpy(copy.mean, net.mean, sizeof(float) * D);
    assert_int_equal(make(&ae, &net, &d, ROWS, 37.0f, magnitude), TAPER_OK);
    const uint8_t *there = on_device_give(&d, bytes, sizeof bytes);
    const uint32_t *order_there = on_device_give(&d, order, sizeof order);
    assert_int_equal(train_autoencoder_load(&ae, there, order_there, ROWS), TAPER_OK);
    assert_int_equal(train_autoencoder_codes(&ae, trained), TAPER_OK);
    assert_int_equal(train_autoencoder_export(&ae, ae.weights.parameter, &copy), TAPER_OK);
    assert_int_equal(codec_network_encode(&copy, &d.be, pixels, ROWS, codes), TAPER_OK);
    for (int i = 0; i < ROWS * K; i++) assert_true(fabsf(codes[i] - trained[i]) <= 1e-3f);
    train_autoencoder_free(&ae);
    on_device_close(&d);
    codec_network_free(&net);
    codec_network_free(&copy);
}

static void adam_finds_a_minimum_and_refuses_nan(void **state) {
    (void)state;
    on_device d;
    on_device_open(&d, TRAIN_SHADOW);
    train_stream *s = &d.stream;
    float w[3] = {5, -3, 0.5f}, g[3];
    const float zero[3] = {0};
    train_weights there = {3,
                           on_device_give(&d, w, sizeof w),
                           on_device_give(&d, zero, sizeof w),
                           on_device_give(&d, zero, sizeof w),
                           on_device_give(&d, zero, sizeof w),
                           NULL};
    train_range all = {0, 3};
    train_verdict verdict = {0};
    double loss = 0, *loss_there = on_device_give(&d, &loss, sizeof loss),
           *squares = on_device_give(&d, NULL, sizeof loss);
    train_verdict *verdict_there = on_device_give(&d, &verdict, sizeof verdict);
    train_adam_ranges of = {.range = &all,
                            .ranges = 1,
                            .max_norm = 1.0f,
                            .loss = loss_there,
                            .most_loss = INFINITY,
                            .squares = squares,
                            .verdict = verdict_there};
    uint64_t step = 0;
    for (; step < 2000; step++) {
        of.rate = train_cosine_rate(0.05f, step, 2000, 10), of.t = step + 1;
        for (int j = 0; j < 3; j++) g[j] = 2.0f * (w[j] - (float)j) * (j == 1 ? 1000.0f : 1.0f);
        train_upload(s, there.gradient, g, sizeof g);
        assert_int_equal(train_adam_take(s, &there, &of), TAPER_OK);
        on_device_take(&d, w, there.parameter, sizeof w);
    }
    for (int j = 0; j < 3; j++) assert_true(fabsf(w[j] - (float)j) < 1e-2f);
    float after[3];
    for (int bad = 0; bad < 2; bad++) { /* a gradient, then a loss; and nothing moves any more */
        g[1] = bad ? 1.0f : NAN;
        train_upload(s, there.gradient, g, sizeof g);
        loss = bad ? INFINITY : 0.0;
        train_upload(s, loss_there, &loss, sizeof loss);
        train_upload(s, verdict_there, &verdict, bad ? sizeof verdict : 0);
        of.rate = 0.1f;
        for (of.t = step + 1; of.t < step + 3; of.t++)
            assert_int_equal(train_adam_take(s, &there, &of), TAPER_OK);
        train_verdict found;
        on_device_take(&d, &found, verdict_there, sizeof found);
        assert_int_equal(found.diverged, step + 1);
        on_device_take(&d, after, there.parameter, sizeof after);
        assert_memory_equal(after, w, sizeof w);
    }
    on_device_close(&d);
    assert_true(fabsf(train_cosine_rate(1.0f, 0, 100, 9) - 0.1f) < 1e-6f);
    assert_true(fabsf(train_cosine_rate(1.0f, 100, 100, 9) - 0.001f) < 1e-6f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(deviates_have_their_moments),
        cmocka_unit_test(truncation_is_geometric),
        cmocka_unit_test(exponential_is_close),
        cmocka_unit_test(quantiser_truncates_and_has_a_dead_zone),
        cmocka_unit_test(rate_is_the_mean_code_length),
        cmocka_unit_test(gradient_equals_finite_differences),
        cmocka_unit_test(decoder_gradient_equals_finite_differences),
        cmocka_unit_test(export_keeps_the_function),
        cmocka_unit_test(adam_finds_a_minimum_and_refuses_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

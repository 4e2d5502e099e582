/* calibrate.c -- computes the quantiser's tables and the order; see calibrate.h. Contexts are in
 * fit_contexts.c. */
#include "train/calibrate/calibrate.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/quantiser.h"
#include "train/calibrate/fit_causal.h"
#include "train/calibrate/fit_contexts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fractions of a plane. Positions whose probability of significance is in one of these bins or
 * above (0.22 and 0.05) are sent first, the others last. On 1,000 held-out CIFAR-10 images this
 * takes 3 % fewer bytes than one fraction; one bound and other bounds gained less
 * (bench/results/rate-distortion.md). */
static const uint8_t fraction_bins[] = {43, 36};

/* A fraction with fewer bits per window is merged with the next one, because a pass takes time.
 * With 0.1 in place of 0.02, decoding took 5 % less time for 0.4 % more bytes (same record). */
static const double fewest_bits = 0.02;

/* Suggested layers: the first ends at this many bytes per million pixels, each other one when the
 * size has grown by a fifth. */
static const double first_layer = 200, layer_growth = 1.2;

/* Priors of reconstruction points, until more data is seen, and their weight as a number of
 * magnitudes: the position within an interval, before its middle because the density decreases;
 * and the size of magnitudes below the threshold. */
static const double prior_place = 0.45, most_prior_zero = 0.8, prior_weight = 8;

static double square(double x) { return x * x; }

/* --- thresholds ------------------------------------------------------------------------ */

/* Bits of floor(2 top): the factor 2 allows for larger values in other images. */
static uint8_t planes_for(double top) {
    double m = floor(top * 2);
    uint8_t planes = 0;
    while (top >= 1 && planes < CODEC_MAX_PLANES && m >= exp2(planes)) planes++;
    return planes;
}

taper_status train_set_quantiser(taper_model *m, const train_codes *codes,
                                 const train_calibrate_options *options, taper_error *error) {
    codec_code_tables *t = &m->tables;
    uint32_t units = m->network.units;
    codec_code_tables_free(t);
    if (codec_code_tables_alloc(t, units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u units", units);
    for (uint32_t u = 0; u < units; u++) {
        double gain = options->unit_gain ? options->unit_gain[u] : 1, top = 0, sum = 0;
        t->step[u] = (float)fmin(fmax(options->step / sqrt(fmax(gain, 1e-9)), 1e-5), 1e5);
        for (size_t i = 0; i < codes->n; i++) {
            double x = fabs(codes->code[i * units + u]) / t->step[u];
            top = fmax(top, x);
            sum += x * x;
        }
        double log_scale = 16 * 0.5 * log2(sum / (double)codes->n + 1e-9);
        t->log_scale[u] = (int16_t)lrint(fmin(fmax(log_scale, -480), 1000));
        t->planes[u] = planes_for(top);
    }
    return TAPER_OK;
}

/* --- gain of a pass -------------------------------------------------------------------- */

/* Column u of the codes as |x| / step. */
static void magnitudes_of(const train_codes *codes, const codec_code_tables *t, uint32_t u,
                          float *magnitude) {
    for (size_t i = 0; i < codes->n; i++)
        magnitude[i] = fabsf(codes->code[i * t->units + u]) / t->step[u];
}

/* The sums for recon and zero_norm, by ratio bin. */
typedef struct interval_sums {
    double recon[CODEC_RATIO_BINS][CODEC_RECON_LEVELS],
        n_recon[CODEC_RATIO_BINS][CODEC_RECON_LEVELS];
    double zero[CODEC_RATIO_BINS], n_zero[CODEC_RATIO_BINS];
} interval_sums;

static uint32_t recon_index(uint32_t q) {
    return (q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1;
}

static void add_intervals(const codec_code_tables *t, uint32_t u, const float *magnitude, size_t n,
                          interval_sums *sums) {
    double scale = exp2(t->log_scale[u] / 16.0);
    for (uint32_t d = 1; d <= t->planes[u]; d++) {
        uint32_t bin = codec_ratio_bin(codec_log_ratio(t, u, d));
        float inverse = 1.0f / (float)(1u << (t->planes[u] - d));
        for (size_t i = 0; i < n; i++) {
            float x = magnitude[i] * inverse;
            uint32_t q = (uint32_t)x;
            if (q)
                sums->recon[bin][recon_index(q)] += x - (float)q,
                    sums->n_recon[bin][recon_index(q)]++;
            else
                sums->zero[bin] += magnitude[i] / scale, sums->n_zero[bin]++;
        }
    }
    for (size_t i = 0; i < n; i++) sums->zero[CODEC_RATIO_BINS - 1] += magnitude[i] / scale;
    sums->n_zero[CODEC_RATIO_BINS - 1] += (double)n;
}

static void set_intervals(codec_code_tables *t, const interval_sums *s) {
    for (uint32_t b = 0; b < CODEC_RATIO_BINS; b++) {
        for (uint32_t l = 0; l < CODEC_RECON_LEVELS; l++) {
            double at =
                (s->recon[b][l] + prior_place * prior_weight) / (s->n_recon[b][l] + prior_weight);
            t->recon[b][l] = (uint8_t)lrint(fmin(at * 256, 255));
        }
        double ratio = exp2((b * 8.0 + 4 - 160) / 16),
               prior = fmin(prior_place * ratio, most_prior_zero);
        double norm = (s->zero[b] + prior_weight * prior) / (s->n_zero[b] + prior_weight);
        t->zero_norm[b] = (uint8_t)lrint(fmin(norm * CODEC_NORM_ONE, 255));
    }
}

/* Squared error (in steps) at every depth of a unit, 0 .. planes. */
static void errors_by_depth(const codec_code_tables *t, uint32_t u, const float *magnitude,
                            size_t n, double *mse) {
    for (uint32_t d = 0; d <= t->planes[u]; d++) {
        const uint8_t *recon = t->recon[codec_ratio_bin(codec_log_ratio(t, u, d))];
        float T = (float)(1u << (t->planes[u] - d)), inverse = 1 / T;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t q = d ? (uint32_t)(magnitude[i] * inverse) : 0;
            float known = q ? ((float)q + recon[recon_index(q)] / 256.0f) * T : 0;
            sum += square(magnitude[i] - known);
        }
        mse[d] = sum / (double)n;
    }
}

static double entropy_bits(double ones, double n) {
    if (n <= 0) return 0;
    double p = (ones + 0.4) / (n + 0.8);
    return -ones * log2(p) - (n - ones) * log2(1 - p);
}

/* Bits per window of each pass with a static table: the first estimate for the order. */
static void static_bits(const codec_code_tables *t, uint32_t u, const float *magnitude, size_t n,
                        double *bits) {
    for (uint32_t d = 0; d < t->planes[u]; d++) {
        float inverse = 1.0f / (float)(1u << (t->planes[u] - d - 1));
        double zeros = 0, fresh = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t q = (uint32_t)(magnitude[i] * inverse);
            zeros += q < 2;
            fresh += q == 1;
        }
        bits[d] = (entropy_bits(fresh, zeros) + fresh + ((double)n - zeros)) / (double)n;
    }
}

/* --- rate-distortion slopes ------------------------------------------------------------ */

typedef struct pass_worth {
    double *gain, *bits; /* [n_rd_slopes] per window, in the sequence of rd_slope */
    double *weight;      /* [units] of a squared error in steps */
} pass_worth;

/* Distortion gain per bit of a unit's passes, made monotone (pool adjacent violators): a plane
 * with a small gain and a successor with a large one are sent together. */
static void rd_slopes_of_unit(const double *gain, const double *bits, uint32_t n,
                              double *rd_slope) {
    enum { MOST = CODEC_MAX_PLANES * CODEC_MAX_FRACTIONS };
    double sum_gain[MOST], sum_bits[MOST];
    uint32_t length[MOST], blocks = 0;
    for (uint32_t d = 0; d < n; d++) {
        sum_gain[blocks] = fmax(gain[d], 0) + 1e-12;
        sum_bits[blocks] = bits[d] + 1e-6;
        length[blocks++] = 1;
        while (blocks > 1 && sum_gain[blocks - 1] * sum_bits[blocks - 2] >=
                                 sum_gain[blocks - 2] * sum_bits[blocks - 1]) {
            blocks--;
            sum_gain[blocks - 1] += sum_gain[blocks];
            sum_bits[blocks - 1] += sum_bits[blocks];
            length[blocks - 1] += length[blocks];
        }
    }
    for (uint32_t b = 0, d = 0; b < blocks; b++)
        for (uint32_t i = 0; i < length[b]; i++) rd_slope[d++] = sum_gain[b] / sum_bits[b];
}

/* Sets the order, with a pass for every fraction. */
static taper_status set_rd_slopes(codec_code_tables *t, const pass_worth *worth) {
    double *rd_slope = calloc(t->n_rd_slopes + 1, sizeof *rd_slope), top = 0;
    if (!rd_slope) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0, at = 0; u < t->units; at += t->planes[u++] * t->fractions)
        rd_slopes_of_unit(worth->gain + at, worth->bits + at, t->planes[u] * t->fractions,
                          rd_slope + at);
    for (uint32_t i = 0; i < t->n_rd_slopes; i++) top = fmax(top, rd_slope[i]);
    for (uint32_t i = 0; i < t->n_rd_slopes; i++) {
        double fall = rd_slope[i] > 0 ? 8 * log2(top / rd_slope[i]) : 255;
        t->rd_slope[i] = (uint8_t)(255 - lrint(fmin(fall, 255)));
    }
    free(rd_slope);
    return codec_order_make_apart(t);
}

static taper_status join_fractions(codec_code_tables *t, const pass_worth *worth) {
    for (uint32_t i = t->n_rd_slopes; i-- > 0;)
        if ((i + 1) % t->fractions && worth->bits[i] < fewest_bits)
            t->rd_slope[i] = t->rd_slope[i + 1];
    return codec_order_make(t);
}

/* --- measuring with the real contexts -------------------------------------------------- */

/* Quantised codes in group order. */
static taper_status quantise_all(const train_codes *codes, const codec_code_tables *t,
                                 uint32_t stride, int16_t **out) {
    int16_t *q = calloc((size_t)t->units * stride, sizeof *q);
    *out = q;
    if (!q) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < codes->n; i++)
        for (uint32_t u = 0; u < t->units; u++)
            q[(size_t)u * stride + i] = codec_quantise(t, u, codes->code[i * t->units + u]);
    return TAPER_OK;
}

/* The error of a unit, in squared steps, in the known state. */
static double error_of_unit(const codec_group *g, const train_codes *codes, uint32_t u) {
    const codec_code_tables *t = g->tables;
    const int16_t *level = g->level + (size_t)u * g->stride;
    double sum = 0;
    for (uint32_t p = 0; p < g->n; p++) {
        uint32_t depth = codec_planes_known(g, u, p), q = (uint32_t)abs(level[p]);
        const uint8_t *recon = t->recon[codec_ratio_bin(codec_log_ratio(t, u, depth))];
        float known = q ? (float)q + recon[recon_index(q)] / 256.0f : 0;
        float x = fabsf(codes->code[(size_t)p * t->units + u]) / t->step[u];
        sum += square(x - known * (float)(1u << (t->planes[u] - depth)));
    }
    return sum;
}

/* Measures ideal bits of every pass and, unless gain is NULL, its reduction of squared steps, in
 * the sequence of the order. It runs the encoder over the sample. */
static taper_status measure_passes(const codec_code_tables *t, const train_codes *codes,
                                   const int16_t *q, double *bits, double *gain,
                                   taper_error *error) {
    codec_chunk_coder coder;
    TAPER_TRY(codec_chunk_coder_alloc(&coder, t, codes->grid, codes->n_images, error));
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    memset(bits, 0, t->n_passes * sizeof *bits);
    taper_status status = TAPER_OK;
    for (uint32_t i = 0; i < t->n_passes && status == TAPER_OK; i++) {
        uint32_t u = t->pass[i].unit;
        double before = gain ? error_of_unit(&coder.group, codes, u) : 0;
        formats_buffer_clear(&out);
        status = codec_chunk_encode(&coder, q, i + 1, &out, bits);
        if (gain) gain[i] = before - error_of_unit(&coder.group, codes, u);
    }
    formats_buffer_free(&out);
    codec_chunk_coder_free(&coder);
    return status == TAPER_OK ? status
                              : formats_fail(error, status, "no memory to measure the order");
}

/* Reorders measurements from the sequence of the order to that of units. */
static void spread(const codec_code_tables *t, const double *bits, const double *gain, size_t n,
                   pass_worth *worth, uint32_t *first) {
    for (uint32_t u = 0, at = 0; u < t->units; at += t->planes[u++] * t->fractions) first[u] = at;
    for (uint32_t i = 0; i < t->n_passes; i++) {
        codec_pass pass = t->pass[i];
        uint32_t at = first[pass.unit] + pass.depth * t->fractions + pass.fraction;
        worth->bits[at] = bits[i] / (double)n;
        worth->gain[at] = gain[i] / (double)n * worth->weight[pass.unit];
    }
}

static void set_layers(taper_model *m, const train_codes *codes, const double *bits) {
    codec_code_tables *t = &m->tables;
    double pixels = (double)codes->n * m->window.width * m->window.height;
    double size = 0, next = first_layer;
    t->n_layers = 0;
    for (uint32_t i = 0; i < t->n_passes; i++) {
        size += bits[i] / 8 / pixels * 1e6;
        int last = i + 1 == t->n_passes;
        if (!last && (size < next || t->n_layers + 1 == CODEC_MAX_LAYERS_IN_MODEL)) continue;
        t->layer[t->n_layers++] = (codec_layer_end){i + 1, (uint32_t)fmin(ceil(size), 4e9)};
        next = fmax(next, size) * layer_growth;
    }
}

static taper_status first_order(codec_code_tables *t, const train_codes *codes,
                                const train_calibrate_options *options, pass_worth *worth) {
    float *magnitude = malloc((codes->n + 1) * sizeof *magnitude);
    interval_sums *sums = calloc(1, sizeof *sums);
    taper_status status = magnitude && sums ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < t->units && status == TAPER_OK; u++) {
        magnitudes_of(codes, t, u, magnitude);
        add_intervals(t, u, magnitude, codes->n, sums);
    }
    if (status == TAPER_OK) set_intervals(t, sums);
    for (uint32_t u = 0, at = 0; u < t->units && status == TAPER_OK; u++) {
        double mse[CODEC_MAX_PLANES + 1], bits[CODEC_MAX_PLANES];
        worth->weight[u] = square(t->step[u]) * (options->unit_gain ? options->unit_gain[u] : 1);
        magnitudes_of(codes, t, u, magnitude);
        errors_by_depth(t, u, magnitude, codes->n, mse);
        static_bits(t, u, magnitude, codes->n, bits);
        for (uint32_t i = 0; i < t->planes[u] * t->fractions;
             i++, at++) { /* fractions are equal at first */
            uint32_t d = i / t->fractions;
            worth->gain[at] = (mse[d] - mse[d + 1]) * worth->weight[u] / t->fractions;
            worth->bits[at] = bits[d] / t->fractions;
        }
    }
    free(magnitude), free(sums);
    return status == TAPER_OK ? set_rd_slopes(t, worth) : status;
}

/* Measures the passes of the present order. fit 1: contexts are fitted to it first. gain as
 * above. */
static taper_status measure(codec_code_tables *t, const train_codes *codes, int fit, double *bits,
                            double *gain, taper_error *error) {
    int16_t *q = NULL;
    taper_status status = quantise_all(codes, t, codec_group_stride(codes->n), &q);
    if (status == TAPER_OK && fit) status = train_fit_contexts(t, codes, q, error);
    if (status == TAPER_OK) status = measure_passes(t, codes, q, bits, gain, error);
    free(q);
    return status;
}

/* Fits contexts to the present order, then sets the order by measured bits; finally contexts and
 * layers. */
static taper_status refine(taper_model *m, const train_codes *codes, pass_worth *worth,
                           taper_error *error) {
    codec_code_tables *t = &m->tables;
    int rounds = t->fractions > 1 ? 2 : 1; /* the first order has equal fractions */
    uint32_t *first = calloc(t->units + 1, sizeof *first);
    double *bits = calloc(t->n_rd_slopes + 1, sizeof *bits),
           *gain = calloc(t->n_rd_slopes + 1, sizeof *gain);
    taper_status status = first && bits && gain ? train_fit_signed(t, codes) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = train_fit_causal(t, codes, error);
    for (int round = 0; round < rounds && status == TAPER_OK; round++) {
        status = measure(t, codes, 1, bits, gain, error);
        if (status != TAPER_OK) break;
        spread(t, bits, gain, codes->n, worth, first);
        status = set_rd_slopes(t, worth);
    }
    if (status == TAPER_OK) status = join_fractions(t, worth);
    if (status == TAPER_OK) status = measure(t, codes, 1, bits, NULL, error);
    if (status == TAPER_OK) set_layers(m, codes, bits);
    free(first), free(bits), free(gain);
    return status;
}

taper_status train_refit_contexts(taper_model *m, const train_codes *codes, taper_error *error) {
    double *bits = calloc(m->tables.n_passes + 1, sizeof *bits);
    if (!bits) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to fit contexts");
    taper_status status = measure(&m->tables, codes, 1, bits, NULL, error);
    if (status == TAPER_OK) set_layers(m, codes, bits);
    free(bits);
    return status;
}

taper_status train_measure_bits(taper_model *m, const train_codes *codes, double *bits,
                                taper_error *error) {
    return measure(&m->tables, codes, 0, bits, NULL, error);
}

taper_status train_calibrate(taper_model *m, const train_codes *codes,
                             const train_calibrate_options *options, taper_error *error) {
    TAPER_TRY(train_set_quantiser(m, codes, options, error));
    codec_code_tables *t = &m->tables;
    t->fractions = 1 + sizeof fraction_bins;
    memcpy(t->least, fraction_bins, sizeof fraction_bins);
    taper_status status = codec_code_tables_set_planes(t);
    if (status == TAPER_OK && t->n_passes == 0) {
        codec_code_tables_free(t);
        return formats_fail(
            error, TAPER_ERR_ARG,
            "the images are all alike: there is nothing to learn; give more varied images");
    }
    pass_worth worth = {calloc(t->n_rd_slopes + 1, sizeof(double)),
                        calloc(t->n_rd_slopes + 1, sizeof(double)),
                        calloc(t->units, sizeof(double))};
    if (status == TAPER_OK)
        status = worth.gain && worth.bits && worth.weight ? first_order(t, codes, options, &worth)
                                                          : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = refine(m, codes, &worth, error);
    free(worth.gain), free(worth.bits), free(worth.weight);
    m->info.passes = t->n_passes;
    if (status == TAPER_OK) return status;
    codec_code_tables_free(t);
    return error && error->status == status
               ? status
               : formats_fail(error, status, "no memory to calibrate %u units on %zu windows",
                              m->network.units, codes->n);
}

/* train_dense_stages.c -- family dense, from its PCA start to a calibrated model; see
 * train_stages.h. */
#include "codec/bitplane/quantiser.h"
#include "train/sampling/philox.h"
#include "train/side_by_side.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- gains of units -------------------------------------------------------------------- */

/* Change of a unit, as a fraction of its scale, for measuring its gain. */
static const double scale_fraction = 0.35;

/* The decoder is tuned to the calibrated quantiser, at a low rate and for few epochs. */
static const float tuning_rate = 0.2f; /* relative to the network's */
enum { TUNING_EPOCHS = 3 };

/* The codes of some windows, twice each, with one unit moved up and down; and their windows. */
typedef struct moved_codes {
    const float *codes; /* [n][units] */
    size_t n, rows;     /* windows; those that are moved */
    float *moved;       /* [2 * rows][units] */
    float *out;         /* [2 * rows][inputs] */
} moved_codes;

/* Moves unit u; returns by how much. */
static double move_unit(const moved_codes *c, size_t units, size_t u) {
    double power = 1e-6;
    for (size_t i = 0; i < c->n; i++)
        power += (double)c->codes[i * units + u] * c->codes[i * units + u] / (double)c->n;
    const float step = (float)(scale_fraction * sqrt(power));
    for (size_t r = 0; r < c->rows; r++) {
        const float *from = c->codes + r * (c->n / c->rows) * units;
        memcpy(c->moved + 2 * r * units, from, units * sizeof *from);
        memcpy(c->moved + (2 * r + 1) * units, from, units * sizeof *from);
        c->moved[2 * r * units + u] += step;
        c->moved[(2 * r + 1) * units + u] -= step;
    }
    return (double)step;
}

static taper_status measure_gain(const codec_network *net, codec_backend *be, const moved_codes *c,
                                 size_t u, double *gain) {
    const size_t inputs = net->inputs;
    const double step = move_unit(c, net->units, u);
    double sum = 0;
    TAPER_TRY(codec_network_decode(net, be, c->moved, 2 * c->rows, c->out));
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < inputs; i++) {
            double d = c->out[2 * r * inputs + i] - c->out[(2 * r + 1) * inputs + i];
            sum += d * d;
        }
    *gain = fmax(sum / (4.0 * step * step * (double)c->rows), 1e-6);
    return TAPER_OK;
}

/* gain[units], of zeros: squared error on a window per squared error of each unit: the response of
 * the decoder to changing the unit by a fraction of its scale, in both directions, on sample codes.
 * Each rank measures some units. */
static taper_status measure_gains(const codec_network *net, const train_job *j,
                                  const train_codes *codes, double *gain, taper_error *error) {
    enum { ROWS = 64 };
    train_ranks *ranks = j->data->ranks;
    const size_t rows = codes->n < ROWS ? codes->n : ROWS;
    moved_codes c = {codes->code, codes->n, rows, malloc(2 * rows * net->units * sizeof(float)),
                     malloc(2 * rows * net->inputs * sizeof(float))};
    taper_status status = c.moved && c.out ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t u = ranks ? ranks->rank : 0; u < net->units && status == TAPER_OK;
         u += train_rank_count(ranks))
        status = measure_gain(net, j->be, &c, u, &gain[u]);
    free(c.moved), free(c.out);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory to measure the units");
    return train_sum_doubles(ranks, gain, net->units, error);
}

taper_status train_calibrate_dense(taper_model *m, const train_job *j, taper_error *error) {
    train_sample s;
    double *gain = calloc(m->network.units, sizeof *gain);
    if (!gain) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to calibrate");
    taper_status status = train_sample_take(&s, m, j, error);
    if (status == TAPER_OK) {
        status = measure_gains(&m->network, j, &s.codes, gain, error);
        train_sample_free(&s);
    }
    if (status == TAPER_OK) status = train_round_and_calibrate(m, j, gain, error);
    free(gain);
    return status;
}

/* --- random cuts of the real quantiser ------------------------------------------------- */

typedef struct cut_table {
    const codec_code_tables *tables;
    uint8_t *depth; /* [layers][units] at the end of each layer */
} cut_table;

static taper_status make_cuts(cut_table *cuts, const codec_code_tables *t) {
    cuts->tables = t;
    cuts->depth = calloc((size_t)t->n_layers * t->units, 1);
    if (!cuts->depth) return TAPER_ERR_NOMEM;
    uint32_t pass = 0;
    for (uint32_t l = 0; l < t->n_layers; l++) {
        uint8_t *depth = cuts->depth + (size_t)l * t->units;
        if (l) memcpy(depth, depth - t->units, t->units);
        for (; pass < t->layer[l].pass; pass++)
            depth[t->pass[pass].unit] += t->pass[pass].fraction + 1u == t->fractions;
    }
    return TAPER_OK;
}

static float value_at(const codec_code_tables *t, uint32_t u, uint32_t depth, float x) {
    if (!depth) return 0;
    int32_t m = codec_quantise(t, u, x);
    uint32_t shift = t->planes[u] - depth, q = (uint32_t)(m < 0 ? -m : m) >> shift;
    if (!q) return 0;
    uint32_t c = t->recon[codec_ratio_bin(codec_log_ratio(t, u, depth))]
                         [(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1];
    float magnitude = ((float)q + (float)c / 256) * t->step[u] * (float)(1u << shift);
    return m < 0 ? -magnitude : magnitude;
}

static taper_status requantise(void *user, const float *codes, size_t n, uint32_t units,
                               const train_requantise_draw *draw, float *out) {
    const cut_table *cuts = user;
    enum { STREAM = 77 };
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(draw->seed, draw->number << 20 | draw->position[i], STREAM, word);
        const uint8_t *depth =
            cuts->depth + (size_t)train_philox_below(word[0], cuts->tables->n_layers) * units;
        for (uint32_t u = 0; u < units; u++)
            out[i * units + u] = value_at(cuts->tables, u, depth[u], codes[i * units + u]);
    }
    return TAPER_OK;
}

/* --- the stages ------------------------------------------------------------------------ */

/* Makes the network untied and adds stacks to its linear path. */
static taper_status grow_stacks(taper_model *m, const train_job *j, taper_error *error) {
    static const uint32_t usual[] = {512, 512};
    const uint32_t *hidden = j->options.hidden ? j->options.hidden : usual;
    uint32_t n = j->options.hidden ? j->options.n_hidden : 2, mirrored[CODEC_MAX_LAYERS];
    if (n < 1 || n >= CODEC_MAX_LAYERS)
        return formats_fail(error, TAPER_ERR_ARG, "%u hidden layers; 1 to 7 are possible", n);
    for (uint32_t i = 0; i < n; i++) mirrored[i] = hidden[n - 1 - i];
    codec_network grown, *old = &m->network;
    if (codec_network_alloc(&grown, old->inputs, old->units, CODEC_UNTIED, hidden, n, mirrored, n))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the network");
    size_t weights = (size_t)old->units * old->inputs * sizeof(float);
    memcpy(grown.mean, old->mean, old->inputs * sizeof(float));
    memcpy(grown.analysis, old->synthesis, weights);
    memcpy(grown.synthesis, old->synthesis, weights);
    codec_network_free(old);
    *old = grown;
    m->tied = 0;
    return TAPER_OK;
}

/* The arguments of training the network, or its decoder if there are cuts. */
typedef struct learning {
    const train_dense_options *options;
    const train_pixels *pixels;
    codec_network *network;
    cut_table *cuts; /* NULL: all of the network */
    const train_callbacks *callbacks;
} learning;

static taper_status learn(void *context, train_device *device, taper_error *error) {
    const learning *l = context;
    train_result result;
    const train_requantiser at_cuts = {requantise, l->cuts};
    if (l->cuts)
        return train_dense_decoder(l->options, l->pixels, device, l->network, &at_cuts,
                                   l->callbacks, &result, error);
    return train_dense(l->options, l->pixels, device, l->network, l->callbacks, &result, error);
}

static taper_status train_network(taper_model *m, const train_job *j, const train_pixels *pixels,
                                  taper_error *error) {
    train_dense_options dense = j->options.dense;
    dense.width = m->window.width;
    dense.height = m->window.height;
    train_say(j, "training", -1);
    learning all = {&dense, pixels, &m->network, NULL, &j->hooks->dense};
    TAPER_TRY(train_learn(j, learn, &all, error));
    train_say(j, "calibration", -1);
    TAPER_TRY(train_calibrate_dense(m, j, error));
    cut_table cuts;
    if (make_cuts(&cuts, &m->tables) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to tune the decoder");
    train_dense_options tuning = dense;
    tuning.rate *= tuning_rate;
    tuning.epochs = tuning.epochs / TUNING_EPOCHS + 1;
    tuning.saving = (train_saving){0};
    /* reports progress but not epochs, which are not part of the network's learning curve */
    train_callbacks watch = {.user = j->hooks->dense.user, .progress = j->hooks->dense.progress};
    train_say(j, "tuning the decoder", -1);
    learning decoder = {&tuning, pixels, &m->network, &cuts, &watch};
    taper_status status = train_learn(j, learn, &decoder, error);
    free(cuts.depth);
    if (status != TAPER_OK) return status;
    train_say(j, "calibration", -1);
    return train_calibrate_dense(m, j, error);
}

static void move_model(taper_model *to, taper_model *from) {
    codec_network_free(&to->network);
    codec_code_tables_free(&to->tables);
    *to = *from;
    from->network = (codec_network){0};
    from->tables = (codec_code_tables){0};
}

taper_status train_dense_stages(taper_model *m, const train_job *j, taper_error *error) {
    taper_model linear = *m; /* the baseline: the same units without stacks */
    linear.tied = 1;
    train_rd_curve baseline_curve, curve;
    if (codec_network_alloc(&linear.network, m->network.inputs, m->network.units, CODEC_TIED, NULL,
                            0, NULL, 0))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the linear model");
    memcpy(linear.network.mean, m->network.mean, m->network.inputs * sizeof(float));
    memcpy(linear.network.synthesis, m->network.synthesis,
           (size_t)m->network.units * m->network.inputs * sizeof(float));
    linear.tables = (codec_code_tables){0};
    train_pixels pixels;
    uint8_t *memory = NULL;
    train_say(j, "calibration of the linear start", -1);
    taper_status status = train_round_and_calibrate(&linear, j, NULL, error);
    if (status == TAPER_OK) status = train_evaluate_validation(&linear, j, &baseline_curve, error);
    if (status == TAPER_OK) status = grow_stacks(m, j, error);
    if (status == TAPER_OK && train_collect_windows(j->data, m->window, TRAIN_PART_TRAINING,
                                                    &pixels, &memory) != TAPER_OK)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for the training windows");
    if (status == TAPER_OK) status = train_network(m, j, &pixels, error);
    if (status == TAPER_OK) status = train_evaluate_validation(m, j, &curve, error);
    if (status == TAPER_OK && train_compare_curves(&curve, &baseline_curve) >= 0)
        move_model(m, &linear);
    free(memory);
    codec_network_free(&linear.network);
    codec_code_tables_free(&linear.tables);
    return status;
}

/* train.c -- the stages of making a model: window, linear basis, stored precision,
 * calibration, validation. See train.h. */
#include "train/train.h"
#include "train/calibrate/ms_ssim_gain.h"
#include "train/choice.h"
#include "train/linear/lap_design.h"
#include "train/optimise/checkpoint.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHOLE_SIDE_AUTO = 64, MOST_UNITS = 4096, MOST_WINDOWS = 4 };

/* --- one candidate --------------------------------------------------------------------- */

typedef struct candidate {
    taper_model *model;
    formats_buffer file;
    train_rd_curve curve; /* on the validation part */
    int had_head, restored; /* when it came, before it was adapted */
} candidate;

static void free_candidate(candidate *c) {
    taper_model_free(c->model);
    formats_buffer_free(&c->file);
    *c = (candidate){0};
}

static taper_status finish_candidate(candidate *c, const train_options *options,
                                     const train_dataset *data, codec_backend *be,
                                     const train_hooks *hooks, taper_error *error) {
    codec_weight_precision precision = train_precision(options);
    train_say(hooks, "validation", -1);
    TAPER_TRY(train_evaluate_validation(c->model, data, be, &c->curve, error));
    return codec_model_write(c->model, &precision, &c->file, error);
}

/* Windows lap where there are several to an image. */
static void set_lap(taper_model *m, const train_options *options, const train_dataset *data) {
    uint32_t width = m->window.width, height = m->window.height, several = 0;
    uint32_t most = (width < height ? width : height) / 2, reach = options->lap;
    if (options->family == TAPER_FAMILY_DENSE) return;
    for (size_t i = 0; i < data->n; i++)
        several |= data->image[i].width > width || data->image[i].height > height;
    if (reach > most) reach = most; /* TRAIN_LAP_AUTO too */
    if (reach > CODEC_LAP_MOST) reach = CODEC_LAP_MOST;
    if (!several || !reach) return;
    train_lap_design(&m->lap, reach);
    m->window.lap = &m->lap;
}

static taper_status calibrate_linear(taper_model *m, const train_dataset *data, codec_backend *be,
                                     const train_options *options, const train_hooks *hooks,
                                     taper_error *error) {
    int perceptual = options->loss == TRAIN_MS_SSIM;
    train_say(hooks, perceptual ? "errors of units" : "calibration", -1);
    if (!m->window.lap && !perceptual)
        return train_round_and_calibrate(m, data, be, options, NULL, error);
    double *gain = malloc(m->network.units * sizeof *gain);
    taper_status status = gain ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < m->network.units && gain; u++) gain[u] = 1; /* orthonormal */
    if (status == TAPER_OK && m->window.lap) status = train_lap_gains(m, gain);
    if (status == TAPER_OK && perceptual) {
        status = train_ms_ssim_gains(m, data, be->pool, gain);
        train_say(hooks, "calibration", -1);
    }
    status = status == TAPER_OK ? train_round_and_calibrate(m, data, be, options, gain, error)
                                : formats_fail(error, status, "no memory for the gains of units");
    free(gain);
    return status;
}

static taper_status make_candidate(candidate *c, const train_options *options,
                                   const train_dataset *data, codec_window window,
                                   codec_backend *be, const train_hooks *hooks,
                                   taper_error *error) {
    uint32_t inputs = codec_window_values(window),
             units = options->units ? options->units : MOST_UNITS;
    *c = (candidate){.model = calloc(1, sizeof *c->model),
                     .file = formats_buffer_make(FORMATS_MOST_BYTES)};
    taper_model *m = c->model;
    if (!m) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model");
    m->window = window;
    m->tied = options->family != TAPER_FAMILY_DENSE;
    m->info.family = m->tied ? TAPER_FAMILY_PCA : TAPER_FAMILY_DENSE; /* conv: when it restores */
    int whole_units = options->family == TAPER_FAMILY_DENSE && options->code != TRAIN_CODE_PLANES;
    if (units > inputs && !(whole_units && options->units)) units = inputs;
    if (whole_units) {
        m->network.inputs = inputs, m->network.units = units;
        TAPER_TRY(train_nested_stages(m, options, data, be, hooks, error));
        return finish_candidate(c, options, data, be, hooks, error);
    }
    if (codec_network_alloc(&m->network, inputs, units, CODEC_TIED, NULL, 0, NULL, 0))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u units", units);
    set_lap(m, options, data);
    TAPER_TRY(train_fit_basis(m, options, data, be, hooks, error));
    if (options->family == TAPER_FAMILY_DENSE) {
        TAPER_TRY(train_dense_stages(m, options, data, be, hooks, error));
    } else {
        TAPER_TRY(calibrate_linear(m, data, be, options, hooks, error));
    }
    return finish_candidate(c, options, data, be, hooks, error);
}

/* A model from elsewhere, adapted to the images. */
static taper_status adapt_candidate(candidate *c, const train_options *options,
                                    const train_dataset *data, codec_backend *be,
                                    const train_hooks *hooks, taper_error *error) {
    *c = (candidate){.file = formats_buffer_make(FORMATS_MOST_BYTES)};
    TAPER_TRY(taper_model_load(&c->model, options->from->data, options->from->size, NULL, error));
    c->had_head = c->model->tables.head != NULL;
    c->restored = c->model->info.family == TAPER_FAMILY_CONV;
    TAPER_TRY(train_adapt(c->model, options, data, be, hooks, error));
    return finish_candidate(c, options, data, be, hooks, error);
}

/* What predicts and refines. Of family dense its checkpoints stand beside the autoencoder's. */
static taper_status add_predictors(taper_model *m, const train_options *given,
                                   const train_dataset *data, codec_backend *be,
                                   const train_hooks *hooks, taper_error *error) {
    train_options options = *given;
    char *path = train_checkpoint_beside(given->conditional.checkpoint,
                                         given->family == TAPER_FAMILY_DENSE ? ".bits" : "");
    if (given->conditional.checkpoint && !path)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint's name");
    options.conditional.checkpoint = options.head.checkpoint = path;
    taper_status status = train_add_conditional(m, &options, data, be, hooks, error);
    free(path);
    return status;
}

/* What predicts, refines and restores, for the one that was chosen. */
static taper_status extend_candidate(candidate *c, const train_options *options,
                                     const train_dataset *data, codec_backend *be,
                                     const train_hooks *hooks, taper_error *error) {
    int whole_units = options->family == TAPER_FAMILY_DENSE && options->code != TRAIN_CODE_PLANES;
    int predict = !whole_units && (options->conditional.hidden || options->head.hidden);
    int restore = options->family == TAPER_FAMILY_CONV;
    if (!predict && !restore) return TAPER_OK;
    if (predict) TAPER_TRY(add_predictors(c->model, options, data, be, hooks, error));
    if (restore) TAPER_TRY(train_add_restoration(c->model, options, data, be, hooks, error));
    formats_buffer_clear(&c->file);
    return finish_candidate(c, options, data, be, hooks, error);
}

/* --- windows --------------------------------------------------------------------------- */

/* Could a model of this window be worth its bytes to a set of this size? About half a byte a
 * weight, against a quarter of a usual rate of two bits a pixel. */
static int can_pay(const train_options *options, const train_dataset *data, codec_window window) {
    double inputs = codec_window_values(window),
           units = options->units ? options->units : MOST_UNITS;
    double model_bytes = 0.5 * inputs * fmin(units, inputs),
           pixels = (double)data->pixels / (double)data->n;
    double images = options->set_images ? (double)options->set_images : (double)data->available;
    return model_bytes < images * pixels / 16;
}

static void add_window(const train_options *options, const train_dataset *data, codec_window window,
                       codec_window *list, int *n) {
    int odd = window.width % 2 || window.height % 2;
    if (odd && options->family == TAPER_FAMILY_CONV) return;
    if (*n == 0 || can_pay(options, data, window)) list[(*n)++] = window;
}

static taper_status list_windows(const train_options *options, const train_dataset *data,
                                 codec_window *window, int *n, taper_error *error) {
    uint32_t width = data->image[0].width, height = data->image[0].height, side = options->window;
    *n = 0;
    if (side == TRAIN_WINDOW_WHOLE) {
        if (!data->one_size)
            return formats_fail(
                error, TAPER_ERR_ARG,
                "--window whole needs images of one size; give a side such as --window 8");
        if (width > CODEC_MAX_WINDOW_SIDE || height > CODEC_MAX_WINDOW_SIDE ||
            width * height * data->channels > CODEC_MAX_INPUTS)
            return formats_fail(error, TAPER_ERR_ARG,
                                "images of %u x %u are too large for --window whole; give a side "
                                "such as --window 16",
                                width, height);
        window[(*n)++] = (codec_window){width, height, data->channels, NULL};
    } else if (side != TRAIN_WINDOW_AUTO) {
        if (side > 64) return formats_fail(error, TAPER_ERR_ARG, "--window %u is above 64", side);
        window[(*n)++] = (codec_window){side, side, data->channels, NULL};
    } else {
        int small = data->one_size && width <= WHOLE_SIDE_AUTO && height <= WHOLE_SIDE_AUTO &&
                    width * height * data->channels <= 4096;
        add_window(options, data, (codec_window){8, 8, data->channels, NULL}, window, n);
        add_window(options, data, (codec_window){16, 16, data->channels, NULL}, window, n);
        if (small && (width != 16 || height != 16))
            add_window(options, data, (codec_window){width, height, data->channels, NULL}, window,
                       n);
    }
    return TAPER_OK;
}

static void fill_report(train_report *r, const candidate *c, const train_dataset *data) {
    r->window = c->model->window;
    r->window.lap = NULL; /* the model's */
    r->lap = c->model->lap.reach;
    r->units = c->model->network.units;
    r->passes = c->model->tables.n_passes;
    r->model_bytes = c->file.size;
    r->images = data->n;
    for (size_t i = 0; i < data->n; i++)
        r->validation_images += (size_t)train_is_validation(data, i);
    r->used_linear =
        c->model->info.family == TAPER_FAMILY_DENSE && !c->model->network.decoder.depth;
    r->binary = c->model->tables.density != NULL;
    r->validation = c->curve;
}

/* With several candidates, each has a checkpoint of its own: PATH.16x16. malloc'd; NULL with no
 * path. */
static taper_status name_checkpoint(char **to, const char *path, codec_window w, int candidates,
                                    taper_error *error) {
    char suffix[32] = "";
    if (candidates > 1)
        snprintf(suffix, sizeof suffix, ".%ux%u", (unsigned)w.width, (unsigned)w.height);
    *to = train_checkpoint_beside(path, suffix);
    return !path || *to ? TAPER_OK
                        : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint's name");
}

static taper_status make_candidates(candidate *c, const train_options *given,
                                    const train_dataset *data, const codec_window *window, int n,
                                    codec_backend *be, const train_hooks *hooks,
                                    taper_error *error) {
    taper_status status = TAPER_OK;
    for (int i = 0; i < n && status == TAPER_OK; i++) {
        train_options options = *given;
        char *dense = NULL, *nested = NULL;
        status = name_checkpoint(&dense, given->dense.checkpoint, window[i], n, error);
        if (status == TAPER_OK)
            status =
                name_checkpoint(&nested, given->nested.training.checkpoint, window[i], n, error);
        options.dense.checkpoint = dense;
        options.nested.training.checkpoint = nested;
        if (status == TAPER_OK)
            status = make_candidate(&c[i], &options, data, window[i], be, hooks, error);
        if (status == TAPER_OK && hooks && hooks->candidate)
            hooks->candidate(hooks->user, window[i], c[i].model->network.units, c[i].file.size,
                             &c[i].curve);
        free(dense), free(nested);
    }
    return status;
}

/* The best of the candidates, which is taken out of them. */
static candidate choose(candidate *c, int n, const train_options *options,
                        const train_dataset *data) {
    train_offer offer[MOST_WINDOWS];
    uint64_t set_images = options->set_images ? options->set_images : data->available;
    double raw = (double)data->pixels / (double)data->n * data->channels;
    for (int i = 0; i < n; i++) offer[i] = (train_offer){&c[i].curve, c[i].file.size};
    size_t at = train_choose(offer, (size_t)n, raw, set_images);
    candidate best = c[at];
    c[at] = (candidate){0};
    return best;
}

/* One model of each window that may do, then the best of them with all that was asked for. */
static taper_status learn(candidate *best, const train_options *options, const train_dataset *data,
                          codec_backend *be, const train_hooks *hooks, taper_error *error) {
    codec_window window[MOST_WINDOWS];
    candidate c[MOST_WINDOWS] = {{0}};
    int n = 0;
    TAPER_TRY(list_windows(options, data, window, &n, error));
    if (options->family == TAPER_FAMILY_CONV)
        TAPER_TRY(train_restoration_check(&options->restoration, window[0], error));
    taper_status status = make_candidates(c, options, data, window, n, be, hooks, error);
    if (status == TAPER_OK) {
        *best = choose(c, n, options, data);
        status = extend_candidate(best, options, data, be, hooks, error);
    }
    for (int i = 0; i < n; i++) free_candidate(&c[i]);
    return status;
}

taper_status train_model(const train_options *options, const train_dataset *data, codec_backend *be,
                         const train_hooks *hooks, formats_buffer *out, train_report *report,
                         taper_error *error) {
    candidate best = {0};
    taper_status status = options->from ? adapt_candidate(&best, options, data, be, hooks, error)
                                        : learn(&best, options, data, be, hooks, error);
    if (status == TAPER_OK) {
        *report = (train_report){0};
        fill_report(report, &best, data);
        report->head_left_out = (options->head.hidden || best.had_head) && !best.model->tables.head;
        report->restoration_left_out =
            (options->family == TAPER_FAMILY_CONV || best.restored) &&
            best.model->info.family != TAPER_FAMILY_CONV;
        status = formats_write_bytes(out, best.file.data, best.file.size);
    }
    free_candidate(&best);
    return status;
}

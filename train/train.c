/* train.c -- from images to a model: a candidate for each window, each by its stages
 * (train_stages.h), of which the best is chosen and extended. See train.h. */
#include "train/train.h"
#include "train/choice.h"
#include "train/optimise/run.h"
#include "train/optimise/checkpoint.h"
#include "train/side_by_side.h"
#include "train/train_gradient_bits.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHOLE_SIDE_AUTO = 64, SCALED_SIDE = 32, MOST_WINDOWS = 4 };

/* --- one candidate --------------------------------------------------------------------- */

typedef struct candidate {
    taper_model *model;
    formats_buffer file;
    train_rd_curve curve;   /* on the validation part */
    int had_head, restored; /* before it was adapted */
} candidate;

static void free_candidate(candidate *c) {
    taper_model_free(c->model);
    formats_buffer_free(&c->file);
    *c = (candidate){0};
}

static taper_status finish_candidate(candidate *c, const train_job *j, taper_error *error) {
    codec_weight_precision precision = train_stored_precision(j);
    train_say(j, "validation", -1);
    TAPER_TRY(train_evaluate_validation(c->model, j, &c->curve, error));
    return codec_model_write(c->model, &precision, &c->file, error);
}

static int has_whole_units(const train_options *o) {
    return o->family == TAPER_FAMILY_DENSE && o->code != TRAIN_CODE_PLANES;
}

static const train_stages *stages_of(const train_job *j) {
    return has_whole_units(&j->options) ? &train_nested_stages : &train_picture_stages;
}

static taper_status begin_candidate(candidate *c, const train_job *j, codec_window window,
                                    taper_error *error) {
    *c = (candidate){.model = calloc(1, sizeof *c->model),
                     .file = formats_buffer_make(FORMATS_MOST_BYTES)};
    if (!c->model) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model");
    c->model->window = window;
    return stages_of(j)->begin(c->model, j, error);
}

static taper_status end_candidate(candidate *c, const train_job *j, taper_error *error) {
    TAPER_TRY(stages_of(j)->end(c->model, j, error));
    return finish_candidate(c, j, error);
}

/* Adds further networks to the chosen model. */
static taper_status extend_candidate(candidate *c, const train_job *j, taper_error *error) {
    int extended = 0;
    if (stages_of(j)->extend) TAPER_TRY(stages_of(j)->extend(c->model, j, &extended, error));
    if (!extended) return TAPER_OK;
    formats_buffer_clear(&c->file);
    return finish_candidate(c, j, error);
}

/* An existing model, adapted to the images. */
static taper_status adapt_candidate(candidate *c, const train_job *j, taper_error *error) {
    *c = (candidate){.file = formats_buffer_make(FORMATS_MOST_BYTES)};
    TAPER_TRY(
        taper_model_load(&c->model, j->options.from->data, j->options.from->size, NULL, error));
    c->had_head = c->model->tables.head != NULL;
    c->restored = c->model->info.family == TAPER_FAMILY_CONV;
    TAPER_TRY(train_adapt(c->model, j, error));
    return finish_candidate(c, j, error);
}

/* --- windows --------------------------------------------------------------------------- */

/* Estimates whether a model of this window may save its own bytes for a set of this size. It
 * assumes half a byte per weight, and a saving of a quarter of two bits per pixel. */
static int can_pay(const train_job *j, codec_window window) {
    double inputs = codec_window_values(window),
           units = j->options.units ? j->options.units : TRAIN_MOST_UNITS;
    double model_bytes = 0.5 * inputs * fmin(units, inputs),
           pixels = (double)j->data->pixels / (double)j->data->n;
    double images =
        j->options.set_images ? (double)j->options.set_images : (double)j->data->available;
    return model_bytes < images * pixels / 16;
}

static void add_window(const train_job *j, codec_window window, codec_window *list, int *n) {
    int odd = window.width % 2 || window.height % 2;
    if (odd && j->options.family == TAPER_FAMILY_CONV) return;
    if (*n == 0 || can_pay(j, window)) list[(*n)++] = window;
}

/* Whether the first image as one window has more values than a model may have. */
static int is_too_large(const train_dataset *data) {
    const uint32_t width = data->image[0].width, height = data->image[0].height;
    return width > CODEC_MAX_WINDOW_SIDE || height > CODEC_MAX_WINDOW_SIDE ||
           width * height * data->channels > CODEC_MAX_INPUTS;
}

static taper_status list_windows(const train_job *j, codec_window *window, int *n,
                                 taper_error *error) {
    uint32_t width = j->data->image[0].width, height = j->data->image[0].height,
             side = j->options.window;
    *n = 0;
    if (side == TRAIN_WINDOW_WHOLE) {
        if (!j->data->one_size)
            return formats_fail(
                error, TAPER_ERR_ARG,
                "--window whole needs images of one size; give a side such as --window 8");
        if (is_too_large(j->data))
            return formats_fail(error, TAPER_ERR_ARG,
                                "images of %u x %u are too large for --window whole; give a side "
                                "such as --window 16",
                                width, height);
        window[(*n)++] = (codec_window){width, height, j->data->channels, NULL};
    } else if (side != TRAIN_WINDOW_AUTO) {
        if (side > 64) return formats_fail(error, TAPER_ERR_ARG, "--window %u is above 64", side);
        window[(*n)++] = (codec_window){side, side, j->data->channels, NULL};
    } else {
        int small = j->data->one_size && width <= WHOLE_SIDE_AUTO && height <= WHOLE_SIDE_AUTO &&
                    width * height * j->data->channels <= 4096;
        add_window(j, (codec_window){8, 8, j->data->channels, NULL}, window, n);
        add_window(j, (codec_window){16, 16, j->data->channels, NULL}, window, n);
        if (small && (width != 16 || height != 16))
            add_window(j, (codec_window){width, height, j->data->channels, NULL}, window, n);
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

/* --- several candidates ---------------------------------------------------------------- */

/* A candidate in progress. */
typedef struct trial {
    candidate *made;
    codec_window window;
    train_job job;
    char *dense, *nested; /* its checkpoints */
} trial;

/* With several windows, each has its own checkpoints: PATH.16x16. */
static taper_status open_trial(trial *t, candidate *c, const train_job *j, codec_window window,
                               int several, taper_error *error) {
    char suffix[32] = "";
    *t = (trial){.made = c, .window = window, .job = *j};
    train_saving *dense = &t->job.options.dense.saving,
                 *nested = &t->job.options.nested.training.saving;
    if (several) snprintf(suffix, sizeof suffix, ".%ux%u", window.width, window.height);
    TAPER_TRY(train_checkpoint_suffixed(&t->dense, dense->path, suffix, error));
    TAPER_TRY(train_checkpoint_suffixed(&t->nested, nested->path, suffix, error));
    dense->path = t->dense, nested->path = t->nested;
    return TAPER_OK;
}

static taper_status begin_trial(trial *t, taper_error *error) {
    return begin_candidate(t->made, &t->job, t->window, error);
}

static taper_status end_trial(void *trials, size_t i, taper_error *error) {
    const trial *t = (trial *)trials + i;
    const train_hooks *hooks = t->job.hooks;
    TAPER_TRY(end_candidate(t->made, &t->job, error));
    if (hooks->candidate)
        hooks->candidate(hooks->user, t->window, t->made->model->network.units, t->made->file.size,
                         &t->made->curve);
    return TAPER_OK;
}

/* Principal components start child processes, so they are computed before there are threads. */
static taper_status make_at_once(trial *t, size_t n, const train_job *j, taper_error *error) {
    train_side_by_side *side;
    taper_status status = train_side_open(&side, j, n, error);
    for (size_t i = 0; i < n && status == TAPER_OK; i++) {
        train_side_join(side, i, &t[i].job);
        status = begin_trial(&t[i], error);
    }
    if (status == TAPER_OK) status = train_side_run(side, end_trial, t, error);
    train_side_close(side);
    return status;
}

static taper_status make_candidates(candidate *c, const train_job *j, const codec_window *window,
                                    size_t n, taper_error *error) {
    trial t[MOST_WINDOWS] = {{0}};
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i++)
        status = open_trial(&t[i], &c[i], j, window[i], n > 1, error);
    /* ranks make the same calls in the same order, which threads do not */
    int at_once = j->options.family == TAPER_FAMILY_DENSE && !j->data->ranks &&
                  train_side_gains(j->device, n);
    if (status == TAPER_OK && at_once) status = make_at_once(t, n, j, error);
    for (size_t i = 0; i < n && status == TAPER_OK && !at_once; i++) {
        status = begin_trial(&t[i], error);
        if (status == TAPER_OK) status = end_trial(t, i, error);
    }
    for (size_t i = 0; i < n; i++) free(t[i].dense), free(t[i].nested);
    return status;
}

/* Removes the best candidate from the array and returns it. */
static candidate choose(candidate *c, int n, const train_job *j) {
    train_offer offer[MOST_WINDOWS];
    uint64_t set_images = j->options.set_images ? j->options.set_images : j->data->available;
    double raw = (double)j->data->pixels / (double)j->data->n * j->data->channels;
    for (int i = 0; i < n; i++) offer[i] = (train_offer){&c[i].curve, c[i].file.size};
    size_t at = train_choose(offer, (size_t)n, raw, set_images);
    candidate best = c[at];
    c[at] = (candidate){0};
    return best;
}

/* Makes a model for each possible window, then extends the best of them as requested. */
static taper_status learn(candidate *best, const train_job *j, taper_error *error) {
    codec_window window[MOST_WINDOWS];
    candidate c[MOST_WINDOWS] = {{0}};
    int n = 0;
    TAPER_TRY(list_windows(j, window, &n, error));
    if (j->options.family == TAPER_FAMILY_CONV)
        TAPER_TRY(train_restoration_check(&j->options.restoration, window[0], error));
    taper_status status = make_candidates(c, j, window, (size_t)n, error);
    if (status == TAPER_OK) {
        *best = choose(c, n, j);
        status = extend_candidate(best, j, error);
    }
    for (int i = 0; i < n; i++) free_candidate(&c[i]);
    return status;
}

static taper_status model_as_given(const train_options *options, const train_dataset *data,
                                   codec_backend *be, train_device *device,
                                   const train_hooks *hooks, formats_buffer *out,
                                   train_report *report, taper_error *error) {
    static const train_hooks none;
    train_job job = {*options, data, be, device, hooks ? hooks : &none, NULL};
    candidate best = {0};
    taper_status status =
        options->from ? adapt_candidate(&best, &job, error) : learn(&best, &job, error);
    if (status == TAPER_OK) {
        *report = (train_report){0};
        fill_report(report, &best, data);
        report->head_left_out = (options->head.hidden || best.had_head) && !best.model->tables.head;
        report->restoration_left_out = (options->family == TAPER_FAMILY_CONV || best.restored) &&
                                       best.model->info.family != TAPER_FAMILY_CONV;
        status = formats_write_bytes(out, best.file.data, best.file.size);
    }
    free_candidate(&best);
    return status;
}

/* A binary code is that of a whole image; an index scales images to the model's size. */
static int has_to_scale(const train_options *o, const train_dataset *data) {
    return has_whole_units(o) && o->code == TRAIN_CODE_BINARY && o->window == TRAIN_WINDOW_WHOLE &&
           (!data->one_size || is_too_large(data));
}

static taper_status check_cells(const train_dataset *data, codec_cells cells, taper_error *error) {
    const codec_window w = {data->image[0].width, data->image[0].height, data->channels, NULL};
    if (!is_too_large(data) && codec_cells_are_legal(w, cells) &&
        cells.across * cells.down <= CODEC_MAX_WINDOW_SIDE)
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "images of %u x %u pixels cannot have %u x %u cells: a cell has at least 2 "
                        "pixels a side, and there are at most %d cells",
                        w.width, w.height, cells.across, cells.down, CODEC_MAX_WINDOW_SIDE);
}

/* The images have one size. */
static taper_status model_of_gradients(const train_options *options, const train_dataset *data,
                                       codec_backend *be, train_device *device,
                                       const train_hooks *hooks, formats_buffer *out,
                                       train_report *report, taper_error *error) {
    const codec_cells cells = {options->cells, options->cells};
    const codec_window window = {data->image[0].width, data->image[0].height, data->channels, NULL};
    const size_t before = out->size;
    train_dataset pictures;
    TAPER_TRY(check_cells(data, cells, error));
    taper_status status = train_explain(train_gradient_pictures(&pictures, data, cells), error,
                                        "gradients of %zu images", data->n);
    if (status == TAPER_OK)
        status = model_as_given(options, &pictures, be, device, hooks, out, report, error);
    if (status == TAPER_OK) status = train_keep_gradient_encoder(out, window, cells, error);
    report->window = window, report->model_bytes = out->size - before;
    report->validation.n = 0; /* of gradients, not of pixels */
    train_dataset_free(&pictures);
    return status;
}

static taper_status model_of_images(const train_options *options, const train_dataset *data,
                                    codec_backend *be, train_device *device,
                                    const train_hooks *hooks, formats_buffer *out,
                                    train_report *report, taper_error *error) {
    return (options->cells ? model_of_gradients : model_as_given)(options, data, be, device, hooks,
                                                                  out, report, error);
}

taper_status train_model(const train_options *options, const train_dataset *data, codec_backend *be,
                         train_device *device, const train_hooks *hooks, formats_buffer *out,
                         train_report *report, taper_error *error) {
    train_dataset scaled;
    if (options->from || !has_to_scale(options, data))
        return model_of_images(options, data, be, device, hooks, out, report, error);
    taper_status status = train_dataset_scale(&scaled, data, SCALED_SIDE, SCALED_SIDE);
    status = status == TAPER_OK
                 ? model_of_images(options, &scaled, be, device, hooks, out, report, error)
                 : formats_fail(error, status, "no memory to scale %zu images", data->n);
    if (status == TAPER_OK) report->scaled = 1;
    train_dataset_free(&scaled);
    return status;
}

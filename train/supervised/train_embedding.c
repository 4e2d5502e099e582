/* train_embedding.c -- from images to an embedding model: whole images as rows, the initial
 * network, training by labels, the stored model; see train_embedding.h. */
#include "train/supervised/train_embedding.h"
#include "codec/model/model.h"
#include "formats/image.h"
#include "train/supervised/embedding_search.h"
#include "train/optimise/run.h"
#include "train/supervised/start_choice.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of the steps. */
typedef struct job {
    const train_embedding_choice *choice;
    const train_dataset *data;
    train_embedding_stage stage;
    train_pixels pixels;
    uint8_t *memory; /* of the pixels */
    train_embedding_report *report;
} job;

/* --- images --------------------------------------------------------------------------------- */

static void say_scaled(const job *j, codec_window w) {
    const train_embedding_callbacks *c = &j->stage.hooks->training;
    char words[96];
    snprintf(words, sizeof words, "images are scaled to %u x %u pixels", w.width, w.height);
    if (c->say) c->say(c->user, words);
}

/* The size to which images are scaled, or their own. */
static codec_window window_of(const job *j) {
    enum { MOST_WHOLE = 64, SCALED = 32 };
    const taper_image *first = &j->data->image[0];
    const uint32_t side = j->choice->side;
    const int is_small =
        j->data->one_size && first->width <= MOST_WHOLE && first->height <= MOST_WHOLE;
    if (side == TRAIN_EMBEDDING_WHOLE || (!side && is_small))
        return (codec_window){first->width, first->height, j->data->channels, NULL};
    const uint32_t to = side ? side : SCALED;
    return (codec_window){to, to, j->data->channels, NULL};
}

static taper_status check_images(const job *j, codec_window window, taper_error *error) {
    if (!j->data->label)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--objective learns from labels, and no image has one; put images into "
                            "a folder for each class, or give --labels FILE");
    if (j->choice->side == TRAIN_EMBEDDING_WHOLE && !j->data->one_size)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--window whole is for images of one size; these have several: leave "
                            "it out, and they are scaled");
    if (window.width > CODEC_MAX_WINDOW_SIDE || window.height > CODEC_MAX_WINDOW_SIDE ||
        codec_window_values(window) > CODEC_MAX_INPUTS)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "images of %u x %u with %u channel%s are too large for a whole window, of "
            "up to %d a side and %d values; leave --window whole out, and they are "
            "scaled",
            window.width, window.height, window.channels, formats_plural(window.channels, "s"),
            CODEC_MAX_WINDOW_SIDE, CODEC_MAX_INPUTS);
    return TAPER_OK;
}

static int has_size(const train_dataset *data, codec_window w) {
    return data->one_size && data->image[0].width == w.width && data->image[0].height == w.height;
}

static taper_status collect(job *j, codec_window window) {
    train_dataset scaled = {0};
    if (has_size(j->data, window))
        return train_collect_windows(j->data, window, TRAIN_PART_ALL, &j->pixels, &j->memory);
    say_scaled(j, window);
    taper_status status = train_dataset_scale(&scaled, j->data, window.width, window.height);
    if (status == TAPER_OK)
        status = train_collect_windows(&scaled, window, TRAIN_PART_ALL, &j->pixels, &j->memory);
    train_dataset_free(&scaled);
    return status;
}

static taper_status read_rows(job *j, taper_error *error) {
    const codec_window window = window_of(j);
    TAPER_TRY(check_images(j, window, error));
    j->report->window = j->stage.window = window;
    j->report->images = j->data->n;
    return train_explain(collect(j, window), error, "pixels of %zu images", j->data->n);
}

/* --- the model ------------------------------------------------------------------------------ */

static taper_status write_model(const job *j, taper_model *m, formats_buffer *out,
                                taper_error *error) {
    static const codec_weight_precision precision = {.linear_mse = 0.25};
    const train_embedding_choice *c = j->choice;
    const int student = c->training.objective.student;
    const size_t before = out->size;
    m->info.family = codec_model_embedding_family(m);
    snprintf(m->info.objective, sizeof m->info.objective, "%s", c->objective);
    m->info.alpha = student ? (float)j->report->learned.alpha : 0.0f;
    m->info.classes = (uint32_t)j->report->learned.classes;
    m->info.binary = (uint32_t)c->training.binary;
    TAPER_TRY(codec_model_write(m, &precision, out, error));
    j->report->units = m->network.units;
    j->report->model_bytes = out->size - before;
    return TAPER_OK;
}

/* The errors of held-out rows: wrong[held out], and by class. m NULL: by pixels. */
static taper_status judge_classes(job *j, const taper_model *m, const train_embedding_rows *rows,
                                  taper_error_rate *rate, train_class_tally *tally,
                                  taper_error *error) {
    uint8_t *wrong = malloc(rows->n - rows->n_training);
    taper_status status = train_explain(wrong ? TAPER_OK : TAPER_ERR_NOMEM, error, "errors");
    if (status == TAPER_OK) status = train_class_tally_open(tally, rows->classes, error);
    if (status == TAPER_OK)
        status =
            train_embedding_judge(&j->stage, m, 0, rows, &j->choice->training, wrong, rate, error);
    if (status == TAPER_OK) train_embedding_tally(rows, j->pixels.label, wrong, tally);
    free(wrong);
    return status;
}

/* The error of nearest neighbours by pixels, the baseline of every embedding, on as many held-out
 * images as take some seconds. It is skipped if the pixels, as floats, need much memory. */
static taper_status measure_pixels(job *j, const train_embedding_rows *rows, taper_error *error) {
    const uint64_t most_products = 20000000000u, most_numbers = 64000000;
    const uint64_t per_query = (uint64_t)rows->n_training * j->pixels.inputs;
    const uint64_t queries = rows->n - rows->n_training;
    train_embedding_report *r = j->report;
    train_embedding_rows judged = *rows;
    train_class_tally tally = {0};
    if (!per_query || per_query > most_numbers) return TAPER_OK;
    judged.n = rows->n_training + formats_smaller(queries, most_products / per_query);
    const taper_status status = judge_classes(j, NULL, &judged, &r->pixels, &tally, error);
    const int balanced = j->choice->training.balanced;
    r->pixels_judged = balanced ? train_class_tally_mean(&tally) : r->pixels.rate;
    r->judged = balanced ? train_class_tally_mean(&r->held_out_classes) : r->held_out.rate;
    train_class_tally_free(&tally);
    if (status != TAPER_ERR_NOMEM) return status;
    r->pixels =
        (taper_error_rate){.size = sizeof(taper_error_rate)}; /* the model does not depend on it */
    return TAPER_OK;
}

/* Errors of the stored model on held-out images: with all units, and with prefixes. */
static taper_status measure(job *j, const train_embedding_choice *c, const taper_model *m,
                            taper_error *error) {
    const train_prefix_list *nested = &c->training.prefixes;
    train_embedding_report *r = j->report;
    train_embedding_rows rows = {0};
    taper_status status = train_embedding_rows_take(&rows, &c->training, &j->pixels, error);
    const int any = status == TAPER_OK && rows.n > rows.n_training;
    if (any) status = judge_classes(j, m, &rows, &r->held_out, &r->held_out_classes, error);
    if (any && status == TAPER_OK && !r->found.trials) status = measure_pixels(j, &rows, error);
    for (uint32_t i = 0; any && i < nested->lengths && status == TAPER_OK; i++)
        status = train_embedding_judge(&j->stage, m, nested->length[i], &rows, &c->training, NULL,
                                       &r->prefix[i], error);
    r->k = (uint32_t)formats_smaller(c->training.k, rows.n_training);
    train_embedding_rows_free(&rows);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------ */

static taper_status learn(job *j, taper_model *m, taper_error *error) {
    train_embedding_found *f = &j->report->found;
    const train_embedding_choice *c = j->choice;
    if (c->minutes > 0.0) {
        TAPER_TRY(train_embedding_search(&j->stage, c->minutes, c, f, error));
        j->choice = &f->choice;
    } else if (c->compares_starts)
        j->stage.choose_start = train_start_choose;
    TAPER_TRY(
        train_embedding_learn(&j->stage, j->choice, &j->pixels, m, &j->report->learned, error));
    j->report->pretraining_seconds = j->stage.pretraining_seconds;
    j->report->start = j->stage.start;
    return TAPER_OK;
}

taper_status train_embedding_model(const train_embedding_choice *choice, const train_dataset *data,
                                   codec_backend *be, train_device *device,
                                   const train_embedding_hooks *hooks, formats_buffer *out,
                                   train_embedding_report *report, taper_error *error) {
    static const train_embedding_hooks none;
    *report = (train_embedding_report){0};
    job j = {.choice = choice, .data = data, .report = report};
    j.stage = (train_embedding_stage){
        .be = be, .device = device, .hooks = hooks ? hooks : &none, .pixels = &j.pixels};
    taper_model *m = calloc(1, sizeof *m);
    taper_status status = train_explain(m ? TAPER_OK : TAPER_ERR_NOMEM, error, "a model");
    if (status == TAPER_OK) status = read_rows(&j, error);
    if (status == TAPER_OK) status = learn(&j, m, error);
    if (status == TAPER_OK) status = write_model(&j, m, out, error);
    if (status == TAPER_OK) status = measure(&j, j.choice, m, error);
    train_gradient_rows_free(&j.stage.gradients);
    taper_model_free(m);
    free(j.memory);
    return status;
}

void train_embedding_report_free(train_embedding_report *r) {
    train_class_tally_free(&r->held_out_classes);
    train_class_tally_free(&r->found.expected_classes);
}

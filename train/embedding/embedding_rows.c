/* embedding_rows.c -- see embedding_rows.h. */
#include "train/embedding/embedding_rows.h"
#include "formats/bytes.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 1 << 24 }; /* as taper_votes has */

static taper_status list_labelled(train_embedding_rows *r, const train_pixels *data,
                                  taper_error *error) {
    if (!data->label || data->n > UINT32_MAX)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "no image has a label; put images into a folder for each class, or give "
            "--labels FILE");
    r->all = malloc((data->n ? data->n : 1) * sizeof *r->all);
    r->shuffled = malloc((data->n ? data->n : 1) * sizeof *r->shuffled);
    if (!r->all || !r->shuffled)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to order %zu rows", data->n);
    for (size_t i = 0; i < data->n; i++) {
        const uint32_t label = data->label[i];
        if (label == TRAIN_UNLABELLED) continue;
        if (label >= MOST_CLASSES)
            return formats_fail(error, TAPER_ERR_ARG, "label %u is above %d", (unsigned)label,
                                MOST_CLASSES - 1);
        r->all[r->n++] = (uint32_t)i;
        if (label >= r->classes) r->classes = label + 1;
    }
    return TAPER_OK;
}

static taper_status check_classes(const train_embedding_rows *r, taper_error *error) {
    if (!r->n)
        return formats_fail(error, TAPER_ERR_ARG,
                            "no image has a label; put images into a folder for each class, or "
                            "give --labels FILE");
    if (r->met < 2)
        return formats_fail(error, TAPER_ERR_ARG,
                            "all labelled images are of one class; an embedding needs two or more "
                            "to tell apart");
    if (r->learned < 2)
        return formats_fail(error, TAPER_ERR_ARG,
                            "all labelled images but some that are held out are of one class; "
                            "label more, or hold fewer out");
    if (r->lonely < r->learned) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "every class has one labelled image alone, none of which finds a neighbour "
                        "of its own; label more");
}

static taper_status count_classes(train_embedding_rows *r, const train_pixels *data,
                                  taper_error *error) {
    uint32_t *members = calloc(r->classes ? r->classes : 1, sizeof *members);
    if (!members)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u classes", r->classes);
    for (size_t i = 0; i < r->n_training; i++) members[data->label[r->all[i]]]++;
    for (uint32_t c = 0; c < r->classes; c++) {
        r->learned += members[c] > 0;
        r->lonely += members[c] == 1;
    }
    for (size_t i = r->n_training; i < r->n; i++) members[data->label[r->all[i]]]++;
    for (uint32_t c = 0; c < r->classes; c++) r->met += members[c] > 0;
    free(members);
    return check_classes(r, error);
}

/* Images that are all the same have codes that are, whatever is learned. */
static taper_status check_pixels(const train_embedding_rows *r, const train_pixels *data,
                                 taper_error *error) {
    const size_t d = data->inputs;
    for (size_t i = 1; i < r->n_training; i++)
        if (memcmp(data->pixels + r->all[i] * d, data->pixels + r->all[0] * d, d) != 0)
            return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "all labelled images are the same");
}

/* Held out: no more than leaves a batch's worth of rows to learn from. */
static size_t held_out(const train_embedding_options *o, size_t n) {
    const size_t wanted = (size_t)((double)n * (double)o->validation_fraction + 0.5);
    return wanted < n ? wanted : n - 1;
}

size_t train_embedding_batches(const train_embedding_options *o, size_t rows) {
    enum { LEAST = 250, MOST = 5000, PARTS = 8 };
    const size_t batch =
        o->batch ? o->batch : formats_smaller(formats_larger(rows / PARTS, LEAST), MOST);
    return formats_larger(rows / batch, 1);
}

taper_status train_embedding_rows_take(train_embedding_rows *r, const train_embedding_options *o,
                                       const train_pixels *data, taper_error *error) {
    TAPER_TRY(list_labelled(r, data, error));
    train_shuffle(r->all, r->n, o->seed, TRAIN_STREAM_SPLIT);
    r->n_training = r->n ? r->n - held_out(o, r->n) : 0;
    TAPER_TRY(count_classes(r, data, error));
    TAPER_TRY(check_pixels(r, data, error));
    r->batches = train_embedding_batches(o, r->n_training);
    return TAPER_OK;
}

void train_embedding_rows_free(train_embedding_rows *r) {
    free(r->all), free(r->shuffled);
    memset(r, 0, sizeof *r);
}

void train_embedding_rows_shuffle(train_embedding_rows *r, uint64_t seed, uint64_t epoch) {
    memcpy(r->shuffled, r->all, r->n_training * sizeof *r->shuffled);
    train_shuffle(r->shuffled, r->n_training, seed, TRAIN_STREAM_SHUFFLE + (epoch << 8));
}

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
    if (!r->all)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to order %zu rows", data->n);
    for (size_t i = 0; i < data->n; i++) {
        const uint32_t label = data->label[i];
        if (label == TRAIN_UNLABELLED || (data->guessed && data->guessed[i])) continue;
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
    if (r->distinct < 2)
        return formats_fail(error, TAPER_ERR_ARG,
                            "all labelled images are of one class; an embedding needs two or more "
                            "to tell apart");
    if (r->learned < 2)
        return formats_fail(error, TAPER_ERR_ARG,
                            "all labelled images for training are of one class; "
                            "label more, or hold fewer out");
    if (r->singletons < r->learned) return TAPER_OK;
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
        r->singletons += members[c] == 1;
    }
    for (size_t i = r->n_training; i < r->n; i++) members[data->label[r->all[i]]]++;
    for (uint32_t c = 0; c < r->classes; c++) r->distinct += members[c] > 0;
    free(members);
    return check_classes(r, error);
}

/* *differ: 1 if some of the training rows that are here differ. *hash: of the last of them. */
static void compare_own(const train_embedding_rows *r, const train_pixels *data, uint64_t *differ,
                        uint64_t *hash) {
    const size_t d = data->inputs;
    const uint8_t *first = NULL;
    for (size_t i = 0; i < r->n_training && !*differ; i++) {
        const uint32_t place = data->place ? data->place[r->all[i]] : r->all[i];
        if (place == TRAIN_ABSENT) continue;
        const uint8_t *row = data->pixels + place * d;
        if (!first) first = row;
        *differ = memcmp(row, first, d) != 0;
    }
    if (first) *hash = (uint64_t)formats_crc32c(0, first, d) + 1;
}

/* Whether those of different ranks differ. */
static taper_status compare_ranks(train_ranks *ranks, uint64_t *differ, uint64_t hash,
                                  taper_error *error) {
    uint64_t *all = calloc(ranks->size, sizeof *all), some = 0;
    if (!all) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u ranks", ranks->size);
    taper_status status = train_gather(ranks, &hash, all, sizeof *all, error);
    if (status == TAPER_OK) status = train_sum_integers(ranks, differ, 1, error);
    for (uint32_t i = 0; i < ranks->size && status == TAPER_OK; i++) {
        if (all[i] && some && all[i] != some) *differ = 1;
        if (all[i]) some = all[i];
    }
    free(all);
    return status;
}

/* Checks that images differ: codes of equal images are equal, whatever is learned. */
static taper_status check_pixels(const train_embedding_rows *r, const train_pixels *data,
                                 taper_error *error) {
    uint64_t differ = 0, hash = 0;
    compare_own(r, data, &differ, &hash);
    if (data->ranks) TAPER_TRY(compare_ranks(data->ranks, &differ, hash, error));
    if (differ) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "all labelled images are the same");
}

/* Number of held-out rows, limited so that a batch of training rows remains. */
static size_t held_out(const train_embedding_options *o, size_t n) {
    const size_t wanted = (size_t)((double)n * (double)o->validation_fraction + 0.5);
    return wanted < n ? wanted : n - 1;
}

/* Orders rows: training rows with known labels, then those with guesses, then held-out ones. */
static void split(train_embedding_rows *r, const train_embedding_options *o,
                  const train_pixels *data) {
    train_shuffle(r->all, r->n, o->seed, TRAIN_STREAM_SPLIT);
    const size_t held = r->n ? held_out(o, r->n) : 0, known = r->n - held;
    size_t at = known;
    for (size_t i = 0; i < data->n && data->guessed; i++) r->guesses += data->guessed[i];
    memmove(r->all + known + r->guesses, r->all + known, held * sizeof *r->all);
    for (size_t i = 0; i < data->n && data->guessed; i++)
        if (data->guessed[i]) r->all[at++] = (uint32_t)i;
    r->n_training = known + r->guesses, r->n += r->guesses;
}

size_t train_embedding_batches(const train_embedding_options *o, size_t rows) {
    enum { LEAST = 250, PARTS = 8 };
    const size_t batch =
        o->batch ? o->batch : formats_smaller(formats_larger(rows / PARTS, LEAST), o->most_batch);
    return formats_larger(rows / batch, 1);
}

/* Lists unlabelled rows. If they fill more batches than the labelled rows, an epoch has as many
 * batches as they fill. */
static taper_status list_others(train_embedding_rows *r, const train_embedding_options *o,
                                const train_pixels *data, taper_error *error) {
    enum { LEAST = 250, MOST = 1000, PARTS = 50 };
    if (!(o->reconstruct > 0.0)) return TAPER_OK;
    r->others = malloc(data->n * sizeof *r->others);
    if (!r->others)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to order %zu rows", data->n);
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] == TRAIN_UNLABELLED) r->others[r->n_others++] = (uint32_t)i;
    const size_t own = formats_smaller(formats_larger(r->n_others / PARTS, LEAST), MOST);
    r->batches = formats_larger(r->batches, r->n_others / (o->batch ? o->batch : own));
    return TAPER_OK;
}

taper_status train_embedding_rows_take(train_embedding_rows *r, const train_embedding_options *o,
                                       const train_pixels *data, taper_error *error) {
    TAPER_TRY(list_labelled(r, data, error));
    split(r, o, data);
    TAPER_TRY(count_classes(r, data, error));
    TAPER_TRY(check_pixels(r, data, error));
    r->labelled_batches = r->batches = train_embedding_batches(o, r->n_training);
    TAPER_TRY(list_others(r, o, data, error));
    r->epoch_rows = 0;
    for (size_t i = 0, first, labelled; i < r->batches; i++)
        r->epoch_rows += train_embedding_batch(r, i, &first, &labelled);
    r->shuffled = malloc(formats_larger(r->epoch_rows, 1) * sizeof *r->shuffled);
    if (r->shuffled) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to order %zu rows", r->epoch_rows);
}

taper_status train_embedding_known(const train_embedding_options *o, const train_pixels *data,
                                   uint32_t *label, uint32_t *classes, taper_error *error) {
    train_embedding_rows rows = {0};
    taper_status status = train_embedding_rows_take(&rows, o, data, error);
    for (size_t i = 0; i < data->n && status == TAPER_OK; i++) label[i] = TRAIN_UNLABELLED;
    for (size_t i = 0; i < rows.n_training && status == TAPER_OK; i++)
        label[rows.all[i]] = data->label[rows.all[i]];
    *classes = rows.classes;
    train_embedding_rows_free(&rows);
    return status;
}

void train_embedding_rows_free(train_embedding_rows *r) {
    free(r->all), free(r->others), free(r->shuffled);
    memset(r, 0, sizeof *r);
}

/* The first element of part i of `parts` equal parts of n elements. */
static size_t part_of(size_t n, size_t i, size_t parts) { return n * i / parts; }

/* The number of labelled rows in batch i; *from: the first in a shuffled list of them. */
static size_t labelled_of(const train_embedding_rows *r, size_t i, size_t *from) {
    const size_t part = i % r->labelled_batches;
    *from = part_of(r->n_training, part, r->labelled_batches);
    return part_of(r->n_training, part + 1, r->labelled_batches) - *from;
}

size_t train_embedding_batch(const train_embedding_rows *r, size_t i, size_t *first,
                             size_t *labelled) {
    const size_t rounds = i / r->labelled_batches, begin = part_of(r->n_others, i, r->batches);
    size_t from;
    *labelled = labelled_of(r, i, &from);
    *first = rounds * r->n_training + from + begin;
    return *labelled + part_of(r->n_others, i + 1, r->batches) - begin;
}

size_t train_embedding_largest_batch(const train_embedding_rows *r) {
    size_t most = 0, first, labelled;
    for (size_t i = 0; i < r->batches; i++)
        most = formats_larger(most, train_embedding_batch(r, i, &first, &labelled));
    return most;
}

/* Labelled and unlabelled rows are shuffled separately and then distributed to the batches. */
taper_status train_embedding_rows_shuffle(train_embedding_rows *r, uint64_t seed, uint64_t epoch) {
    const uint64_t stream = TRAIN_STREAM_SHUFFLE + (epoch << 8);
    if (!r->n_others) {
        memcpy(r->shuffled, r->all, r->n_training * sizeof *r->shuffled);
        train_shuffle(r->shuffled, r->n_training, seed, stream);
        return TAPER_OK;
    }
    const size_t n = r->n_training + r->n_others;
    uint32_t *list = malloc(n * sizeof *list), *others = list + r->n_training;
    if (!list) return TAPER_ERR_NOMEM;
    memcpy(list, r->all, r->n_training * sizeof *list);
    memcpy(others, r->others, r->n_others * sizeof *list);
    train_shuffle(list, r->n_training, seed, stream);
    train_shuffle(others, r->n_others, seed + 1, stream);
    for (size_t i = 0, first, labelled, from; i < r->batches; i++) {
        const size_t rows = train_embedding_batch(r, i, &first, &labelled);
        const size_t begin = part_of(r->n_others, i, r->batches);
        uint32_t *to = r->shuffled + first;
        labelled_of(r, i, &from);
        memcpy(to, list + from, labelled * sizeof *to);
        memcpy(to + labelled, others + begin, (rows - labelled) * sizeof *to);
    }
    free(list);
    return TAPER_OK;
}

/* embedding_errors.c -- see embedding_errors.h. */
#include "train/embedding/embedding_errors.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdlib.h>

/* Computes codes of the rows that are here. */
static taper_status take_own_codes(const train_embedding_look *l, float *code) {
    train_embedder *e = l->embedder;
    const size_t here = train_own_count(l->own, 0);
    train_fed fed;
    e->noisy = 0;
    for (size_t i = 0; i < here; i += e->batch) {
        const size_t left = here - i, n = left < e->batch ? left : e->batch;
        TAPER_TRY(train_feed_take(l->feed, &e->stream, l->order, i, n, &fed));
        TAPER_TRY(train_embedder_load(e, fed.rows, fed.order, NULL, NULL, n));
        TAPER_TRY(train_embedder_forward(e));
        if (e->class_code != e->code)
            TAPER_TRY(e->stream.ops->copy_columns(&e->stream, n, e->class_units, e->code, e->units,
                                                  e->class_code, e->class_units));
        TAPER_TRY(train_download(&e->stream, code + i * e->class_units, e->class_code,
                                 n * e->class_units * sizeof *code));
    }
    return TAPER_OK;
}

/* Codes of all rows, in the order of rows->all. */
static taper_status take_codes(const train_embedding_look *l, float *code) {
    const size_t units = l->embedder->class_units, n = l->rows->n;
    TAPER_TRY(take_own_codes(l, code));
    if (!l->embedder->ranks) return TAPER_OK;
    train_spread_rows(code, units * sizeof *code, l->own->position, train_own_count(l->own, 0), n);
    return train_sum_floats(l->embedder->ranks, code, n * units, NULL);
}

/* The neighbours found, and the votes. */
typedef struct vote_arrays {
    uint32_t *neighbours; /* [held out][k] */
    double *distances;    /* likewise */
    int32_t *label;       /* [n] of rows->all */
    int32_t *voted;       /* [held out] */
    double *weight;       /* [classes] of votes; NULL: equal */
} vote_arrays;

/* The inverse of the number of training rows of each class; 1 for classes without any. */
static void weigh_classes(const train_embedding_codes *c, double *weight) {
    const train_embedding_rows *r = c->rows;
    for (uint32_t k = 0; k < r->classes; k++) weight[k] = 0.0;
    for (size_t i = 0; i < r->n_training; i++) weight[c->label[r->all[i]]]++;
    for (uint32_t k = 0; k < r->classes; k++) weight[k] = weight[k] > 0.0 ? 1.0 / weight[k] : 1.0;
}

static taper_status count_votes(const train_embedding_codes *c, const vote_arrays *b, size_t k,
                                taper_error_rate *rate, taper_error *error) {
    const train_embedding_rows *r = c->rows;
    const size_t queries = r->n - r->n_training;
    const taper_search search = {.size = sizeof(taper_search),
                                 .references = c->code,
                                 .n_references = r->n_training,
                                 .queries = c->code + r->n_training * c->units,
                                 .n_queries = queries,
                                 .width = c->units,
                                 .k = k,
                                 .threads = c->threads};
    const taper_votes votes = {sizeof(taper_votes), b->neighbours, queries,  k, k, b->label,
                               r->n_training,       r->classes,    b->weight};
    for (size_t i = 0; i < r->n; i++) b->label[i] = (int32_t)c->label[r->all[i]];
    if (b->weight) weigh_classes(c, b->weight);
    TAPER_TRY(taper_nearest(&search, b->neighbours, b->distances, error));
    TAPER_TRY(taper_vote(&votes, b->voted, error));
    for (size_t i = 0; i < queries && c->wrong; i++)
        c->wrong[i] = b->voted[i] != b->label[r->n_training + i];
    return taper_count_errors(b->voted, b->label + r->n_training, queries, r->classes, NULL, rate,
                              error);
}

taper_status train_embedding_vote(const train_embedding_codes *c, taper_error_rate *rate,
                                  taper_error *error) {
    const train_embedding_rows *r = c->rows;
    const size_t queries = r->n - r->n_training, k = c->k < r->n_training ? c->k : r->n_training;
    *rate = (taper_error_rate){.size = sizeof(taper_error_rate)};
    if (!queries) return TAPER_OK;
    vote_arrays b = {malloc(queries * k * sizeof *b.neighbours),
                     malloc(queries * k * sizeof *b.distances), malloc(r->n * sizeof *b.label),
                     malloc(queries * sizeof *b.voted),
                     c->balanced ? malloc(r->classes * sizeof *b.weight) : NULL};
    const int there =
        b.neighbours && b.distances && b.label && b.voted && (b.weight || !c->balanced);
    taper_status status =
        train_explain(there ? TAPER_OK : TAPER_ERR_NOMEM, error, "neighbours of held-out rows");
    if (status == TAPER_OK) status = count_votes(c, &b, k, rate, error);
    free(b.neighbours), free(b.distances), free(b.label), free(b.voted), free(b.weight);
    return status;
}

void train_embedding_tally(const train_embedding_rows *r, const uint32_t *label,
                           const uint8_t *wrong, train_class_tally *tally) {
    const uint32_t *row = &r->all[r->n_training];
    for (size_t i = 0; i < r->n - r->n_training; i++)
        train_class_tally_add(tally, label[row[i]], wrong[i]);
}

/* The error rate, or its mean over classes. */
static taper_status rate_codes(train_embedding_codes *c, double *rate, taper_error *error) {
    const train_embedding_rows *r = c->rows;
    const size_t held = r->n - r->n_training;
    taper_error_rate counted = {.size = sizeof(taper_error_rate)};
    train_class_tally tally = {0};
    if (c->balanced) {
        c->wrong = malloc(held);
        TAPER_TRY(train_explain(c->wrong ? TAPER_OK : TAPER_ERR_NOMEM, error, "errors"));
    }
    taper_status status = train_embedding_vote(c, &counted, error);
    if (status == TAPER_OK && c->balanced)
        status = train_class_tally_open(&tally, r->classes, error);
    if (status == TAPER_OK) *rate = counted.rate;
    if (status == TAPER_OK && c->balanced) {
        train_embedding_tally(r, c->label, c->wrong, &tally);
        *rate = train_class_tally_mean(&tally);
    }
    train_class_tally_free(&tally);
    free(c->wrong);
    return status;
}

taper_status train_embedding_error(const train_embedding_look *l, double *rate,
                                   taper_error *error) {
    const train_embedding_rows *r = l->rows;
    const size_t units = l->embedder->class_units;
    *rate = NAN;
    if (r->n == r->n_training) return TAPER_OK;
    float *code = malloc(r->n * units * sizeof *code);
    taper_status status =
        train_explain(code ? TAPER_OK : TAPER_ERR_NOMEM, error, "codes of %zu rows", r->n);
    if (status == TAPER_OK)
        status = train_explain(take_codes(l, code), error, "codes of held-out rows were not made");
    train_embedding_codes codes = {code, units, r, l->label, l->k, l->threads, NULL, l->balanced};
    if (status == TAPER_OK) status = rate_codes(&codes, rate, error);
    free(code);
    return status;
}

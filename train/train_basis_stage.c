/* train_basis_stage.c -- the linear transform of a model, from all windows of the training part:
 * principal components, then a rotation (sparse_basis.h). See train_parts.h. */
#include "train/linear/pca.h"
#include "train/linear/sparse_basis.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>
#include <string.h>

/* An evenly spaced sample of all windows, for the rotation. */
typedef struct sample {
    float *row; /* [most][values]; NULL: none are wanted */
    size_t n, most, seen, total;
} sample;

/* Adds the rows that are due; rows NULL: another rank has these. */
static void add_to_sample(sample *s, const float *rows, size_t n, size_t values) {
    for (size_t i = 0; i < n && s->row; i++, s->seen++) {
        int due = (double)s->n * (double)s->total <= (double)s->seen * (double)s->most;
        if (!due || s->n == s->most) continue;
        if (rows) memcpy(s->row + s->n * values, rows + i * values, values * sizeof *s->row);
        s->n++;
    }
}

/* --- one pass over the images -------------------------------------------------------------- */

enum { BLOCK_WINDOWS = 4096 }; /* approximate */

typedef struct pass {
    const taper_model *model;
    const train_job *job;
    const train_selection *part;
    size_t images; /* of a block, at most */
    float *rows;   /* a block */
    train_covariance *covariance;
    sample *sample;
} pass;

static uint32_t group_of(const pass *p, size_t i) {
    const train_dataset *data = p->job->data;
    return data->group ? data->group[p->part->image[i]] : 0;
}

/* Images of the block that begins with image i, which is here. Windows that overlap are no
 * integers: their sums are exact by rounding those of a block, which then has images of one group
 * only, as with any number of ranks. */
static size_t block_at(const pass *p, size_t i, size_t *windows) {
    size_t n = train_run_here(p->job->data, p->part, i, p->images, windows);
    if (!p->model->window.lap) return n;
    size_t same = 1;
    while (same < n && group_of(p, i + same) == group_of(p, i)) same++;
    return train_run_here(p->job->data, p->part, i, same, windows);
}

/* The first group of images, or its beginning, gives all ranks the guess of the mean. */
static taper_status guess_mean(const pass *p, taper_error *error) {
    const train_job *j = p->job;
    const uint32_t owner = train_owner(j->data, p->part->image[0]);
    train_covariance *cov = p->covariance;
    size_t n = 1, windows;
    while (n < p->part->n && n < p->images && group_of(p, n) == group_of(p, 0)) n++;
    if (train_is_here(j->data, p->part->image[0])) {
        windows = train_read_windows(j->data, p->part, p->model->window, 0, n, p->rows);
        train_covariance_guess(cov, p->rows, windows);
    }
    cov->guessed = 1;
    return train_broadcast(j->data->ranks, cov->guess, cov->inputs * sizeof *cov->guess, owner,
                           error);
}

static taper_status add_images(const pass *p) {
    const train_job *j = p->job;
    const train_selection *part = p->part;
    const size_t values = p->model->network.inputs;
    for (size_t i = 0, n; i < part->n; i += n) {
        size_t windows = (size_t)part->grid[i].columns * part->grid[i].rows;
        if (!train_is_here(j->data, part->image[i])) {
            add_to_sample(p->sample, NULL, windows, values);
            n = 1;
            continue;
        }
        n = block_at(p, i, &windows);
        train_read_windows(j->data, part, p->model->window, i, n, p->rows);
        add_to_sample(p->sample, p->rows, windows, values);
        TAPER_TRY(train_covariance_add(p->covariance, p->rows, windows));
        train_say(j, "covariance", (double)(i + 1) / (double)part->n);
    }
    return TAPER_OK;
}

/* One pass over the images: their covariance, and the sample. */
static taper_status read_windows(pass *p, taper_error *error) {
    train_ranks *ranks = p->job->data->ranks;
    const size_t most = p->part->largest, values = p->model->network.inputs;
    p->images = most < BLOCK_WINDOWS ? BLOCK_WINDOWS / most : 1;
    p->rows = malloc(p->images * most * values * sizeof *p->rows);
    if (!p->rows) return TAPER_ERR_NOMEM;
    if (p->model->window.lap) train_covariance_make_exact(p->covariance, p->part->windows);
    taper_status status = guess_mean(p, error);
    if (status == TAPER_OK) status = add_images(p);
    free(p->rows);
    if (status == TAPER_OK) status = train_covariance_sum(p->covariance, ranks, error);
    if (status == TAPER_OK && p->sample->row)
        status = train_sum_floats(ranks, p->sample->row, p->sample->n * values, error);
    return status;
}

/* --- the transform ------------------------------------------------------------------------ */

static void say_step(void *user, double part) {
    train_say(*(const train_job **)user, "sparse basis", part);
}

static taper_status rotate(taper_model *m, const train_job *j, const sample *s,
                           taper_error *error) {
    float *codes = malloc(s->n * m->network.units * sizeof *codes + 1);
    taper_status status = codes ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = codec_network_encode(&m->network, j->be, s->row, s->n, codes);
    if (status == TAPER_OK)
        status = train_sparse_basis(&m->network, j->be, codes, s->n, say_step, &j, error);
    free(codes);
    return status;
}

/* On the first rank, while the others wait for the result. */
static taper_status solve(taper_model *m, const train_job *j, train_covariance *cov,
                          const sample *s, taper_error *error) {
    train_say(j, "eigenvectors", -1);
    TAPER_TRY(train_pca_solve(cov, &m->network, NULL, error));
    return s->row ? rotate(m, j, s, error) : TAPER_OK;
}

static taper_status share_network(codec_network *net, train_ranks *ranks, taper_error *error) {
    TAPER_TRY(train_broadcast(ranks, net->mean, net->inputs * sizeof *net->mean, 0, error));
    return train_broadcast(ranks, net->synthesis,
                           (size_t)net->units * net->inputs * sizeof *net->synthesis, 0, error);
}

static taper_status fit(taper_model *m, int sparse, const train_job *j, const train_selection *part,
                        taper_error *error) {
    train_covariance cov;
    sample s = {.total = part->windows, .most = TRAIN_SPARSE_MOST_VALUES / m->network.inputs};
    pass all = {.model = m, .job = j, .part = part, .covariance = &cov, .sample = &s};
    if (s.most > TRAIN_SPARSE_MOST_ROWS) s.most = TRAIN_SPARSE_MOST_ROWS;
    if (s.most > s.total) s.most = s.total;
    if (sparse && train_sparse_is_possible(m->network.units, s.most)) {
        s.row = calloc(s.most * m->network.inputs, sizeof *s.row);
        if (!s.row) return TAPER_ERR_NOMEM;
    }
    taper_status status = train_covariance_alloc(&cov, j->device, m->network.inputs);
    if (status == TAPER_OK) status = read_windows(&all, error);
    if (status == TAPER_OK && train_is_first(j->data->ranks)) status = solve(m, j, &cov, &s, error);
    train_covariance_free(&cov);
    if (status == TAPER_OK) status = share_network(&m->network, j->data->ranks, error);
    free(s.row);
    return status;
}

taper_status train_fit_basis(taper_model *m, const train_job *j, taper_error *error) {
    train_selection part;
    int sparse = j->options.basis == TRAIN_BASIS_SPARSE;
    taper_status status =
        train_select(&part, j->data, m->window, TRAIN_PART_TRAINING, SIZE_MAX / 2);
    if (status == TAPER_OK) {
        status = fit(m, sparse, j, &part, error);
        train_selection_free(&part);
    }
    if (status == TAPER_ERR_NOMEM && !(error && error->status == status))
        formats_fail(error, status,
                     "no memory for the transform of %u values; use a smaller --window",
                     m->network.inputs);
    return status;
}

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

static void add_to_sample(sample *s, const float *rows, size_t n, size_t values) {
    for (size_t i = 0; i < n && s->row; i++, s->seen++) {
        int due = (double)s->n * (double)s->total <= (double)s->seen * (double)s->most;
        if (!due || s->n == s->most) continue;
        memcpy(s->row + s->n++ * values, rows + i * values, values * sizeof *s->row);
    }
}

/* One pass over the images: their covariance, and the sample. */
static taper_status read_windows(const taper_model *m, const train_job *j,
                                 const train_selection *part, train_covariance *cov, sample *s) {
    enum { BLOCK_WINDOWS = 4096 }; /* approximate */
    size_t most = part->largest, images = most < BLOCK_WINDOWS ? BLOCK_WINDOWS / most : 1;
    float *rows = malloc(images * most * m->network.inputs * sizeof *rows);
    taper_status status = rows ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < part->n && status == TAPER_OK; i += images) {
        size_t n = train_read_windows(j->data, part, m->window, i, images, rows);
        add_to_sample(s, rows, n, m->network.inputs);
        status = train_covariance_add(cov, rows, n);
        train_say(j, "covariance", (double)(i + 1) / (double)part->n);
    }
    free(rows);
    return status;
}

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

static taper_status fit(taper_model *m, int sparse, const train_job *j, const train_selection *part,
                        taper_error *error) {
    train_covariance cov;
    sample s = {.total = part->windows, .most = TRAIN_SPARSE_MOST_VALUES / m->network.inputs};
    if (s.most > TRAIN_SPARSE_MOST_ROWS) s.most = TRAIN_SPARSE_MOST_ROWS;
    if (s.most > s.total) s.most = s.total;
    if (sparse && train_sparse_is_possible(m->network.units, s.most)) {
        s.row = malloc(s.most * m->network.inputs * sizeof *s.row);
        if (!s.row) return TAPER_ERR_NOMEM;
    }
    taper_status status = train_covariance_alloc(&cov, j->device, m->network.inputs);
    if (status == TAPER_OK) status = read_windows(m, j, part, &cov, &s);
    train_say(j, "eigenvectors", -1);
    if (status == TAPER_OK) status = train_pca_solve(&cov, &m->network, NULL, error);
    train_covariance_free(&cov);
    if (status == TAPER_OK && s.row) status = rotate(m, j, &s, error);
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

/* train_basis_stage.c -- the linear transform of a model, from all windows of the training part:
 * principal components, then turned (sparse_basis.h). See train_parts.h. */
#include "train/linear/pca.h"
#include "train/linear/sparse_basis.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>
#include <string.h>

/* Windows kept for the turning: an even sample of them all. */
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

/* One reading of the images: their covariance, and the sample. */
static taper_status read_windows(const taper_model *m, const train_dataset *data,
                                 const train_selection *part, codec_backend *be,
                                 train_covariance *cov, sample *s, const train_hooks *hooks) {
    enum { BLOCK_WINDOWS = 4096 }; /* about */
    size_t most = 1;
    for (size_t i = 0; i < part->n; i++) {
        size_t windows = (size_t)part->grid[i].columns * part->grid[i].rows;
        most = windows > most ? windows : most;
    }
    size_t images = most < BLOCK_WINDOWS ? BLOCK_WINDOWS / most : 1;
    float *rows = malloc(images * most * m->network.inputs * sizeof *rows);
    taper_status status = rows ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < part->n && status == TAPER_OK; i += images) {
        size_t n = train_read_windows(data, part, m->window, i, images, rows);
        add_to_sample(s, rows, n, m->network.inputs);
        status = train_covariance_add(cov, be, rows, n);
        train_say(hooks, "covariance", (double)(i + 1) / (double)part->n);
    }
    free(rows);
    return status;
}

static void say_step(void *user, double part) { train_say(user, "sparse basis", part); }

static taper_status turn(taper_model *m, codec_backend *be, const sample *s,
                         const train_hooks *hooks, taper_error *error) {
    float *codes = malloc(s->n * m->network.units * sizeof *codes + 1);
    taper_status status = codes ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = codec_network_encode(&m->network, be, s->row, s->n, codes);
    if (status == TAPER_OK)
        status = train_sparse_basis(&m->network, be, codes, s->n, say_step, (void *)hooks,
                                    error);
    free(codes);
    return status;
}

static taper_status fit(taper_model *m, int sparse, const train_dataset *data,
                        const train_selection *part, codec_backend *be, const train_hooks *hooks,
                        taper_error *error) {
    train_covariance cov;
    sample s = {.total = part->windows, .most = TRAIN_SPARSE_MOST_VALUES / m->network.inputs};
    if (s.most > TRAIN_SPARSE_MOST_ROWS) s.most = TRAIN_SPARSE_MOST_ROWS;
    if (s.most > s.total) s.most = s.total;
    if (sparse && train_sparse_is_possible(m->network.units, s.most)) {
        s.row = malloc(s.most * m->network.inputs * sizeof *s.row);
        if (!s.row) return TAPER_ERR_NOMEM;
    }
    taper_status status = train_covariance_alloc(&cov, m->network.inputs);
    if (status == TAPER_OK) status = read_windows(m, data, part, be, &cov, &s, hooks);
    train_say(hooks, "eigenvectors", -1);
    if (status == TAPER_OK) status = train_pca_solve(&cov, &m->network, NULL, error);
    train_covariance_free(&cov);
    if (status == TAPER_OK && s.row) status = turn(m, be, &s, hooks, error);
    free(s.row);
    return status;
}

taper_status train_fit_basis(taper_model *m, const train_options *options,
                             const train_dataset *data, codec_backend *be, const train_hooks *hooks,
                             taper_error *error) {
    train_selection part;
    int sparse = options->basis == TRAIN_BASIS_SPARSE;
    taper_status status = train_select(&part, data, m->window, TRAIN_PART_TRAINING, SIZE_MAX / 2);
    if (status == TAPER_OK) {
        status = fit(m, sparse, data, &part, be, hooks, error);
        train_selection_free(&part);
    }
    if (status == TAPER_ERR_NOMEM && !(error && error->status == status))
        formats_fail(error, status,
                     "no memory for the transform of %u values; use a smaller --window",
                     m->network.inputs);
    return status;
}

/* pulls.c -- the gradient of losses of neighbours; see train/device/operations.h. */
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include "train/processor/neighbours.h"
#include <string.h>

typedef struct pulls_task {
    const train_neighbours *n;
    size_t first, rows; /* of pull */
    float *pull;
} pulls_task;

typedef struct pulled_row {
    train_share share;
    uint32_t label;
} pulled_row;

/* pull[wide] of one row for a chunk. loss and student are compile-time constants. */
CODEC_INLINE void pull_chunk(train_neighbour_loss loss, int student, const train_neighbours *n,
                             train_kernel k, const train_chunk *c, pulled_row row,
                             const float *square, float *pull) {
    const float factor = train_pull_factor(n), *norm = n->share + c->first, *other = norm + n->rows,
                *centre = other + n->rows;
    for (size_t j = 0; j < c->columns; j++) {
        const uint32_t label = c->label[j];
        const float d = square[j], log_kernel = train_log_kernel(student, k, d);
        const train_share column = {norm[j], other[j], centre[j]};
        const float m = train_pull_of(loss, row.share, log_kernel, label == row.label) +
                        train_pull_of(loss, column, log_kernel, label == row.label);
        const float p = factor * train_kernel_slope(student, k, d) * m;
        pull[j] = label != TRAIN_UNLABELLED ? p : 0.0f;
    }
}

#define PULLS(name, loss, student)                                                                 \
    CODEC_CLONES static void name(const train_neighbours *n, train_kernel k, const train_chunk *c, \
                                  pulled_row row, const float *square, float *pull) {              \
        pull_chunk(loss, student, n, k, c, row, square, pull);                                     \
    }
PULLS(pulls_gaussian_nca, TRAIN_NCA, 0)
PULLS(pulls_gaussian_log, TRAIN_LOG_NCA, 0)
PULLS(pulls_gaussian_mcml, TRAIN_MCML, 0)
PULLS(pulls_student_nca, TRAIN_NCA, 1)
PULLS(pulls_student_log, TRAIN_LOG_NCA, 1)
PULLS(pulls_student_mcml, TRAIN_MCML, 1)
typedef void pulls_fn(const train_neighbours *n, train_kernel k, const train_chunk *c,
                      pulled_row row, const float *square, float *pull);
static pulls_fn *const pulls_of[2][3] = {
    {pulls_gaussian_nca, pulls_gaussian_log, pulls_gaussian_mcml},
    {pulls_student_nca, pulls_student_log, pulls_student_mcml}};

/* The sum of pull x slope by alpha over a chunk. */
CODEC_CLONES static double sum_by_alpha(train_kernel k, const train_chunk *c, const float *square,
                                        const float *pull) {
    float sum[TRAIN_LANES] = {0};
    size_t j = 0;
    for (; j + TRAIN_LANES <= c->columns; j += TRAIN_LANES)
        for (size_t l = 0; l < TRAIN_LANES; l++)
            sum[l] += train_pull_by_alpha(k, square[j + l], pull[j + l]);
    for (size_t l = 0; j + l < c->columns; l++)
        sum[l] += train_pull_by_alpha(k, square[j + l], pull[j + l]);
    return train_sum_lanes(sum);
}

CODEC_CLONES static void add_hinge_pulls(float factor, const train_chunk *c, uint32_t own,
                                         const float *square, float *pull) {
    for (size_t j = 0; j < c->columns; j++) {
        const float h = factor * train_hinge(square[j]);
        pull[j] += c->label[j] != own && c->label[j] != TRAIN_UNLABELLED ? h : 0.0f;
    }
}

CODEC_CLONES static double sum_pulls(size_t columns, const float *pull) {
    float sum[TRAIN_LANES] = {0};
    size_t j = 0;
    for (; j + TRAIN_LANES <= columns; j += TRAIN_LANES)
        for (size_t l = 0; l < TRAIN_LANES; l++) sum[l] += pull[j + l];
    for (size_t l = 0; j + l < columns; l++) sum[l] += pull[j + l];
    return train_sum_lanes(sum);
}

/* One row and a chunk: its pulls, their sum, and their sum by alpha. */
static void pull_row(const train_neighbours *n, train_kernel k, train_chunk *c, size_t row,
                     const float *square, float *pull, double *sum, double *by_alpha) {
    const pulled_row own = {{n->share[row], n->share[n->rows + row], n->share[2 * n->rows + row]},
                            n->label[row]};
    const uint32_t hidden = train_chunk_hide(c, row);
    pulls_of[n->student][n->loss](n, k, c, own, square, pull);
    if (n->by_number) *by_alpha += sum_by_alpha(k, c, square, pull);
    if (n->hinge > 0.0) add_hinge_pulls(train_hinge_factor(n), c, own.label, square, pull);
    *sum += sum_pulls(c->columns, pull);
    train_chunk_show(c, row, hidden);
}

static void pull_at_once(const pulls_task *t, train_kernel k, size_t row, size_t at_once) {
    const train_neighbours *n = t->n;
    double sum[TRAIN_ROWS_AT_ONCE] = {0}, by_alpha[TRAIN_ROWS_AT_ONCE] = {0};
    float *pull = t->pull + (row - t->first) * n->rows;
    train_chunk c;
    for (size_t first = 0; first < n->rows; first += TRAIN_CHUNK) {
        train_chunk_begin(n, row, at_once, first, &c);
        for (size_t r = 0; r < at_once; r++) {
            float *to = pull + r * n->rows + first;
            if (n->label[row + r] == TRAIN_UNLABELLED)
                memset(to, 0, c.columns * sizeof *to);
            else
                pull_row(n, k, &c, row + r, c.square[r], to, &sum[r], &by_alpha[r]);
        }
    }
    for (size_t r = 0; r < at_once; r++) {
        pull[r * n->rows + row + r] = (float)-sum[r];
        if (n->by_number) n->by_number[row + r] = (float)by_alpha[r];
    }
}

static void pull_rows(void *context, size_t block) {
    const pulls_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    const train_kernel k = train_kernel_of(t->n);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i += TRAIN_ROWS_AT_ONCE)
        pull_at_once(t, k, t->first + i, formats_smaller(TRAIN_ROWS_AT_ONCE, end - i));
}

taper_status train_plain_neighbour_pulls(train_stream *s, const train_neighbours *n, size_t first,
                                         size_t rows, float *pull) {
    pulls_task task = {.n = n, .first = first, .rows = rows, .pull = pull};
    return train_processor_run(s, pull_rows, &task, train_row_blocks(rows));
}

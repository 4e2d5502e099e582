/* neighbours.c -- sums and losses of codes that select each other as neighbours; see neighbours.h
 * and train/device/operations.h. */
#include "train/processor/neighbours.h"
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <stdlib.h>
#include <string.h>

typedef float lanes __attribute__((vector_size(TRAIN_LANES * sizeof(float)))); /* gcc and clang */

/* --- distances ------------------------------------------------------------------------------ */

/* Squared distances of rows row .. row + at_once - 1 to the chunk's columns. `at_once` is a
 * compile-time constant. */
CODEC_INLINE void measure(size_t at_once, const train_neighbours *n, size_t row,
                          const train_chunk *c, float (*square)[TRAIN_CHUNK]) {
    const size_t units = n->units, stride = n->rows;
    const float *code = n->code + row * units, *column = n->across + c->first;
    size_t j = 0;
    for (; j + TRAIN_LANES <= c->columns; j += TRAIN_LANES, column += TRAIN_LANES) {
        lanes sum[TRAIN_ROWS_AT_ONCE] = {{0}};
        for (size_t k = 0; k < units; k++) {
            lanes x;
            memcpy(&x, column + k * stride, sizeof x);
#pragma GCC unroll 4
            for (size_t r = 0; r < at_once; r++) {
                const lanes e = code[r * units + k] - x;
                sum[r] += e * e;
            }
        }
#pragma GCC unroll 4
        for (size_t r = 0; r < at_once; r++) memcpy(square[r] + j, &sum[r], sizeof sum[r]);
    }
    for (size_t l = 0; j + l < c->wide; l++)
        for (size_t r = 0; r < at_once; r++) {
            float sum = 0.0f;
            for (size_t k = 0; k < units && j + l < c->columns; k++) {
                const float e = code[r * units + k] - column[k * stride + l];
                sum += e * e;
            }
            square[r][j + l] = sum;
        }
}

CODEC_CLONES void train_chunk_begin(const train_neighbours *n, size_t row, size_t at_once,
                                    size_t first, train_chunk *c) {
    c->first = first;
    c->columns = formats_smaller(TRAIN_CHUNK, n->rows - first);
    c->wide = (c->columns + TRAIN_LANES - 1) / TRAIN_LANES * TRAIN_LANES;
    memcpy(c->label, n->label + first, c->columns * sizeof *c->label);
    for (size_t j = c->columns; j < c->wide; j++) c->label[j] = TRAIN_UNLABELLED;
    if (at_once == TRAIN_ROWS_AT_ONCE)
        measure(TRAIN_ROWS_AT_ONCE, n, row, c, c->square);
    else
        for (size_t r = 0; r < at_once; r++) measure(1, n, row + r, c, c->square + r);
}

/* --- sums ----------------------------------------------------------------------------------- */

typedef struct row_sums {
    train_log_sum all, same;
    double logs, count, hinges;
} row_sums;

/* The least distance to a labelled column, and to one with the row's label; FLT_MAX: none. */
CODEC_INLINE void find_least(const train_chunk *c, uint32_t own, const float *square, float *all,
                             float *same) {
    float least[2][TRAIN_LANES];
    for (size_t l = 0; l < TRAIN_LANES; l++) least[0][l] = least[1][l] = FLT_MAX;
    for (size_t j = 0; j < c->wide; j += TRAIN_LANES)
        for (size_t l = 0; l < TRAIN_LANES; l++) {
            const uint32_t label = c->label[j + l];
            const float d = square[j + l], a = label != TRAIN_UNLABELLED ? d : FLT_MAX,
                        b = label == own ? d : FLT_MAX;
            least[0][l] = a < least[0][l] ? a : least[0][l];
            least[1][l] = b < least[1][l] ? b : least[1][l];
        }
    *all = *same = FLT_MAX;
    for (size_t l = 0; l < TRAIN_LANES; l++) {
        *all = least[0][l] < *all ? least[0][l] : *all;
        *same = least[1][l] < *same ? least[1][l] : *same;
    }
}

/* The sums of a chunk for a row, relative to 2^most. */
typedef struct chunk_sums {
    float most, most_same;
    double all, same, logs, count;
} chunk_sums;

/* All members but `most`. loss and student are compile-time constants. */
CODEC_INLINE void sum_chunk(train_neighbour_loss loss, int student, train_kernel k,
                            const train_chunk *c, uint32_t own, const float *square,
                            chunk_sums *to) {
    const float most = to->most, most_same = to->most_same;
    float all[TRAIN_LANES] = {0}, same[TRAIN_LANES] = {0}, logs[TRAIN_LANES] = {0},
          count[TRAIN_LANES] = {0};
    for (size_t j = 0; j < c->wide; j += TRAIN_LANES)
        for (size_t l = 0; l < TRAIN_LANES; l++) {
            const uint32_t label = c->label[j + l];
            const float log_kernel = train_log_kernel(student, k, square[j + l]);
            const float e = train_exp2(log_kernel - most);
            all[l] += label != TRAIN_UNLABELLED ? e : 0.0f;
            count[l] += (float)(label == own);
            if (loss == TRAIN_MCML) logs[l] += label == own ? log_kernel : 0.0f;
            if (loss == TRAIN_NCA) same[l] += label == own ? e : 0.0f;
            if (loss == TRAIN_LOG_NCA)
                same[l] += label == own ? train_exp2(log_kernel - most_same) : 0.0f;
        }
    to->all = train_sum_lanes(all), to->same = train_sum_lanes(same);
    to->logs = train_sum_lanes(logs), to->count = train_sum_lanes(count);
}

/* Neither so small that terms may have underflowed, nor so large that they may have been
 * limited. */
static int is_sound(double sum) { return sum > 1e-20 && sum < 1e30; }

/* A chunk's sums are relative to the largest kernel so far. If that gives an inaccurate sum, they
 * are computed again relative to the chunk's own largest. */
CODEC_INLINE void add_chunk(train_neighbour_loss loss, int student, train_kernel k,
                            const train_chunk *c, uint32_t own, const float *square, row_sums *to) {
    chunk_sums sums = {.most = (float)to->all.most, .most_same = (float)to->same.most};
    if (to->all.sum != 0.0) sum_chunk(loss, student, k, c, own, square, &sums);
    if (!is_sound(sums.all) ||
        (loss == TRAIN_LOG_NCA && sums.count > 0.0 && !is_sound(sums.same))) {
        float least, least_same;
        find_least(c, own, square, &least, &least_same);
        sums.most = train_log_kernel(student, k, least);
        sums.most_same = train_log_kernel(student, k, least_same);
        sum_chunk(loss, student, k, c, own, square, &sums);
    }
    train_add_powers(&to->all, (double)sums.most, sums.all);
    train_add_powers(&to->same, (double)(loss == TRAIN_NCA ? sums.most : sums.most_same),
                     sums.same);
    to->logs += sums.logs, to->count += sums.count;
}

/* The sum of squared hinges. */
CODEC_CLONES static void add_hinges(const train_chunk *c, uint32_t own, const float *square,
                                    row_sums *to) {
    float sum[TRAIN_LANES] = {0};
    for (size_t j = 0; j < c->wide; j += TRAIN_LANES)
        for (size_t l = 0; l < TRAIN_LANES; l++) {
            const uint32_t label = c->label[j + l];
            const float h = train_hinge(square[j + l]);
            sum[l] += label != own && label != TRAIN_UNLABELLED ? h * h : 0.0f;
        }
    to->hinges += train_sum_lanes(sum);
}

#define SUMS(name, loss, student)                                                     \
    CODEC_CLONES static void name(train_kernel k, const train_chunk *c, uint32_t own, \
                                  const float *square, row_sums *to) {                \
        add_chunk(loss, student, k, c, own, square, to);                              \
    }
SUMS(sums_gaussian_nca, TRAIN_NCA, 0)
SUMS(sums_gaussian_log, TRAIN_LOG_NCA, 0)
SUMS(sums_gaussian_mcml, TRAIN_MCML, 0)
SUMS(sums_student_nca, TRAIN_NCA, 1)
SUMS(sums_student_log, TRAIN_LOG_NCA, 1)
SUMS(sums_student_mcml, TRAIN_MCML, 1)
typedef void sums_fn(train_kernel k, const train_chunk *c, uint32_t own, const float *square,
                     row_sums *to);
static sums_fn *const sums_of[2][3] = {{sums_gaussian_nca, sums_gaussian_log, sums_gaussian_mcml},
                                       {sums_student_nca, sums_student_log, sums_student_mcml}};

static void write_sums(const row_sums *from, double *to) {
    to[TRAIN_ALL] = train_log_of(from->all);
    to[TRAIN_SAME] = train_log_of(from->same);
    to[TRAIN_LOGS] = from->logs * TRAIN_LN_2, to[TRAIN_COUNT] = from->count,
    to[TRAIN_HINGES] = from->hinges;
}

static void sum_at_once(const train_neighbours *n, train_kernel k, size_t row, size_t at_once) {
    row_sums sums[TRAIN_ROWS_AT_ONCE];
    train_chunk c;
    for (size_t r = 0; r < at_once; r++)
        sums[r] = (row_sums){{-FLT_MAX, 0.0}, {-FLT_MAX, 0.0}, 0.0, 0.0, 0.0};
    for (size_t first = 0; first < n->rows; first += TRAIN_CHUNK) {
        train_chunk_begin(n, row, at_once, first, &c);
        for (size_t r = 0; r < at_once; r++) {
            const uint32_t own = n->label[row + r], hidden = train_chunk_hide(&c, row + r);
            if (own == TRAIN_UNLABELLED) continue;
            sums_of[n->student][n->loss](k, &c, own, c.square[r], &sums[r]);
            if (n->hinge > 0.0) add_hinges(&c, own, c.square[r], &sums[r]);
            train_chunk_show(&c, row + r, hidden);
        }
    }
    for (size_t r = 0; r < at_once; r++)
        write_sums(&sums[r], n->sums + (row + r) * TRAIN_NEIGHBOUR_SUMS);
}

static void sum_rows(void *context, size_t block) {
    const train_neighbours *n = context;
    const size_t end = train_row_block_end(n->rows, block);
    const train_kernel k = train_kernel_of(n);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i += TRAIN_ROWS_AT_ONCE)
        sum_at_once(n, k, i, formats_smaller(TRAIN_ROWS_AT_ONCE, end - i));
}

/* --- sums, each pair measured once ------------------------------------------------------------ */

/* D_ij = D_ji, so a task takes two chunks and adds each kernel to the sums of both rows. Columns
 * have no largest kernel yet, so all sums are relative to 2^-RAISED. This suffices for sums of up
 * to MOST_TWICE kernels with D = 0, and for rows whose nearest neighbour has D = 115 (Gaussian).
 * Other rows are summed separately, as above, at several times the cost. With more than MOST_TWICE
 * rows the partial sums would need much memory, so all rows are summed separately. */
enum { MOST_TWICE = 32768, RAISED = 100 };
enum { PART_ALL, PART_SAME, PART_COUNT, PARTS }; /* SAME: for MCML the sum of logarithms */

typedef struct pairs_task {
    const train_neighbours *n;
    float *part; /* [chunks][PARTS][rows] partial sums by each chunk for each row */
} pairs_task;

/* A row and a chunk's columns: part[PARTS] of the row; the columns' parts are added to. */
CODEC_INLINE void sum_both(train_neighbour_loss loss, int student, train_kernel k,
                           const train_chunk *c, uint32_t own, const float *square,
                           float (*column)[TRAIN_CHUNK], float *row) {
    float all[TRAIN_LANES] = {0}, same[TRAIN_LANES] = {0}, count[TRAIN_LANES] = {0};
    for (size_t j = 0; j < c->wide; j += TRAIN_LANES)
        for (size_t l = 0; l < TRAIN_LANES; l++) {
            const uint32_t label = c->label[j + l];
            const float log_kernel = train_log_kernel(student, k, square[j + l]);
            const float e = train_exp2_raised(log_kernel, RAISED), is_same = (float)(label == own);
            const float given = label != TRAIN_UNLABELLED ? e : 0.0f,
                        to_same = label == own ? loss == TRAIN_MCML ? log_kernel : e : 0.0f;
            all[l] += given, same[l] += to_same, count[l] += is_same;
            column[PART_ALL][j + l] += given;
            column[PART_SAME][j + l] += to_same;
            column[PART_COUNT][j + l] += is_same;
        }
    row[PART_ALL] = (float)train_sum_lanes(all), row[PART_SAME] = (float)train_sum_lanes(same);
    row[PART_COUNT] = (float)train_sum_lanes(count);
}

#define BOTH(name, loss, student)                                                                 \
    CODEC_CLONES static void name(train_kernel k, const train_chunk *c, uint32_t own,             \
                                  const float *square, float(*column)[TRAIN_CHUNK], float *row) { \
        sum_both(loss, student, k, c, own, square, column, row);                                  \
    }
BOTH(both_gaussian_nca, TRAIN_NCA, 0)
BOTH(both_gaussian_mcml, TRAIN_MCML, 0)
BOTH(both_student_nca, TRAIN_NCA, 1)
BOTH(both_student_mcml, TRAIN_MCML, 1)
typedef void both_fn(train_kernel k, const train_chunk *c, uint32_t own, const float *square,
                     float (*column)[TRAIN_CHUNK], float *row);
static both_fn *const both_of[2][2] = {{both_gaussian_nca, both_gaussian_mcml},
                                       {both_student_nca, both_student_mcml}};

/* The address of a chunk's parts for a row; parts are `rows` floats apart. */
static float *part_of(const pairs_task *t, size_t chunk_at, size_t row) {
    return t->part + chunk_at * PARTS * t->n->rows + row;
}

/* The rows of chunk `rows` and the columns of chunk `columns`, with rows <= columns. */
static void sum_chunks(const pairs_task *t, size_t rows, size_t columns) {
    const train_neighbours *n = t->n;
    const train_kernel k = train_kernel_of(n);
    const size_t end = formats_smaller(n->rows, (rows + 1) * TRAIN_CHUNK);
    float column[PARTS][TRAIN_CHUNK] = {{0}};
    train_chunk c;
    for (size_t i = rows * TRAIN_CHUNK; i < end; i += TRAIN_ROWS_AT_ONCE) {
        const size_t at_once = formats_smaller(TRAIN_ROWS_AT_ONCE, end - i);
        train_chunk_begin(n, i, at_once, columns * TRAIN_CHUNK, &c);
        for (size_t r = 0; r < at_once; r++) {
            float row[PARTS] = {0}, *to = part_of(t, columns, i + r);
            const uint32_t own = n->label[i + r], hidden = train_chunk_hide(&c, i + r);
            if (own != TRAIN_UNLABELLED)
                both_of[n->student][n->loss == TRAIN_MCML](k, &c, own, c.square[r], column, row);
            train_chunk_show(&c, i + r, hidden);
            for (size_t p = 0; p < PARTS; p++) to[p * n->rows] = row[p];
        }
    }
    for (size_t p = 0; p < PARTS; p++) /* a chunk with itself: overwrites equal values */
        memcpy(part_of(t, rows, c.first) + p * n->rows, column[p], c.columns * sizeof *column[p]);
}

static void sum_pair(void *context, size_t pair) {
    size_t columns = 0;
    while (pair > columns) pair -= ++columns; /* pairs are numbered by rows of the triangle */
    sum_chunks(context, pair, columns);
}

/* Whether a raised sum is accurate: no relevant kernel has underflowed. */
static int is_ample(double sum) { return sum > 1e-20 && sum <= DBL_MAX; }

/* Adds up the parts of a row. Returns 0 if they are inaccurate. */
static int add_parts(const pairs_task *t, size_t row) {
    const train_neighbours *n = t->n;
    double sum[PARTS] = {0};
    for (size_t at = 0; at * TRAIN_CHUNK < n->rows; at++)
        for (size_t p = 0; p < PARTS; p++) sum[p] += (double)part_of(t, at, row)[p * n->rows];
    const double lowered = 0x1p-100, all = lowered * sum[PART_ALL]; /* 2^-RAISED */
    const row_sums sums = {{0.0, all},
                           {0.0, n->loss == TRAIN_MCML ? 0.0 : lowered * sum[PART_SAME]},
                           n->loss == TRAIN_MCML ? sum[PART_SAME] : 0.0,
                           sum[PART_COUNT],
                           0.0};
    write_sums(&sums, n->sums + row * TRAIN_NEIGHBOUR_SUMS);
    if (n->label[row] == TRAIN_UNLABELLED) return 1;
    return is_ample(sum[PART_ALL]) &&
           (n->loss != TRAIN_LOG_NCA || sum[PART_COUNT] == 0.0 || is_ample(sum[PART_SAME]));
}

static void add_parts_of_rows(void *context, size_t block) {
    const pairs_task *t = context;
    const size_t end = train_row_block_end(t->n->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i += TRAIN_ROWS_AT_ONCE) {
        const size_t at_once = formats_smaller(TRAIN_ROWS_AT_ONCE, end - i);
        int sound = 1;
        for (size_t r = 0; r < at_once; r++) sound &= add_parts(t, i + r);
        if (!sound) sum_at_once(t->n, train_kernel_of(t->n), i, at_once);
    }
}

taper_status train_plain_neighbour_sums(train_stream *s, const train_neighbours *n) {
    const size_t chunks = (n->rows + TRAIN_CHUNK - 1) / TRAIN_CHUNK;
    if (n->rows > MOST_TWICE || n->hinge > 0.0) {
        train_neighbours alone = *n;
        return train_processor_run(s, sum_rows, &alone, train_row_blocks(n->rows));
    }
    pairs_task task = {n, malloc((chunks * PARTS * n->rows + 1) * sizeof(float))};
    if (!task.part) return TAPER_ERR_NOMEM;
    taper_status status = train_processor_run(s, sum_pair, &task, chunks * (chunks + 1) / 2);
    if (status == TAPER_OK)
        status = train_processor_run(s, add_parts_of_rows, &task, train_row_blocks(n->rows));
    free(task.part);
    return status;
}

/* --- losses --------------------------------------------------------------------------------- */

typedef struct losses_task {
    const train_neighbours *n;
    double *loss;
    train_all_pairs pairs;
} losses_task;

static train_all_pairs sum_pairs(const train_neighbours *n) {
    train_all_pairs a = {.all = {-FLT_MAX, 0.0}};
    for (size_t i = 0; i < n->rows; i++)
        if (n->label[i] != TRAIN_UNLABELLED)
            train_add_to_pairs(n->sums + i * TRAIN_NEIGHBOUR_SUMS, &a);
    const double all = train_log_of(a.all);
    for (size_t i = 0; i < n->rows; i++)
        if (n->label[i] != TRAIN_UNLABELLED)
            a.p += train_probability(n->sums + i * TRAIN_NEIGHBOUR_SUMS, all);
    return a;
}

static void share_rows(void *context, size_t block) {
    const losses_task *t = context;
    const train_neighbours *n = t->n;
    const size_t end = train_row_block_end(n->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        train_share share = {0};
        if (n->label[i] != TRAIN_UNLABELLED)
            t->loss[i] +=
                train_neighbour_cost(n, n->sums + i * TRAIN_NEIGHBOUR_SUMS, &t->pairs, &share);
        n->share[i] = share.norm, n->share[n->rows + i] = share.own;
        n->share[2 * n->rows + i] = share.centre;
    }
}

taper_status train_plain_neighbour_losses(train_stream *s, const train_neighbours *n,
                                          double *loss) {
    losses_task task = {.n = n, .loss = loss};
    TAPER_TRY(train_processor_begin(s));
    if (n->all_pairs) task.pairs = sum_pairs(n);
    train_processor_end(s);
    return train_processor_run(s, share_rows, &task, train_row_blocks(n->rows));
}

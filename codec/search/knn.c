/* knn.c -- see knn.h.
 *
 * A thread takes a block of queries and processes all references, one tile at a time. It computes
 * the products of the block and the tile, then, row by row, the distances of the candidates, which
 * go to the query's list. The lists are the arrays of the result, so memory does not grow with
 * queries or references. */
#include "codec/search/knn.h"
#include "codec/backend/backend.h"
#include "codec/backend/pool.h"
#include "codec/backend/simd.h"
#include "codec/search/centring.h"
#include "codec/search/nearest_list.h"
#include "formats/bytes.h"
#include "formats/layout.h"
#include "formats/sized.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WIDTH = 1 << 20,
    LANES = 8, /* distances that are computed at once */
    PART = 32, /* numbers of each that are squared at once */
    RUN = 64,  /* products that are compared at once */
    FEW = 64   /* candidates that give a first limit */
};

typedef struct knn_task {
    const taper_search *search;
    const codec_search_plan *plan;
    codec_backend be;
    codec_centring centring;
    double slack; /* see knn.h */
    size_t blocks;
    atomic_size_t next;          /* the next free block */
    atomic_int status;           /* the first failure of any thread */
    struct workplace *workplace; /* [threads] */
    uint32_t *neighbours;
    double *distances;
} knn_task;

/* A query (its row in the block) and a reference. */
typedef struct pair {
    size_t row, reference;
} pair;

/* The arrays of one thread. */
struct workplace {
    double *query_square, *reference_square; /* [rows], [columns] |q|^2, |r|^2 */
    codec_nearest_list *list;                /* [rows] */
    float *query, *reference;                /* [rows][width] -2 q, [columns][width] r */
    float *product;                          /* [rows][columns] -2 q r */
    float *limit;                            /* [rows], see knn.h */
    float *low, *gap;                        /* [columns] |r|^2 (1 - slack); 2 slack |r|^2 */
    float *upper;        /* [columns] for candidates: upper bound of D - |q|^2 (1 + slack) */
    uint32_t *candidate; /* [columns] places in the tile */
    size_t first;        /* the block's first query */
    size_t pairs;        /* pairs whose distances are not computed yet */
    pair pair[LANES];
};
typedef struct workplace workplace;

/* --- the reference implementation
 * -------------------------------------------------------------------- */

static const float *query_at(const taper_search *s, size_t i) {
    return s->queries ? s->queries + i * s->width : s->references + (s->first + i) * s->width;
}

static int is_itself(const taper_search *s, size_t query, size_t reference) {
    return !s->queries && s->first + query == reference;
}

void codec_nearest_plain(const taper_search *search, uint32_t *neighbours, double *distances) {
    const size_t k = search->k;
    for (size_t i = 0; i < search->n_queries; i++, neighbours += k, distances += k) {
        size_t held = 0;
        for (size_t r = 0; r < search->n_references; r++) {
            const float *a = query_at(search, i), *b = search->references + r * search->width;
            double distance = 0;
            for (size_t j = 0; j < search->width; j++)
                distance += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
            if (is_itself(search, i, r) || (held == k && !(distance < distances[k - 1]))) continue;
            size_t at = held < k ? held++ : k - 1;
            for (; at && distance < distances[at - 1]; at--)
                distances[at] = distances[at - 1], neighbours[at] = neighbours[at - 1];
            distances[at] = distance, neighbours[at] = (uint32_t)r;
        }
    }
}

/* --- one query and one tile ------------------------------------------------------------ */

/* List the places, ascending, of those of n products that are not above the limit. Returns their
 * number. */
CODEC_CLONES static size_t find_candidates(size_t n, const float *product, const float *low,
                                           float limit, uint32_t *candidate) {
    size_t found = 0;
    for (size_t first = 0; first < n; first += RUN) {
        const size_t end = first + RUN < n ? first + RUN : n;
        if (end - first == RUN) {
            uint32_t any = 0;
            for (size_t j = first; j < first + RUN; j++) any |= product[j] + low[j] <= limit;
            if (!any) continue;
        }
        for (size_t j = first; j < end; j++)
            if (product[j] + low[j] <= limit) candidate[found++] = (uint32_t)j;
    }
    return found;
}

/* The n-th smallest of count numbers, n from 1. Reorders x. */
static float nth_smallest(float *x, size_t count, size_t n) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (x[i] < pivot) i++;
            while (pivot < x[j]) j--;
            if (i >= j) break;
            const float other = x[i];
            x[i++] = x[j], x[j--] = other;
        }
        if (n - 1 <= j)
            high = j;
        else
            low = j + 1;
    }
    return x[low];
}

/* Limits are rounded up, as they are compared with rounded numbers. */
static float rounded_up(double limit) { return nextafterf((float)limit, INFINITY); }

/* Keep the candidates that are not above the limit. Returns their number. */
static size_t keep(const float *product, const float *low, float limit, size_t found,
                   uint32_t *candidate) {
    size_t kept = 0;
    for (size_t i = 0; i < found; i++) {
        const uint32_t j = candidate[i];
        candidate[kept] = j;
        kept += product[j] + low[j] <= limit;
    }
    return kept;
}

/* Reduce more than k candidates to those that may be nearer than the k-th of them. Returns their
 * number. The k-th of a few candidates is a limit, too, and is found faster. */
static size_t narrow(const knn_task *t, const workplace *w, size_t row, size_t columns,
                     size_t found) {
    const float *product = w->product + row * columns;
    const size_t k = t->search->k, few = formats_larger(k, FEW);
    for (size_t some = few; found > k; some = found) {
        some = formats_smaller(some, found);
        for (size_t i = 0; i < some; i++) {
            const uint32_t j = w->candidate[i];
            w->upper[i] = product[j] + w->low[j] + w->gap[j];
        }
        const double kth = nth_smallest(w->upper, some, k);
        const float limit = rounded_up(kth + 2 * t->slack * w->query_square[row] + 0x1p-99);
        const int all = some == found;
        found = keep(product, w->low, limit, found, w->candidate);
        if (all) break;
    }
    return found;
}

/* distance[l] between query[l] and reference[l], each summed in ascending order. */
CODEC_CLONES static void measure(const float *const *query, const float *const *reference,
                                 size_t width, double *distance) {
    double sum[LANES] = {0}, square[LANES][PART];
    for (size_t first = 0; first < width; first += PART) {
        const size_t n = first + PART < width ? PART : width - first;
        for (size_t l = 0; l < LANES; l++) {
            const float *a = query[l] + first, *b = reference[l] + first;
            for (size_t j = 0; j < n; j++)
                square[l][j] = ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
        }
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < LANES; l++) sum[l] += square[l][j];
    }
    for (size_t l = 0; l < LANES; l++) distance[l] = sum[l];
}

/* Compute the distances of the stored pairs and insert them in their queries' lists. */
static void measure_pairs(const knn_task *t, workplace *w) {
    const taper_search *s = t->search;
    const float *query[LANES], *reference[LANES];
    double distance[LANES];
    if (!w->pairs) return;
    for (size_t l = 0; l < LANES; l++) {
        const pair at = w->pair[formats_smaller(l, w->pairs - 1)];
        query[l] = query_at(s, w->first + at.row);
        reference[l] = s->references + at.reference * s->width;
    }
    measure(query, reference, s->width, distance);
    const double scale = t->centring.scale;
    for (size_t l = 0; l < w->pairs; l++) {
        const size_t row = w->pair[l].row;
        codec_nearest_push(&w->list[row], distance[l], (uint32_t)w->pair[l].reference);
        w->limit[row] = rounded_up(codec_nearest_limit(&w->list[row]) * scale * scale -
                                   w->query_square[row] * (1 - t->slack) + 0x1p-100);
    }
    w->pairs = 0;
}

/* Store the candidates of a row as pairs; distances are computed for LANES pairs at once. */
static void look_at_row(const knn_task *t, workplace *w, size_t row, size_t tile, size_t columns) {
    const taper_search *s = t->search;
    size_t found =
        find_candidates(columns, w->product + row * columns, w->low, w->limit[row], w->candidate);
    for (size_t i = 0; !s->queries && i < found; i++)
        if (is_itself(s, w->first + row, tile + w->candidate[i])) {
            memmove(w->candidate + i, w->candidate + i + 1, (found - i - 1) * sizeof *w->candidate);
            found--;
        }
    if (found > s->k) found = narrow(t, w, row, columns, found);
    for (size_t i = 0; i < found; i++) {
        w->pair[w->pairs++] = (pair){row, tile + w->candidate[i]};
        if (w->pairs == LANES) measure_pairs(t, w);
    }
}

/* --- blocks ---------------------------------------------------------------------------- */

static void centre_tile(const knn_task *t, const workplace *w, size_t tile, size_t columns) {
    codec_centre_rows(&t->centring, 1.0, columns, t->search->references + tile * t->search->width,
                      w->reference, w->reference_square);
    for (size_t j = 0; j < columns; j++) {
        w->low[j] = (float)(w->reference_square[j] * (1 - t->slack));
        w->gap[j] = (float)(w->reference_square[j] * 2 * t->slack);
    }
}

static void begin_lists(const knn_task *t, const workplace *w, size_t first, size_t rows) {
    const size_t k = t->search->k;
    for (size_t i = 0; i < rows; i++) {
        w->list[i] = (codec_nearest_list){t->distances + (first + i) * k,
                                          t->neighbours + (first + i) * k, k, 0};
        w->limit[i] = INFINITY;
    }
}

static taper_status search_block(knn_task *t, workplace *w, size_t block) {
    const taper_search *s = t->search;
    const size_t first = block * t->plan->rows,
                 rows = formats_smaller(t->plan->rows, s->n_queries - first);
    codec_centre_rows(&t->centring, -2.0, rows, query_at(s, first), w->query, w->query_square);
    begin_lists(t, w, first, rows);
    w->first = first, w->pairs = 0;
    for (size_t tile = 0; tile < s->n_references; tile += t->plan->columns) {
        const size_t columns = formats_smaller(t->plan->columns, s->n_references - tile);
        centre_tile(t, w, tile, columns);
        TAPER_TRY(t->be.ops->gemm(&t->be, 0, 1, rows, columns, s->width, w->query, w->reference,
                                  0.0f, w->product));
        for (size_t i = 0; i < rows; i++) look_at_row(t, w, i, tile, columns);
        measure_pairs(t, w);
    }
    for (size_t i = 0; i < rows; i++) codec_nearest_sort(&w->list[i]);
    return TAPER_OK;
}

static void lay_out(workplace *w, const codec_search_plan *p, size_t width, formats_layout *at) {
    w->query_square = formats_lay(at, p->rows, sizeof *w->query_square);
    w->reference_square = formats_lay(at, p->columns, sizeof *w->reference_square);
    w->list = formats_lay(at, p->rows, sizeof *w->list);
    w->query = formats_lay(at, p->rows, width * sizeof *w->query);
    w->reference = formats_lay(at, p->columns, width * sizeof *w->reference);
    w->product = formats_lay(at, p->rows, p->columns * sizeof *w->product);
    w->limit = formats_lay(at, p->rows, sizeof *w->limit);
    w->low = formats_lay(at, p->columns, sizeof *w->low);
    w->gap = formats_lay(at, p->columns, sizeof *w->gap);
    w->upper = formats_lay(at, p->columns, sizeof *w->upper);
    w->candidate = formats_lay(at, p->columns, sizeof *w->candidate);
}

static void lay_out_all(knn_task *t, size_t workers, formats_layout *at) {
    workplace counted;
    t->workplace = formats_lay(at, workers, sizeof *t->workplace);
    for (size_t i = 0; i < workers; i++)
        lay_out(t->workplace ? &t->workplace[i] : &counted, t->plan, t->search->width, at);
}

/* The function of a thread: takes blocks until there are none, or one has failed. */
static void search_blocks(void *context, size_t worker) {
    knn_task *t = context;
    workplace *w = &t->workplace[worker];
    for (size_t i; !atomic_load(&t->status) && (i = atomic_fetch_add(&t->next, 1)) < t->blocks;) {
        taper_status status = search_block(t, w, i);
        if (status) atomic_store(&t->status, (int)status);
    }
}

static taper_status run(knn_task *t, taper_error *error) {
    const size_t workers = formats_smaller(t->plan->threads, t->blocks);
    codec_pool *pool = NULL;
    formats_layout at = {0};
    formats_block block;
    lay_out_all(t, workers, &at);
    const int ok = formats_block_take_unset(&block, &at, NULL) == TAPER_OK;
    if (ok) lay_out_all(t, workers, &at);
    if (!ok || (workers > 1 && codec_pool_create(&pool, (unsigned)workers)))
        atomic_store(&t->status, TAPER_ERR_NOMEM);
    else
        codec_pool_run(pool, search_blocks, t, workers);
    codec_pool_destroy(pool);
    formats_block_free(&block);
    const taper_status status = (taper_status)atomic_load(&t->status);
    if (status) return formats_fail(error, status, "no memory to search by blocks");
    return TAPER_OK;
}

/* --- the search ------------------------------------------------------------------------ */

static taper_status check(const taper_search *s, const uint32_t *neighbours,
                          const double *distances, taper_error *error) {
    const size_t n = s->n_references, most = s->queries ? n : n - 1;
    if (!s->references || !neighbours || !distances)
        return formats_fail(error, TAPER_ERR_ARG, "an array is NULL");
    if (!n || !s->width) return formats_fail(error, TAPER_ERR_ARG, "there is nothing to search in");
    if (n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT, "%zu references are more than 2^32 - 1", n);
    if (s->width > MOST_WIDTH)
        return formats_fail(error, TAPER_ERR_LIMIT, "codes of %zu numbers are wider than 2^20",
                            s->width);
    if (!s->queries && (s->first > n || s->n_queries > n - s->first))
        return formats_fail(error, TAPER_ERR_ARG,
                            "%zu queries from %zu on are more than the %zu references",
                            s->n_queries, s->first, n);
    if (!s->k || s->k > most)
        return formats_fail(error, TAPER_ERR_ARG, "%zu neighbours of %zu references: k is 1 to %zu",
                            s->k, n, most);
    const size_t code = s->width * sizeof *s->references, row = s->k * sizeof *distances;
    TAPER_TRY(formats_need_array(s->references, n, code, "references", error));
    if (s->queries) TAPER_TRY(formats_need_array(s->queries, s->n_queries, code, "queries", error));
    return formats_need_array(distances, s->n_queries, row, "distances", error);
}

taper_status codec_nearest(const taper_search *search, const codec_search_plan *plan,
                           uint32_t *neighbours, double *distances, taper_error *error) {
    TAPER_TRY(check(search, neighbours, distances, error));
    knn_task t = {.search = search,
                  .plan = plan,
                  .be = *plan->backend,
                  .slack = 1.1 * ((double)search->width + 16) * 0x1p-24,
                  .blocks = (search->n_queries + plan->rows - 1) / plan->rows,
                  .neighbours = neighbours,
                  .distances = distances};
    if (!t.blocks) return TAPER_OK;
    TAPER_TRY(codec_centring_open(&t.centring, search, error));
    taper_status status = run(&t, error);
    codec_centring_close(&t.centring);
    return status;
}

uint64_t codec_search_bytes(const codec_search_plan *plan, size_t width) {
    const uint64_t laid_out = (uint64_t)plan->columns * width * sizeof(float); /* in a product */
    formats_layout at = {0};
    workplace w;
    lay_out(&w, plan, width, &at);
    return plan->threads * (sizeof w + at.used + laid_out) +
           width * 2 * (sizeof(double) + sizeof(float));
}

codec_search_plan codec_search_plan_of(const taper_search *search) {
    enum { MOST_THREADS = 256, LEAST_ROWS = 32, LEAST_COLUMNS = 64 };
    const uint64_t most_bytes = (uint64_t)60 << 20; /* the rest is for stacks */
    const size_t queries = formats_larger(search->n_queries, 1);
    const size_t threads = search->threads ? search->threads : codec_pool_cores();
    /* the products of a tile should stay in the L2 cache; wide codes have few */
    codec_search_plan p = {.rows = 1024, .columns = search->width < 128 ? 256 : 1024};
    p.threads = (unsigned)formats_smaller(formats_smaller(threads, MOST_THREADS), queries);
    while (codec_search_bytes(&p, search->width) > most_bytes) {
        if (p.columns > LEAST_COLUMNS && p.columns >= p.rows)
            p.columns /= 2;
        else if (p.rows > LEAST_ROWS)
            p.rows /= 2;
        else
            break;
    }
    /* the same number of blocks for each thread */
    const size_t rounds = (queries + p.threads * p.rows - 1) / (p.threads * p.rows);
    p.rows = (queries + p.threads * rounds - 1) / (p.threads * rounds);
    p.columns = formats_smaller(p.columns, formats_larger(search->n_references, 1));
    return p;
}

taper_status taper_nearest(const taper_search *given, uint32_t *neighbours, double *distances,
                           taper_error *error) {
    codec_backend be;
    taper_search own, *search = &own;
    TAPER_TRY(formats_need(given, "the search", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_search", error));
    TAPER_TRY(check(search, neighbours, distances, error)); /* before it is used to make a plan */
    codec_backend_cpu(&be);
    codec_search_plan plan = codec_search_plan_of(search);
    plan.backend = &be;
    return codec_nearest(search, &plan, neighbours, distances, error);
}

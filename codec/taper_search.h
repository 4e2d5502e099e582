/* taper_search.h -- the part of the public interface that is about search in codes: the nearest
 * neighbours of codes, labels by their votes, and the error of these labels. See taper.h, which
 * includes it, and into which `make install` merges it.
 *
 * A CODE is a row of `width` float32: what taper_embed makes of an image, or taper_decoder_codes of
 * a container, pixels, or any other numbers.
 * The error of 5-NN, and of other k from the same search:
 *
 *     taper_search search = {.references = codes, .n_references = n, .width = 30, .k = 7,
 *                            .queries = of_test, .n_queries = tests};
 *     status = taper_nearest(&search, neighbours, distances, &error);
 *     for (size_t k = 1; !status && k <= 7; k += 2) {
 *         taper_votes votes = {neighbours, tests, 7, k, labels, n, 10};
 *         status = taper_vote(&votes, voted, &error);
 *         if (!status) status = taper_count_errors(voted, truth, tests, 10, NULL, &rate, &error);
 *     }
 *
 * All arrays are the caller's. Nothing here keeps state: any number of threads may call at once. */
#ifndef TAPER_SEARCH_H
#define TAPER_SEARCH_H
#include "formats/taper_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- nearest neighbours ---------------------------------------------------------------- */

typedef struct taper_search {
    const float *references; /* [n_references][width], all finite */
    size_t n_references;     /* 1..2^32 - 1 */
    const float *queries;    /* [n_queries][width], all finite. NULL: leave-one-out. Query i is then
                                reference first + i, which is none of its own neighbours; another
                                reference with the same numbers is one */
    size_t n_queries;        /* 0..; leave-one-out: first + n_queries <= n_references */
    size_t first;            /* of leave-one-out alone */
    size_t width;            /* numbers in a code, 1..2^20 */
    size_t k;         /* neighbours of each query, 1..n_references; leave-one-out: one less */
    unsigned threads; /* 0: one per online core; at most 256. They share out queries: of a
                         single query all is one thread's */
} taper_search;

/* The k nearest references of each query, nearest first.
 *
 * neighbours[n_queries][k]: numbers of references, from 0. distances[n_queries][k]: squared
 * Euclidean distances, the sum over j, ascending, of (query[j] - reference[j])^2, in double
 * throughout; of float32 that never overflows. Neither may be NULL. References of the same distance
 * go by their number.
 *
 * Exact: the result is that of this definition, bit for bit, for every processor, number of threads
 * and way to cut the work. Matrix products in float32, of codes less the references' mean, only say
 * which references cannot be among the k; the distances of the others are computed. So it takes
 * little longer than the products, n_queries x n_references x width, while k is a small part of the
 * references: some k (1 + ln(n_references / k)) distances of each query are computed. At worst all
 * are, which takes some seventy times as long: where they agree to four digits or more, as of many
 * copies of one code, or of a query that is ten thousand times as far away as the references are
 * from each other.
 *
 * Memory beside these arrays: at most 64 MiB, however many queries and references there are, for
 * codes of up to 2,000 with 16 threads, of up to 300 with 256; in proportion for wider ones.
 *
 * Without queries nothing is looked at. TAPER_ERR_ARG: a number outside its range, an array that is
 * NULL, or a code with a number that is not finite, which is named: a NaN has no distance, and
 * would be everybody's neighbour or nobody's. TAPER_ERR_LIMIT: more references or wider codes than
 * above. TAPER_ERR_NOMEM. On failure what the arrays hold is undefined. */
TAPER_API taper_status taper_nearest(const taper_search *search, uint32_t *neighbours,
                                     double *distances, taper_error *error);

/* --- votes ----------------------------------------------------------------------------- */

typedef struct taper_votes {
    const uint32_t *neighbours; /* [n_queries][found], nearest first, as by taper_nearest */
    size_t n_queries;           /* 0.. */
    size_t found;               /* neighbours that were searched for */
    size_t k;                   /* how many of them vote, the nearest: 1..found */
    const int32_t *labels;      /* [n_labels], one a reference, 0..classes - 1 */
    size_t n_labels;            /* 1.. */
    uint32_t classes;           /* 1..2^24 */
} taper_votes;

/* voted[n_queries]: the label that most of a query's k nearest have. Among labels of as many votes
 * it is the one whose nearest voter is the nearest. TAPER_ERR_ARG: a number outside its range, a
 * label that is not 0..classes - 1 (-1, for one: search among labelled references only), a
 * neighbour without a label. TAPER_ERR_NOMEM. On failure what `voted` holds is undefined. */
TAPER_API taper_status taper_vote(const taper_votes *votes, int32_t *voted, taper_error *error);

typedef struct taper_error_rate {
    uint64_t tested, wrong; /* 1..; 0..tested */
    double rate;            /* wrong / tested */
    double low, high;       /* 95 % interval of the rate, 0..1: Wilson's */
} taper_error_rate;

/* How often voted[n] is not truth[n], both 0..classes - 1, classes 1..2^24.
 * confusion[classes][classes], a row a true label, a column what was voted, or NULL: how often each
 * was. Overwritten. The interval is that of E. B. Wilson, "Probable inference, the law of
 * succession, and statistical inference", JASA 22, 1927, for independent trials: with p the rate, n
 * trials and z = 1.96, (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n).
 * TAPER_ERR_ARG: n is 0, or a label outside its range; *out is then unchanged. */
TAPER_API taper_status taper_count_errors(const int32_t *voted, const int32_t *truth, size_t n,
                                          uint32_t classes, uint64_t *confusion,
                                          taper_error_rate *out, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

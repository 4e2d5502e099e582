/* taper_search.h -- search in codes of numbers, a part of the public interface: nearest neighbours,
 * labels by vote, and the error rate of these labels.
 *
 * A CODE is a row of `width` float32: the result of taper_embedder_codes or taper_decoder_codes,
 * pixels, or any other numbers. Example, the error rates of 1-NN to 7-NN from one search:
 *
 *     taper_search search = {.size = sizeof search, .references = codes, .n_references = n,
 *                            .width = 30, .k = 7, .queries = test_codes, .n_queries = tests};
 *     taper_error_rate rate = {.size = sizeof rate};
 *     status = taper_nearest(&search, neighbours, distances, &error);
 *     for (size_t k = 1; !status && k <= 7; k += 2) {
 *         taper_votes votes = {.size = sizeof votes, .neighbours = neighbours, .found = 7, .k = k,
 *                              .n_queries = tests, .labels = labels, .n_labels = n,
 *                              .classes = 10};
 *         status = taper_vote(&votes, voted, &error);
 *         if (!status) status = taper_count_errors(voted, truth, tests, 10, NULL, &rate, &error);
 *     }
 *
 * The caller owns all arrays. There is no state: several threads may call at once. */
#ifndef TAPER_SEARCH_H
#define TAPER_SEARCH_H
#include "formats/taper_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- nearest neighbours ---------------------------------------------------------------- */

typedef struct taper_search {
    size_t size; /* sizeof(taper_search), set by the caller */
    /* [n_references][width], all finite. */
    const float *references;
    size_t n_references; /* 1..2^32 - 1 */
    /* [n_queries][width], all finite. NULL: leave-one-out: query i is reference first + i, which is
     * excluded from its own neighbours. Another reference with the same numbers is not excluded. */
    const float *queries;
    /* From 0. Leave-one-out: first + n_queries <= n_references. */
    size_t n_queries;
    /* The first query of leave-one-out; otherwise ignored. */
    size_t first;
    /* Numbers in a code, 1..2^20. */
    size_t width;
    /* Neighbours per query, 1..n_references; leave-one-out: 1..n_references - 1. */
    size_t k;
    /* 0: one per online core; at most 256. The queries are divided among threads; a single query
     * uses one thread. */
    unsigned threads;
} taper_search;

/* Find the k nearest references of each query, nearest first.
 *
 * neighbours[n_queries][k]: indices of references, from 0. distances[n_queries][k]: squared
 * Euclidean distances, the sum over ascending j of (query[j] - reference[j])^2, in double. This
 * does not overflow for float32. Neither array may be NULL. At equal distance the lower index comes
 * first.
 *
 * The search is exact: the result equals this definition bit for bit, on every processor and with
 * any number of threads. Float32 matrix products of codes minus the references' mean select the
 * candidates; distances are computed for these only. If k is a small part of the references, about
 * k (1 + ln(n_references / k)) distances per query are computed. Most of the time then goes to the
 * products, n_queries x n_references x width. In the worst case all distances are computed, which
 * takes about seventy times as long. This happens if distances agree to four digits or more: for
 * many copies of one code, or a query ten thousand times as far away as the references are from
 * each other.
 *
 * Additional memory: at most 64 MiB for widths up to 2,000 with 16 threads, or up to 300 with 256
 * threads; in proportion for wider codes. It does not depend on the number of queries or
 * references.
 *
 * n_queries 0 does nothing. TAPER_ERR_ARG: a number is out of range, an array is NULL, or a code
 * has a number that is not finite, which the message names. TAPER_ERR_LIMIT: too many references,
 * or too wide codes. TAPER_ERR_NOMEM. On failure the contents of the arrays are undefined. */
TAPER_API taper_status taper_nearest(const taper_search *search, uint32_t *neighbours,
                                     double *distances, taper_error *error);

/* --- votes ----------------------------------------------------------------------------- */

typedef struct taper_votes {
    size_t size; /* sizeof(taper_votes), set by the caller */
    /* [n_queries][found], nearest first, as taper_nearest returns them. */
    const uint32_t *neighbours;
    size_t n_queries; /* 0.. */
    /* Neighbours per query in the array. */
    size_t found;
    /* How many of them vote, the nearest ones: 1..found. */
    size_t k;
    /* [n_labels], one per reference, 0..classes - 1. */
    const int32_t *labels;
    size_t n_labels;  /* 1.. */
    uint32_t classes; /* 1..2^24 */
    /* [classes] what a vote for each class counts, finite and above 0; NULL: all votes count 1.
     * With 1 / (references of the class) rare classes are not outvoted by frequent ones. */
    const double *weights;
} taper_votes;

/* Set voted[n_queries] to the most frequent label among a query's k nearest neighbours. Among
 * labels with equal counts, the one with the nearest neighbour wins. TAPER_ERR_ARG: a number is out
 * of range; a label is not 0..classes - 1 (search among labelled references only, if some have
 * label -1); or a neighbour has no label. TAPER_ERR_NOMEM. On failure the contents of `voted` are
 * undefined. */
TAPER_API taper_status taper_vote(const taper_votes *votes, int32_t *voted, taper_error *error);

typedef struct taper_error_rate {
    size_t size;     /* sizeof(taper_error_rate), set by the caller */
    uint64_t tested; /* 1.. */
    uint64_t wrong;  /* 0..tested */
    /* wrong / tested. */
    double rate;
    /* Wilson's 95 % interval of the rate, within 0..1. */
    double low, high;
} taper_error_rate;

/* Count how often voted[n] differs from truth[n]; both are 0..classes - 1, classes 1..2^24.
 * confusion[classes][classes]: counts, one row per true label and one column per voted label; NULL:
 * not wanted. It is overwritten.
 *
 * The interval is that of E. B. Wilson, "Probable inference, the law of succession, and statistical
 * inference", JASA 22, 1927, for independent trials. With p the rate, n trials and z = 1.96:
 * (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n).
 *
 * TAPER_ERR_ARG: n is 0, or a label is out of range; *out is unchanged. Also: out->size is not set.
 */
TAPER_API taper_status taper_count_errors(const int32_t *voted, const int32_t *truth, size_t n,
                                          uint32_t classes, uint64_t *confusion,
                                          taper_error_rate *out, taper_error *error);

/* The rate wrong / tested with its interval, as above: for the errors of one class. TAPER_ERR_ARG:
 * tested is 0 or below wrong, or out->size is not set; *out is unchanged. */
TAPER_API taper_status taper_rate_errors(uint64_t wrong, uint64_t tested, taper_error_rate *out,
                                         taper_error *error);

/* The balanced error: the mean over classes of the rate wrong[c] / tested[c], which is the error on
 * equal numbers of all classes. out->tested and out->wrong are sums over classes.
 *
 * The interval is Wilson's with the effective number of trials of a stratified sample (E. L. Korn
 * and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
 * counts estimated from survey data", Survey Methodology 24, 1998): with K classes,
 * q_c = (wrong + 2) / (tested + 4), which estimates variances of rates near 0 too (A. Agresti and
 * B. A. Coull, "Approximate is better than exact", The American Statistician 52, 1998), q the mean
 * of q_c and V = sum of q_c (1 - q_c) / tested_c / K^2, it is q (1 - q) / V. In simulations of 2 to
 * 100 classes of 1 to 1,000 trials it covers 91 to 99 %.
 *
 * A class with tested 0 is unknown: the mean is over the others, and the interval has all rates
 * from 0 to 1 for it. TAPER_ERR_ARG: no class is tested, wrong is above tested, classes is not
 * 1..2^24, or out->size is not set; *out is unchanged. */
TAPER_API taper_status taper_balance_errors(const uint64_t *wrong, const uint64_t *tested,
                                            uint32_t classes, taper_error_rate *out,
                                            taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

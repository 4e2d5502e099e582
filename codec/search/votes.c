/* votes.c -- see votes.h. */
#include "codec/search/votes.h"
#include "formats/sized.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 1 << 24 };

static taper_status check_classes(uint32_t classes, taper_error *error) {
    if (classes && classes <= MOST_CLASSES) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "%u classes: there are 1 to 2^24", classes);
}

static taper_status check_labels(const int32_t *labels, size_t n, uint32_t classes,
                                 const char *what, taper_error *error) {
    for (size_t i = 0; i < n; i++)
        if (labels[i] < 0 || (uint32_t)labels[i] >= classes)
            return formats_fail(error, TAPER_ERR_ARG, "%s %zu is %d: of %u class%s it is 0 to %u",
                                what, i, labels[i], classes, formats_plural(classes, "es"),
                                classes - 1);
    return TAPER_OK;
}

static taper_status check_weights(const taper_votes *v, taper_error *error) {
    if (!v->weights) return TAPER_OK;
    TAPER_TRY(formats_need_array(v->weights, v->classes, sizeof *v->weights, "weights", error));
    for (uint32_t c = 0; c < v->classes; c++)
        if (!(v->weights[c] > 0.0 && v->weights[c] <= 1e300 / (double)v->k))
            return formats_fail(error, TAPER_ERR_ARG,
                                "a vote for class %u counts %g: weights are above 0 and finite", c,
                                v->weights[c]);
    return TAPER_OK;
}

static taper_status check_votes(const taper_votes *v, taper_error *error) {
    const size_t row = v->found * sizeof *v->neighbours;
    TAPER_TRY(check_classes(v->classes, error));
    if (!v->k || v->k > v->found)
        return formats_fail(error, TAPER_ERR_ARG, "%zu voters of %zu neighbours: k is 1 to %zu",
                            v->k, v->found, v->found);
    TAPER_TRY(check_weights(v, error));
    if (!v->n_labels) return formats_fail(error, TAPER_ERR_ARG, "there are no labels");
    TAPER_TRY(formats_need_array(v->labels, v->n_labels, sizeof *v->labels, "labels", error));
    if (v->n_queries)
        TAPER_TRY(formats_need_array(v->neighbours, v->found, sizeof *v->neighbours, "neighbours",
                                     error));
    TAPER_TRY(formats_need_array(v->neighbours, v->n_queries, row, "neighbours", error));
    TAPER_TRY(check_labels(v->labels, v->n_labels, v->classes, "the label of reference", error));
    for (size_t i = 0; i < v->n_queries; i++)
        for (size_t j = 0; j < v->k; j++)
            if (v->neighbours[i * v->found + j] >= v->n_labels)
                return formats_fail(error, TAPER_ERR_ARG,
                                    "query %zu: its neighbour %zu is reference %u, of %zu labels",
                                    i, j, v->neighbours[i * v->found + j], v->n_labels);
    return TAPER_OK;
}

/* The label with the most votes; of equal ones, that of the nearest neighbour. count[classes]: all
 * 0, before and after the call. Votes are counted, and weighted only then: sums of equal weights
 * would differ by rounding. */
static int32_t most_voted(const uint32_t *neighbour, const taper_votes *v, uint32_t *count) {
    const int32_t *labels = v->labels;
    int32_t best = labels[neighbour[0]];
    double most = 0.0;
    for (size_t j = 0; j < v->k; j++) count[labels[neighbour[j]]]++;
    for (size_t j = 0; j < v->k; j++) {
        const int32_t label = labels[neighbour[j]];
        const double votes = v->weights ? count[label] * v->weights[label] : count[label];
        if (votes > most) best = label, most = votes;
    }
    for (size_t j = 0; j < v->k; j++) count[labels[neighbour[j]]] = 0;
    return best;
}

taper_status taper_vote(const taper_votes *given, int32_t *voted, taper_error *error) {
    taper_votes own, *votes = &own;
    TAPER_TRY(formats_need(given, "votes", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_votes", error));
    TAPER_TRY(formats_need_array(voted, votes->n_queries, sizeof *voted, "voted", error));
    TAPER_TRY(check_votes(votes, error));
    uint32_t *count = calloc(votes->classes, sizeof *count);
    if (!count) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to count votes");
    for (size_t i = 0; i < votes->n_queries; i++)
        voted[i] = most_voted(votes->neighbours + i * votes->found, votes, count);
    free(count);
    return TAPER_OK;
}

/* Of the rate p of n trials, which need not be a whole number. */
static void wilson(double p, double n, double *low, double *high) {
    const double z = 1.959963984540054; /* 97.5 % quantile of the normal distribution */
    const double middle = p + z * z / (2 * n), whole = 1 + z * z / n,
                 half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    *low = p > 0 ? (middle - half) / whole : 0;
    *high = p < 1 ? (middle + half) / whole : 1;
}

void codec_wilson(uint64_t wrong, uint64_t tested, double *low, double *high) {
    wilson((double)wrong / (double)tested, (double)tested, low, high);
}

taper_status taper_count_errors(const int32_t *voted, const int32_t *truth, size_t n,
                                uint32_t classes, uint64_t *confusion, taper_error_rate *out,
                                taper_error *error) {
    TAPER_TRY(check_classes(classes, error));
    TAPER_TRY(formats_need(out, "the rate's place", error));
    TAPER_TRY(formats_need_array(voted, n, sizeof *voted, "voted", error));
    TAPER_TRY(formats_need_array(truth, n, sizeof *truth, "truth", error));
    if (!n) return formats_fail(error, TAPER_ERR_ARG, "no labels to test");
    TAPER_TRY(check_labels(voted, n, classes, "the voted label", error));
    TAPER_TRY(check_labels(truth, n, classes, "the true label", error));
    if (confusion) memset(confusion, 0, (size_t)classes * classes * sizeof *confusion);
    taper_error_rate rate = {.tested = n};
    for (size_t i = 0; i < n; i++) {
        rate.wrong += voted[i] != truth[i];
        if (confusion) confusion[(size_t)truth[i] * classes + (size_t)voted[i]]++;
    }
    rate.rate = (double)rate.wrong / (double)n;
    codec_wilson(rate.wrong, n, &rate.low, &rate.high);
    return formats_sized_give(out, &rate, sizeof rate, "taper_error_rate", error);
}

static taper_status check_counts(uint64_t wrong, uint64_t tested, taper_error *error) {
    if (wrong <= tested) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "%llu of %llu labels are wrong: give at most all",
                        (unsigned long long)wrong, (unsigned long long)tested);
}

taper_status taper_rate_errors(uint64_t wrong, uint64_t tested, taper_error_rate *out,
                               taper_error *error) {
    TAPER_TRY(formats_need(out, "the rate's place", error));
    TAPER_TRY(check_counts(wrong, tested, error));
    if (!tested) return formats_fail(error, TAPER_ERR_ARG, "no labels to test");
    taper_error_rate rate = {
        .tested = tested, .wrong = wrong, .rate = (double)wrong / (double)tested};
    codec_wilson(wrong, tested, &rate.low, &rate.high);
    return formats_sized_give(out, &rate, sizeof rate, "taper_error_rate", error);
}

/* Sums over the classes that are tested. */
typedef struct class_sums {
    uint64_t wrong, tested;
    double rate, middle, variance; /* of p, q and q (1 - q) / n of taper_balance_errors */
    double classes;
} class_sums;

static void add_class(class_sums *s, uint64_t wrong, uint64_t tested) {
    const double n = (double)tested, q = ((double)wrong + 2) / (n + 4);
    if (!tested) return;
    s->wrong += wrong, s->tested += tested, s->classes++;
    s->rate += (double)wrong / n;
    s->middle += q;
    s->variance += q * (1 - q) / n;
}

taper_status taper_balance_errors(const uint64_t *wrong, const uint64_t *tested, uint32_t classes,
                                  taper_error_rate *out, taper_error *error) {
    class_sums s = {0};
    TAPER_TRY(check_classes(classes, error));
    TAPER_TRY(formats_need(out, "the rate's place", error));
    TAPER_TRY(formats_need_array(wrong, classes, sizeof *wrong, "wrong", error));
    TAPER_TRY(formats_need_array(tested, classes, sizeof *tested, "tested", error));
    for (uint32_t c = 0; c < classes; c++) {
        TAPER_TRY(check_counts(wrong[c], tested[c], error));
        add_class(&s, wrong[c], tested[c]);
    }
    if (!s.tested) return formats_fail(error, TAPER_ERR_ARG, "no labels to test");
    const double q = s.middle / s.classes, known = s.classes / classes;
    const double trials = q * (1 - q) / (s.variance / (s.classes * s.classes));
    taper_error_rate rate = {.tested = s.tested, .wrong = s.wrong};
    /* the sum of many rates of 1 may be above their number by rounding */
    rate.rate = s.wrong < s.tested ? s.rate / s.classes : 1.0;
    wilson(rate.rate, trials, &rate.low, &rate.high);
    rate.low *= known;
    rate.high = known * rate.high + (1 - known);
    return formats_sized_give(out, &rate, sizeof rate, "taper_error_rate", error);
}

/* baselines.h -- nested codes against what is strongest of as many bits, for kinds of networks and
 * seeds, on the test images:
 *     nested      trained by nested dropout, as it is
 *     plain       a standard autoencoder of the kind, its code cut; untied with feedback, it has
 * been refitted for every length as the nested one has (train/nested/refit.h) obd         its units
 * by Optimal Brain Damage, measured anew after each removal (obd.h); of independent units alone, as
 * the others' decoder is refitted obd-refit   so ordered, with the best linear decoder for every
 * length (least_squares.h) refit       the least with that decoder over three orders of units: as
 * they are, by Optimal Brain Damage, by forward selection dedicated   a network of the kind for
 * each length alone: what nested codes are bounded by pca-signs   signs of principal components;
 * itq: turned by iterative quantisation (signs.h) */
#ifndef BENCH_PAPER_BASELINES_H
#define BENCH_PAPER_BASELINES_H
#include "bench/paper/kinds.h"

typedef enum paper_method {
    PAPER_NESTED,
    PAPER_PLAIN,
    PAPER_OBD,
    PAPER_OBD_REFIT,
    PAPER_REFIT,
    PAPER_DEDICATED,
    PAPER_PCA_SIGNS,
    PAPER_ITQ,
    PAPER_METHODS
} paper_method;

extern const char *const paper_method_name[PAPER_METHODS];

enum { PAPER_MAX_RESULTS = PAPER_MAX_KINDS * PAPER_MAX_SEEDS * 6 + 2 * PAPER_MAX_SEEDS };
typedef struct paper_result {
    paper_method method;
    paper_kind kind; /* name NULL: none, the code is no network's */
    uint32_t seed;   /* 0: nothing random in it */
    char settings[512];
    paper_curve curve;
} paper_result;

typedef struct paper_results {
    paper_selection selection;
    size_t n;
    paper_result result[PAPER_MAX_RESULTS];
} paper_results;

/* All methods for the kinds and seeds of the session, trained or kept; new memory, for free(). */
paper_results *paper_baselines(paper *p);

/* Over seeds at one length: mean, and max - min; count: seeds that have it. kind NULL: none. */
typedef struct paper_spread {
    double mean, spread;
    size_t count;
} paper_spread;
paper_spread paper_error_of(const paper_results *r, paper_method method, const paper_kind *kind,
                            uint32_t bits);
/* The error of nested codes to that of another method's, seed by seed. */
paper_spread paper_nested_to(const paper_results *r, paper_method method, const paper_kind *kind,
                             uint32_t bits);
#endif

/* fig5.h -- the curves of figure 5b, gathered. */
#ifndef BENCH_PAPER_FIG5_H
#define BENCH_PAPER_FIG5_H
#include "bench/paper/baselines.h"

enum { PAPER_MAX_METHODS = 12 };
typedef struct paper_method {
    const char *name;    /* of the JSON lines: nested, obd, plain, pca, jpeg, taper, ... */
    const char *variant; /* what distinguishes two of a name: "payload"; "" */
    const char *title;   /* for people */
    const char *settings;
    paper_rates rates;
} paper_method;

typedef struct paper_methods {
    size_t n;
    paper_method method[PAPER_MAX_METHODS];
} paper_methods;
#endif

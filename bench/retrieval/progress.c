/* progress.c -- see progress.h. */
#include "bench/retrieval/progress.h"
#include "bench/bench.h"
#include "bench/figures/figures.h"

retrieval_progress retrieval_progress_start(const char *what, size_t total) {
    const double now = bench_now();
    return (retrieval_progress){.what = what, .total = total, .start = now, .next = now + 0.5};
}

void retrieval_progress_tell(retrieval_progress *p, size_t done) {
    const double now = bench_now(), rate = (double)done / (now - p->start + 1e-9);
    if (now < p->next && done < p->total) return;
    p->next = now + 0.5;
    figures_say("%s: %zu of %zu images, %.0f a second, %.0f s left", p->what, done, p->total, rate,
                (double)(p->total - done) / (rate + 1e-9));
}

double retrieval_progress_seconds(const retrieval_progress *p) { return bench_now() - p->start; }

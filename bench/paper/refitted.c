/* refitted.c -- see refitted.h. */
#include "bench/paper/refitted.h"
#include <stdlib.h>

enum { QUICK_IMAGES = 4000 };

size_t paper_refitted_rows(const paper *p) {
    return p->quick && p->training.n > QUICK_IMAGES ? QUICK_IMAGES : p->training.n;
}

void paper_centred(const paper *p, int test, size_t first, size_t n, float *pixels) {
    const paper_images *images = test ? &p->test : &p->training;
    const uint8_t *from = images->pixels + first * images->inputs;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < images->inputs; j++)
            pixels[i * images->inputs + j] = (float)from[i * images->inputs + j] - p->mean[j];
}

static size_t load(paper_refitted *r, int test, size_t first, size_t rows) {
    size_t n = rows - first < PAPER_REFIT_BLOCK ? rows - first : PAPER_REFIT_BLOCK;
    r->coder(r->user, test, first, n, r->codes);
    paper_centred(r->p, test, first, n, r->pixels);
    return n;
}

void paper_refitted_begin(paper_refitted *r, paper *p, uint32_t units, paper_coder_fn *coder,
                          void *user) {
    *r = (paper_refitted){.p = p, .coder = coder, .user = user, .units = units};
    figures_check(paper_moments_alloc(&r->moments, units, p->training.inputs), "moments", NULL);
    r->codes = figures_memory((size_t)PAPER_REFIT_BLOCK * units, sizeof *r->codes);
    r->pixels = figures_memory((size_t)PAPER_REFIT_BLOCK * p->training.inputs, sizeof *r->pixels);
    for (size_t i = 0, rows = paper_refitted_rows(p); i < rows; i += PAPER_REFIT_BLOCK) {
        size_t n = load(r, 0, i, rows);
        figures_check(paper_moments_add(&r->moments, &p->be, r->codes, r->pixels, n), "moments",
                      NULL);
    }
}

void paper_refitted_measure(paper_refitted *r, const uint32_t *order, paper_curve *curve) {
    paper_refit refit;
    const paper_images *test = &r->p->test;
    double *error = figures_memory((size_t)r->units + 1, sizeof *error);
    figures_check(paper_refit_solve(&refit, &r->moments, &r->p->be, order, PAPER_RIDGE),
                  "refitted decoder", NULL);
    for (size_t i = 0; i < test->n; i += PAPER_REFIT_BLOCK) {
        size_t n = load(r, 1, i, test->n);
        figures_check(paper_refit_errors(&refit, &r->p->be, r->codes, r->pixels, n, error),
                      "refitted decoder", NULL);
    }
    for (size_t i = 0; i < curve->n; i++)
        curve->mse[i] = error[curve->length[i]] / ((double)test->n * test->inputs);
    paper_refit_free(&refit);
    free(error);
}

void paper_refitted_end(paper_refitted *r) {
    paper_moments_free(&r->moments);
    free(r->codes), free(r->pixels);
    *r = (paper_refitted){0};
}

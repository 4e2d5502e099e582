/* signs.c -- see signs.h. */
#include "bench/paper/signs.h"
#include "bench/paper/itq.h"
#include "bench/paper/refitted.h"
#include "train/linear/pca.h"
#include <stdlib.h>
#include <string.h>

enum { ITQ_ROWS = 20000, ITQ_ITERATIONS = 50, QUICK_ITERATIONS = 4 };

/* --- principal components -------------------------------------------------------------- */

static size_t block_of(size_t first, size_t rows) {
    return rows - first < PAPER_REFIT_BLOCK ? rows - first : PAPER_REFIT_BLOCK;
}

/* components[units][D], as rows. */
static void solve(paper *p, uint32_t units, float *block, float *components) {
    train_covariance cov;
    codec_network net;
    taper_error error = {0};
    uint32_t inputs = p->training.inputs;
    size_t rows = paper_refitted_rows(p);
    figures_check(codec_network_alloc(&net, inputs, units, CODEC_TIED, NULL, 0, NULL, 0), "PCA",
                  NULL);
    figures_check(train_covariance_alloc(&cov, &p->device, inputs), "covariance", NULL);
    for (size_t i = 0; i < rows; i += PAPER_REFIT_BLOCK) {
        size_t n = block_of(i, rows);
        paper_centred(p, 0, i, n, block);
        figures_check(train_covariance_add(&cov, block, n), "covariance", NULL);
    }
    figures_check(train_pca_solve(&cov, &net, NULL, &error), "principal components", &error);
    train_covariance_free(&cov);
    memcpy(components, net.synthesis, (size_t)units * inputs * sizeof *components);
    codec_network_free(&net);
}

static float *project(paper *p, int test, uint32_t units, float *block, const float *components) {
    uint32_t inputs = p->training.inputs;
    size_t rows = test ? p->test.n : paper_refitted_rows(p);
    float *to = figures_memory(rows * units, sizeof *to);
    for (size_t i = 0; i < rows; i += PAPER_REFIT_BLOCK) {
        size_t n = block_of(i, rows);
        paper_centred(p, test, i, n, block);
        figures_check(p->be.ops->gemm(&p->be, 0, 1, n, units, inputs, block, components, 0.0f,
                                      to + i * units),
                      "components", NULL);
    }
    return to;
}

void paper_signs_begin(paper_signs *s, paper *p, uint32_t units) {
    size_t inputs = p->training.inputs;
    float *block = figures_memory(PAPER_REFIT_BLOCK * inputs, sizeof *block),
          *components = figures_memory(units * inputs, sizeof *components);
    *s = (paper_signs){.p = p, .units = units};
    figures_say("principal components: %u of %zu", units, inputs);
    solve(p, units, block, components);
    for (int test = 0; test < 2; test++)
        s->projected[test] = project(p, test, units, block, components);
    free(block), free(components);
}

void paper_signs_end(paper_signs *s) {
    free(s->projected[0]), free(s->projected[1]);
    *s = (paper_signs){0};
}

/* --- signs ----------------------------------------------------------------------------- */

/* A code from projections: the first `units` of them, turned where there is a rotation, against
 * thresholds. */
typedef struct sign_code {
    paper_signs *signs;
    uint32_t units;
    const float *rotation;  /* [units][units]; NULL: none */
    const float *threshold; /* [units] */
    float *part;            /* [BLOCK][units] scratch */
} sign_code;

static void take_part(const paper_signs *s, int test, size_t first, size_t n, uint32_t units,
                      float *to) {
    const float *from = s->projected[test] + first * s->units;
    for (size_t i = 0; i < n; i++) memcpy(to + i * units, from + i * s->units, units * sizeof *to);
}

static void code_rows(void *user, int test, size_t first, size_t n, float *codes) {
    sign_code *c = user;
    codec_backend *be = &c->signs->p->be;
    take_part(c->signs, test, first, n, c->units, c->rotation ? c->part : codes);
    if (c->rotation)
        figures_check(
            be->ops->gemm(be, 0, 0, n, c->units, c->units, c->part, c->rotation, 0.0f, codes),
            "rotation", NULL);
    for (size_t i = 0; i < n * c->units; i++)
        codes[i] = codes[i] > c->threshold[i % c->units] ? 0.5f : -0.5f;
}

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void paper_signs_plain(paper_signs *s, paper_curve *curve) {
    size_t rows = paper_refitted_rows(s->p);
    float *threshold = figures_memory(s->units, sizeof *threshold),
          *column = figures_memory(rows, sizeof *column);
    for (uint32_t k = 0; k < s->units; k++) {
        for (size_t i = 0; i < rows; i++) column[i] = s->projected[0][i * s->units + k];
        qsort(column, rows, sizeof *column, by_value);
        threshold[k] = column[rows / 2];
    }
    sign_code code = {.signs = s, .units = s->units, .threshold = threshold};
    paper_refitted refitted;
    paper_refitted_begin(&refitted, s->p, s->units, code_rows, &code);
    paper_refitted_measure(&refitted, NULL, curve);
    paper_refitted_end(&refitted);
    free(threshold), free(column);
}

/* --- iterative quantisation ------------------------------------------------------------ */

static double itq_error(paper_signs *s, uint32_t bits, uint64_t seed) {
    size_t rows = paper_refitted_rows(s->p), n = rows < ITQ_ROWS ? rows : ITQ_ROWS;
    float *v = figures_memory(n * bits, sizeof *v),
          *rotation = figures_memory((size_t)bits * bits, sizeof *rotation),
          *threshold = figures_memory(bits, sizeof *threshold),
          *part = figures_memory((size_t)PAPER_REFIT_BLOCK * bits, sizeof *part);
    taper_error error = {0};
    take_part(s, 0, 0, n, bits, v);
    figures_check(paper_itq(&s->p->be, v, n, bits, s->p->quick ? QUICK_ITERATIONS : ITQ_ITERATIONS,
                            seed, rotation, &error),
                  "ITQ", &error);
    sign_code code = {s, bits, rotation, threshold, part};
    paper_refitted refitted;
    paper_curve last = {.n = 1, .length = {bits}};
    paper_refitted_begin(&refitted, s->p, bits, code_rows, &code);
    paper_refitted_measure(&refitted, NULL, &last);
    paper_refitted_end(&refitted);
    free(v), free(rotation), free(threshold), free(part);
    return last.mse[0];
}

void paper_signs_itq(paper_signs *s, uint64_t seed, paper_curve *curve) {
    for (size_t i = 0; i < curve->n; i++) {
        curve->mse[i] = itq_error(s, curve->length[i], seed);
        figures_say("ITQ, seed %u: %u bits, %.1f", (unsigned)seed, curve->length[i], curve->mse[i]);
    }
}

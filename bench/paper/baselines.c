/* baselines.c -- see baselines.h. */
#include "bench/paper/baselines.h"
#include "bench/paper/kept.h"
#include "bench/paper/obd.h"
#include "bench/paper/recipes.h"
#include "bench/paper/refitted.h"
#include "bench/paper/signs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OBD_ROWS = 2000, UNITS = 1024 };

const char *const paper_method_name[PAPER_METHODS] = {
    "nested", "plain", "obd", "obd-refit", "refit", "dedicated", "pca-signs", "itq"};

/* A result to be filled; 1 where it was kept. name[96] is of its file. */
static int take(paper *p, paper_results *r, paper_method method, const paper_kind *kind,
                uint32_t seed, const char *settings, paper_result **out, char *name) {
    if (r->n == PAPER_MAX_RESULTS) figures_die("too many results");
    paper_result *to = *out = &r->result[r->n++];
    to->method = method, to->seed = seed;
    if (kind) to->kind = *kind;
    snprintf(to->settings, sizeof to->settings, "%s%s%s", settings,
             *settings && *p->extra ? " " : "", *settings ? p->extra : "");
    paper_lengths(&to->curve, UNITS < p->training.inputs ? UNITS : p->training.inputs, 0);
    if (method == PAPER_DEDICATED || method == PAPER_ITQ) { /* powers of 2, each a price */
        size_t n = 0;
        uint32_t first = method == PAPER_ITQ ? 4 : 16, last = UNITS;
        if (method == PAPER_DEDICATED) last = UNITS / 2;
        if (method == PAPER_ITQ && p->quick) last = UNITS / 8;
        for (uint32_t b = first; b <= last; b *= 2) to->curve.length[n++] = b;
        to->curve.n = n;
    }
    snprintf(name, 96, "%s-%s-%u", paper_method_name[method], kind ? kind->name : "signs", seed);
    return paper_curve_read(p, name, to->settings, &to->curve);
}

/* --- networks -------------------------------------------------------------------------- */

static void take_nested(paper *p, paper_results *r, const paper_kind *kind, uint32_t seed) {
    char name[96], settings[320];
    paper_result *to;
    paper_kind_settings(kind, RECIPE_CODE, 0, kind->truncation, seed, settings);
    if (take(p, r, PAPER_NESTED, kind, seed, settings, &to, name)) return;
    paper_network network;
    paper_train_kind(p, "nested", kind, RECIPE_CODE, 0, kind->truncation, seed, &network);
    paper_measure(p, &network, &p->test, &to->curve);
    paper_curve_write(p, name, to->settings, &to->curve);
    paper_network_free(&network);
}

static void take_dedicated(paper *p, paper_results *r, const paper_kind *kind, uint32_t seed) {
    char name[96], settings[320];
    paper_result *to;
    paper_kind_settings(kind, RECIPE_CODE, 0, NULL, seed, settings);
    if (take(p, r, PAPER_DEDICATED, kind, seed, settings, &to, name)) return;
    for (size_t i = 0; i < to->curve.n; i++) {
        paper_network network;
        paper_curve one = {.n = 1, .length = {to->curve.length[i]}};
        char stem[32];
        snprintf(stem, sizeof stem, "dedicated-%u", one.length[0]);
        paper_train_kind(p, stem, kind, RECIPE_CODE, one.length[0], NULL, seed, &network);
        paper_measure(p, &network, &p->test, &one);
        to->curve.mse[i] = one.mse[0];
        paper_network_free(&network);
    }
    paper_curve_write(p, name, to->settings, &to->curve);
}

/* --- the standard autoencoder, as strong as can be ------------------------------------- */

typedef struct standard {
    paper *p;
    paper_network network;
    uint32_t *by_obd, *greedy;
} standard;

static void code_rows(void *user, int test, size_t first, size_t n, float *codes) {
    standard *s = user;
    const paper_images *images = test ? &s->p->test : &s->p->training;
    train_pixels rows = {
        .pixels = images->pixels + first * images->inputs, .n = n, .inputs = images->inputs};
    paper_codes(&s->network, &rows, codes);
}

static void refit(standard *s, paper_curve *by_obd, paper_curve *best) {
    paper_refitted refitted;
    paper_curve greedy = *best;
    paper_refitted_begin(&refitted, s->p, s->network.net.units, code_rows, s);
    paper_refitted_measure(&refitted, NULL, best);
    figures_check(paper_greedy_order(&refitted.moments, PAPER_RIDGE, s->greedy), "order", NULL);
    paper_refitted_measure(&refitted, s->greedy, &greedy);
    if (by_obd) paper_refitted_measure(&refitted, s->by_obd, by_obd);
    for (size_t i = 0; i < best->n; i++) {
        best->mse[i] = fmin(best->mse[i], greedy.mse[i]);
        if (by_obd) best->mse[i] = fmin(best->mse[i], by_obd->mse[i]);
    }
    paper_refitted_end(&refitted);
}

/* curve[method]: NULL where it is not wanted. Units are renumbered last. */
static void measure_standard(paper *p, const paper_kind *kind, uint32_t seed,
                             paper_curve *const *curve) {
    standard s = {.p = p};
    paper_train_kind(p, "standard", kind, RECIPE_CODE, 0, NULL, seed, &s.network);
    paper_unmix(&s.network);
    uint32_t units = s.network.net.units;
    s.by_obd = figures_memory(units, sizeof *s.by_obd);
    s.greedy = figures_memory(units, sizeof *s.greedy);
    paper_measure(p, &s.network, &p->test, curve[PAPER_PLAIN]);
    if (curve[PAPER_OBD]) paper_obd_order(p, &s.network, &p->training, OBD_ROWS, 1, s.by_obd);
    refit(&s, curve[PAPER_OBD_REFIT], curve[PAPER_REFIT]);
    if (curve[PAPER_OBD]) {
        paper_renumber(&s.network, s.by_obd);
        paper_measure(p, &s.network, &p->test, curve[PAPER_OBD]);
    }
    free(s.by_obd), free(s.greedy);
    paper_network_free(&s.network);
}

static void take_standard(paper *p, paper_results *r, const paper_kind *kind, uint32_t seed) {
    static const paper_method method[] = {PAPER_PLAIN, PAPER_REFIT, PAPER_OBD, PAPER_OBD_REFIT};
    char name[4][96], settings[320];
    paper_result *to[4];
    paper_curve *curve[PAPER_METHODS] = {NULL};
    int methods = kind->feedback ? 2 : 4, missing = 0;
    paper_kind_settings(kind, RECIPE_CODE, 0, NULL, seed, settings);
    for (int i = 0; i < methods; i++) {
        missing += !take(p, r, method[i], kind, seed, settings, &to[i], name[i]);
        curve[method[i]] = &to[i]->curve;
    }
    if (!missing) return;
    measure_standard(p, kind, seed, curve);
    for (int i = 0; i < methods; i++) paper_curve_write(p, name[i], to[i]->settings, &to[i]->curve);
}

/* --- signs ----------------------------------------------------------------------------- */

/* Components are found when the first curve that needs them is not kept. */
static void take_signs(paper *p, paper_results *r) {
    char name[96];
    paper_signs signs = {0};
    paper_result *to;
    for (size_t i = 0; i <= r->selection.seeds; i++) {
        uint32_t seed = i ? r->selection.seed[i - 1] : 0;
        if (take(p, r, i ? PAPER_ITQ : PAPER_PCA_SIGNS, NULL, seed, "", &to, name)) continue;
        if (!signs.p) paper_signs_begin(&signs, p, UNITS);
        if (i)
            paper_signs_itq(&signs, seed, &to->curve);
        else
            paper_signs_plain(&signs, &to->curve);
        paper_curve_write(p, name, to->settings, &to->curve);
    }
    paper_signs_end(&signs);
}

paper_results *paper_baselines(paper *p) {
    paper_results *r = figures_memory(1, sizeof *r);
    paper_load(p);
    r->selection = paper_selected(p);
    if (p->training.inputs < UNITS) figures_die("images of less than %d values", UNITS);
    for (size_t s = 0; s < r->selection.seeds; s++)
        for (size_t k = 0; k < r->selection.kinds; k++) {
            const paper_kind *kind = &r->selection.kind[k];
            uint32_t seed = r->selection.seed[s];
            take_nested(p, r, kind, seed);
            take_standard(p, r, kind, seed);
            if (paper_kind_is_in(kind, p->dedicated)) take_dedicated(p, r, kind, seed);
        }
    take_signs(p, r);
    return r;
}

/* --- over seeds ------------------------------------------------------------------------ */

static double error_at(const paper_result *r, uint32_t bits) {
    for (size_t i = 0; i < r->curve.n; i++)
        if (r->curve.length[i] == bits) return r->curve.mse[i];
    return NAN;
}

static int is_of(const paper_result *r, paper_method method, const paper_kind *kind) {
    if (r->method != method) return 0;
    return !r->kind.name || (kind && !strcmp(r->kind.name, kind->name));
}

static paper_spread spread_of(const double *value, size_t n) {
    paper_spread s = {.count = 0};
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i])) continue;
        s.mean += value[i], s.count++;
        low = fmin(low, value[i]), high = fmax(high, value[i]);
    }
    if (!s.count) return (paper_spread){NAN, NAN, 0};
    s.mean /= (double)s.count, s.spread = high - low;
    return s;
}

paper_spread paper_error_of(const paper_results *r, paper_method method, const paper_kind *kind,
                            uint32_t bits) {
    double value[PAPER_MAX_RESULTS];
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (is_of(&r->result[i], method, kind)) value[n++] = error_at(&r->result[i], bits);
    return spread_of(value, n);
}

paper_spread paper_nested_to(const paper_results *r, paper_method method, const paper_kind *kind,
                             uint32_t bits) {
    double value[PAPER_MAX_RESULTS];
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!is_of(&r->result[i], PAPER_NESTED, kind)) continue;
        for (size_t j = 0; j < r->n; j++) {
            const paper_result *other = &r->result[j];
            if (!is_of(other, method, kind)) continue;
            if (other->seed && other->seed != r->result[i].seed) continue;
            value[n++] = error_at(&r->result[i], bits) / error_at(other, bits);
        }
    }
    return spread_of(value, n);
}

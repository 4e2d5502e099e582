/* broadcast.c -- section 6: one code for receivers of many bandwidths (equation 16).
 *
 * A receiver of bandwidth b takes the first b bits. For each population the expected distortion of
 * four ways to serve it is measured on the test set:
 *     own         a network trained with the population as p_B
 *     geometric   one trained with the geometric p_B of about the same mean bandwidth; it and `own`
 * go on from one network that was trained so any length  the network of figure 5, trained for no
 * population ladder      seven standard autoencoders of 16, 32 .. 1024 bits; a receiver takes the
 * longest it can, the mean image below the first The gain in dB is that of the expected squared
 * errors. The gain in bytes is what the ladder's (or geometric) receivers need on top: with every
 * bandwidth of the population multiplied by s < 1, `own` has the same expected distortion, so (1 -
 * s) of the mean bandwidth is saved. */
#include "bench/paper/parts.h"
#include "bench/paper/populations.h"
#include "bench/paper/recipes.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START_RHO 0.996 /* mean of about 250 bits, as both populations have */
enum { RUNGS = 7, WAYS = 4, POPULATIONS = 2 };
static const char *const population_of[POPULATIONS] = {"smooth", "peaks"};
static const char *const way_of[WAYS] = {"own", "geometric", "any length", "ladder"};

typedef struct ladder {
    uint32_t bits[RUNGS];
    double mse[RUNGS];
} ladder;

typedef struct outcome {
    const char *population;
    train_truncation histogram;
    double mean_bits, rho;
    paper_curve curve[WAYS - 1]; /* of the three networks, dense */
    char settings[WAYS - 1][640];
    double expected[WAYS], saved[WAYS]; /* saved: bytes an image of own against this way */
} outcome;

/* --- networks -------------------------------------------------------------------------- */

static void learn_curve(paper *p, const char *name, const char *settings, paper_curve *curve,
                        char *used) {
    paper_network network;
    paper_train(p, name, settings, NULL, &network);
    paper_lengths(curve, network.net.units, 1);
    paper_measure(p, &network, &p->test, curve);
    memcpy(used, network.settings, sizeof network.settings);
    paper_network_free(&network);
}

static void learn_ladder(paper *p, ladder *l) {
    for (int i = 0; i < RUNGS; i++) {
        char name[32], settings[160];
        paper_network network;
        paper_curve curve = {.n = 1};
        l->bits[i] = curve.length[0] = 16u << i;
        snprintf(name, sizeof name, 16u << i == 1024 ? "standard" : "rung-%u", 16u << i);
        if (16u << i == 1024)
            snprintf(settings, sizeof settings, "%s", RECIPE_BINARY);
        else
            snprintf(settings, sizeof settings, "%s widths=%u", RECIPE_BINARY, 16u << i);
        paper_train(p, name, settings, NULL, &network);
        paper_measure(p, &network, &p->test, &curve);
        l->mse[i] = curve.mse[0];
        paper_print(p, "nested-dropout/broadcast", "mse of a rung", curve.mse[0], "8-bit^2",
                    "\"bits\":%u,\"settings\":\"%s\"", l->bits[i], network.settings);
        paper_network_free(&network);
    }
}

/* Error of the mean image, which is what a receiver of no bits shows. */
static double error_of_nothing(const paper *p) {
    double sum = 0.0;
    const paper_images *t = &p->test;
    for (size_t i = 0; i < t->n * t->inputs; i++) {
        double c = (double)t->pixels[i] - (double)p->mean[i % t->inputs];
        sum += c * c;
    }
    return sum / ((double)t->n * t->inputs);
}

/* --- expected distortion --------------------------------------------------------------- */

static double rung_error(const ladder *l, double nothing, uint32_t b) {
    double mse = nothing;
    for (int i = 0; i < RUNGS && l->bits[i] <= b; i++) mse = l->mse[i];
    return mse;
}

/* With all bandwidths multiplied by s; below one bit the error goes on to that of nothing. */
static double expected_at(const outcome *o, const paper_curve *curve, double nothing, double s) {
    double sum = 0.0;
    for (uint32_t b = 1; b <= o->histogram.units; b++) {
        double bits = s * b, mse = paper_at(curve, bits);
        if (bits < 1.0) mse = nothing + bits * (curve->mse[0] - nothing);
        sum += o->histogram.mass[b - 1] * mse;
    }
    return sum;
}

/* The s at which `own` is as bad as `target`, by bisection; 1 where it is no better. */
static double share_for(const outcome *o, double nothing, double target) {
    double low = 0.0, high = 1.0;
    if (!(o->expected[0] < target)) return 1.0;
    for (int i = 0; i < 40; i++) {
        double s = 0.5 * (low + high);
        if (expected_at(o, &o->curve[0], nothing, s) > target)
            low = s;
        else
            high = s;
    }
    return high;
}

static void compare(outcome *o, const ladder *l, double nothing) {
    for (int w = 0; w + 1 < WAYS; w++) o->expected[w] = expected_at(o, &o->curve[w], nothing, 1.0);
    o->expected[WAYS - 1] = 0.0;
    for (uint32_t b = 1; b <= o->histogram.units; b++)
        o->expected[WAYS - 1] += o->histogram.mass[b - 1] * rung_error(l, nothing, b);
    for (int w = 0; w < WAYS; w++)
        o->saved[w] = (1.0 - share_for(o, nothing, o->expected[w])) * o->mean_bits / 8.0;
}

/* --- a population ---------------------------------------------------------------------- */

static void write_histogram(const paper *p, const outcome *o) {
    char *path = paper_path(p->out, "broadcast-%s.txt", o->population);
    char comment[128];
    taper_error error = {0};
    snprintf(comment, sizeof comment, "share of receivers of 1, 2, ... %u bits: population %s",
             o->histogram.units, o->population);
    paper_check(paper_write_histogram(&o->histogram, path, comment, &error), path, &error);
    free(path);
}

/* Tuned from the common start. */
static void serve_with(paper *p, const char *name, const char *truncation,
                       const paper_network *start, paper_curve *curve, char *settings_out) {
    char settings[320];
    paper_network network;
    snprintf(settings, sizeof settings, "%s from=broadcast-start truncation=%s", RECIPE_POPULATION,
             truncation);
    paper_train_from(p, name, settings, NULL, start, &network);
    memcpy(settings_out, network.settings, sizeof network.settings);
    paper_lengths(curve, network.net.units, 1);
    paper_measure(p, &network, &p->test, curve);
    paper_network_free(&network);
}

static void serve(paper *p, const char *population, const paper_network *start, outcome *o) {
    taper_error error = {0};
    char name[64], geometric[32];
    *o = (outcome){.population = population, .rho = START_RHO};
    paper_check(paper_truncation(&o->histogram, population, 1024, &error), population, &error);
    o->mean_bits = paper_mean_length(&o->histogram);
    write_histogram(p, o);
    snprintf(name, sizeof name, "own-%s", population);
    serve_with(p, name, population, start, &o->curve[0], o->settings[0]);
    snprintf(geometric, sizeof geometric, "geometric:%.3f", START_RHO);
    serve_with(p, "geometric", geometric, start, &o->curve[1], o->settings[1]);
    learn_curve(p, "nested", RECIPE_NESTED, &o->curve[2], o->settings[2]);
}

static void print_outcome(paper *p, const outcome *o) {
    for (int w = 0; w < WAYS; w++) {
        const char *settings = w + 1 < WAYS ? o->settings[w] : "seven rungs, see there";
        paper_print(
            p, "nested-dropout/broadcast", "expected distortion", o->expected[w], "8-bit^2",
            "\"population\":\"%s\",\"method\":\"%s\",\"mean_bits\":%.1f,\"settings\":\"%s\"",
            o->population, way_of[w], o->mean_bits, settings);
        if (!w) continue;
        paper_print(p, "nested-dropout/broadcast", "gain of own histogram",
                    10.0 * log10(o->expected[w] / o->expected[0]), "dB",
                    "\"population\":\"%s\",\"over\":\"%s\"", o->population, way_of[w]);
        paper_print(p, "nested-dropout/broadcast", "bytes saved by own histogram", o->saved[w],
                    "B per image", "\"population\":\"%s\",\"over\":\"%s\",\"mean_bytes\":%.2f",
                    o->population, way_of[w], o->mean_bits / 8.0);
    }
}

static void plot(paper *p, const outcome *o, const ladder *l, double nothing) {
    uint32_t units = o->histogram.units;
    double *x = paper_memory(PAPER_MAX_LENGTHS, sizeof *x),
           *b = paper_memory((size_t)3 * units, sizeof *b), *rung = b + units, *mass = rung + units;
    char stem[64], title[96];
    for (size_t i = 0; i < o->curve[0].n; i++) x[i] = o->curve[0].length[i];
    for (uint32_t i = 0; i < units; i++) {
        b[i] = i + 1, rung[i] = rung_error(l, nothing, i + 1);
        mass[i] = 100.0 * o->histogram.mass[i];
    }
    paper_line line[] = {{"trained for this histogram", x, o->curve[0].mse, o->curve[0].n},
                         {"geometric of about the same mean", x, o->curve[1].mse, o->curve[1].n},
                         {"any length (figure 5)", x, o->curve[2].mse, o->curve[2].n},
                         {"ladder of seven", b, rung, units}},
               share[] = {{"receivers", b, mass, units}};
    snprintf(stem, sizeof stem, "broadcast-%s", o->population);
    snprintf(title, sizeof title, "What a receiver sees, population %s", o->population);
    paper_plot(p, stem, title, "bandwidth of the receiver, bits an image",
               "mean squared error (8-bit scale)", PAPER_LOG_X | PAPER_LOG_Y, line, WAYS);
    snprintf(stem, sizeof stem, "broadcast-%s-population", o->population);
    snprintf(title, sizeof title, "Population %s", o->population);
    paper_plot(p, stem, title, "bandwidth of the receiver, bits an image", "% of the receivers",
               PAPER_LOG_X, share, 1);
    free(x), free(b);
}

static void put_table(FILE *to, const outcome *o) {
    char cell[WAYS][4][48];
    const char *head[] = {"", "expected squared error", "gain of own, dB", "bytes saved by own"},
               *at[WAYS * 4];
    bool strong[WAYS] = {true};
    for (int w = 0; w < WAYS; w++) {
        snprintf(cell[w][0], 48, "%s", way_of[w]);
        if (w == 1) snprintf(cell[w][0], 48, "geometric:%.3f", o->rho);
        snprintf(cell[w][1], 48, "%.2f", o->expected[w]);
        snprintf(cell[w][2], 48, "%.2f", 10.0 * log10(o->expected[w] / o->expected[0]));
        snprintf(cell[w][3], 48, "%.2f of %.1f", o->saved[w], o->mean_bits / 8.0);
        for (int j = 0; j < 4; j++) at[4 * w + j] = w || j < 2 ? cell[w][j] : NULL;
    }
    cli_page_put_table(to, &(cli_page_table){4, WAYS, head, at, 1, strong});
}

static void put_page(paper *p, const outcome *o) {
    FILE *to = paper_section(
        p, "broadcast", "Section 6: a broadcast to many bandwidths",
        "if p_B is the distribution of the receivers' bandwidths, what nested dropout minimises is "
        "the expected distortion over them (equation 16); services offer a handful of fixed "
        "encodings instead. The paper leaves the experiment open.");
    for (int i = 0; i < POPULATIONS; i++) {
        char stem[64];
        snprintf(stem, sizeof stem, "broadcast-%s-population", o[i].population);
        paper_section_svg(p, to, stem, "share of receivers against bandwidth");
        snprintf(stem, sizeof stem, "broadcast-%s", o[i].population);
        paper_section_svg(p, to, stem, "error against bandwidth for four ways of serving it");
        put_table(to, &o[i]);
    }
    cli_page_note(to, "Bytes saved: the mean bandwidth that the receivers could do without when "
                      "served by their own network, at the expected distortion of the other way, "
                      "every bandwidth shrunk by the same factor.");
    cli_page_note(to, o[0].settings[0]);
    paper_section_end(to);
}

void paper_part_broadcast(paper *p) {
    outcome *o = paper_memory(POPULATIONS, sizeof *o);
    ladder l;
    paper_load(p);
    paper_network start;
    paper_train(p, "geometric", RECIPE_POPULATION_START " truncation=geometric:0.996", NULL,
                &start);
    for (int i = 0; i < POPULATIONS; i++) serve(p, population_of[i], &start, &o[i]);
    paper_network_free(&start);
    learn_ladder(p, &l);
    double nothing = error_of_nothing(p);
    for (int i = 0; i < POPULATIONS; i++) {
        compare(&o[i], &l, nothing);
        print_outcome(p, &o[i]);
        plot(p, &o[i], &l, nothing);
    }
    put_page(p, o);
    for (int i = 0; i < POPULATIONS; i++) train_truncation_free(&o[i].histogram);
    free(o);
}

/* fig2.c -- figure 2: nested neighbourhoods (equation 15) in a plane. A 2-16-32-16-2 binary network
 * learns the pinwheel; the neighbourhood of depth b of a query is where codes share its first b
 * bits. */
#include "bench/figures/drawing.h"
#include "bench/paper/parts.h"
#include "bench/paper/pinwheel.h"
#include "bench/paper/recipes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 256, POINTS = 20000, SHOWN = 2500, QUERIES = 7, PANEL = SIDE + 8, COLUMNS = 4 };
/* the depths that have a shade each */
static const uint32_t depth_of[] = {1, 2, 3, 4, 6, 8, 12, 16};
enum { DEPTHS = sizeof depth_of / sizeof *depth_of };

typedef struct plane {
    uint32_t units;
    uint8_t points[POINTS][2];
    float *code; /* [SIDE * SIDE][units] of every place in the plane: the bytes are all there are */
    size_t query[QUERIES]; /* points */
} plane;

static void encode_plane(paper_network *network, plane *v) {
    uint8_t *place = figures_memory(SIDE * SIDE, 2);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        place[2 * i] = (uint8_t)(i % SIDE), place[2 * i + 1] = (uint8_t)(i / SIDE);
    train_pixels rows = {.pixels = place, .n = SIDE * SIDE, .inputs = 2};
    v->units = network->net.units;
    v->code = figures_memory((size_t)SIDE * SIDE * v->units, sizeof *v->code);
    paper_codes(network, &rows, v->code);
    free(place);
}

static const float *code_at(const plane *v, const uint8_t xy[2]) {
    return v->code + ((size_t)xy[1] * SIDE + xy[0]) * v->units;
}

/* Bits that two codes share from the first on. */
static uint32_t shared(const float *a, const float *b, uint32_t units) {
    uint32_t n = 0;
    while (n < units && (a[n] > 0.0f) == (b[n] > 0.0f)) n++;
    return n;
}

/* Points as in the toy data, one arm after the other, that are not the first: the radius varies. */
static void choose_queries(plane *v) {
    for (size_t i = 0; i < QUERIES; i++) v->query[i] = 1000 + 17 * i + i / PAPER_ARMS;
}

/* --- the picture ----------------------------------------------------------------------- */

static void put_pixel(figures_drawing *d, uint32_t x, uint32_t y, const uint8_t rgb[3]) {
    if (x < d->width && y < d->height) memcpy(d->rgb + 3 * ((size_t)y * d->width + x), rgb, 3);
}

static void put_points(figures_drawing *d, const plane *v, uint32_t left, uint32_t top,
                       const uint8_t rgb[3]) {
    for (size_t i = 0; i < SHOWN; i++)
        put_pixel(d, left + v->points[i][0], top + SIDE - 1 - v->points[i][1], rgb);
}

static void shade(uint32_t depth, uint8_t rgb[3]) {
    int level = 0;
    while (level < DEPTHS && depth_of[level] <= depth) level++;
    float t = (float)level / DEPTHS;
    const float light[3] = {250, 252, 255}, dark[3] = {0, 70, 150};
    for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)lrintf(light[c] + t * (dark[c] - light[c]));
}

static void put_neighbourhoods(figures_drawing *d, const plane *v, const uint8_t query[2],
                               uint32_t left, uint32_t top) {
    const float *of_query = code_at(v, query);
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++) {
            uint8_t rgb[3], at[2] = {(uint8_t)x, (uint8_t)y};
            shade(shared(code_at(v, at), of_query, v->units), rgb);
            put_pixel(d, left + x, top + SIDE - 1 - y, rgb);
        }
}

static void draw(paper *p, const plane *v) {
    static const uint8_t grey[3] = {120, 120, 120}, blue[3] = {0, 70, 150}, red[3] = {213, 40, 0};
    figures_drawing d;
    figures_draw_begin(&d, COLUMNS * PANEL + 8, 2 * PANEL + 8, 1);
    put_points(&d, v, 8, 8, blue);
    figures_draw_word(&d, 14, 24, 10, "training data");
    for (uint32_t i = 0; i < QUERIES; i++) {
        uint32_t left = 8 + (i + 1) % COLUMNS * PANEL, top = 8 + (i + 1) / COLUMNS * PANEL;
        const uint8_t *query = v->points[v->query[i]];
        put_neighbourhoods(&d, v, query, left, top);
        put_points(&d, v, left, top, grey);
        figures_draw_dot(&d, (float)(left + query[0]) + 0.5f,
                         (float)(top + SIDE - 1 - query[1]) + 0.5f, 4.0f, red);
    }
    figures_draw_end(&p->figures, &d, "fig2",
                     "Pinwheel data and nested neighbourhoods of seven queries");
}

/* --- figures --------------------------------------------------------------------------- */

/* Mean over queries of the share of points in the neighbourhood of depth b, and of their squared
 * distance from the query to that of all points. */
static void measure(const plane *v, uint32_t b, double *share, double *spread) {
    double count = 0.0, near = 0.0, all = 0.0;
    for (size_t q = 0; q < QUERIES; q++) {
        const uint8_t *query = v->points[v->query[q]];
        for (size_t i = 0; i < POINTS; i++) {
            double dx = v->points[i][0] - query[0], dy = v->points[i][1] - query[1],
                   square = dx * dx + dy * dy;
            all += square;
            if (shared(code_at(v, v->points[i]), code_at(v, query), v->units) < b) continue;
            count += 1.0, near += square;
        }
    }
    *share = count / ((double)QUERIES * POINTS);
    *spread = count > 0.0 ? near / count / (all / ((double)QUERIES * POINTS)) : 0.0;
}

static void plot(paper *p, const plane *v, const paper_network *network) {
    double *b = figures_memory((size_t)3 * v->units, sizeof *b), *share = b + v->units,
           *spread = share + v->units;
    for (uint32_t i = 0; i < v->units; i++) {
        b[i] = i + 1;
        measure(v, i + 1, &share[i], &spread[i]);
        figures_print(&p->figures, "nested-dropout/fig2", "share of points in the neighbourhood",
                      share[i], "", "\"bits\":%u,\"settings\":\"%s\"", i + 1, network->settings);
        figures_print(&p->figures, "nested-dropout/fig2",
                      "squared distance in the neighbourhood to all", spread[i], "",
                      "\"bits\":%u,\"settings\":\"%s\"", i + 1, network->settings);
    }
    figures_line line[] = {{"share of all points", b, share, v->units},
                           {"squared distance, to that of all", b, spread, v->units}};
    figures_plot(&p->figures, "fig2-sizes", "Neighbourhoods of seven queries", "bits shared",
                 "share", FIGURES_LOG_Y, line, 2);
    free(b);
}

void paper_part_fig2(paper *p) {
    plane *v = figures_memory(1, sizeof *v);
    paper_network network;
    p->figures.set = "pinwheel";
    for (size_t i = 0; i < POINTS; i++) paper_pinwheel(1, i, v->points[i]);
    train_pixels rows = {.pixels = v->points[0], .n = p->quick ? POINTS / 4 : POINTS, .inputs = 2};
    paper_train(p, "pinwheel", p->quick ? RECIPE_PINWHEEL " epochs=20" : RECIPE_PINWHEEL, &rows,
                &network);
    encode_plane(&network, v);
    choose_queries(v);
    draw(p, v);
    plot(p, v, &network);
    paper_curve curve = {.n = network.net.units};
    for (uint32_t i = 0; i < network.net.units; i++) curve.length[i] = i + 1;
    paper_errors(&network, &rows, &curve);
    for (uint32_t i = 0; i < curve.n; i++)
        figures_print(&p->figures, "nested-dropout/fig2", "mse", curve.mse[i], "8-bit^2",
                      "\"bits\":%u,\"settings\":\"%s\"", i + 1, network.settings);
    FILE *to = paper_section(
        p, "fig2", "Figure 2: nested neighbourhoods",
        "in a 2-16-32-16-2 network on pinwheel data the neighbourhoods of a query, points that "
        "share "
        "its first bits, lie one in another, and their borders cut across the arms, the direction "
        "in which the data vary.");
    figures_section_svg(&p->figures, to, "fig2",
                        "data and neighbourhoods of seven queries, darker is deeper");
    figures_section_svg(&p->figures, to, "fig2-sizes",
                        "size of neighbourhoods against bits shared");
    figures_section_end(to);
    paper_network_free(&network);
    free(v->code);
    free(v);
}

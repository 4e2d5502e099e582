/* neighbour_graph.c -- see neighbour_graph.h. */
#include "train/labelling/neighbour_graph.h"
#include "codec/taper_search.h"
#include "codec/transform/network.h"
#include "formats/bytes.h"
#include "train/embedding/linear_start.h"
#include "train/embedding/row_codes.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- components ------------------------------------------------------------------------- */

static taper_status find_components(const train_pixels *pixels, codec_backend *be,
                                    train_device *device, uint32_t components, float *code,
                                    taper_error *error) {
    const train_linear_options options = {.kind = TRAIN_START_PCA};
    codec_network net = {0};
    taper_status status =
        codec_network_alloc(&net, pixels->inputs, components, CODEC_ENCODER, NULL, 0, NULL, 0);
    status = train_explain(status, error, "a map to %u components", (unsigned)components);
    if (status == TAPER_OK) status = train_linear_start(&options, pixels, device, &net, error);
    if (status == TAPER_OK)
        status = train_explain(train_row_codes(&net, be, pixels, NULL, pixels->n, code), error,
                               "components of %zu images", pixels->n);
    codec_network_free(&net);
    return status;
}

/* --- edges ------------------------------------------------------------------------------ */

/* The k nearest neighbours of each image, with squared distances. */
typedef struct nearest {
    size_t n, k;
    const uint32_t *neighbour; /* [n][k] */
    const double *square;      /* [n][k] */
} nearest;

static int has(const nearest *near, size_t i, size_t j) {
    for (size_t m = 0; m < near->k; m++)
        if (near->neighbour[i * near->k + m] == j) return 1;
    return 0;
}

/* Counts an image's edges: to its own neighbours, and to images that have it as a neighbour. */
static void count_edges(const nearest *near, size_t *first) {
    for (size_t i = 0; i < near->n; i++)
        for (size_t m = 0; m < near->k; m++) {
            const size_t j = near->neighbour[i * near->k + m];
            first[i + 1]++;
            if (!has(near, j, i)) first[j + 1]++;
        }
    for (size_t i = 0; i < near->n; i++) first[i + 1] += first[i];
}

static float weight_of(const nearest *near, size_t i, size_t m) {
    const size_t j = near->neighbour[i * near->k + m], last = near->k - 1;
    const double scale =
        sqrt(near->square[i * near->k + last]) * sqrt(near->square[j * near->k + last]);
    const double square = near->square[i * near->k + m];
    /* the distance and the scale of duplicate images may be 0 */
    return (float)(scale > 0.0 ? exp(-fmin(square / scale, 80.0)) : square > 0.0 ? 1e-30 : 1.0);
}

/* at[i]: the place of image i's next edge. */
static void put_edges(const nearest *near, size_t *at, train_neighbour_graph *g) {
    for (size_t i = 0; i < near->n; i++)
        for (size_t m = 0; m < near->k; m++) {
            const size_t j = near->neighbour[i * near->k + m];
            const float weight = weight_of(near, i, m);
            g->to[at[i]] = (uint32_t)j, g->weight[at[i]++] = weight;
            if (!has(near, j, i)) g->to[at[j]] = (uint32_t)i, g->weight[at[j]++] = weight;
        }
}

static taper_status normalise(train_neighbour_graph *g) {
    double *all = calloc(g->n, sizeof *all);
    if (!all) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < g->n; i++)
        for (size_t e = g->first[i]; e < g->first[i + 1]; e++) all[i] += (double)g->weight[e];
    for (size_t i = 0; i < g->n; i++)
        for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
            g->weight[e] = (float)((double)g->weight[e] / sqrt(all[i] * all[g->to[e]]));
    free(all);
    return TAPER_OK;
}

static taper_status link(const nearest *near, train_neighbour_graph *g) {
    size_t *at = malloc(near->n * sizeof *at);
    g->n = near->n;
    g->first = calloc(near->n + 1, sizeof *g->first);
    taper_status status = at && g->first ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        count_edges(near, g->first);
        g->to = malloc(g->first[g->n] * sizeof *g->to);
        g->weight = malloc(g->first[g->n] * sizeof *g->weight);
        status = g->to && g->weight ? TAPER_OK : TAPER_ERR_NOMEM;
    }
    if (status == TAPER_OK) {
        memcpy(at, g->first, near->n * sizeof *at);
        put_edges(near, at, g);
        status = normalise(g);
    }
    free(at);
    return status;
}

/* --- all steps -------------------------------------------------------------------------- */

static taper_status search(const float *code, size_t n, uint32_t width, unsigned threads,
                           train_neighbour_graph *g, taper_error *error) {
    const size_t k = formats_smaller(TRAIN_GRAPH_NEIGHBOURS, n - 1);
    uint32_t *neighbour = malloc(n * k * sizeof *neighbour);
    double *square = malloc(n * k * sizeof *square);
    const taper_search search = {.size = sizeof(taper_search),
                                 .references = code,
                                 .n_references = n,
                                 .n_queries = n,
                                 .width = width,
                                 .k = k,
                                 .threads = threads};
    taper_status status = neighbour && square ? TAPER_OK : TAPER_ERR_NOMEM;
    status = train_explain(status, error, "neighbours of %zu images", n);
    if (status == TAPER_OK) status = taper_nearest(&search, neighbour, square, error);
    if (status == TAPER_OK) {
        const nearest near = {n, k, neighbour, square};
        status = train_explain(link(&near, g), error, "a graph of %zu images", n);
    }
    free(neighbour), free(square);
    return status;
}

taper_status train_neighbour_graph_make(train_neighbour_graph *g, const train_pixels *pixels,
                                        codec_backend *be, train_device *device, unsigned threads,
                                        taper_error *error) {
    const size_t n = pixels->n;
    const uint32_t components = (uint32_t)formats_smaller(pixels->inputs, TRAIN_GRAPH_COMPONENTS);
    *g = (train_neighbour_graph){0};
    if (n < 2 || n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%zu images; neighbours are sought among 2 or "
                            "more",
                            n);
    float *code = malloc(n * components * sizeof *code);
    taper_status status =
        train_explain(code ? TAPER_OK : TAPER_ERR_NOMEM, error, "components of %zu images", n);
    if (status == TAPER_OK) status = find_components(pixels, be, device, components, code, error);
    if (status == TAPER_OK) status = search(code, n, components, threads, g, error);
    free(code);
    return status;
}

void train_neighbour_graph_free(train_neighbour_graph *g) {
    free(g->first), free(g->to), free(g->weight);
    *g = (train_neighbour_graph){0};
}

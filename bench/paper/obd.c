/* obd.c -- see obd.h. */
#include "bench/paper/obd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The examples at hand, seen from the units: x[n][K], gradient[n][K] = scale e . v_k, and
 * gram[K][K] = scale^2 v_j . v_k. */
typedef struct unit_view {
    size_t n;
    uint32_t units, inputs;
    float *x, *gradient, *gram;
} unit_view;

/* e of every row, in units of the scale: what |g_0 - c| squares. */
static float *residuals(paper_network *network, const train_pixels *rows, const float *x) {
    const train_nested_network *net = &network->net;
    float *e = figures_memory(rows->n * rows->inputs, sizeof *e);
    figures_check(train_nested_decode(&network->net, x, rows->n, net->units, e), "decoding", NULL);
    for (size_t i = 0; i < rows->n * rows->inputs; i++) e[i] = (float)rows->pixels[i] - e[i];
    return e;
}

static unit_view look(paper *p, paper_network *network, const paper_images *images, size_t most) {
    const train_nested_network *net = &network->net;
    train_pixels rows = paper_rows(images, most);
    unit_view v = {.n = rows.n, .units = net->units, .inputs = rows.inputs};
    float *decoder = paper_fetch(network, net->layer[0].v, (size_t)net->units * rows.inputs);
    if (net->shape.layers != 1) figures_die("Optimal Brain Damage here is for one layer");
    v.x = figures_memory(v.n * v.units, sizeof *v.x);
    v.gradient = figures_memory(v.n * v.units, sizeof *v.gradient);
    v.gram = figures_memory((size_t)v.units * v.units, sizeof *v.gram);
    paper_codes(network, &rows, v.x);
    float *e = residuals(network, &rows, v.x);
    figures_check(
        p->be.ops->gemm(&p->be, 0, 1, v.n, v.units, v.inputs, e, decoder, 0.0f, v.gradient),
        "product", NULL);
    figures_check(
        p->be.ops->gemm(&p->be, 0, 1, v.units, v.units, v.inputs, decoder, decoder, 0.0f, v.gram),
        "product", NULL);
    for (size_t i = 0; i < v.n * v.units; i++) v.gradient[i] *= net->scale;
    for (size_t i = 0; i < (size_t)v.units * v.units; i++) v.gram[i] *= net->scale * net->scale;
    free(e), free(decoder);
    return v;
}

/* saliency[K], not divided by D. */
static void measure(const unit_view *v, double *saliency) {
    memset(saliency, 0, v->units * sizeof *saliency);
    for (size_t i = 0; i < v->n; i++) {
        const float *x = v->x + i * v->units, *gradient = v->gradient + i * v->units;
        for (size_t k = 0; k < v->units; k++)
            saliency[k] += (double)(x[k] * (2.0f * gradient[k] + x[k] * v->gram[k * v->units + k]));
    }
    for (size_t k = 0; k < v->units; k++) saliency[k] /= (double)v->n;
}

/* Take unit k out of every code: e grows by scale x_k v_k. */
static void remove_unit(unit_view *v, uint32_t k) {
    const float *gram = v->gram + (size_t)k * v->units;
    for (size_t i = 0; i < v->n; i++) {
        float *gradient = v->gradient + i * v->units, *x = v->x + i * v->units, was = x[k];
        if (was == 0.0f) continue;
        for (size_t j = 0; j < v->units; j++) gradient[j] += was * gram[j];
        x[k] = 0.0f;
    }
}

static uint32_t least(const double *saliency, const uint8_t *gone, uint32_t units) {
    uint32_t best = units;
    for (uint32_t k = 0; k < units; k++)
        if (!gone[k] && (best == units || saliency[k] < saliency[best])) best = k;
    return best;
}

void paper_obd_order(paper *p, paper_network *network, const paper_images *images, size_t most,
                     int repeated, uint32_t *order) {
    unit_view v = look(p, network, images, most);
    double *saliency = figures_memory(v.units, sizeof *saliency);
    uint8_t *gone = figures_memory(v.units, 1);
    measure(&v, saliency);
    for (uint32_t left = v.units; left-- > 0;) {
        uint32_t k = least(saliency, gone, v.units);
        gone[k] = 1, order[left] = k;
        if (!repeated) continue;
        remove_unit(&v, k);
        measure(&v, saliency);
    }
    free(saliency), free(gone), free(v.x), free(v.gradient), free(v.gram);
}

static void renumber_rows(paper_network *network, float *rows, size_t width,
                          const uint32_t *order) {
    uint32_t units = network->net.units;
    float *was = paper_fetch(network, rows, units * width);
    for (uint32_t k = 0; k < units; k++)
        figures_check(train_upload(&network->net.stream, rows + k * width, was + order[k] * width,
                                   width * sizeof *was),
                      "weights", NULL);
    free(was);
}

void paper_renumber(paper_network *network, const uint32_t *order) {
    train_nested_network *net = &network->net;
    train_nested_layer *code = &net->layer[net->shape.layers - 1];
    renumber_rows(network, code->w, code->inputs, order);
    if (code->v != code->w) renumber_rows(network, code->v, code->inputs, order);
    renumber_rows(network, code->b, 1, order);
    renumber_rows(network, net->spread, 1, order);
}

void paper_unmix(paper_network *network) {
    train_nested_network *net = &network->net;
    if (!net->mixed) return;
    const size_t units = net->units, d = net->shape.inputs;
    float *v = paper_fetch(network, net->layer[0].v, units * d),
          *mixing = paper_fetch(network, net->mixing, units * units);
    for (size_t j = 0; j < units; j++) /* rows after j are still as they were */
        for (size_t k = j + 1; k < units; k++)
            for (size_t i = 0; i < d; i++) v[j * d + i] += mixing[k * units + j] * v[k * d + i];
    figures_check(train_upload(&net->stream, net->layer[0].v, v, units * d * sizeof *v), "weights",
                  NULL);
    net->mixed = 0;
    free(v), free(mixing);
}

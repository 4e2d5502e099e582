/* labelling.c -- see labelling.h. */
#include "train/labelling/labelling.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/labelling/label_spreading.h"
#include "train/optimise/run.h"
#include <stdlib.h>
#include <string.h>

train_labelling_options train_labelling_defaults(void) {
    return (train_labelling_options){.teaching = train_teaching_defaults(), .surest = 0.7f};
}

/* --- guesses by neighbours ---------------------------------------------------------------- */

static int by_sureness(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* How sure a guess must be to be among the surest; ties are in. Those of labelled rows do not
 * count. */
static taper_status least_sure(const train_labelling_options *o, const train_pixels *data,
                               const float *sure, float *least) {
    float *sorted = malloc(data->n * sizeof *sorted);
    size_t n = 0;
    if (!sorted) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] >= o->classes) sorted[n++] = sure[i];
    qsort(sorted, n, sizeof *sorted, by_sureness);
    const size_t kept = (size_t)((double)o->surest * (double)n);
    *least = kept ? sorted[kept - 1] : 2.0f;
    free(sorted);
    return TAPER_OK;
}

/* label[n]: known ones, and the surest guesses by neighbours. */
static taper_status spread(const train_labelling_options *o, const train_pixels *data,
                           codec_backend *be, train_device *device, uint32_t *label,
                           taper_error *error) {
    train_neighbour_graph graph = {0};
    float least = 0.0f, *sure = malloc(data->n * sizeof *sure);
    taper_status status =
        train_told(sure ? TAPER_OK : TAPER_ERR_NOMEM, error, "guesses for %zu images", data->n);
    if (status == TAPER_OK)
        status = train_neighbour_graph_make(&graph, data, be, device, o->threads, error);
    if (status == TAPER_OK) {
        status = train_spread_labels(&graph, data->label, o->classes, label, sure);
        if (status == TAPER_OK) status = least_sure(o, data, sure, &least);
        status = train_told(status, error, "guesses for %zu images", data->n);
    }
    for (size_t i = 0; i < data->n && status == TAPER_OK; i++)
        if (sure[i] < least) label[i] = UINT32_MAX;
    train_neighbour_graph_free(&graph);
    free(sure);
    return status;
}

static int has_unlabelled(const train_labelling_options *o, const train_pixels *data) {
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] >= o->classes) return 1;
    return 0;
}

/* --- the teacher's ------------------------------------------------------------------------ */

static uint32_t largest(const float *code, uint32_t n) {
    uint32_t best = 0;
    for (uint32_t c = 1; c < n; c++)
        if (code[c] > code[best]) best = c;
    return best;
}

static taper_status name_classes(const codec_network *net, codec_backend *be,
                                 const train_pixels *data, uint32_t *guess) {
    enum { BLOCK = 512 };
    const size_t d = data->inputs;
    float *block = malloc(BLOCK * d * sizeof *block);
    float *code = malloc(BLOCK * (size_t)net->units * sizeof *code);
    taper_status status = block && code ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < data->n && status == TAPER_OK; i += BLOCK) {
        const size_t count = formats_smaller(data->n - i, BLOCK);
        for (size_t k = 0; k < count * d; k++) block[k] = data->pixels[i * d + k];
        status = codec_network_encode(net, be, block, count, code);
        for (size_t k = 0; k < count && status == TAPER_OK; k++)
            guess[i + k] = data->label[i + k] < net->units
                               ? data->label[i + k]
                               : largest(code + k * net->units, net->units);
    }
    free(block), free(code);
    return status;
}

taper_status train_labelling(const train_labelling_options *o, const train_pixels *data,
                             codec_backend *be, train_device *device,
                             const train_teaching_callbacks *callbacks, codec_network *net,
                             uint32_t *guess, int *stopped, taper_error *error) {
    train_pixels known = *data;
    uint32_t *label = malloc(formats_larger(data->n, 1) * sizeof *label);
    taper_status status = label ? codec_network_alloc(net, data->inputs, o->classes, CODEC_ENCODER,
                                                      o->hidden, o->n_hidden, NULL, 0)
                                : TAPER_ERR_NOMEM;
    *stopped = 0;
    status = train_told(status, error, "a teacher of %u classes", (unsigned)o->classes);
    if (status == TAPER_OK) memcpy(label, data->label, data->n * sizeof *label);
    if (status == TAPER_OK && o->surest > 0.0f && has_unlabelled(o, data))
        status = spread(o, data, be, device, label, error);
    known.label = label;
    if (status == TAPER_OK) {
        train_drawn_start(net, o->teaching.seed);
        status = train_teaching(&o->teaching, &known, device, net, callbacks, stopped, error);
    }
    if (status == TAPER_OK && guess && !*stopped)
        status = train_told(name_classes(net, be, data, guess), error, "guesses for %zu images",
                            data->n);
    free(label);
    return status;
}

/* dense_start.c -- initial weights and measurements of dense training; see dense_start.h. */
#include "train/dense/dense_start.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- initial weights -------------------------------------------------------------------------- */

static void initialise_stack(codec_stack *stack, uint64_t seed, uint64_t first_stream) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        codec_layer *layer = &stack->layer[l];
        size_t n = (size_t)layer->inputs * layer->outputs;
        int last = l + 1 == stack->depth;
        float deviation = last ? 0.0f : sqrtf(2.0f / (float)layer->inputs);
        train_philox_weights(layer->weight, n, deviation, seed, first_stream + l);
        memset(layer->bias, 0, layer->outputs * sizeof *layer->bias);
    }
}

void train_initialise_stacks(codec_network *net, uint64_t seed) {
    initialise_stack(&net->encoder, seed, 0);
    initialise_stack(&net->decoder, seed, CODEC_MAX_LAYERS);
}

/* --- measurements ----------------------------------------------------------------------------- */

enum { BLOCK = 128 };

typedef struct sums {
    double *magnitude, *square, pixels;
    size_t rows;
} sums;

/* A block of rows through the linear path: on the device, and downloaded. */
typedef struct measured_block {
    train_arena arena;
    float *mean, *analysis, *centred, *codes;
    uint8_t *pixels, *host_pixels;    /* [BLOCK][D] on the device, on the host */
    float *host_centred, *host_codes; /* [BLOCK][D], [BLOCK][K] */
} measured_block;

static void lay_out(measured_block *b, size_t d, size_t k) {
    b->mean = train_arena_floats(&b->arena, 1, d);
    b->analysis = train_arena_floats(&b->arena, k, d);
    b->centred = train_arena_floats(&b->arena, BLOCK, d);
    b->codes = train_arena_floats(&b->arena, BLOCK, k);
    b->pixels = train_arena_take(&b->arena, BLOCK, d, 1);
}

static taper_status take_block(measured_block *b, const codec_network *net, train_stream *s) {
    size_t d = net->inputs, k = net->units;
    lay_out(b, d, k);
    TAPER_TRY(train_arena_alloc(&b->arena, s->device));
    lay_out(b, d, k);
    b->host_pixels = malloc(BLOCK * d);
    b->host_centred = malloc(BLOCK * d * sizeof *b->host_centred);
    b->host_codes = malloc(BLOCK * k * sizeof *b->host_codes);
    if (!b->host_pixels || !b->host_centred || !b->host_codes) return TAPER_ERR_NOMEM;
    TAPER_TRY(train_upload(s, b->mean, net->mean, d * sizeof(float)));
    return train_upload(s, b->analysis, net->analysis, k * d * sizeof(float));
}

static void free_block(measured_block *b) {
    train_arena_free(&b->arena);
    free(b->host_pixels), free(b->host_centred), free(b->host_codes);
}

/* Takes those of the rows first, first + stride, ... that are here. Returns their number. */
static size_t fill_block(measured_block *b, const train_pixels *data, size_t first, size_t stride,
                         size_t rows) {
    const size_t d = data->inputs;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        const size_t row = first + i * stride, place = data->place ? data->place[row] : row;
        if (place != TRAIN_ABSENT) memcpy(b->host_pixels + n++ * d, data->pixels + place * d, d);
    }
    return n;
}

static taper_status encode_block(measured_block *b, const codec_network *net, train_stream *s,
                                 size_t rows) {
    size_t d = net->inputs, k = net->units;
    TAPER_TRY(train_upload(s, b->pixels, b->host_pixels, rows * d));
    TAPER_TRY(s->ops->centre_rows(s, rows, d, b->pixels, NULL, b->mean, 1.0f, b->centred));
    TAPER_TRY(s->ops->gemm(s, 0, 1, rows, k, d, b->centred, b->analysis, 0.0f, b->codes));
    TAPER_TRY(train_download(s, b->host_centred, b->centred, rows * d * sizeof(float)));
    return train_download(s, b->host_codes, b->codes, rows * k * sizeof(float));
}

static void add_block(const measured_block *b, const codec_network *net, size_t rows, sums *out) {
    size_t d = net->inputs, k = net->units;
    for (size_t i = 0; i < rows * d; i++)
        out->pixels += (double)b->host_centred[i] * b->host_centred[i];
    for (size_t i = 0; i < rows; i++)
        for (size_t u = 0; u < k; u++) {
            double x = b->host_codes[i * k + u];
            out->magnitude[u] += fabs(x);
            out->square[u] += x * x;
        }
    out->rows += rows;
}

static taper_status measure_rows(const codec_network *net, train_stream *s,
                                 const train_pixels *data, size_t most, sums *out) {
    size_t rows = data->n < most ? data->n : most, stride = data->n / rows;
    measured_block b = {0};
    taper_status status = take_block(&b, net, s);
    for (size_t i = 0; i < rows && status == TAPER_OK; i += BLOCK) {
        size_t n = fill_block(&b, data, i * stride, stride, rows - i < BLOCK ? rows - i : BLOCK);
        if (n) status = encode_block(&b, net, s, n);
        if (status == TAPER_OK && n) add_block(&b, net, n, out);
    }
    free_block(&b);
    return status;
}

/* The sums of all ranks. */
static taper_status share_sums(sums *s, size_t units, train_ranks *ranks, taper_error *error) {
    uint64_t rows = s->rows;
    TAPER_TRY(train_sum_doubles(ranks, s->magnitude, units, error));
    TAPER_TRY(train_sum_doubles(ranks, s->square, units, error));
    TAPER_TRY(train_sum_doubles(ranks, &s->pixels, 1, error));
    TAPER_TRY(train_sum_integers(ranks, &rows, 1, error));
    s->rows = (size_t)rows;
    return TAPER_OK;
}

taper_status train_start_measure(train_start *start, const codec_network *net, train_stream *stream,
                                 const train_pixels *data, size_t most) {
    memset(start, 0, sizeof *start);
    if (!data->n || !most || data->inputs != net->inputs) return TAPER_ERR_ARG;
    size_t k = net->units;
    sums s = {calloc(k, sizeof(double)), calloc(k, sizeof(double)), 0.0, 0};
    start->magnitude = calloc(k, sizeof *start->magnitude);
    taper_status status = s.magnitude && s.square && start->magnitude ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = measure_rows(net, stream, data, most, &s);
    if (status == TAPER_OK) status = share_sums(&s, k, data->ranks, NULL);
    if (status == TAPER_OK) {
        double rows = (double)s.rows, carried = 0.0;
        for (size_t u = 0; u < k; u++) {
            start->magnitude[u] = (float)(s.magnitude[u] / rows);
            s.square[u] /= rows;
            carried += s.square[u];
        }
        start->residual = s.pixels / rows > carried ? s.pixels / rows - carried : 0.0;
        double deviation = sqrt(s.pixels / rows / net->inputs);
        start->scale = deviation > 1.0 ? (float)deviation : 1.0f;
        start->variance = s.square;
        s.square = NULL;
    }
    free(s.magnitude);
    free(s.square);
    if (status != TAPER_OK) train_start_free(start);
    return status;
}

void train_start_free(train_start *start) {
    free(start->magnitude);
    free(start->variance);
    memset(start, 0, sizeof *start);
}

/* --- quality and threshold -------------------------------------------------------------------- */

/* The error outside the span of the units is attributed to further units, whose variances fall
 * geometrically from the last unit's. So codes of few units also get useful thresholds. */
static double error_at(const train_start *start, uint32_t inputs, uint32_t units, double theta) {
    double sum = 0.0, next = start->variance[units - 1],
           ratio = start->residual / (start->residual + next + 1e-30);
    for (uint32_t u = 0; u < units; u++)
        sum += start->variance[u] < theta ? start->variance[u] : theta;
    for (uint32_t u = units; u < inputs; u++) {
        next *= ratio;
        sum += next < theta ? next : theta;
    }
    return sum;
}

float train_threshold_for_psnr(const train_start *start, uint32_t inputs, uint32_t units,
                               double psnr) {
    double goal = (double)inputs * 255.0 * 255.0 * pow(10.0, -psnr / 10.0);
    double low = 1.0 / 6.0, high = 1e9; /* theta; log bisection */
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);
        if (error_at(start, inputs, units, middle) < goal)
            low = middle;
        else
            high = middle;
    }
    double largest = 1.0;
    for (uint32_t u = 0; u < units; u++)
        largest = start->variance[u] > largest ? start->variance[u] : largest;
    return (float)sqrt(6.0 * (low < largest ? low : largest));
}

double train_psnr_without_code(const train_start *start, uint32_t inputs, uint32_t units) {
    double error = error_at(start, inputs, units, 1e30) / inputs;
    return 10.0 * log10(255.0 * 255.0 / (error > 1e-3 ? error : 1e-3));
}

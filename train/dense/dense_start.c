/* dense_start.c -- first weights and first measurements of dense training; see dense_start.h. */
#include "train/dense/dense_start.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- first weights ---------------------------------------------------------------------------- */

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
    double *magnitude, *square, pixels, units;
    size_t rows;
} sums;

static taper_status measure_block(const codec_network *net, codec_backend *be,
                                  const train_pixels *data, size_t first, size_t stride,
                                  size_t rows, float *centred, float *codes, sums *out) {
    size_t d = net->inputs, k = net->units;
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *y = data->pixels + (first + i * stride) * d;
        for (size_t j = 0; j < d; j++) {
            float c = (float)y[j] - net->mean[j];
            centred[i * d + j] = c;
            out->pixels += (double)c * c;
        }
    }
    TAPER_TRY(be->ops->gemm(be, 0, 1, rows, k, d, centred, net->analysis, 0.0f, codes));
    for (size_t i = 0; i < rows; i++)
        for (size_t u = 0; u < k; u++) {
            double x = codes[i * k + u];
            out->magnitude[u] += fabs(x);
            out->square[u] += x * x;
        }
    out->rows += rows;
    return TAPER_OK;
}

static taper_status measure_rows(const codec_network *net, codec_backend *be,
                                 const train_pixels *data, size_t most, sums *out) {
    size_t rows = data->n < most ? data->n : most, stride = data->n / rows;
    float *centred = malloc(BLOCK * (size_t)net->inputs * sizeof *centred);
    float *codes = malloc(BLOCK * (size_t)net->units * sizeof *codes);
    taper_status status = centred && codes ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < rows && status == TAPER_OK; i += BLOCK)
        status = measure_block(net, be, data, i * stride, stride,
                               rows - i < BLOCK ? rows - i : BLOCK, centred, codes, out);
    free(centred);
    free(codes);
    return status;
}

taper_status train_start_measure(train_start *start, const codec_network *net, codec_backend *be,
                                 const train_pixels *data, size_t most) {
    memset(start, 0, sizeof *start);
    if (!data->n || !most || data->inputs != net->inputs) return TAPER_ERR_ARG;
    size_t k = net->units;
    sums s = {calloc(k, sizeof(double)), calloc(k, sizeof(double)), 0.0, 0.0, 0};
    start->magnitude = calloc(k, sizeof *start->magnitude);
    taper_status status = s.magnitude && s.square && start->magnitude ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = measure_rows(net, be, data, most, &s);
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

/* What no unit carries counts as if further units carried it with variances that fall geometrically
 * from the last one's: a code of few units still gets thresholds at which its units matter. */
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

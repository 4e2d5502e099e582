/* projections.c -- see projections.h. */
#include "bench/retrieval/projections.h"
#include "bench/paper/itq.h"
#include "formats/bytes.h"
#include "train/linear/pca.h"
#include "train/processor/processor.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2000 };    /* images that are projected at a time */
enum { DIRECTIONS = 31 }; /* the "layer" that numbers random directions: bench/paper/itq.c has 30 */

/* Images first .. of a set as p->block; how many these are, 0 at the end. */
static size_t take_block(retrieval_projections *p, const retrieval_images *images, size_t first) {
    const size_t n = formats_smaller(BLOCK, images->n - first);
    const uint8_t *from = images->pixels + first * p->inputs;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p->inputs; j++)
            p->block[i * p->inputs + j] = (float)from[i * p->inputs + j] - p->mean[j];
    return n;
}

/* to[n][units] of p->block and rows[units][inputs]. */
static void project(retrieval_projections *p, size_t n, const float *rows, size_t units,
                    float *to) {
    figures_check(p->be.ops->gemm(&p->be, 0, 1, n, units, p->inputs, p->block, rows, 0.0f, to),
                  "projections", NULL);
}

/* --- principal components --------------------------------------------------------------- */

/* p->mean, which is 0 before, and component[units][inputs] as new memory. */
static float *solve(retrieval_projections *p) {
    train_device device;
    train_covariance cov;
    codec_network net;
    taper_error error = {0};
    const size_t bytes = p->units * p->inputs * sizeof(float);
    figures_check(train_processor_open(&device, &p->be, TRAIN_PROCESSOR), "device", NULL);
    figures_check(train_covariance_alloc(&cov, &device, (uint32_t)p->inputs), "covariance", NULL);
    for (size_t i = 0, n; (n = take_block(p, p->images[0], i)); i += n)
        figures_check(train_covariance_add(&cov, p->block, n), "covariance", NULL);
    figures_check(codec_network_alloc(&net, (uint32_t)p->inputs, (uint32_t)p->units, CODEC_TIED,
                                      NULL, 0, NULL, 0),
                  "principal components", NULL);
    figures_check(train_pca_solve(&cov, &net, NULL, &error), "principal components", &error);
    float *component = memcpy(figures_memory(bytes, 1), net.synthesis, bytes);
    memcpy(p->mean, net.mean, p->inputs * sizeof *p->mean);
    codec_network_free(&net);
    train_covariance_free(&cov);
    train_processor_close(&device);
    return component;
}

void retrieval_projections_open(retrieval_projections *p, const retrieval_images *training,
                                const retrieval_images *queries, size_t units, unsigned threads) {
    *p = (retrieval_projections){.images = {training, queries},
                                 .inputs = training->inputs,
                                 .units = formats_smaller(units, training->inputs)};
    codec_backend_cpu(&p->be);
    figures_check(codec_backend_set_threads(&p->be, threads), "threads", NULL);
    p->mean = figures_memory(p->inputs, sizeof *p->mean);
    p->block = figures_memory(BLOCK, p->inputs * sizeof *p->block);
    figures_say("principal components: %zu of %zu", p->units, p->inputs);
    float *component = solve(p);
    for (int k = 0; k < 2; k++) {
        p->along[k] = figures_memory(p->images[k]->n, p->units * sizeof *p->along[k]);
        for (size_t i = 0, n; (n = take_block(p, p->images[k], i)); i += n)
            project(p, n, component, p->units, p->along[k] + i * p->units);
    }
    free(component);
}

void retrieval_projections_close(retrieval_projections *p) {
    free(p->mean), free(p->block), free(p->along[0]), free(p->along[1]);
    codec_backend_close(&p->be);
    *p = (retrieval_projections){.inputs = 0};
}

/* --- bits ------------------------------------------------------------------------------- */

static void make_room(const retrieval_projections *p, const char *kind, size_t bits,
                      retrieval_set *set) {
    *set = (retrieval_set){.kind = kind,
                           .n = p->images[0]->n,
                           .bits = bits,
                           .words = codec_bits_words(bits),
                           .queries = p->images[1]->n};
    set->codes = figures_memory(set->n, set->words * sizeof *set->codes);
    set->query = figures_memory(set->queries, set->words * sizeof *set->query);
}

void retrieval_signs(retrieval_projections *p, retrieval_set *set) {
    make_room(p, "signs", p->units, set);
    codec_bits_pack(p->along[0], set->n, p->units, set->bits, set->codes);
    codec_bits_pack(p->along[1], set->queries, p->units, set->bits, set->query);
}

/* The first `bits` projections of images first .. first + n - 1. */
static void take_front(const retrieval_projections *p, int k, size_t first, size_t n, size_t bits,
                       float *to) {
    const float *from = p->along[k] + first * p->units;
    for (size_t i = 0; i < n; i++) memcpy(to + i * bits, from + i * p->units, bits * sizeof *to);
}

/* Bits of images[k], turned, block by block. */
static void turn(retrieval_projections *p, int k, const float *rotation, size_t bits,
                 uint64_t *rows) {
    float *front = figures_memory(BLOCK, bits * sizeof *front),
          *turned = figures_memory(BLOCK, bits * sizeof *turned);
    const size_t all = p->images[k]->n, words = codec_bits_words(bits);
    for (size_t i = 0; i < all; i += BLOCK) {
        const size_t n = formats_smaller(BLOCK, all - i);
        take_front(p, k, i, n, bits, front);
        figures_check(p->be.ops->gemm(&p->be, 0, 0, n, bits, bits, front, rotation, 0.0f, turned),
                      "rotation", NULL);
        codec_bits_pack(turned, n, bits, bits, rows + i * words);
    }
    free(front), free(turned);
}

void retrieval_itq(retrieval_projections *p, size_t bits, uint32_t iterations, uint64_t seed,
                   retrieval_set *set) {
    taper_error error = {0};
    make_room(p, "itq", bits, set);
    float *rotation = figures_memory(bits * bits, sizeof *rotation),
          *front = figures_memory(set->n, bits * sizeof *front);
    take_front(p, 0, 0, set->n, bits, front);
    figures_check(
        paper_itq(&p->be, front, set->n, (uint32_t)bits, iterations, seed, rotation, &error), "ITQ",
        &error);
    turn(p, 0, rotation, bits, set->codes);
    turn(p, 1, rotation, bits, set->query);
    free(rotation), free(front);
}

void retrieval_random(retrieval_projections *p, size_t bits, uint64_t seed, retrieval_set *set) {
    make_room(p, "random", bits, set);
    float *direction = figures_memory(bits, p->inputs * sizeof *direction),
          *along = figures_memory(BLOCK, bits * sizeof *along);
    train_philox_weights(direction, bits * p->inputs, 1.0f, seed, DIRECTIONS);
    for (int k = 0; k < 2; k++) {
        uint64_t *rows = k ? set->query : set->codes;
        for (size_t i = 0, n; (n = take_block(p, p->images[k], i)); i += n) {
            project(p, n, direction, bits, along);
            codec_bits_pack(along, n, bits, bits, rows + i * set->words);
        }
    }
    free(direction), free(along);
}

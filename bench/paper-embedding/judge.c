/* judge.c -- see judge.h. */
#include "bench/paper-embedding/judge.h"
#include "bench/paper-embedding/sets.h"
#include "codec/taper.h"
#include <stdlib.h>

enum { BLOCK = 16 * CODEC_ROWS_AT_ONCE, MOST_K = 7 };

static void to_floats(const uint8_t *from, size_t n, float scale, float *to) {
    for (size_t i = 0; i < n; i++) to[i] = (float)from[i] * scale;
}

float *embedding_codes(embedding *e, const codec_network *net, const train_pixels *rows) {
    size_t d = rows->inputs, width = net ? net->units : d;
    float *codes = figures_memory(rows->n * width, sizeof *codes);
    if (!net) {
        to_floats(rows->pixels, rows->n * d, 1.0f / 255.0f, codes);
        return codes;
    }
    float *block = figures_memory(BLOCK * d, sizeof *block);
    for (size_t i = 0; i < rows->n; i += BLOCK) {
        size_t n = rows->n - i < BLOCK ? rows->n - i : BLOCK;
        to_floats(rows->pixels + i * d, n * d, 1.0f, block);
        figures_check(codec_network_encode(net, &e->be, block, n, codes + i * width), "codes",
                      NULL);
    }
    free(block);
    return codes;
}

static int32_t *signed_labels(const train_pixels *rows) {
    int32_t *to = figures_memory(rows->n, sizeof *to);
    for (size_t i = 0; i < rows->n; i++) to[i] = (int32_t)rows->label[i];
    return to;
}

void embedding_judge(const embedding *e, size_t width, const float *train_codes,
                     const train_pixels *train, const float *test_codes, const train_pixels *test,
                     embedding_record *out) {
    taper_error error = {0};
    taper_search s = {sizeof(taper_search),
                      train_codes,
                      train->n,
                      test_codes,
                      test->n,
                      0,
                      width,
                      MOST_K,
                      e->threads};
    uint32_t *neighbours = figures_memory(test->n * MOST_K, sizeof *neighbours);
    double *distances = figures_memory(test->n * MOST_K, sizeof *distances);
    int32_t *voted = figures_memory(test->n, sizeof *voted), *labels = signed_labels(train),
            *truth = signed_labels(test);
    figures_check(taper_nearest(&s, neighbours, distances, &error), "neighbours", &error);
    for (size_t i = 0; i < EMBEDDING_KS; i++) {
        taper_votes votes = {
            sizeof(taper_votes), neighbours, test->n, MOST_K, embedding_k[i], labels, train->n,
            EMBEDDING_CLASSES,   NULL};
        taper_error_rate rate = {.size = sizeof(taper_error_rate)};
        figures_check(taper_vote(&votes, voted, &error), "votes", &error);
        figures_check(
            taper_count_errors(voted, truth, test->n, EMBEDDING_CLASSES, NULL, &rate, &error),
            "errors", &error);
        out->error[i] = 100.0 * rate.rate;
        out->low[i] = 100.0 * rate.low, out->high[i] = 100.0 * rate.high;
    }
    out->tested = test->n;
    free(neighbours), free(distances), free(voted), free(labels), free(truth);
}

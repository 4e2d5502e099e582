/* precision.c -- of ten neighbours by codes of bits, how many are of the query's class, and how
 * many are those by pixels; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/measure.h"
#include "bench/retrieval/models.h"
#include "bench/retrieval/projections.h"
#include "codec/taper_search.h"
#include "formats/bytes.h"
#include <stdlib.h>

enum {
    K = RETRIEVAL_K,
    LEAST_BITS = 8,
    MOST_BITS = 1024,
    ITQ_MOST_BITS = 512,
    ITQ_ITERATIONS = 50,
    SEEDS = 3, /* of random projections */
    BLOCK = 10000
};
static const char bench[] = "retrieval/precision";

typedef struct precision {
    const retrieval *r;
    const char *data; /* the name of the set */
    size_t most_bits;
    retrieval_images training, queries;
    retrieval_found pixels; /* what is found by pixels */
} precision;

typedef struct shares {
    double label, pixels; /* of neighbours: of the query's class; also found by pixels */
} shares;

/* --- neighbours by pixels --------------------------------------------------------------- */

static float *as_numbers(const retrieval_images *images, size_t first, size_t n) {
    const uint8_t *from = images->pixels + first * images->inputs;
    float *to = figures_memory(n, images->inputs * sizeof *to);
    for (size_t i = 0; i < n * images->inputs; i++) to[i] = (float)from[i];
    return to;
}

/* The nearest of training images first .. first + n - 1 into the lists. */
static void look_in_block(const precision *p, const float *query, size_t first, size_t n,
                          codec_nearest_list *list) {
    taper_error error = {0};
    float *block = as_numbers(&p->training, first, n);
    uint32_t *number = figures_memory(p->queries.n, K * sizeof *number);
    double *distance = figures_memory(p->queries.n, K * sizeof *distance);
    const taper_search search = {.size = sizeof(taper_search),
                                 .references = block,
                                 .n_references = n,
                                 .queries = query,
                                 .n_queries = p->queries.n,
                                 .width = p->queries.inputs,
                                 .k = formats_smaller(K, n),
                                 .threads = p->r->threads};
    figures_check(taper_nearest(&search, number, distance, &error), "search", &error);
    for (size_t i = 0; i < p->queries.n; i++)
        for (size_t j = i * search.k; j < (i + 1) * search.k; j++)
            codec_nearest_push(&list[i], distance[j], (uint32_t)(first + number[j]));
    free(block), free(number), free(distance);
}

static void find_by_pixels(precision *p) {
    const size_t n = p->queries.n;
    p->pixels = retrieval_found_take(n);
    float *query = as_numbers(&p->queries, 0, n);
    double *far = figures_memory(n, K * sizeof *far);
    codec_nearest_list *list = figures_memory(n, sizeof *list);
    figures_say("neighbours by pixels: %zu queries", n);
    for (size_t i = 0; i < n; i++) list[i] = retrieval_list(&p->pixels, i, far + i * K);
    for (size_t first = 0; first < p->training.n; first += BLOCK)
        look_in_block(p, query, first, formats_smaller(BLOCK, p->training.n - first), list);
    for (size_t i = 0; i < n; i++) retrieval_put(&p->pixels, i, &list[i]);
    free(query), free(far), free(list);
}

/* --- what codes find -------------------------------------------------------------------- */

static shares shares_of(const precision *p, const retrieval_found *found) {
    const size_t n = p->queries.n;
    size_t label = 0, pixels = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i * K; j < (i + 1) * K; j++) {
            label += p->training.label[found->number[j]] == p->queries.label[i];
            for (size_t t = i * K; t < (i + 1) * K; t++)
                pixels += found->number[j] == p->pixels.number[t];
        }
    return (shares){(double)label / (double)(K * n), (double)pixels / (double)(K * n)};
}

/* By the first `bits` bits of a set. */
static shares measure(const precision *p, const retrieval_set *all, size_t bits) {
    retrieval_set set;
    retrieval_set_front(all, all->n, bits, &set);
    retrieval_found found = retrieval_exact(&set, p->r->threads);
    const shares is = shares_of(p, &found);
    retrieval_found_free(&found);
    retrieval_set_free(&set);
    return is;
}

static void print(const precision *p, const char *method, size_t bits, const char *how, shares is) {
    char config[512];
    snprintf(config, sizeof config,
             "{\"method\":\"%s\",\"data\":\"%s\",\"n\":%zu,\"bits\":%zu,\"k\":%d,"
             "\"queries\":%zu,\"ties\":\"the smaller number\",\"how\":\"%s\"}",
             method, p->data, p->training.n, bits, K, p->queries.n, how);
    bench_print(bench, "label_precision", 100 * is.label, "%", config);
    bench_print(bench, "recall_pixels", is.pixels, "of 10", config);
}

static void print_skip(const precision *p, const char *method, size_t bits, const char *why) {
    char config[512];
    snprintf(config, sizeof config,
             "{\"method\":\"%s\",\"data\":\"%s\",\"n\":%zu,\"bits\":%zu,\"skipped\":\"%s\"}",
             method, p->data, p->training.n, bits, why);
    bench_print(bench, "skipped", 0, "", config);
}

/* All lengths of one set of codes, whose first bits are shorter codes. */
static void measure_lengths(const precision *p, const char *method, const char *how,
                            const char *too_short, const retrieval_set *set) {
    figures_say("%s: %zu bits", method, set->bits);
    for (size_t bits = LEAST_BITS; bits <= p->most_bits; bits *= 2) {
        if (bits <= set->bits)
            print(p, method, bits, how, measure(p, set, bits));
        else
            print_skip(p, method, bits, too_short);
    }
}

/* --- methods ---------------------------------------------------------------------------- */

static void measure_ordered(const precision *p) {
    retrieval_set set;
    retrieval_model_set(p->r->model, &p->training, &p->queries, p->r->threads, &set);
    measure_lengths(p, "ordered", "first bits of one model; Hamming's distance",
                    "the model has fewer bits", &set);
    retrieval_set_free(&set);
}

static void measure_signs(const precision *p, retrieval_projections *projections) {
    retrieval_set set;
    retrieval_signs(projections, &set);
    measure_lengths(p, "signs", "first principal components of pixels, above their mean or not",
                    "there are fewer components than bits", &set);
    retrieval_set_free(&set);
}

static void measure_itq(const precision *p, retrieval_projections *projections) {
    char how[160];
    snprintf(how, sizeof how,
             "%d iterations on all training images from a random start, seed %u; as many "
             "principal components as bits, not whitened; a rotation for each length",
             ITQ_ITERATIONS, p->r->seed);
    for (size_t bits = LEAST_BITS; bits <= p->most_bits; bits *= 2) {
        retrieval_set set;
        if (bits > ITQ_MOST_BITS || bits > projections->units) {
            print_skip(p, "itq", bits,
                       bits > projections->units ? "there are fewer components than bits"
                                                 : "its rotation takes too many minutes");
            continue;
        }
        figures_say("itq: %zu bits", bits);
        retrieval_itq(projections, bits, ITQ_ITERATIONS, p->r->seed, &set);
        print(p, "itq", bits, how, measure(p, &set, bits));
        retrieval_set_free(&set);
    }
}

static void measure_random(const precision *p, retrieval_projections *projections) {
    retrieval_set set[SEEDS];
    char how[160];
    snprintf(how, sizeof how,
             "signs of projections of pixels less their mean on normal directions; mean of seeds "
             "%u..%u",
             p->r->seed, p->r->seed + SEEDS - 1);
    for (size_t s = 0; s < SEEDS; s++)
        retrieval_random(projections, p->most_bits, p->r->seed + s, &set[s]);
    figures_say("random: %zu bits", p->most_bits);
    for (size_t bits = LEAST_BITS; bits <= p->most_bits; bits *= 2) {
        shares mean = {0, 0};
        for (size_t s = 0; s < SEEDS; s++) {
            const shares is = measure(p, &set[s], bits);
            mean.label += is.label / SEEDS, mean.pixels += is.pixels / SEEDS;
        }
        print(p, "random", bits, how, mean);
    }
    for (size_t s = 0; s < SEEDS; s++) retrieval_set_free(&set[s]);
}

void retrieval_part_precision(const retrieval *r) {
    precision p = {.r = r, .most_bits = r->bits ? r->bits : MOST_BITS};
    retrieval_projections projections;
    if (!r->model) figures_die("precision needs --model");
    p.data = retrieval_read_either(r->data, r->queries, &p.training, &p.queries);
    if (p.training.n < K) figures_die("precision needs %d training images", K);
    find_by_pixels(&p);
    print(&p, "pixels", 8 * p.training.inputs, "Euclidean distance of pixels",
          shares_of(&p, &p.pixels));
    measure_ordered(&p);
    retrieval_projections_open(&projections, &p.training, &p.queries, p.most_bits, r->threads);
    measure_signs(&p, &projections);
    measure_random(&p, &projections);
    measure_itq(&p, &projections);
    retrieval_projections_close(&projections);
    retrieval_found_free(&p.pixels);
    retrieval_images_free(&p.training);
    retrieval_images_free(&p.queries);
}

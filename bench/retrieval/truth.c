/* truth.c -- the true neighbours of queries among all references, which are made block by block;
 * see retrieval.h. The nearest of each block are merged: distances are exact, so that nothing
 * depends on how references are cut into blocks. */
#include "bench/bench.h"
#include "bench/retrieval/models.h"
#include "bench/retrieval/progress.h"
#include "bench/retrieval/references.h"
#include "bench/retrieval/retrieval.h"
#include "codec/search/nearest_list.h"
#include "codec/taper_search.h"
#include "formats/bytes.h"
#include <stdlib.h>

enum { K = RETRIEVAL_NEIGHBOURS };

/* The nearest so far by one kind of code. */
typedef struct finder {
    const char *file; /* name of what it finds */
    retrieval_model model;
    size_t queries;
    float *query;             /* [queries][width] */
    codec_nearest_list *list; /* [queries] */
    double *distance;         /* [queries][K] of the lists, as index */
    uint32_t *index;
} finder;

/* What finders share: codes of a block, and the nearest in it. */
typedef struct workplace {
    float *code;          /* [RETRIEVAL_BLOCK][the widest] */
    uint32_t *neighbours; /* [queries][K] */
    double *distances;    /* [queries][K] */
    unsigned threads;
} workplace;

static void open_finder(finder *f, const retrieval *r, const char *model, const char *file,
                        const retrieval_images *queries) {
    *f = (finder){.file = file, .queries = queries->n};
    retrieval_model_open(&f->model, model, r->threads);
    f->query = figures_memory(f->queries, f->model.width * sizeof *f->query);
    retrieval_model_codes(&f->model, queries, f->query);
    f->list = figures_memory(f->queries, sizeof *f->list);
    f->distance = figures_memory(f->queries, K * sizeof *f->distance);
    f->index = figures_memory(f->queries, K * sizeof *f->index);
    for (size_t i = 0; i < f->queries; i++)
        f->list[i] = (codec_nearest_list){f->distance + i * K, f->index + i * K, K, 0};
}

static void close_finder(finder *f) {
    retrieval_model_close(&f->model);
    free(f->query), free(f->list), free(f->distance), free(f->index);
}

static void look_in_block(finder *f, const retrieval_references *references, workplace *w) {
    taper_error error = {0};
    const retrieval_images *block = &references->block;
    retrieval_model_codes(&f->model, block, w->code);
    const taper_search search = {.size = sizeof(taper_search),
                                 .references = w->code,
                                 .n_references = block->n,
                                 .queries = f->query,
                                 .n_queries = f->queries,
                                 .width = f->model.width,
                                 .k = formats_smaller(K, block->n),
                                 .threads = w->threads};
    figures_check(taper_nearest(&search, w->neighbours, w->distances, &error), "search", &error);
    for (size_t i = 0; i < f->queries; i++)
        for (size_t j = i * search.k; j < (i + 1) * search.k; j++)
            codec_nearest_push(&f->list[i], w->distances[j],
                               (uint32_t)(references->first + w->neighbours[j]));
}

static void write_found(finder *f, const retrieval *r) {
    char *path = figures_path(r->out, "%s", f->file);
    for (size_t i = 0; i < f->queries; i++) codec_nearest_sort(&f->list[i]);
    figures_write(path, f->index, f->queries * K * sizeof *f->index);
    free(path);
}

static size_t widest(const finder *f, size_t finders) {
    size_t width = 0;
    for (size_t i = 0; i < finders; i++) width = formats_larger(width, f[i].model.width);
    return width;
}

static double find(finder *f, size_t finders, const retrieval *r) {
    workplace w = {.code = figures_memory(RETRIEVAL_BLOCK, widest(f, finders) * sizeof *w.code),
                   .neighbours = figures_memory(r->queries, K * sizeof *w.neighbours),
                   .distances = figures_memory(r->queries, K * sizeof *w.distances),
                   .threads = r->threads};
    retrieval_references references;
    retrieval_references_open(&references, r->data, r->seed, r->threads);
    retrieval_progress progress = retrieval_progress_start("truth", r->images);
    for (size_t done = 0, n; (n = retrieval_references_make(&references, done, r->images));) {
        for (size_t i = 0; i < finders; i++) look_in_block(&f[i], &references, &w);
        retrieval_progress_tell(&progress, done += n);
    }
    const double seconds = retrieval_progress_seconds(&progress);
    retrieval_references_close(&references);
    free(w.code), free(w.neighbours), free(w.distances);
    return seconds;
}

void retrieval_part_truth(const retrieval *r) {
    finder f[2];
    const size_t finders = r->real ? 2 : 1;
    char config[160];
    if (r->images < K) figures_die("truth needs %d references", K);
    retrieval_images queries;
    retrieval_read_queries(r->data, r->queries, &queries);
    open_finder(&f[0], r, NULL, "truth-pixels.u32", &queries);
    if (r->real) open_finder(&f[1], r, r->real, "truth-real.u32", &queries);
    const double seconds = find(f, finders, r);
    for (size_t i = 0; i < finders; i++) write_found(&f[i], r);
    snprintf(config, sizeof config,
             "{\"images\":%u,\"queries\":%u,\"k\":%d,\"seed\":%u,\"threads\":%u,\"kinds\":%zu}",
             r->images, r->queries, K, r->seed, r->threads, finders);
    bench_print("retrieval/truth", "images_per_second", r->images / seconds, "1/s", config);
    for (size_t i = 0; i < finders; i++) close_finder(&f[i]);
    retrieval_images_free(&queries);
}

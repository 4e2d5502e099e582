/* codes.c -- codes of references and queries in bits, block by block; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/models.h"
#include "bench/retrieval/progress.h"
#include "bench/retrieval/references.h"
#include "bench/retrieval/retrieval.h"
#include "codec/search/bit_codes.h"
#include "formats/atomic_file.h"
#include <stdlib.h>

typedef struct coder {
    retrieval_model model;
    size_t bits, words;
    float *code;   /* [RETRIEVAL_BLOCK][bits] */
    uint64_t *row; /* [RETRIEVAL_BLOCK][words] */
} coder;

static void open_coder(coder *c, const retrieval *r) {
    retrieval_model_open(&c->model, r->model, r->threads);
    c->bits = c->model.width;
    c->words = codec_bits_words(c->bits);
    c->code = figures_memory(RETRIEVAL_BLOCK, c->bits * sizeof *c->code);
    c->row = figures_memory(RETRIEVAL_BLOCK, c->words * sizeof *c->row);
}

static void close_coder(coder *c) {
    retrieval_model_close(&c->model);
    free(c->code), free(c->row);
}

/* The rows of at most RETRIEVAL_BLOCK images; how many bytes they are. */
static size_t make_rows(coder *c, const retrieval_images *images) {
    retrieval_model_codes(&c->model, images, c->code);
    codec_bits_pack(c->code, images->n, c->bits, c->bits, c->row);
    return images->n * c->words * sizeof *c->row;
}

static void write_file(const retrieval *r, const char *name, const void *bytes, size_t n) {
    char *path = figures_path(r->out, "%s", name);
    figures_write(path, bytes, n);
    free(path);
}

static void write_queries(coder *c, const retrieval *r) {
    retrieval_images queries;
    retrieval_read_queries(r->data, r->queries, &queries);
    write_file(r, "queries.bits", c->row, make_rows(c, &queries));
    write_file(r, "query-labels.i32", queries.label, queries.n * sizeof *queries.label);
    retrieval_images_free(&queries);
}

/* Rows go to the file as they are made; labels, which are few bytes, stay for the end. */
static double write_references(coder *c, const retrieval *r) {
    char *path = figures_path(r->out, "codes.bits");
    int32_t *label = figures_memory(r->images, sizeof *label);
    taper_error error = {0};
    formats_atomic_file *file;
    retrieval_references references;
    retrieval_references_open(&references, r->data, r->seed, r->threads);
    figures_check(formats_atomic_file_open(&file, path, FORMATS_ATOMIC_OVERWRITE, NULL, &error),
                  path, &error);
    retrieval_progress progress = retrieval_progress_start("codes", r->images);
    for (size_t done = 0, n; (n = retrieval_references_make(&references, done, r->images));) {
        const size_t bytes = make_rows(c, &references.block);
        const taper_status status = formats_atomic_file_write(file, c->row, bytes, &error);
        if (status) formats_atomic_file_abort(file);
        figures_check(status, path, &error);
        for (size_t i = 0; i < n; i++) label[done + i] = references.block.label[i];
        retrieval_progress_tell(&progress, done += n);
    }
    const double seconds = retrieval_progress_seconds(&progress);
    figures_check(formats_atomic_file_commit(file, &error), path, &error);
    write_file(r, "labels.i32", label, r->images * sizeof *label);
    retrieval_references_close(&references);
    free(label), free(path);
    return seconds;
}

void retrieval_part_codes(const retrieval *r) {
    coder c;
    char config[160];
    if (!r->model) figures_die("codes needs --model");
    if (r->queries > RETRIEVAL_BLOCK) figures_die("at most %d queries", RETRIEVAL_BLOCK);
    open_coder(&c, r);
    write_queries(&c, r);
    const double seconds = write_references(&c, r);
    snprintf(config, sizeof config,
             "{\"images\":%u,\"queries\":%u,\"bits\":%zu,\"seed\":%u,\"threads\":%u}", r->images,
             r->queries, c.bits, r->seed, r->threads);
    bench_print("retrieval/codes", "images_per_second", r->images / seconds, "1/s", config);
    close_coder(&c);
}

/* neighbourhoods.c -- figure 4 of Rippel, Gelbart & Adams 2014: images of some nested
 * neighbourhoods; see retrieval.h. As in the paper, a neighbourhood's images are shown in the order
 * of the data set, and only the first of many: nothing but the bits that are shared chooses. */
#include "bench/bench.h"
#include "bench/figures/drawing.h"
#include "bench/retrieval/measure.h"
#include "bench/retrieval/models.h"
#include "train/sampling/philox.h"
#include <stdlib.h>

enum {
    ROWS = 8,
    COLUMNS = 5, /* of neighbourhoods: depths 0, STEP, 2 STEP .., and the deepest */
    STEP = 4,
    SHOWN = 8, /* images of a neighbourhood, ACROSS in a line */
    ACROSS = 4,
    STREAM = 1 << 17 /* of random numbers: part of what makes a seed repeat */
};
enum {
    SIDE = RETRIEVAL_SIDE,
    GAP = 1,
    BLOCK_WIDTH = ACROSS * (SIDE + GAP) - GAP,
    BLOCK_HEIGHT = SHOWN / ACROSS * (SIDE + GAP) - GAP,
    MARGIN = 12,
    HEAD = 12, /* height of the words above a block */
    TO_RIGHT = BLOCK_WIDTH + MARGIN,
    DOWN = BLOCK_HEIGHT + HEAD + MARGIN,
    ZOOM = 2
};

typedef struct neighbourhoods {
    retrieval_images training, queries;
    retrieval_set set;
    uint32_t *shared; /* [training.n] leading bits shared with the query */
    size_t *size;     /* [bits + 1] of its neighbourhood of each depth */
} neighbourhoods;

static void look(neighbourhoods *v, size_t query) {
    const size_t words = v->set.words, bits = v->set.bits;
    for (size_t b = 0; b <= bits; b++) v->size[b] = 0;
    for (size_t i = 0; i < v->set.n; i++) {
        const size_t shared =
            codec_bits_shared(v->set.query + query * words, v->set.codes + i * words, words);
        v->shared[i] = (uint32_t)(shared < bits ? shared : bits);
        v->size[v->shared[i]]++;
    }
    for (size_t b = bits; b-- > 0;) v->size[b] += v->size[b + 1];
}

/* The last neighbourhood of at least SHOWN images. */
static size_t deepest(const neighbourhoods *v) {
    size_t b = 0;
    while (b < v->set.bits && v->size[b + 1] >= SHOWN) b++;
    return b;
}

/* --- the picture ------------------------------------------------------------------------ */

/* An image, each pixel `scale` x `scale`, to a place of the raster. */
static void put_image(figures_drawing *d, size_t left, size_t top, size_t scale,
                      const uint8_t *pixels) {
    for (size_t y = 0; y < scale * SIDE; y++)
        for (size_t x = 0; x < scale * SIDE; x++)
            for (size_t c = 0; c < 3; c++)
                d->rgb[3 * ((top + y) * d->width + left + x) + c] =
                    pixels[3 * (y / scale * SIDE + x / scale) + c];
}

static void put_word(figures_drawing *d, size_t left, size_t top, const char *word) {
    figures_draw_word(d, (float)(ZOOM * left), (float)(ZOOM * (top + HEAD - 4)), 10, word);
}

/* Depth, size, and the first images of N_b. */
static void put_block(figures_drawing *d, const neighbourhoods *v, size_t b, size_t left,
                      size_t top) {
    char word[64];
    snprintf(word, sizeof word, "%zu bits: %zu images", b, v->size[b]);
    put_word(d, left, top, word);
    for (size_t i = 0, shown = 0; i < v->set.n && shown < SHOWN; i++) {
        if (v->shared[i] < b) continue;
        put_image(d, left + shown % ACROSS * (SIDE + GAP),
                  top + HEAD + shown / ACROSS * (SIDE + GAP), 1,
                  v->training.pixels + i * RETRIEVAL_PIXELS);
        shown++;
    }
}

static void put_row(figures_drawing *d, neighbourhoods *v, size_t query, size_t top) {
    look(v, query);
    const size_t last = deepest(v);
    put_word(d, MARGIN, top, "query");
    put_image(d, MARGIN, top + HEAD, 2, v->queries.pixels + query * RETRIEVAL_PIXELS);
    for (size_t column = 0; column < COLUMNS; column++) {
        const int ends = column == COLUMNS - 1;
        const size_t b = ends ? last : column * STEP;
        if (ends || b < last)
            put_block(d, v, b, MARGIN + 2 * SIDE + MARGIN + column * TO_RIGHT, top);
    }
}

/* Queries that differ, the next of a seed. */
static size_t choose(const neighbourhoods *v, unsigned seed, const size_t *before, size_t n) {
    for (uint64_t draw = n;; draw += ROWS) {
        uint32_t word[4];
        size_t i = 0;
        train_philox(seed, draw, STREAM, word);
        const size_t query = train_philox_below(word[0], (uint32_t)v->queries.n);
        while (i < n && before[i] != query) i++;
        if (i == n) return query;
    }
}

static void draw(neighbourhoods *v, const retrieval *r) {
    const figures f = {.out = r->out, .work = r->out};
    figures_drawing *d = figures_memory(1, sizeof *d);
    size_t query[ROWS];
    figures_draw_begin(d, MARGIN + 2 * SIDE + MARGIN + COLUMNS * TO_RIGHT, ROWS * DOWN + MARGIN / 2,
                       ZOOM);
    for (size_t row = 0; row < ROWS; row++) {
        query[row] = choose(v, r->seed, query, row);
        put_row(d, v, query[row], MARGIN / 2 + row * DOWN);
    }
    figures_draw_end(&f, d, "neighbourhoods",
                     "Queries and images of their nested neighbourhoods, by how many first bits "
                     "of the code are shared");
    free(d);
}

/* --- figures ---------------------------------------------------------------------------- */

/* Of all queries, by depth: how many images a neighbourhood holds, and which share of the
 * images of all of them is of the query's class. */
static void measure(neighbourhoods *v) {
    enum { MOST_DEPTH = 20 };
    double *size = figures_memory((MOST_DEPTH + 1) * v->set.queries, sizeof *size);
    size_t right[MOST_DEPTH + 1] = {0}, all[MOST_DEPTH + 1] = {0};
    const size_t depths = v->set.bits < MOST_DEPTH ? v->set.bits : MOST_DEPTH;
    for (size_t q = 0; q < v->set.queries; q++) {
        look(v, q);
        for (size_t b = 0; b <= depths; b++) {
            all[b] += v->size[b];
            size[b * v->set.queries + q] = (double)v->size[b];
        }
        for (size_t i = 0; i < v->set.n; i++)
            for (size_t b = 0; b <= depths && b <= v->shared[i]; b++)
                right[b] += v->training.label[i] == v->queries.label[q];
    }
    for (size_t b = 0; b <= depths; b++) {
        char config[160];
        snprintf(config, sizeof config,
                 "{\"method\":\"ordered\",\"n\":%zu,\"bits\":%zu,\"depth\":%zu,\"queries\":%zu}",
                 v->set.n, v->set.bits, b, v->set.queries);
        bench_print("retrieval/neighbourhoods", "size_median",
                    retrieval_median(size + b * v->set.queries, v->set.queries), "codes", config);
        bench_print("retrieval/neighbourhoods", "label_precision",
                    all[b] ? 100 * (double)right[b] / (double)all[b] : 0, "%", config);
    }
    free(size);
}

void retrieval_part_neighbourhoods(const retrieval *r) {
    neighbourhoods v = {.shared = NULL};
    if (!r->model) figures_die("neighbourhoods needs --model");
    if (r->queries < ROWS) figures_die("at least %d queries", ROWS);
    retrieval_read_training(r->data, &v.training);
    retrieval_read_queries(r->data, r->queries, &v.queries);
    retrieval_model_set(r->model, &v.training, &v.queries, r->threads, &v.set);
    v.shared = figures_memory(v.set.n, sizeof *v.shared);
    v.size = figures_memory(v.set.bits + 1, sizeof *v.size);
    draw(&v, r);
    measure(&v);
    free(v.shared), free(v.size);
    retrieval_set_free(&v.set);
    retrieval_images_free(&v.training);
    retrieval_images_free(&v.queries);
}

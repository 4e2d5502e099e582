/* page.c -- the records as plots, and a page of them; see retrieval.h. */
#include "bench/figures/sections.h"
#include "bench/retrieval/records.h"
#include "bench/retrieval/retrieval.h"
#include "cli/common/page.h"
#include <stdlib.h>
#include <unistd.h>

enum { MOST_LINES = 9, MOST_HAVING = 5 };

/* A line of a plot: where its points come from. */
typedef struct page_line {
    const char *name, *part, *metric, *x, *y;
    const char *having[MOST_HAVING]; /* NULL ends it */
} page_line;

typedef struct page_plot {
    const char *stem, *title, *x_label, *y_label;
    int logs;
    page_line line[MOST_LINES]; /* one without a name ends them */
    int is_missed;              /* x is a recall, of which what is missing is shown */
} page_plot;

/* --- the plots -------------------------------------------------------------------------- */

#define TIME    "query_median"
#define MILLION "\"n\":1000000,"
#define OURS(NAME, WEIGHTS)                                                                        \
    {                                                                                              \
        NAME, "recall", TIME, "recall", "value", { "\"weights\":\"" WEIGHTS "\"", "\"batch\":1," } \
    }
#define RIVAL(NAME, METHOD, SETTING)                                          \
    {                                                                         \
        NAME, "rivals", TIME, "recall", "value", { METHOD, MILLION, SETTING } \
    }

static const page_plot recall_plot = {
    .stem = "recall",
    .title = "Ten nearest of a million codes of 1,024 bits, one thread",
    .x_label = "share of them that is missed",
    .y_label = "microseconds a query",
    .logs = FIGURES_LOG_X | FIGURES_LOG_Y,
    .line = {OURS("taper, even weights", "even"), OURS("taper, falling weights", "falling"),
             RIVAL("Faiss IVF, 1,024 lists", "\"faiss-ivf\"", "\"lists\":1024,"),
             RIVAL("Faiss HNSW, 32 links", "\"faiss-hnsw\"", "\"links\":32"),
             RIVAL("Faiss hash, 16 bits", "\"faiss-hash\"", "\"hash_bits\":16"),
             RIVAL("USearch HNSW", "\"usearch-hnsw\"", NULL)},
    .is_missed = 1};

#define LENGTHS(NAME, Y, CODES, METHOD)                     \
    {                                                       \
        NAME, "lengths", TIME, "bits", Y, { CODES, METHOD } \
    }
#define ALL_LENGTHS(Y, CODES)                                          \
    LENGTHS("ordered, R = 32", Y, CODES, "\"least\":32,"),             \
        LENGTHS("ordered, R = 2", Y, CODES, "\"least\":2,"),           \
        LENGTHS("ordered, R = 512", Y, CODES, "\"least\":512,"),       \
        LENGTHS("scan of all", Y, CODES, "\"scan\""),                  \
        LENGTHS("semantic hash, radius 0", Y, CODES, "\"radius\":0,"), \
        LENGTHS("radius 1", Y, CODES, "\"radius\":1,"),                \
        LENGTHS("radius 2", Y, CODES, "\"radius\":2,"),                \
        LENGTHS("radius 3", Y, CODES, "\"radius\":3,")
#define MULTI_INDEX(CODES)                                                     \
    {                                                                          \
        "multi-index hashing", "multi-index", TIME, "bits", "value", { CODES } \
    }
#define REAL        "\"codes\":\"real\""
#define INDEPENDENT "\"codes\":\"independent\""

static const page_plot lengths_plot = {
    .stem = "fig3-time",
    .title = "Time of a query of a million codes",
    .x_label = "bits of a code",
    .y_label = "microseconds a query",
    .logs = FIGURES_LOG_X | FIGURES_LOG_Y,
    .line = {ALL_LENGTHS("value", REAL), MULTI_INDEX(REAL)},
};
static const page_plot drawn_plot = {
    .stem = "fig3-drawn",
    .title = "The same of bits that are drawn",
    .x_label = "bits of a code",
    .y_label = "microseconds a query",
    .logs = FIGURES_LOG_X | FIGURES_LOG_Y,
    .line = {ALL_LENGTHS("value", INDEPENDENT), MULTI_INDEX(INDEPENDENT)},
};
static const page_plot found_plot = {
    .stem = "fig3-found",
    .title = "What these find of the ten nearest by all their bits",
    .x_label = "bits of a code",
    .y_label = "share that is found",
    .logs = FIGURES_LOG_X,
    .line = {ALL_LENGTHS("recall", REAL)},
};

#define GROWTH(METRIC)                                                      \
    {                                                                       \
        {"R = 32", "growth", METRIC, "n", "value", {"\"least\":32,"}},      \
            {"R = 2", "growth", METRIC, "n", "value", {"\"least\":2,"}}, {  \
            "R = 512", "growth", METRIC, "n", "value", { "\"least\":512," } \
        }                                                                   \
    }

static const page_plot nodes_plot = {
    .stem = "growth-nodes",
    .title = "Codes that a query looks at",
    .x_label = "codes in the index",
    .y_label = "codes looked at",
    .logs = FIGURES_LOG_X,
    .line = GROWTH("looked_at_median"),
};
static const page_plot growth_plot = {
    .stem = "growth-time",
    .title = "Time of a query",
    .x_label = "codes in the index",
    .y_label = "microseconds a query",
    .logs = FIGURES_LOG_X,
    .line = GROWTH(TIME),
};

#define PRECISION(NAME, METHOD, DATA, METRIC)                        \
    {                                                                \
        NAME, "precision", METRIC, "bits", "value", { METHOD, DATA } \
    }
#define ALL_PRECISIONS(DATA, METRIC)                                                              \
    PRECISION("ordered", "\"ordered\"", DATA, METRIC), PRECISION("ITQ", "\"itq\"", DATA, METRIC), \
        PRECISION("PCA signs", "\"signs\"", DATA, METRIC),                                        \
        PRECISION("random", "\"random\"", DATA, METRIC)
#define CIFAR10 "\"data\":\"CIFAR-10\""
#define MNIST   "\"data\":\"MNIST\""

static const page_plot cifar_plot = {
    .stem = "precision-cifar10",
    .title = "CIFAR-10: neighbours of the query's class",
    .x_label = "bits of a code",
    .y_label = "% of ten",
    .logs = FIGURES_LOG_X,
    .line = {ALL_PRECISIONS(CIFAR10, "label_precision")},
};
static const page_plot mnist_plot = {
    .stem = "precision-mnist",
    .title = "MNIST: neighbours of the query's class",
    .x_label = "bits of a code",
    .y_label = "% of ten",
    .logs = FIGURES_LOG_X,
    .line = {ALL_PRECISIONS(MNIST, "label_precision")},
};
static const page_plot pixels_plot = {
    .stem = "precision-pixels",
    .title = "CIFAR-10: neighbours by pixels that are found",
    .x_label = "bits of a code",
    .y_label = "share of ten",
    .logs = FIGURES_LOG_X,
    .line = {ALL_PRECISIONS(CIFAR10, "recall_pixels")},
};

#define CLASSIFY(NAME, DATA, SEED)                                                                 \
    {                                                                                              \
        NAME, "classify", "error", "bits", "value", { "\"front of a container\"", DATA, SEED "}" } \
    }
static const page_plot classify_plot = {
    .stem = "classify",
    .title = "Labels from the front of a container, by five neighbours",
    .x_label = "bits of a code that are read",
    .y_label = "% errors",
    .logs = FIGURES_LOG_X | FIGURES_LOG_Y,
    .line = {CLASSIFY("MNIST, test images", MNIST, "\"seed\":1"),
             CLASSIFY("MNIST, another seed", MNIST, "\"seed\":2"),
             CLASSIFY("CIFAR-10", CIFAR10, "\"seed\":1")},
};

/* --- drawing ---------------------------------------------------------------------------- */

/* Points that miss nothing are not on a logarithmic axis. */
static void turn_to_missed(retrieval_curve *curve) {
    size_t kept = 0;
    for (size_t i = 0; i < curve->n; i++) {
        curve->x[kept] = 1 - curve->x[i];
        curve->y[kept] = curve->y[i];
        kept += curve->x[kept] > 0;
    }
    curve->n = kept;
}

/* 0: there are no records of it. Lines without a point are left out. */
static int draw(const figures *f, const page_plot *plot) {
    retrieval_curve curve[MOST_LINES] = {{0}};
    figures_line line[MOST_LINES];
    size_t lines = 0, kept = 0;
    for (; lines < MOST_LINES && plot->line[lines].name; lines++) {
        const page_line *l = &plot->line[lines];
        retrieval_records records = retrieval_records_read(f->out, l->part);
        curve[lines] = retrieval_curve_of(&records, l->metric, l->x, l->y, l->having);
        retrieval_records_free(&records);
        if (plot->is_missed) turn_to_missed(&curve[lines]);
        if (curve[lines].n)
            line[kept++] = (figures_line){l->name, curve[lines].x, curve[lines].y, curve[lines].n};
    }
    if (kept)
        figures_plot(f, plot->stem, plot->title, plot->x_label, plot->y_label, plot->logs, line,
                     kept);
    for (size_t i = 0; i < lines; i++) retrieval_curve_free(&curve[i]);
    return kept > 0;
}

/* --- the page --------------------------------------------------------------------------- */

typedef struct page_section {
    const char *heading, *text;
    const page_plot *plot[3];
    const char *picture, *alt; /* one that another part has drawn; NULL: none */
} page_section;

static const page_section sections[] = {
    {"Nearest neighbours: what is found, and when",
     "taper compares codes layer by layer and drops those that are too far by their first bits. "
     "Each point is a setting; with falling weights what is to be found is the nearest by these. "
     "Each record names its machine and what else ran there. In the full run, beside the codes "
     "taper takes 3.5 % of their size, Faiss IVF 55 %, HNSW with 32 links 213 %.",
     {&recall_plot},
     NULL,
     NULL},
    {"Figure 3: time by the length of codes",
     "Ordered retrieval goes down the tree of leading bits until fewer than R codes are left. Its "
     "time does not depend on the length, as is so of codes of images and of independent bits. "
     "Semantic hashing looks up all codes within a radius, multi-index hashing the exact ten "
     "nearest; what takes more than a second is left out. A neighbourhood of the first bits holds "
     "few of the nearest by all bits.",
     {&lengths_plot, &drawn_plot, &found_plot},
     NULL,
     NULL},
    {"Growth",
     "The same by how many codes there are. Of ten million codes, of 256 bits, nine of ten are "
     "copies of others with one bit of 16 turned.",
     {&nodes_plot, &growth_plot},
     NULL,
     NULL},
    {"Figure 4: nested neighbourhoods",
     "Test images of CIFAR-10, and training images that share their first bits: the more bits, the "
     "fewer and the more alike.",
     {NULL},
     "neighbourhoods",
     "Queries, and images that share ever more leading bits with them"},
    {"What codes are worth",
     "Ten nearest training images of a test image, by codes of so many bits that have seen no "
     "label.",
     {&cifar_plot, &mnist_plot, &pixels_plot},
     NULL,
     NULL},
    {"Labels by the first bits of a container",
     "Codes of bits that learned from labels, in order, taken along by a container of the labelled "
     "images (encode --embed-with). All that is read of it is its front matter.",
     {&classify_plot},
     NULL,
     NULL},
};

/* It holds images of CIFAR-10, and is nowhere but where these are. */
static void put_picture(const figures *f, FILE *to, const page_section *s) {
    char *path = figures_path(f->out, "%s.svg", s->picture);
    if (access(path, R_OK) == 0)
        figures_section_svg(f, to, s->picture, s->alt);
    else
        cli_page_note(to, "The picture is made of CIFAR-10's images where they are at hand: "
                          "PARTS=neighbourhoods make paper-retrieval.");
    free(path);
}

static void put_section(const figures *f, FILE *to, const page_section *s) {
    cli_page_heading(to, s->heading);
    cli_page_text(to, s->text);
    for (size_t i = 0; i < 3 && s->plot[i]; i++)
        if (draw(f, s->plot[i]))
            figures_section_svg(f, to, s->plot[i]->stem, s->plot[i]->title);
        else
            cli_page_note(to, "There are no records of this part.");
    if (s->picture) put_picture(f, to, s);
}

void retrieval_part_page(const retrieval *r) {
    const figures f = {.out = r->out, .work = r->out};
    figures_page page;
    figures_page_begin(&page, "Search in ordered codes",
                       "A million codes of 1,024 and 2,048 bits: CIFAR-10's training images, their "
                       "flips, crops and shifts. Queries are test images.");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(&f, page.to, &sections[i]);
    figures_page_end(&f, &page,
                     "Figure 2, neighbourhoods in a plane, is on the page of make "
                     "paper-nested-dropout. Made by make paper-retrieval.");
}

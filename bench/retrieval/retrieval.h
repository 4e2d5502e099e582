/* retrieval.h -- search among many codes of real images: what the parts of the program share, and
 * the parts, a file each.
 *
 * Directory bench/retrieval/:
 *   retrieval    the program: its options and its table of parts
 *   images       labelled images of CIFAR-10 and MNIST
 *   references   as many references as are asked for, out of variants of CIFAR-10
 *   models       models from files, and codes by them
 *   projections  bits that no network has learned
 *   progress     how far the work is
 *   codes, truth, sheet   parts: they make what the others need
 *   code_set     codes, queries and truth from files; an index of them
 *   scan         exact search without early stops
 *   measure      recalls, medians, and the lines that tell them
 *   ordered      neighbourhoods of many queries, timed
 *   semantic_hash, multi_index   rivals that are too small for programs of their own
 *   query_time, lengths, growth, recall, exact, shortlist, margins, build   parts: they measure
 *                search
 *   precision, neighbourhoods   parts about CIFAR-10 itself: classes of neighbours, a picture
 *   records, page   records read again, and the page that is drawn of them
 *   rivals_*     programs of their own, of other libraries
 *
 * Everything here ends the program with a message when it fails (bench/figures/figures.h). */
#ifndef BENCH_RETRIEVAL_RETRIEVAL_H
#define BENCH_RETRIEVAL_RETRIEVAL_H
#include "bench/figures/figures.h"

/* Files are arrays as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

enum { RETRIEVAL_NEIGHBOURS = 100 }; /* of each query that truth finds */

typedef struct retrieval {
    const char *data;  /* folder of CIFAR-10's six files; for what looks at images */
    const char *model; /* .tpm of codes */
    const char *real;  /* .tpm of the codes that truth is also found by; NULL: by pixels alone */
    const char *out;   /* folder; is made */
    const char *truth; /* folder of truth-*.u32; NULL: out */
    unsigned images;   /* references */
    unsigned queries;
    unsigned bits;    /* of codes that are searched, their first; 0: all */
    unsigned seed;    /* of variants, and of what else is drawn */
    unsigned threads; /* 0: one per online core. Results are the same for any number */
} retrieval;

typedef struct retrieval_part {
    const char *name, *does;
    int needs_data;
    void (*run)(const retrieval *r);
} retrieval_part;

/* OUT/codes.bits u64[images][words] and OUT/queries.bits u64[queries][words], rows of
 * codec/search/bit_codes.h of all units of --model; OUT/labels.i32 and OUT/query-labels.i32, their
 * classes. */
void retrieval_part_codes(const retrieval *r);
/* OUT/truth-pixels.u32 and, with --real, OUT/truth-real.u32, u32[queries][RETRIEVAL_NEIGHBOURS]:
 * numbers of the nearest references, nearest first, by the Euclidean distance of pixels and of
 * codes of --real; of the same distance the smaller number first. */
void retrieval_part_truth(const retrieval *r);
/* OUT/sheet.png: the variants of some images, a row an image, the image itself first. */
void retrieval_part_sheet(const retrieval *r);

/* The next read what codes has written to OUT, and truth where it is of the same references.
 * margins takes --data and --model, too. */

/* Nested neighbourhoods of 2, 32 and 512: microseconds, depth, size, codes looked at, recall. */
void retrieval_part_query_time(const retrieval *r);
/* The same, exact scans and semantic hashing by code length, of real codes and of independent bits:
 * figure 3 of Rippel, Gelbart & Adams 2014. */
void retrieval_part_lengths(const retrieval *r);
/* A rival: the exact ten nearest by multi-index hashing, by code length, as far as a query takes no
 * more than a second. */
void retrieval_part_multi_index(const retrieval *r);
/* Neighbourhoods among 1,000, 10,000 .. codes. */
void retrieval_part_growth(const retrieval *r);
/* taper_index_nearest by the recall it is asked for: what it is, and time. */
void retrieval_part_recall(const retrieval *r);
/* taper_index_nearest with recall 1 beside scans without early stops. */
void retrieval_part_scan(const retrieval *r);
/* The 1,000 nearest by the first quarter of bits, ranked by all. */
void retrieval_part_shortlist(const retrieval *r);
/* Both, ranked by the queries' margins (taper_index_rank): what more is found. */
void retrieval_part_margins(const retrieval *r);
/* Seconds to build an index, and what it takes beside the codes. */
void retrieval_part_build(const retrieval *r);
/* OUT/index.html and its plots, of OUT/PART.jsonl, all that are there. */
void retrieval_part_page(const retrieval *r);

/* These take CIFAR-10 itself, its training images as references, and codes by --model, in bits. */

/* Ten neighbours by the first 8, 16 .. 1,024 bits (--bits: or fewer), by Hamming's distance: the
 * share of the query's class, and of those that pixels find. Beside them signs of principal
 * components, these turned by iterative quantisation, and of random projections. --data may be of
 * MNIST. */
void retrieval_part_precision(const retrieval *r);
/* OUT/neighbourhoods.png and .svg, figure 4 of the same paper: some queries, and of each the first
 * images of its neighbourhoods of some depths. Lines: sizes and classes by depth, of all queries.
 */
void retrieval_part_neighbourhoods(const retrieval *r);

#endif

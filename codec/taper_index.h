/* taper_index.h -- the part of the public interface that is about search in codes of bits: an index
 * file (.tpx), nested neighbourhoods, nearest neighbours. See taper.h, which includes it, and into
 * which `make install` merges it.
 *
 * A CODE OF BITS is a row of 64-bit words, (bits + 63) / 64 of them: its first bit is the highest
 * of word 0, bits behind the last are 0. taper_index_pack makes them of what taper_embed or
 * taper_decoder_codes give.
 *
 *     taper_index_set set = {.codes = codes, .n = n, .bits = bits};
 *     status = taper_index_build(&set, 0, &sink, &error);           // a .tpx file
 *     ...
 *     status = taper_index_open(&index, bytes, size, NULL, &error);   // mapped, say
 *     taper_index_search search = {.queries = query, .n_queries = 1, .k = 10, .recall = 0.9};
 *     if (!status) status = taper_index_nearest(index, &search, images, distances, NULL, &error);
 *     taper_index_close(index);
 *
 * An open index does not change: any number of threads may search in it at once. */
#ifndef TAPER_INDEX_H
#define TAPER_INDEX_H
#include "formats/taper_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- making an index -------------------------------------------------------------------- */

/* words[n][(bits + 63) / 64] of codes[n][width]: their first `bits` <= width numbers, each a bit: 1
 * where it is above 0. With more bits than width nothing is written. */
TAPER_API void taper_index_pack(const float *codes, size_t n, size_t width, uint32_t bits,
                                uint64_t *words);

/* An index compares codes in layers: the first 64 bits, as many again, then each time as many as
 * all before. How many layers codes of so many bits have: 5 of 1,024. */
TAPER_API uint32_t taper_index_layers(uint32_t bits);

typedef struct taper_index_set {
    const uint64_t *codes;   /* [n][(bits + 63) / 64] */
    size_t n;                /* 1..2^32 - 1 */
    uint32_t bits;           /* of a code, 1..65536 */
    uint64_t model_id;       /* taper_model_info.id of the model they are of; 0: not told */
    const uint16_t *weights; /* [taper_index_layers(bits)] what a differing bit of each layer counts
                                in distances, 1..; NULL: 1 */
    const char *const *names;       /* [n] relative paths, see SPEC.md 5.4; NULL: none */
    const int32_t *labels;          /* [n] -1: none, or a class; NULL: none */
    const char *const *class_names; /* [classes] */
    uint32_t classes;
} taper_index_set;

/* Write an index of the set; code i is image i in it. Takes as much memory again as the codes, and
 * 20 bytes a code; time as n log n, and what a hundred exact searches take: of a hundred of the
 * codes the neighbours are searched for, to know which recall to expect of faster ones. threads: 0:
 * one per online core; at most 256; they change nothing else. TAPER_ERR_ARG: a number is out of
 * range, a name is not legal, a code has bits behind its last, or a label no class; the text tells
 * which. TAPER_ERR_NOMEM. What the sink says is passed on. */
TAPER_API taper_status taper_index_build(const taper_index_set *set, unsigned threads,
                                         const taper_sink *to, taper_error *error);

/* --- an open index ---------------------------------------------------------------------- */

typedef struct taper_index taper_index;

/* Open the index that lies at `bytes`, on a multiple of 8, in memory or mapped: they stay the
 * caller's, and must stay as they are until closing. All is checked but the codes themselves, of
 * which opening reads 4,096 where there are more than 16,384, into a copy that searches learn from;
 * where max_memory has no room for it they are exact (taper_index_check reads all codes); whatever
 * they hold, nothing is read beyond the bytes. limits: max_images, max_memory; NULL: the defaults.
 * TAPER_ERR_CORRUPT, _TRUNCATED, _VERSION, _LIMIT, _NOMEM; _ARG: no bytes, or not on a multiple of
 * 8; _UNSUPPORTED: on a machine whose integers begin with the highest byte. On failure *out is
 * NULL. */
TAPER_API taper_status taper_index_open(taper_index **out, const void *bytes, uint64_t size,
                                        const taper_limits *limits, taper_error *error);
TAPER_API void taper_index_close(taper_index *index); /* NULL is fine */

/* Read the codes, too: that their checksum holds, that they are in order, one an image, and that
 * the table is theirs. Takes a byte an image. TAPER_ERR_CORRUPT, _NOMEM. */
TAPER_API taper_status taper_index_check(const taper_index *index, taper_error *error);

typedef struct taper_index_info {
    uint64_t images, model_id;
    uint32_t bits, classes;
    uint64_t code_bytes;  /* of the codes */
    uint64_t other_bytes; /* beside them, for search: images' numbers, the table */
    int is_weighted;      /* bits count differently in distances */
    double recall;        /* the highest that is measured for a search that is not exact */
    int has_names, has_labels;
    uint64_t memory; /* bytes that the open index takes beside the mapped file */
} taper_index_info;

TAPER_API taper_index_info taper_index_get_info(const taper_index *index);
/* Of image i, below info.images: its name, or NULL; its class, or -1. */
TAPER_API const char *taper_index_name(const taper_index *index, uint64_t i);
TAPER_API int32_t taper_index_label(const taper_index *index, uint64_t i);
TAPER_API const char *taper_index_class_name(const taper_index *index, uint32_t k);
/* code[(bits + 63) / 64] of the image at a place of the order, below info.images; its image, or
 * UINT32_MAX: there is no such place. */
TAPER_API uint32_t taper_index_code(const taper_index *index, uint64_t place, uint64_t *code);
/* The code of image i, which is looked for among all: of order info.images. TAPER_ERR_ARG: there is
 * no such image. TAPER_ERR_CORRUPT: it has no code, of a damaged index. */
TAPER_API taper_status taper_index_image_code(const taper_index *index, uint64_t i, uint64_t *code,
                                              taper_error *error);

/* Write one index of the images of n others, 1..256, which are of codes of as many bits and of one
 * model: those of the first keep their numbers, those of the next follow. It is how an index grows,
 * and how one is made of more codes than memory holds: their parts' indexes may be mapped, and each
 * is read twice from front to back. Names and classes are joined as taper_merge joins them. A byte
 * a code is taken beside them, and names and labels. TAPER_ERR_ARG: they do not fit
 * together. TAPER_ERR_LIMIT: they have 2^32 images or more, or too many names. */
TAPER_API taper_status taper_index_merge(const taper_index *const *from, size_t n,
                                         const taper_sink *to, taper_error *error);

/* --- neighbourhoods --------------------------------------------------------------------- */

typedef struct taper_index_range {
    uint64_t first, size; /* places in the order, for taper_index_code */
    uint32_t depth;       /* leading bits that all of these codes share with the query */
    uint64_t looked_at;   /* codes that were compared for it */
} taper_index_range;

/* The nested neighbourhood of a query, the paper's ordered retrieval (section 5 of Rippel, Gelbart
 * & Adams 2014): of the codes that share the query's first b bits, for the largest b that leaves at
 * least `least` of them, 1..images. known_bits: bits of the query that are known, of a cut file
 * say, 0..bits: b goes no further. It may be large: range.size tells. Of order log(images),
 * whatever the codes' length. TAPER_ERR_ARG: a number is out of range. TAPER_ERR_CORRUPT: the codes
 * of a damaged index, which opening does not read, are not in order. */
TAPER_API taper_status taper_index_neighbourhood(const taper_index *index, const uint64_t *query,
                                                 uint32_t known_bits, uint64_t least,
                                                 taper_index_range *range, taper_error *error);

/* --- nearest neighbours ----------------------------------------------------------------- */

typedef struct taper_index_search {
    const uint64_t *queries;    /* [n_queries][(bits + 63) / 64] */
    size_t n_queries;           /* 0.. */
    const uint32_t *known_bits; /* [n_queries] 1..bits that are known of each: others count nothing;
                                   NULL: all */
    size_t k;                   /* neighbours of each, 1..images */
    double recall;          /* share of the true neighbours that is to be found: 0: 0.95; 1: all,
                               exactly; or between */
    const uint32_t *within; /* one number, of all queries: none farther is found; NULL: any is */
    const uint8_t *wanted;  /* [images] 1: may be a neighbour; NULL: all may */
    unsigned threads;       /* 0: one per online core; at most 256. They share out queries, sixteen
                               at a time */
} taper_index_search;

/* The k nearest images of each query, nearest first: images[n_queries][k], and distances: the sum
 * over differing bits of their weights, Hamming's distance where there are none. Images of the same
 * distance go by their number. Where fewer than k are wanted, or near enough, the
 * rest is UINT32_MAX.
 *
 * With recall 1 the result is that of this definition. Below, codes that differ too much in their
 * first bits are not looked at further. How much is too much is measured of the index's images when
 * it is built, and of each query's nearest among 4,096 images that are spread over the index: so
 * queries find theirs that are unlike all that is in it, too. That is an expectation, kept by all
 * kinds of real images that were tried, and no guarantee: where fewer than 1 in 100 images are like
 * the query and these differ from it in first bits more than others do, most may be missed at any
 * recall below 1. Among 16,384 images and fewer, and of queries whose bits are not all known, the
 * search is exact. The result does not depend on threads. looked_at[n_queries]: words of codes that
 * were compared; NULL: not wanted. Takes 20 KiB a thread, and as much as sixteen queries and 8
 * bytes for each of their neighbours. TAPER_ERR_ARG: a number is out of range. _NOMEM. */
TAPER_API taper_status taper_index_nearest(const taper_index *index,
                                           const taper_index_search *search, uint32_t *images,
                                           uint32_t *distances, uint64_t *looked_at,
                                           taper_error *error);

/* --- by how sure a query's bits are ----------------------------------------------------- */

typedef struct taper_index_ranking {
    const uint64_t *queries; /* [n_queries][(bits + 63) / 64] */
    const float *margins;    /* [n_queries][bits] how far each bit is from its threshold:
                                taper_embed_margins; where they are all alike, ranks stay */
    size_t n_queries;        /* 0.. */
    size_t found;            /* images of each */
} taper_index_ranking;

/* Rank what taper_index_nearest has found: images[n_queries][found] and their distances, which
 * change places. The nearest is that whose differing bits count least, each its weight times the
 * root of its margin: a bit that is far from its threshold says more than one that happens to be on
 * this side of it. Of the same sum the lower image number goes first; UINT32_MAX and all behind it
 * stay. Find five times as many as are wanted, fifty at least, and keep the first: of codes of
 * natural images a quarter more of the nearest by pixels is among them (bench/results/README.md).
 * Takes 4 bytes an image of the index: hand over many queries at once. TAPER_ERR_ARG: there is no
 * such image, or a margin is not finite; TAPER_ERR_NOMEM. On failure some are ranked. */
TAPER_API taper_status taper_index_rank(const taper_index *index,
                                        const taper_index_ranking *ranking, uint32_t *images,
                                        uint32_t *distances, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

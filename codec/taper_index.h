/* taper_index.h -- search in codes of bits, a part of the public interface: index files
 * (.tpx), nested neighbourhoods and nearest neighbours.
 *
 * A CODE OF BITS is a row of (bits + 63) / 64 words of 64 bits. Its first bit is the highest of
 * word 0; the bits after the last are 0. taper_index_pack makes such codes from the results of
 * taper_embedder_codes or taper_decoder_codes.
 *
 *     taper_index_set set = {.size = sizeof set, .codes = codes, .n = n, .bits = bits};
 *     status = taper_index_build(&set, 0, &sink, &error);           // writes a .tpx file
 *     ...
 *     status = taper_index_open(&index, bytes, size, NULL, &error); // e.g. a mapped file
 *     taper_index_search search = {.size = sizeof search, .queries = query, .n_queries = 1,
 *                                  .k = 10, .recall = 0.9};
 *     if (!status) status = taper_index_nearest(index, &search, images, distances, NULL, &error);
 *     taper_index_close(index);
 *
 * An open index does not change: several threads may search in it at once. */
#ifndef TAPER_INDEX_H
#define TAPER_INDEX_H
#include "formats/taper_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- making an index -------------------------------------------------------------------- */

/* Pack codes[n][width] into words[n][(bits + 63) / 64]. The first `bits` numbers of each code
 * become bits: 1 if the number is above 0. TAPER_ERR_ARG: bits > width. */
TAPER_API taper_status taper_index_pack(const float *codes, size_t n, size_t width, uint32_t bits,
                                        uint64_t *words, taper_error *error);

/* The number of layers of codes of so many bits. An index compares codes layer by layer: the first
 * layer has 64 bits, and each further layer as many bits as all layers before it. Codes of 1,024
 * bits have 5 layers. */
TAPER_API uint32_t taper_index_layers(uint32_t bits);

typedef struct taper_index_set {
    size_t size; /* sizeof(taper_index_set), set by the caller */
    /* [n][(bits + 63) / 64] */
    const uint64_t *codes;
    size_t n;      /* 1..2^32 - 1 */
    uint32_t bits; /* 1..65536 */
    /* taper_model_info.id of the model that made the codes; 0: unknown. */
    uint64_t model_id;
    /* [taper_index_layers(bits)] the weight of a differing bit of each layer in distances, from 1;
     * NULL: 1. */
    const uint16_t *weights;
    /* [n] relative paths, see the specification, 5.4; NULL: none. */
    const char *const *names;
    /* [n] a class, or -1: none; NULL: none. */
    const int32_t *labels;
    /* [classes] */
    const char *const *class_names;
    uint32_t classes;
    /* The part of a set that the images are; n and left_out are together as many as it has. NULL:
     * the index does not say. */
    const taper_part *part;
} taper_index_set;

/* Build an index of the set and write it; code i is image i of the index. The time grows as
 * n log n, plus a hundred exact searches, which calibrate the faster searches. Memory: as much
 * again as the codes, and 20 bytes per code. threads: 0: one per online core; at most 256. The
 * output does not depend on threads.
 *
 * TAPER_ERR_ARG: a number is out of range, a name is not legal, a code has nonzero bits after its
 * last, a label is no class, or the part has another number of images; the message says which.
 * TAPER_ERR_NOMEM. Errors of the sink are returned unchanged. */
TAPER_API taper_status taper_index_build(const taper_index_set *set, unsigned threads,
                                         const taper_sink *to, taper_error *error);

/* --- an open index ---------------------------------------------------------------------- */

typedef struct taper_index taper_index;

/* Open the index at `bytes`, in memory or in a mapped file, aligned to 8 bytes. The caller keeps
 * the bytes, which must not change until the index is closed.
 *
 * Everything is checked except the codes; taper_index_check checks these. Damaged codes give wrong
 * results, but nothing is read outside the bytes. If there are more than 16,384 codes, 4,096 of
 * them are copied to guide searches. If max_memory is too small for this copy, all searches are
 * exact. limits: max_images and max_memory are used; NULL: the defaults.
 *
 * TAPER_ERR_CORRUPT, _TRUNCATED, _VERSION, _LIMIT, _NOMEM. TAPER_ERR_ARG: bytes is NULL or not
 * aligned to 8. TAPER_ERR_UNSUPPORTED: the machine is big-endian. On failure *out is NULL. */
TAPER_API taper_status taper_index_open(taper_index **out, const void *bytes, uint64_t size,
                                        const taper_limits *limits, taper_error *error);
/* The same of a file, which is mapped until the index is closed. If a program shortens it
 * meanwhile, reading ends this process (SIGBUS): replace it by renaming another file to its name.
 * TAPER_ERR_IO also. */
TAPER_API taper_status taper_index_open_file(taper_index **out, const char *path,
                                             const taper_limits *limits, taper_error *error);
/* NULL is allowed. */
TAPER_API void taper_index_close(taper_index *index);

/* Check the codes: their checksum, their order, that each image has one, and the table of them.
 * Memory: one byte per image. TAPER_ERR_CORRUPT, _NOMEM. */
TAPER_API taper_status taper_index_check(const taper_index *index, taper_error *error);

typedef struct taper_index_info {
    size_t size; /* sizeof(taper_index_info), set by the caller */
    uint64_t images, model_id;
    uint32_t bits, classes;
    /* Size of the codes. */
    uint64_t code_bytes;
    /* Size of the other data for search: image numbers and the table. */
    uint64_t other_bytes;
    /* Size of the names, which are used where they are in the file. */
    uint64_t name_bytes;
    /* Nonzero: layers have different weights in distances. */
    int is_weighted;
    /* The highest recall below 1 for which the index is calibrated. */
    double recall;
    int has_names, has_labels;
    /* Memory of the open index, without the file's bytes. */
    uint64_t memory;
} taper_index_info;

/* TAPER_ERR_ARG: out->size is not set, or a pointer is NULL. */
TAPER_API taper_status taper_index_get_info(const taper_index *index, taper_index_info *out,
                                            taper_error *error);
/* The part of a set that the index says it is; left_out: images of the part that it has not. *out
 * is 0 but for its size if it does not say. Merged and joined indexes do not, but see
 * taper_index_merge_part. TAPER_ERR_ARG: out->size is not set, or a pointer is NULL. */
TAPER_API taper_status taper_index_get_part(const taper_index *index, taper_part *out,
                                            taper_error *error);
/* The name of image i, 0..info.images - 1, or NULL; its class, or -1. The name is one of the bytes
 * that taper_index_open was given. */
TAPER_API const char *taper_index_name(const taper_index *index, uint64_t i);
TAPER_API int32_t taper_index_label(const taper_index *index, uint64_t i);
TAPER_API const char *taper_index_class_name(const taper_index *index, uint32_t k);
/* Get the code at a place of the sorted order, 0..info.images - 1: code[(bits + 63) / 64]. Returns
 * its image, or UINT32_MAX if there is no such place. */
TAPER_API uint32_t taper_index_code(const taper_index *index, uint64_t place, uint64_t *code);
/* Get the code of image i. The time grows with info.images, as the image is searched for.
 * TAPER_ERR_ARG: there is no such image. TAPER_ERR_CORRUPT: the index is damaged and has no code of
 * the image. */
TAPER_API taper_status taper_index_image_code(const taper_index *index, uint64_t i, uint64_t *code,
                                              taper_error *error);

/* Write one index with the images of n others, 1..256. All must have the same code length and
 * model. The images of the first keep their numbers; those of the next follow. Use it to extend an
 * index, or to build one of more codes than memory holds: the parts may be mapped, and each is read
 * twice from start to end. Names and classes are joined as in taper_merge. Memory: one byte per
 * code, and names and labels. TAPER_ERR_ARG: the indexes do not match. TAPER_ERR_LIMIT: there are
 * 2^32 images or more, or too many names. */
TAPER_API taper_status taper_index_merge(const taper_index *const *from, size_t n,
                                         const taper_sink *to, taper_error *error);

/* The same, and the index says that it is a part of a set, with all images of `from` and left_out
 * together as many as the part has; NULL: it does not say. TAPER_ERR_ARG: these are not as many. */
TAPER_API taper_status taper_index_merge_part(const taper_index *const *from, size_t n,
                                              const taper_part *part, const taper_sink *to,
                                              taper_error *error);

/* Make one index of n open ones, 1..2^32 - 1, without copying their codes: all functions but
 * taper_index_merge take it. The parts stay the caller's; close them after the joined index. All
 * must have the same code length, model and weights. Images are numbered as in taper_index_merge,
 * and classes are joined as there. Names are not changed: images of several parts may have the same
 * name.
 *
 * What is found is what the merged index would give, in the same order, where searches are exact.
 * Below a recall of 1 each part is searched with its own calibration.
 *
 * Memory: 16 bytes per part; with labels, 4 bytes per image. The first call of taper_index_code or
 * taper_index_neighbourhood sorts all codes: n log n time, 4 bytes per image. If that fails,
 * taper_index_code returns UINT32_MAX. limits: max_images and max_memory are used; NULL: the
 * defaults. TAPER_ERR_ARG: the indexes do not match, or one is joined itself. TAPER_ERR_LIMIT:
 * there are 2^32 images or more, or more than max_images. TAPER_ERR_NOMEM. On failure *out is NULL.
 */
TAPER_API taper_status taper_index_join(taper_index **out, const taper_index *const *parts,
                                        size_t n, const taper_limits *limits, taper_error *error);

/* --- neighbourhoods --------------------------------------------------------------------- */

typedef struct taper_index_range {
    size_t size; /* sizeof(taper_index_range), set by the caller */
    /* Places in the sorted order, for taper_index_code: the first, and how many. */
    uint64_t first, count;
    /* Leading bits that all these codes share with the query. */
    uint32_t depth;
    /* Codes that were compared. */
    uint64_t looked_at;
} taper_index_range;

/* Find the nested neighbourhood of a query: the codes that share its first b bits, for the largest
 * b with at least `least` such codes. This is the ordered retrieval of Rippel, Gelbart & Adams
 * 2014, section 5. least: 1..images. known_bits: 0..bits, the bits of the query that are known, for
 * example from a cut file; b does not exceed it. The result may be large: see range.count. The time
 * grows with log(images) and not with the length of codes. TAPER_ERR_ARG: a number is out of range.
 * TAPER_ERR_CORRUPT: the index is damaged and its codes are not in order. */
TAPER_API taper_status taper_index_neighbourhood(const taper_index *index, const uint64_t *query,
                                                 uint32_t known_bits, uint64_t least,
                                                 taper_index_range *range, taper_error *error);

/* --- nearest neighbours ----------------------------------------------------------------- */

typedef struct taper_index_search {
    size_t size; /* sizeof(taper_index_search), set by the caller */
    /* [n_queries][(bits + 63) / 64] */
    const uint64_t *queries;
    size_t n_queries; /* 0.. */
    /* [n_queries] 1..bits: the known bits of each query; the others do not count. NULL: all. */
    const uint32_t *known_bits;
    /* Neighbours per query, 1..images. */
    size_t k;
    /* Share of the true neighbours to be found, up to 1. 1: exact search. 0: the default, 0.95. */
    double recall;
    /* The largest distance of a neighbour, one number for all queries; NULL: no maximum. */
    const uint32_t *within;
    /* [images] 1: the image may be a neighbour; NULL: all may. */
    const uint8_t *wanted;
    /* 0: one per online core; at most 256. A thread takes sixteen queries at a time. */
    unsigned threads;
} taper_index_search;

/* Find the k nearest images of each query, nearest first: images[n_queries][k] and
 * distances[n_queries][k]. A distance is the sum of the weights of the differing bits; without
 * weights, the Hamming distance. At equal distance the lower image number comes first. If fewer
 * than k images are found, the rest is UINT32_MAX.
 *
 * With recall 1 the search is exact. Below 1, codes that differ too much in their first bits are
 * skipped. The cut-off is calibrated when the index is built. It is also adapted to each query by
 * its nearest codes among 4,096 of the index, so that unusual queries find their neighbours.
 *
 * The recall is an expectation and no guarantee. All sets of real images that were tried reached
 * it. But most neighbours may be missed, at any recall below 1, if two conditions hold: fewer than
 * 1 in 100 images are similar to the query, and these differ from it unusually often in the first
 * bits. The search is exact in indexes of up to 16,384 images, and for queries with unknown bits.
 *
 * The result does not depend on threads. looked_at[n_queries]: words of codes that were compared;
 * NULL: not wanted. Memory: 20 KiB per thread, and sixteen queries with 8 bytes for each of their
 * neighbours. TAPER_ERR_ARG: a number is out of range. TAPER_ERR_NOMEM. */
TAPER_API taper_status taper_index_nearest(const taper_index *index,
                                           const taper_index_search *search, uint32_t *images,
                                           uint32_t *distances, uint64_t *looked_at,
                                           taper_error *error);

/* --- ranking by margins ----------------------------------------------------------------- */

typedef struct taper_index_ranking {
    size_t size; /* sizeof(taper_index_ranking), set by the caller */
    /* [n_queries][(bits + 63) / 64] */
    const uint64_t *queries;
    /* [n_queries][bits] the distance of each bit from its threshold, of
     * taper_embedder_margins. If all are equal, the order does not change. */
    const float *margins;
    size_t n_queries; /* 0.. */
    /* Images per query. */
    size_t found;
} taper_index_ranking;

/* Sort the results of taper_index_nearest by margins: images[n_queries][found] and distances are
 * reordered in place. The sort key is the sum over differing bits of weight x sqrt(margin): a bit
 * far from its threshold is more certain than one close to it. At equal sums the lower image number
 * comes first. UINT32_MAX and everything after it stay in place.
 *
 * Search for five times as many images as wanted, at least fifty, rank them and keep the first. In
 * codes of natural images this finds a quarter more of the images that are nearest by pixels.
 *
 * Memory: 4 bytes per image of the index, so pass many queries at once. TAPER_ERR_ARG: there is no
 * such image, or a margin is not finite. TAPER_ERR_NOMEM. On failure some queries are sorted. */
TAPER_API taper_status taper_index_rank(const taper_index *index,
                                        const taper_index_ranking *ranking, uint32_t *images,
                                        uint32_t *distances, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

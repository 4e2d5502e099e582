/* index.h -- the struct of an open index, for the source files that build and search it. The
 * interface is codec/taper_index.h. */
#ifndef CODEC_INDEX_H
#define CODEC_INDEX_H
#include "codec/search/cascade_sample.h"
#include "codec/taper_index.h"
#include "formats/index_file.h"
#include <pthread.h>

/* What a joined index has instead of codes (index_join.h). */
typedef struct codec_index_join {
    size_t parts;
    const taper_index **part; /* [parts] the caller's */
    uint64_t *first;          /* [parts + 1] the first image of each part; then all images */
    float recall[FORMATS_INDEX_EFFORTS];
    pthread_mutex_t lock; /* of `order`, and of the account of the joined index */
    uint32_t *order;      /* [images] the place by part of each code, sorted; NULL: not made yet */
} codec_index_join;

struct taper_index {
    codec_index_join *join; /* NULL: has codes of its own; else those of its parts */
    formats_index_file file;
    codec_ordered_index order;
    codec_cascade cascade; /* of `order` */
    codec_cascade_sample sample;
    const float *recall; /* [FORMATS_INDEX_EFFORTS] */
    const void *mapped;  /* the file, of taper_index_open_file; else NULL */
    uint64_t mapped_size;
};

void codec_index_join_free(codec_index_join *join); /* NULL is fine */

/* The index that holds image *i, whose number there is written to *i. An index that is not joined
 * holds all of its images. */
const taper_index *codec_index_part(const taper_index *index, uint64_t *i);

/* Get the code at a place by part; returns its image. */
uint32_t codec_index_at(const taper_index *index, size_t place, uint64_t *code);
/* The same without the code. */
uint32_t codec_index_image_at(const taper_index *index, size_t place);

/* Check that n indexes can be one: they have one model, code length and weights, fewer than 2^32
 * codes together, and codes of their own. *codes: their number. TAPER_ERR_ARG, _LIMIT. */
taper_status codec_index_match(const taper_index *const *from, size_t n, uint64_t *codes,
                               taper_error *error);

/* Copy the part of a set that an index of so many images is to say it has; given NULL: *part is 0.
 * TAPER_ERR_ARG: it cannot have as many. */
taper_status codec_index_take_part(taper_part *part, const taper_part *given, uint64_t images,
                                   taper_error *error);

/* Create a pool of `threads` threads, 0..256; 0: one per online core. TAPER_ERR_ARG, _NOMEM. */
taper_status codec_index_pool(codec_pool **pool, unsigned threads, taper_error *error);

#endif

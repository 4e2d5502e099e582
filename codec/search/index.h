/* index.h -- the struct of an open index, for the source files that build and search it. The
 * interface is codec/taper_index.h. */
#ifndef CODEC_INDEX_H
#define CODEC_INDEX_H
#include "codec/search/cascade_sample.h"
#include "codec/taper_index.h"
#include "formats/index_file.h"

struct taper_index {
    formats_index_file file;
    codec_ordered_index order;
    codec_cascade cascade; /* of `order` */
    codec_cascade_sample sample;
    const float *recall; /* [FORMATS_INDEX_EFFORTS] */
    const void *mapped;  /* the file, of taper_index_open_file; else NULL */
    uint64_t mapped_size;
};

/* Create a pool of `threads` threads, 0..256; 0: one per online core. TAPER_ERR_ARG, _NOMEM. */
taper_status codec_index_pool(codec_pool **pool, unsigned threads, taper_error *error);

#endif

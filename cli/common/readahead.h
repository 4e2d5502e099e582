/* readahead.h -- the images of a set in order, decoded ahead by a few threads.
 *
 * Files are read and decoded (PNG, JPEG, ...) while the caller works on earlier images. Images
 * inside one IDX or CIFAR file need no decoding: they are read when asked for. Memory is bounded:
 * READAHEAD_IMAGES images, and about READAHEAD_BYTES bytes of pixels beyond the one asked for. */
#ifndef CLI_COMMON_READAHEAD_H
#define CLI_COMMON_READAHEAD_H
#include "formats/imageset.h"

enum { CLI_READAHEAD_IMAGES = 256, CLI_READAHEAD_BYTES = 64 << 20 };

typedef struct cli_readahead cli_readahead;

/* threads: how many may decode; below 2, or without memory for threads, images are read when asked
 * for. The set is borrowed. TAPER_ERR_NOMEM: *out is NULL. */
taper_status cli_readahead_new(cli_readahead **out, const formats_imageset *set, unsigned threads,
                               taper_error *error);

/* Image 0, then 1, and so on, each exactly as formats_imageset_read gives it: also its failure,
 * after which the next one can be asked for. Call at most formats_imageset_count times. */
taper_status cli_readahead_next(cli_readahead *readahead, taper_image *out, taper_error *error);

/* Stops the threads; images not taken are dropped. NULL is fine. */
void cli_readahead_free(cli_readahead *readahead);

#endif

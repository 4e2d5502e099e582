/* readahead.h -- reads the images of a set in order, ahead of their use, on several threads.
 *
 * Files (PNG, JPEG, ...) are read and decoded while the caller works on earlier images. Images of
 * IDX and CIFAR files need no decoding and are read on demand. Memory is bounded by
 * CLI_READAHEAD_IMAGES images, and about CLI_READAHEAD_BYTES of pixels and payloads of metadata
 * ahead of the current one. */
#ifndef CLI_COMMON_READAHEAD_H
#define CLI_COMMON_READAHEAD_H
#include "formats/imageset/imageset.h"

enum { CLI_READAHEAD_IMAGES = 256, CLI_READAHEAD_BYTES = 64 << 20 };

typedef struct cli_readahead cli_readahead;

/* threads: for decoding; with fewer than 2, or without memory for threads, images are read on
 * demand. with_metadata: metadata are read, too. The set is borrowed. TAPER_ERR_NOMEM: *out is
 * NULL. */
taper_status cli_readahead_new(cli_readahead **out, const formats_imageset *set, unsigned threads,
                               int with_metadata, taper_error *error);

/* The same for the images from `first` to end - 1, which are of the set. */
taper_status cli_readahead_range(cli_readahead **out, const formats_imageset *set, size_t first,
                                 size_t end, unsigned threads, int with_metadata,
                                 taper_error *error);

/* The next image: 0, or the first of the range, and so on. Image, metadata and errors are those of
 * formats_imageset_read; after an error the next image can be read. metadata: zeroed if they are
 * not read; NULL: not wanted. Call at most formats_imageset_count times. */
taper_status cli_readahead_next(cli_readahead *readahead, taper_image *out,
                                formats_metadata *metadata, taper_error *error);

/* Stops the threads and frees images that were not read. NULL is fine. */
void cli_readahead_free(cli_readahead *readahead);

#endif

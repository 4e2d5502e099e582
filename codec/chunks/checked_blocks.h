/* checked_blocks.h -- where the chunks of a container are, and reading them from a source with
 * their checksums.
 *
 * The directory codec/chunks/: the bytes of chunks.
 *   checked_blocks   where chunks are; reads them and checks their checksums
 *   byte_store       bytes of a file that were received in any order */
#ifndef CODEC_CHECKED_BLOCKS_H
#define CODEC_CHECKED_BLOCKS_H
#include "codec/chunks/byte_store.h"
#include "formats/container.h"

/* Nonzero if taper_truncate shortened the chunk of this layer and group. */
int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group);

/* A range of the file, in bytes. */
typedef struct codec_file_range {
    uint64_t at, size;
} codec_file_range;

/* The range of the chunk of this layer and group, and that of the block of chunks that share its
 * checksum; and that checksum, a CRC-32C. */
codec_file_range codec_chunk_range(const formats_front *front, uint32_t layer, uint32_t group);
codec_file_range codec_block_range(const formats_front *front, uint32_t layer, uint32_t group);
uint32_t codec_block_checksum(const formats_front *front, uint32_t layer, uint32_t group);

/* The range of a layer in all groups. root: of a front that has no chunks; else NULL. */
codec_file_range codec_layer_range(const formats_front *front, const formats_root *root,
                                   uint32_t layer);

/* A cache: the last checked block of several chunks. The bytes of a small block are kept, as the
 * next image that is read is usually in it. */
typedef struct codec_checked_block {
    uint64_t at, size; /* in the file; size 0: empty */
    int holds;         /* the checksum is right */
    /* [CODEC_BLOCK_CAPACITY] or NULL; filled if size <= CODEC_BLOCK_CAPACITY. */
    uint8_t *bytes;
} codec_checked_block;

enum { CODEC_BLOCK_CAPACITY = 1 << 16 };

/* Where chunks are read from; all borrowed. */
typedef struct codec_chunk_source {
    const formats_front *front;
    const taper_source *source;
    const codec_byte_store *held; /* the bytes of the source that are available; NULL: all */
} codec_chunk_source;

/* Read n bytes of a source; the message of a failure says where. */
taper_status codec_source_read(const taper_source *source, uint64_t at, void *to, size_t n,
                               taper_error *error);
/* The number of bytes of a range that are available, from its first one. */
uint64_t codec_chunk_bytes_there(const codec_chunk_source *from, codec_file_range of);

/* Read a chunk of this layer and group, and check its block unless that is the last checked one.
 * chunk: the available part of it; to [chunk.size]. *holds: the block's checksum is right, or the
 * block is incomplete. TAPER_ERR_NOMEM; and the errors of the source. */
taper_status codec_checked_block_read(codec_checked_block *block, const codec_chunk_source *from,
                                      uint32_t layer, uint32_t group, codec_file_range chunk,
                                      uint8_t *to, int *holds, taper_error *error);
/* The same in pieces, from the first one on, without a cache: take(user, bytes, n) gets them, and
 * its first failure is returned. *holds is known at the end. */
taper_status codec_checked_chunk_read(const codec_chunk_source *from, uint32_t layer,
                                      uint32_t group, codec_file_range chunk, const taper_sink *to,
                                      int *holds, taper_error *error);
/* Leaves it empty. */
void codec_checked_block_free(codec_checked_block *block);

#endif

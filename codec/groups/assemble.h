/* assemble.h -- writing chunks as a container; used by the encoder, truncate, repack, merge
 * and remove. */
#ifndef CODEC_ASSEMBLE_H
#define CODEC_ASSEMBLE_H
#include "formats/container.h"

/* A source of chunks. */
typedef struct codec_chunks {
    void *user;
    /* Copy n bytes of the chunk of this layer and group, starting at its byte `from`, to `to`. */
    taper_status (*read)(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                         size_t n);
    /* NULL, or the number of chunks, 1 or more, of this layer from this group on that one call of
     * `read` may copy, one after the other, as if they were one chunk. */
    uint32_t (*run)(void *user, uint32_t layer, uint32_t group);
    /* NULL, or the checksum of a block of chunks of this layer, which is then not computed. Only
     * for containers without a maximum of bytes. */
    uint32_t (*checksum)(void *user, uint32_t layer, uint32_t block);
    /* NULL, or called when the front matter is in bytes: of the front, only the numbers of images,
     * groups and layers, layer_kind, chunk_at and the model are used from then on. */
    void (*written)(void *user);
} codec_chunks;

/* The number of chunks that share a checksum: 1 if chunks are large, more if images are small. */
uint32_t codec_checksum_span(uint8_t layout, uint64_t data_bytes, uint64_t chunks);

/* Small layers come first where there are several groups, so that every group has something early.
 * Nonzero if one should end where a group of so many pixels has `size` bytes. written: where the
 * last one ended. */
int codec_ends_small_layer(uint64_t size, uint64_t written, uint64_t pixels);

/* Shorten the chunks of front to at most max_data_bytes in total. With TAPER_LAYOUT_SET the longest
 * prefix is kept. Otherwise layers are left out from the end, and of the last one that stays the
 * same fraction of every chunk is kept: no image is preferred. */
void codec_shorten_data(formats_front *front, uint64_t max_data_bytes);
/* Shorten the chunks to the prefix that a cut file of data_bytes still has, in any layout. */
void codec_clip_data(formats_front *front, uint64_t data_bytes);

/* Compute the checksums of all chunks, of the lengths in front->chunk_at, and write the container.
 * If it would exceed max_bytes (UINT64_MAX: no maximum), the chunks are shortened first, as in
 * codec_shorten_data. The result may then be slightly smaller than max_bytes. It is the same for a
 * front that was read from a container and for one without checksums.
 *
 * Before the first byte is written, the front matter is parsed with these limits. So it fails if a
 * reader of the result would fail. TAPER_ERR_LIMIT also: the front matter alone exceeds
 * max_bytes. */
taper_status codec_assemble(formats_front *front, const codec_chunks *chunks, uint64_t max_bytes,
                            const taper_limits *limits, const taper_sink *to, taper_error *error);

#endif

/* assemble.h -- laying chunks out as a container: shared by encoder, truncate, repack and merge.
 *
 * The room codec/container/: images into containers, and containers into others.
 *   encoder          images in; encoder_groups: images to groups to chunks
 *   group_writer     one group coded whole; group_quality: how well it is kept
 *   allocation       which image of a set gets how many of its bits
 *   small_set        the last step of a small set: where it ends; holds: which cuts are drawn
 *                    as shorter ones; cut_quality: what each cut shows
 *   assemble         laying chunks out
 *   recut            truncate and repack; kept_codes: what need not be decoded again
 *   merge            containers into one; merge_layers: their layers and rate classes
 *   verify           is all of it there, and right */
#ifndef CODEC_ASSEMBLE_H
#define CODEC_ASSEMBLE_H
#include "formats/container.h"

/* Where chunk bytes come from: fill to[n] from byte `from` on of this chunk. */
typedef struct codec_chunks {
    void *user;
    taper_status (*read)(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                         size_t n);
} codec_chunks;

/* Chunks that share a checksum: one where chunks are large, more where images are small. */
uint32_t codec_checksum_span(uint8_t layout, uint64_t data_bytes, uint64_t chunks);

/* Cut front's chunk lengths to a budget for the chunks alone: under TAPER_LAYOUT_SET the longest
 * prefix, under TAPER_LAYOUT_IMAGE the same fraction of every chunk. */
void codec_shorten_data(formats_front *front, uint64_t max_data_bytes);
/* The prefix of the data that a cut file still has and that is rendered, in either layout. */
void codec_clip_data(formats_front *front, uint64_t data_bytes);

/* Compute checksums over what `chunks` yields (front->chunk_at gives the lengths), then write the
 * container. If it would take more than max_bytes (UINT64_MAX: no limit) the chunks are cut as
 * above first; it may then be a little smaller. The front matter is read again, within these
 * limits, before a byte is written, so it fails where a reader of the result would.
 * TAPER_ERR_LIMIT, too: the front matter alone is larger than max_bytes. */
taper_status codec_assemble(formats_front *front, const codec_chunks *chunks, uint64_t max_bytes,
                            const taper_limits *limits, const taper_sink *to, taper_error *error);

#endif

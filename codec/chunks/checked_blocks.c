/* checked_blocks.c -- see checked_blocks.h. */
#include "codec/chunks/checked_blocks.h"
#include <stdlib.h>
#include <string.h>

taper_status codec_source_read(const taper_source *source, uint64_t at, void *to, size_t n,
                               taper_error *error) {
    taper_status status = source->read(source->user, at, to, n);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "cannot read %zu bytes at %llu of the container", n,
                              (unsigned long long)at);
}

int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group) {
    return front->tail && layer + 1 == front->layers && group >= front->first_cut;
}

/* Chunks first .. last - 1 of a layer, counted over all layers. */
static codec_file_range chunks_of(const formats_front *f, uint32_t layer, uint64_t first,
                                  uint64_t last) {
    return (codec_file_range){f->front_size + formats_front_chunk_at(f, first, layer),
                              f->chunk_at[last] - f->chunk_at[first]};
}

codec_file_range codec_chunk_range(const formats_front *f, uint32_t layer, uint32_t g) {
    uint64_t c = (uint64_t)layer * f->groups + g;
    return chunks_of(f, layer, c, c + 1);
}

codec_file_range codec_block_range(const formats_front *f, uint32_t layer, uint32_t g) {
    uint64_t per = f->chunks_per_checksum, first = g / per * per, row = (uint64_t)layer * f->groups;
    uint64_t last = first + per < f->groups ? first + per : f->groups;
    return chunks_of(f, layer, row + first, row + last);
}

uint32_t codec_block_checksum(const formats_front *f, uint32_t layer, uint32_t g) {
    uint64_t per = f->chunks_per_checksum, blocks = (f->groups + per - 1) / per;
    return f->checksum[layer * blocks + g / per];
}

codec_file_range codec_layer_range(const formats_front *f, const formats_root *root,
                                   uint32_t layer) {
    if (root && root->leaves)
        return (codec_file_range){f->front_size + root->layer_at[layer],
                                  root->layer_at[layer + 1] - root->layer_at[layer]};
    const uint64_t first = (uint64_t)layer * f->groups;
    return chunks_of(f, layer, first, first + f->groups);
}

uint64_t codec_chunk_bytes_there(const codec_chunk_source *from, codec_file_range of) {
    uint64_t left = of.at < from->source->size ? from->source->size - of.at : 0;
    uint64_t size = left < of.size ? left : of.size;
    if (!from->held || !size) return size;
    uint64_t run = codec_byte_store_run(from->held, of.at, NULL);
    return run < size ? run : size;
}

/* CRC-32C of a range, read through the block's buffer. */
static taper_status sum_range(codec_checked_block *b, codec_file_range of,
                              const taper_source *source, uint32_t *crc, taper_error *error) {
    while (of.size) {
        size_t n = of.size < CODEC_BLOCK_CAPACITY ? (size_t)of.size : CODEC_BLOCK_CAPACITY;
        TAPER_TRY(codec_source_read(source, of.at, b->bytes, n, error));
        *crc = formats_crc32c(*crc, b->bytes, n);
        of.at += n, of.size -= n;
    }
    return TAPER_OK;
}

/* Check a block that is completely available, and copy the chunk within it to `to`. Every byte is
 * read once. A block of one chunk is not kept. */
static taper_status check_block(codec_checked_block *b, codec_file_range block,
                                codec_file_range chunk, uint32_t sum, const taper_source *source,
                                uint8_t *to, int *holds, taper_error *error) {
    uint64_t end = chunk.at + chunk.size;
    codec_file_range before = {block.at, chunk.at - block.at},
                     after = {end, block.at + block.size - end};
    int several = block.size > chunk.size;
    uint32_t crc = 0;
    if (several && !b->bytes && !(b->bytes = malloc(CODEC_BLOCK_CAPACITY)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checksum block");
    if (several) b->size = 0; /* empty until this succeeds */
    if (several && block.size <= CODEC_BLOCK_CAPACITY) {
        TAPER_TRY(sum_range(b, block, source, &crc, error));
        memcpy(to, b->bytes + before.size, (size_t)chunk.size);
    } else {
        TAPER_TRY(sum_range(b, before, source, &crc, error));
        if (chunk.size)
            TAPER_TRY(codec_source_read(source, chunk.at, to, (size_t)chunk.size, error));
        crc = formats_crc32c(crc, to, (size_t)chunk.size);
        TAPER_TRY(sum_range(b, after, source, &crc, error));
    }
    *holds = crc == sum;
    if (several) b->at = block.at, b->size = block.size, b->holds = *holds;
    return TAPER_OK;
}

taper_status codec_checked_block_read(codec_checked_block *b, const codec_chunk_source *from,
                                      uint32_t layer, uint32_t g, codec_file_range chunk,
                                      uint8_t *to, int *holds, taper_error *error) {
    codec_file_range block = codec_block_range(from->front, layer, g);
    int whole =
        block.at <= from->source->size && codec_chunk_bytes_there(from, block) == block.size;
    *holds = 1;
    if (whole && (!b->size || b->at != block.at || b->size != block.size))
        return check_block(b, block, chunk, codec_block_checksum(from->front, layer, g),
                           from->source, to, holds, error);
    if (whole) *holds = b->holds;
    if (whole && b->size <= CODEC_BLOCK_CAPACITY)
        memcpy(to, b->bytes + (chunk.at - b->at), (size_t)chunk.size);
    else if (chunk.size)
        TAPER_TRY(codec_source_read(from->source, chunk.at, to, (size_t)chunk.size, error));
    return TAPER_OK;
}

/* Read a range in pieces; `to`: NULL, or what takes them. */
static taper_status pass_range(codec_file_range of, const taper_source *source, uint8_t *room,
                               const taper_sink *to, uint32_t *crc, taper_error *error) {
    while (of.size) {
        size_t n = of.size < CODEC_BLOCK_CAPACITY ? (size_t)of.size : CODEC_BLOCK_CAPACITY;
        TAPER_TRY(codec_source_read(source, of.at, room, n, error));
        *crc = formats_crc32c(*crc, room, n);
        if (to) TAPER_TRY(to->write(to->user, room, n));
        of.at += n, of.size -= n;
    }
    return TAPER_OK;
}

taper_status codec_checked_chunk_read(const codec_chunk_source *from, uint32_t layer, uint32_t g,
                                      codec_file_range chunk, const taper_sink *to, int *holds,
                                      taper_error *error) {
    const codec_file_range block = codec_block_range(from->front, layer, g);
    const int whole =
        block.at <= from->source->size && codec_chunk_bytes_there(from, block) == block.size;
    const uint64_t end = chunk.at + chunk.size;
    const codec_file_range before = {block.at, chunk.at - block.at},
                           after = {end, block.at + block.size - end};
    uint8_t *room = malloc(CODEC_BLOCK_CAPACITY);
    uint32_t crc = 0;
    if (!room) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read a chunk");
    taper_status status = TAPER_OK;
    if (whole) status = pass_range(before, from->source, room, NULL, &crc, error);
    if (status == TAPER_OK) status = pass_range(chunk, from->source, room, to, &crc, error);
    if (whole && status == TAPER_OK)
        status = pass_range(after, from->source, room, NULL, &crc, error);
    free(room);
    *holds = !whole || crc == codec_block_checksum(from->front, layer, g);
    return status;
}

void codec_checked_block_free(codec_checked_block *b) {
    free(b->bytes);
    *b = (codec_checked_block){0};
}

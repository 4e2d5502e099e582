/* frame.c -- see frame.h. */
#include "web/zstd/frame.h"
#include "web/zstd/sequences.h"
#include <stdlib.h>
#include <string.h>

typedef struct frame_head {
    size_t bytes;
    uint64_t content; /* WEB_ZSTD_NO_SIZE: not said */
    int has_checksum;
} frame_head;

typedef struct unpacker {
    web_literals literals;
    web_sequences sequences;
} unpacker;

static uint64_t little_endian(const uint8_t *from, size_t n) {
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* 0 if this is no frame, or one that needs a dictionary. */
static int read_head(frame_head *head, const uint8_t *frame, size_t size) {
    static const uint8_t dictionary_bytes[4] = {0, 1, 2, 4};
    if (size < 5 || little_endian(frame, 4) != 0xFD2FB528) return 0;
    const unsigned flags = frame[4], single = flags >> 5 & 1, width = flags >> 6;
    const size_t dictionary = dictionary_bytes[flags & 3], at = 6 - single + dictionary;
    const size_t number = width ? (size_t)1 << width : single;
    head->bytes = at + number;
    if (flags & 8 || size < head->bytes || little_endian(frame + at - dictionary, dictionary))
        return 0;
    head->has_checksum = flags >> 2 & 1;
    head->content =
        number ? little_endian(frame + at, number) + (number == 2 ? 256 : 0) : WEB_ZSTD_NO_SIZE;
    return 1;
}

uint64_t web_zstd_content_size(const uint8_t *frame, size_t size) {
    frame_head head;
    return read_head(&head, frame, size) ? head.content : WEB_ZSTD_NO_FRAME;
}

static int unpack_block(unpacker *u, unsigned kind, const uint8_t *from, size_t size,
                        web_unpacked *to) {
    if (kind == 2) {
        size_t literals = web_literals_read(&u->literals, from, size);
        return literals && web_sequences_unpack(&u->sequences, &u->literals, from + literals,
                                                size - literals, to);
    }
    if (size > to->room - to->size) return 0;
    if (kind == 1)
        memset(to->byte + to->size, from[0], size);
    else
        memcpy(to->byte + to->size, from, size);
    to->size += size;
    return 1;
}

/* Returns where the blocks end, 0 if one is illegal. */
static size_t unpack_blocks(unpacker *u, const uint8_t *frame, size_t at, size_t size,
                            web_unpacked *to) {
    for (unsigned last = 0; !last;) {
        if (size - at < 3) return 0;
        const uint32_t word = (uint32_t)little_endian(frame + at, 3);
        const unsigned kind = word >> 1 & 3;
        const size_t length = word >> 3, stored = kind == 1 ? 1 : length;
        at += 3, last = word & 1;
        if (kind == 3 || length > WEB_ZSTD_BLOCK || stored > size - at) return 0;
        if (!unpack_block(u, kind, frame + at, length, to)) return 0;
        at += stored;
    }
    return at;
}

size_t web_zstd_unpack(uint8_t *to, size_t room, const uint8_t *frame, size_t size) {
    frame_head head;
    web_unpacked unpacked = {to, 0, room};
    if (!read_head(&head, frame, size)) return WEB_ZSTD_DAMAGED;
    unpacker *u = calloc(1, sizeof *u);
    if (!u) return WEB_ZSTD_NO_MEMORY;
    u->sequences.offsets[0] = 1, u->sequences.offsets[1] = 4, u->sequences.offsets[2] = 8;
    size_t end = unpack_blocks(u, frame, head.bytes, size, &unpacked);
    free(u);
    if (!end || end + (head.has_checksum ? 4 : 0) != size) return WEB_ZSTD_DAMAGED;
    if (head.content != WEB_ZSTD_NO_SIZE && head.content != unpacked.size) return WEB_ZSTD_DAMAGED;
    return unpacked.size;
}

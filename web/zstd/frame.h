/* frame.h -- unpacks zstd frames as RFC 8878 has them. A few kilobytes of code in place of libzstd,
 * for browsers. As SPEC.md 3.4 allows: one frame, without dictionary. The frame's own checksum is
 * not compared: taper has checksums of its own. */
#ifndef WEB_ZSTD_FRAME_H
#define WEB_ZSTD_FRAME_H
#include <stddef.h>
#include <stdint.h>

#define WEB_ZSTD_DAMAGED   SIZE_MAX       /* bytes that are no frame, or do not fit into the room */
#define WEB_ZSTD_NO_MEMORY (SIZE_MAX - 1) /* for tables and literals, some 150 KiB */
#define WEB_ZSTD_NO_SIZE   UINT64_MAX     /* the frame does not say its size */
#define WEB_ZSTD_NO_FRAME  (UINT64_MAX - 1)

/* The number of bytes that the frame claims to unpack to, or one of the two values above. `size`:
 * bytes at `frame`, of which the header is read. */
uint64_t web_zstd_content_size(const uint8_t *frame, size_t size);

/* Unpacks the frame of `size` bytes to at most `room` bytes at `to`. Returns how many there are, or
 * an error; `to` then holds anything. `frame` may be any bytes. Both must not overlap. */
size_t web_zstd_unpack(uint8_t *to, size_t room, const uint8_t *frame, size_t size);

#endif

/* packed.h -- contents that are stored as they are or as a zstd frame, whichever is smaller. Equal
 * sizes, stored and unpacked: as they are. For container.c, paging.c, leaf.c and name_pages.c. */
#ifndef FORMATS_PACKED_H
#define FORMATS_PACKED_H
#include "formats/front.h"

/* The most bytes to which a stored size may unpack: times * stored + more. It is above the ratio of
 * any real file. */
typedef struct formats_packed_bound {
    uint32_t times, more;
} formats_packed_bound;

/* That of lists, texts and numbers. */
#define FORMATS_PACKED_USUAL ((formats_packed_bound){1024, 65536})

/* 1: a frame of `stored` bytes may unpack to `unpacked`. */
int formats_packed_is_bounded(formats_packed_bound bound, uint64_t stored, uint64_t unpacked);

/* Unpack to new memory, one byte more than `unpacked` and therefore never NULL; charged to f's
 * account. The last byte is 0. what: the content's name for messages.
 * TAPER_ERR_CORRUPT: the sizes are impossible, or the frame does not unpack to `unpacked` bytes.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. On failure *out is NULL. */
taper_status formats_unpack(formats_front *f, const uint8_t *stored, uint64_t size,
                            uint64_t unpacked, formats_packed_bound bound, const char *what,
                            uint8_t **out, taper_error *error);
/* Free what formats_unpack made. */
void formats_unpack_free(formats_front *f, uint8_t *content, uint64_t unpacked);

/* The level of zstd for all that is read often and written once. */
enum { FORMATS_PACK_LEVEL = 19 };

/* Append the content, packed if it is smaller so. level: of zstd; 0: not packed. The memory for
 * packing is charged to the account of `out` meanwhile. *stored: the bytes that were appended.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM; also the status of `content`. */
taper_status formats_pack(const formats_buffer *content, int level, formats_packed_bound bound,
                          formats_buffer *out, size_t *stored);

/* The same after the two sizes, as varints: unpacked, then stored. The content is freed. */
taper_status formats_part_write(formats_buffer *content, int level, formats_buffer *out);
/* Read what formats_part_write wrote. *content: to be freed with formats_unpack_free. */
taper_status formats_part_read(formats_front *f, formats_cursor *in, const char *what,
                               uint8_t **content, uint64_t *unpacked, taper_error *error);

#endif

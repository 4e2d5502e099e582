/* gzip.h -- gzip in memory, by zlib. Safe on hostile input; threads may call these functions at
 * once. */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H
#include "formats/status.h"

/* 1 when a file that begins with these n bytes is gzip (n >= 2), else 0. */
int formats_gzip_detect(const void *bytes, size_t n);

/* Expand only the start of a gzip file: up to n bytes into to; *got is how many there are. */
taper_status formats_gzip_peek(const void *bytes, size_t size, void *to, size_t n, size_t *got,
                               taper_error *error);

/* Expand a gzip file (one or more members) that must hold exactly `expected` bytes, into to.
 * TAPER_ERR_TRUNCATED: it ends early or holds less. TAPER_ERR_CORRUPT: it is damaged (checksums are
 * tested) or holds more; no byte past `expected` is written. */
taper_status formats_gzip_unpack(const void *bytes, size_t size, void *to, size_t expected,
                                 taper_error *error);

/* 1 when `size` bytes of gzip can expand to `expected` bytes: deflate expands at most 1032-fold.
 * Call it before allocating memory for a claimed size. */
int formats_gzip_can_hold(size_t size, uint64_t expected);

/* Compress n bytes. The file has no name or time, so equal bytes give equal files. *out is malloc'd
 * and the caller's to free; NULL on failure. */
taper_status formats_gzip_pack(const void *bytes, size_t n, uint8_t **out, size_t *out_size,
                               taper_error *error);

#endif

/* spool.h -- a temporary file without a name, for members of archives. It is in TMPDIR, else in
 * /tmp, and ends with its descriptor. Needs POSIX. */
#ifndef FORMATS_SPOOL_H
#define FORMATS_SPOOL_H
#include "formats/status.h"

typedef struct formats_spool {
    int descriptor; /* 0: not open */
    uint64_t size;
} formats_spool;

/* Append n bytes; the first call opens the file. TAPER_ERR_IO: the disk is full, for example. */
taper_status formats_spool_append(formats_spool *spool, const void *bytes, size_t n,
                                  taper_error *error);
/* Forget all bytes behind `size`. */
void formats_spool_cut(formats_spool *spool, uint64_t size);
/* Read n bytes at an offset. Threads may call this at once. */
taper_status formats_spool_read(const formats_spool *spool, uint64_t offset, void *to, size_t n);
void formats_spool_close(formats_spool *spool);

#endif

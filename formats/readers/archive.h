/* archive.h -- the members of archives, one after the other, by libarchive: tar, zip and 7z; tar
 * also packed with gzip, bzip2, xz or zstd.
 *
 * Safe on hostile input as far as libarchive is. Memory does not grow with the archive. How much
 * members may unpack to is limited by the size of what was read: FORMATS_ARCHIVE_RATIO times that
 * and FORMATS_ARCHIVE_FREE bytes more; the files of real archives need far less, and a bomb ends
 * there. An archive belongs to one thread at a time. */
#ifndef FORMATS_ARCHIVE_H
#define FORMATS_ARCHIVE_H
#include "formats/late/late_library.h"

enum { FORMATS_ARCHIVE_RATIO = 64, FORMATS_ARCHIVE_FREE = 1 << 30 };

/* 1 when a file that begins with these n bytes is such an archive, or may be: a file packed with
 * xz, for example, holds a tar or something else. 264 bytes are enough. */
int formats_archive_detect(const void *front, size_t n);

typedef struct formats_archive formats_archive;

/* Open an archive. descriptor: borrowed; at the start of a file, or of a pipe of which the first n
 * bytes, `front`, have been read already. TAPER_ERR_UNSUPPORTED: libarchive is missing.
 * TAPER_ERR_CORRUPT: it finds no archive. TAPER_ERR_NOMEM. On failure *out is NULL. */
taper_status formats_archive_open(formats_archive **out, int descriptor, const void *front,
                                  size_t n, taper_error *error);
void formats_archive_close(formats_archive *archive); /* NULL is fine */

typedef enum formats_member_kind {
    FORMATS_MEMBER_FILE,
    FORMATS_MEMBER_FOLDER,
    FORMATS_MEMBER_LINK,  /* a link, which is not followed */
    FORMATS_MEMBER_OTHER, /* a device, a pipe, ... */
} formats_member_kind;

typedef struct formats_member {
    const char *name; /* as stored; valid until the next call. NULL: the end of the archive */
    formats_member_kind kind;
    uint64_t size; /* of a file, as its header says; 0 if that does not */
    int has_modified;
    int64_t modified_ns; /* time of the file: nanoseconds since 1970, UTC */
} formats_member;

/* Go to the next member. TAPER_ERR_CORRUPT: the archive is damaged or ends early. TAPER_ERR_LIMIT:
 * see above. */
taper_status formats_archive_next(formats_archive *archive, formats_member *out,
                                  taper_error *error);
/* Read up to n bytes of the current member; *got < n: its end. Holes are zeros. */
taper_status formats_archive_read(formats_archive *archive, void *to, size_t n, size_t *got,
                                  taper_error *error);

/* 1 if a name stays below the folder in which the archive would be unpacked: it is relative, and no
 * part of it is "..". */
int formats_archive_name_is_safe(const char *name);

#endif

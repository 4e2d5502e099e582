/* file.h -- reads files: whole, from a descriptor, mapped, or as a random-access taper_source.
 *
 * Needs POSIX (open, pread). Ceilings are in bytes and are enforced before memory is allocated.
 * Error texts say what the system refused and what to do, without the name of the file. */
#ifndef FORMATS_FILE_H
#define FORMATS_FILE_H
#include "formats/status.h"

/* Fill *error from an errno value: "cannot WHAT: REASON; REMEDY". Returns TAPER_ERR_IO
 * (TAPER_ERR_NOMEM for ENOMEM, TAPER_ERR_EXISTS for EEXIST). error may be NULL. */
taper_status formats_fail_errno(taper_error *error, int errnum, const char *what);

/* 1 when an errno value concerns one path (missing, not permitted, no such device). 0 when it
 * concerns the disk, memory or the process: other paths would fail too. */
int formats_errno_is_of_path(int errnum);

/* Read a descriptor to its end: a file, a pipe, standard input. *bytes is malloc'd and the caller's
 * to free; not NULL on success, NULL on failure. TAPER_ERR_LIMIT: more than limits->max_memory
 * bytes. The descriptor stays the caller's. */
taper_status formats_descriptor_read(int descriptor, const taper_limits *limits, uint8_t **bytes,
                                     size_t *size, taper_error *error);

/* Read a whole file; otherwise as formats_descriptor_read. A folder is TAPER_ERR_IO. */
taper_status formats_file_read_within(const char *path, const taper_limits *limits, uint8_t **bytes,
                                      size_t *size, taper_error *error);
/* The same, with ceiling as max_memory. */
taper_status formats_file_read(const char *path, uint64_t ceiling, uint8_t **bytes, size_t *size,
                               taper_error *error);

int formats_has_extension(const char *path, const char *extension); /* ".png"; ignores case */

/* Read up to n bytes from the start of a regular file; *got is how many there are. After
 * TAPER_ERR_IO errno is that of the failed call. */
taper_status formats_file_peek(const char *path, void *to, size_t n, size_t *got,
                               taper_error *error);

/* Read n bytes at an offset of a regular file. Several threads may read at once.
 * TAPER_ERR_TRUNCATED: the file is shorter; TAPER_ERR_IO: errno says why. */
taper_status formats_descriptor_read_at(int descriptor, uint64_t offset, void *to, size_t n);

/* A regular file held open for random access. */
typedef struct formats_file formats_file;
taper_status formats_file_open(formats_file **out, const char *path, taper_error *error);
void formats_file_close(formats_file *file); /* NULL is fine */
/* The file as a source, which borrows it. size is the length at the time of opening. Several
 * threads may read at once. A file that has shrunk since gives TAPER_ERR_TRUNCATED. */
taper_source formats_file_source(formats_file *file);

/* Map a regular file for reading; *bytes is the start of a page. If another process shortens the
 * file, reading ends this process (SIGBUS): map only files that are replaced as a whole. descriptor
 * may be closed afterwards. TAPER_ERR_IO; TAPER_ERR_TRUNCATED: the file is empty. */
taper_status formats_descriptor_map(int descriptor, const void **bytes, uint64_t *size,
                                    taper_error *error);
taper_status formats_file_map(const char *path, const void **bytes, uint64_t *size,
                              taper_error *error);
void formats_file_unmap(const void *bytes, uint64_t size); /* NULL is fine */

/* Bytes in memory as a source. The formats_memory and the bytes must outlive the source. */
typedef struct formats_memory {
    const uint8_t *bytes;
    size_t size;
} formats_memory;
taper_source formats_memory_source(formats_memory *memory);

/* As source->read; checks the range first and fills the error text. */
taper_status formats_source_read(const taper_source *source, uint64_t offset, void *to, size_t n,
                                 taper_error *error);

#endif

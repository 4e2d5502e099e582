/* file.h -- reading files: whole, through a descriptor, and as a random-access taper_source.
 *
 * Needs POSIX (open, pread). Every ceiling is in bytes and is enforced before memory is taken.
 * Error texts say what the system refused and what to do, without the file's name. */
#ifndef FORMATS_FILE_H
#define FORMATS_FILE_H
#include "formats/status.h"

/* Fill *error from an errno value: "cannot WHAT: REASON; REMEDY". Returns TAPER_ERR_IO
 * (TAPER_ERR_NOMEM for ENOMEM, TAPER_ERR_EXISTS for EEXIST). error may be NULL. */
taper_status formats_fail_errno(taper_error *error, int errnum, const char *what);

/* 1 when an errno value is about the one path (missing, not permitted, no such device); 0 when it
 * is about the disk, memory or the process, and others will fare no better. */
int formats_errno_is_of_path(int errnum);

/* Read everything a descriptor still gives: a file, a pipe, standard input. *bytes is malloc'd and
 * the caller's to free; never NULL on success, NULL on failure. More than max_memory bytes is
 * TAPER_ERR_LIMIT. The descriptor stays the caller's. */
taper_status formats_descriptor_read(int descriptor, const taper_limits *limits, uint8_t **bytes,
                                     size_t *size, taper_error *error);

/* Read a whole file; otherwise as formats_descriptor_read. Folders are TAPER_ERR_IO. */
taper_status formats_file_read_within(const char *path, const taper_limits *limits,
                                      uint8_t **bytes, size_t *size, taper_error *error);
/* The same with this max_memory. */
taper_status formats_file_read(const char *path, uint64_t ceiling, uint8_t **bytes, size_t *size,
                               taper_error *error);

/* Read up to n bytes from the front of a regular file; *got is how many there were. After
 * TAPER_ERR_IO errno is the system's. */
taper_status formats_file_peek(const char *path, void *to, size_t n, size_t *got,
                               taper_error *error);

/* A regular file held open for random access. */
typedef struct formats_file formats_file;
taper_status formats_file_open(formats_file **out, const char *path, taper_error *error);
void formats_file_close(formats_file *file); /* NULL is fine */
/* Its bytes; size is the length at the time of opening. The source borrows the file. Several
 * threads may read at once. A file that shrank meanwhile reads as TAPER_ERR_TRUNCATED. */
taper_source formats_file_source(formats_file *file);

/* A regular file's bytes where the system maps them, for reading: from the start of a page, so on a
 * multiple of 8. Whoever shortens the file meanwhile ends the process that reads (SIGBUS), so map
 * what is replaced whole or not at all. descriptor may be closed afterwards. TAPER_ERR_IO; an empty
 * file is TAPER_ERR_TRUNCATED. */
taper_status formats_descriptor_map(int descriptor, const void **bytes, uint64_t *size,
                                    taper_error *error);
taper_status formats_file_map(const char *path, const void **bytes, uint64_t *size,
                              taper_error *error);
void formats_file_unmap(const void *bytes, uint64_t size); /* NULL is fine */

/* Bytes in memory as a source. The caller keeps memory and bytes alive while the source is used. */
typedef struct formats_memory {
    const uint8_t *bytes;
    size_t size;
} formats_memory;
taper_source formats_memory_source(formats_memory *memory);

/* source->read with the range checked and an error text. */
taper_status formats_source_read(const taper_source *source, uint64_t offset, void *to, size_t n,
                                 taper_error *error);

#endif

/* files.h -- open files, kept for later requests. A file is a descriptor: nothing is mapped, so a
 * file that shrinks ends no process.
 *
 * A serve_file does not change. Before it is given out again, one call of the system tells whether
 * the file has changed, or was removed or replaced by rename. Whether its path leads to it still is
 * looked up again after a second. A request that has a serve_file reads the old file to its end. */
#ifndef SERVE_CONTENT_FILES_H
#define SERVE_CONTENT_FILES_H
#include "serve/content/roots.h"
#include <stdatomic.h>

enum { SERVE_TAG_BYTES = 72 };

typedef struct serve_file {
    atomic_uint users;
    int descriptor;
    uint64_t device, inode, size;
    int64_t modified_ns;
    const char *type;
    char tag[SERVE_TAG_BYTES]; /* entity tag with its quotes, strong: device, inode, time, size */
    /* The length of a container by its front matter; 0: not known. For --live. */
    _Atomic uint64_t total;
    int64_t looked_up_ms; /* guarded by the cache */
    char path[];          /* as requested */
} serve_file;

typedef struct serve_files serve_files;
/* most: how many are kept open. roots: borrowed. NULL: no memory. */
serve_files *serve_files_open(const serve_roots *roots, size_t most);
void serve_files_close(serve_files *files); /* NULL is fine */

/* The file of a clean path; release it. NULL: *reason is an errno as of serve_roots_find. */
serve_file *serve_files_get(serve_files *files, const char *path, int *reason);
void serve_file_hold(serve_file *file);
void serve_file_release(serve_file *file); /* NULL is fine */

/* Read n bytes from an offset. Returns how many were read, fewer at the end of the file; -1: the
 * system refused. */
int64_t serve_file_read(const serve_file *file, uint64_t offset, void *to, size_t n);

/* Milliseconds of a clock that never goes back. */
int64_t serve_now_ms(void);

#endif

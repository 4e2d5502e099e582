/* atomic_file.h -- outputs that appear whole or not at all.
 *
 * Bytes go to a temporary file in the target's own folder. Commit flushes and fsyncs it, gives it
 * the target's name in one step, and fsyncs the folder; until then the target is as it was. A crash
 * (kill -9, a power failure) leaves at most a file named ".taper-*.tmp", never half an output.
 *
 *     formats_atomic_file *file;
 *     TAPER_TRY(formats_atomic_file_open(&file, path, 0, NULL, error));
 *     taper_status status = formats_atomic_file_write(file, bytes, n, error);
 *     if (status != TAPER_OK) { formats_atomic_file_abort(file); return status; }
 *     return formats_atomic_file_commit(file, error);
 *
 * One handle belongs to one thread at a time; different handles are independent. */
#ifndef FORMATS_ATOMIC_FILE_H
#define FORMATS_ATOMIC_FILE_H
#include "formats/status.h"

typedef struct formats_atomic_file formats_atomic_file;

enum formats_atomic_flags {
    FORMATS_ATOMIC_OVERWRITE = 1, /* replace an existing target; without it: TAPER_ERR_EXISTS */
    FORMATS_ATOMIC_NO_SYNC = 2 /* no fsyncs, for many small files: each is whole after a kill, but
                                  the latest may be empty after a power failure, without sync(2) */
};

/* Lets a program remove temporaries from a signal handler without state in this library.
 * will_create is called before a temporary comes into being, gone after it was renamed or removed
 * or its creation failed; both with the same path. Between hold and let_go files are made and get
 * their names: a handler that waits for that, and unlinks every announced path, leaves nothing
 * behind. not_synced: the target has its content and name, but the folder could not be flushed, so
 * a power failure may undo this. Any may be NULL; they run on the calling thread. */
typedef struct formats_atomic_watch {
    void *user;
    void (*will_create)(void *user, const char *temporary);
    void (*gone)(void *user, const char *temporary);
    void (*hold)(void *user);
    void (*let_go)(void *user);
    void (*not_synced)(void *user, const char *target, const taper_error *why);
} formats_atomic_watch;

/* Begin to write path. flags: enum formats_atomic_flags or'ed. watch: copied, may be NULL. An
 * existing target keeps its permission bits; else the umask rules. A symbolic link is followed:
 * what it points to is replaced. A device or FIFO is written to directly: there is nothing to
 * replace. TAPER_ERR_EXISTS: the target exists and FORMATS_ATOMIC_OVERWRITE was not given.
 * TAPER_ERR_IO: the folder is missing or cannot be written, the disk is full; the text says which.
 * On failure *out is NULL and nothing is left behind. */
taper_status formats_atomic_file_open(formats_atomic_file **out, const char *path, unsigned flags,
                                      const formats_atomic_watch *watch, taper_error *error);

/* As formats_atomic_file_open, for the file `name`, a plain name, in an open folder. Nothing but
 * that folder is written to: a symbolic link of that name is replaced, not followed, and with
 * FORMATS_ATOMIC_OVERWRITE only. folder stays the caller's, and open until commit or abort;
 * folder_path is its path, for the watch. TAPER_ERR_UNSUPPORTED, also from commit: the file system
 * does not take the name. */
taper_status formats_atomic_file_open_in(formats_atomic_file **out, int folder,
                                         const char *folder_path, const char *name, unsigned flags,
                                         const formats_atomic_watch *watch, taper_error *error);

/* Append n bytes (buffered). After a failure every later write and the commit fail alike. */
taper_status formats_atomic_file_write(formats_atomic_file *file, const void *bytes, size_t n,
                                       taper_error *error);

/* What has been written so far is in the file: *descriptor reads it, until commit or abort. -1: a
 * device or FIFO, which cannot be read back. */
taper_status formats_atomic_file_read_back(formats_atomic_file *file, int *descriptor,
                                           taper_error *error);

/* All that has been written is on the disk; nothing more can be written. What is left to commit is
 * the name: of several outputs none appears before all are settled. */
taper_status formats_atomic_file_settle(formats_atomic_file *file, taper_error *error);

/* Finish: the target has the new content, or an error is returned and it is as it was. Without
 * FORMATS_ATOMIC_OVERWRITE a target that came into being meanwhile is TAPER_ERR_EXISTS: check and
 * naming are one step (link(2); on file systems without hard links an exclusively created
 * placeholder is renamed over). If the folder cannot be flushed afterwards, the watch is told; that
 * is no error. Frees file in either case. */
taper_status formats_atomic_file_commit(formats_atomic_file *file, taper_error *error);

/* Give up: removes the temporary, leaves the target alone, frees file. NULL is fine. */
void formats_atomic_file_abort(formats_atomic_file *file);

/* The first failure of this file (status TAPER_OK: none so far). Valid until commit or abort. */
const taper_error *formats_atomic_file_problem(const formats_atomic_file *file);

/* Write n bytes to path in one go: open, write, commit. */
taper_status formats_file_write(const char *path, const void *bytes, size_t n, unsigned flags,
                                const formats_atomic_watch *watch, taper_error *error);

/* fsync a folder, so that renames in it survive a power failure. */
taper_status formats_folder_sync(const char *folder, taper_error *error);

#endif

/* atomic_file.h -- output files that appear whole or not at all.
 *
 * Bytes go to a temporary file in the folder of the target. Commit flushes and fsyncs it, renames
 * it to the target in one step, and fsyncs the folder. Until then the target is unchanged. A crash
 * (kill -9, a power failure) leaves at most a file ".taper-*.tmp", never an incomplete output.
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
    /* Replace an existing target; without this flag it is TAPER_ERR_EXISTS. */
    FORMATS_ATOMIC_OVERWRITE = 1,
    /* No fsync, for many small files. Each file is whole after a kill. After a power failure the
     * latest may be empty, unless the caller calls sync(2). */
    FORMATS_ATOMIC_NO_SYNC = 2
};

/* Callbacks with which a program can remove temporary files from a signal handler. A handler that
 * waits while `hold` is in effect, then unlinks every announced path, leaves no file behind.
 * Each callback may be NULL; all run on the calling thread. */
typedef struct formats_atomic_watch {
    void *user;
    /* Called before a temporary file is created. */
    void (*will_create)(void *user, const char *temporary);
    /* Called after it was renamed or removed, or could not be created; the same path. */
    void (*gone)(void *user, const char *temporary);
    /* Called before and after files are created or renamed. */
    void (*hold)(void *user);
    void (*let_go)(void *user);
    /* The target is in place, but its folder could not be flushed: a power failure may undo it. */
    void (*not_synced)(void *user, const char *target, const taper_error *why);
} formats_atomic_watch;

/* Begin to write path. flags: enum formats_atomic_flags, combined by |. watch: copied; may be NULL.
 * An existing target keeps its permission bits; a new one gets those of the umask. A symbolic link
 * is followed: the file that it points to is replaced. A device or FIFO is written to directly.
 * TAPER_ERR_EXISTS: the target exists and FORMATS_ATOMIC_OVERWRITE was not given.
 * TAPER_ERR_IO: the folder is missing or not writable, or the disk is full; the text says which.
 * On failure *out is NULL and no temporary file remains. */
taper_status formats_atomic_file_open(formats_atomic_file **out, const char *path, unsigned flags,
                                      const formats_atomic_watch *watch, taper_error *error);

/* As formats_atomic_file_open, for a file in an open folder. name: without "/". A symbolic link of
 * that name is not followed; it is replaced if FORMATS_ATOMIC_OVERWRITE is given. folder: the
 * caller's descriptor, which must stay open until commit or abort. folder_path: its path, for the
 * watch. TAPER_ERR_UNSUPPORTED, also from commit: the file system does not accept the name. */
taper_status formats_atomic_file_open_in(formats_atomic_file **out, int folder,
                                         const char *folder_path, const char *name, unsigned flags,
                                         const formats_atomic_watch *watch, taper_error *error);

/* Append n bytes (buffered). After a failure every later write and the commit return that error. */
taper_status formats_atomic_file_write(formats_atomic_file *file, const void *bytes, size_t n,
                                       taper_error *error);

/* Flush, and set *descriptor to one that reads what has been written so far; it is valid until
 * commit or abort. -1: a device or FIFO, which cannot be read back. */
taper_status formats_atomic_file_read_back(formats_atomic_file *file, int *descriptor,
                                           taper_error *error);

/* Write all bytes to the disk; later writes are not allowed. Commit then only renames the file.
 * With several outputs, finish all of them before the first commit. */
taper_status formats_atomic_file_finish(formats_atomic_file *file, taper_error *error);

/* Give the target the new content. On failure the target is unchanged. Frees file in either case.
 * Without FORMATS_ATOMIC_OVERWRITE, a target that another process created meanwhile is
 * TAPER_ERR_EXISTS. Check and naming are one step: link(2), or, on file systems without hard links,
 * a rename over an exclusively created placeholder. A folder that cannot be flushed afterwards is
 * no error; not_synced is called. */
taper_status formats_atomic_file_commit(formats_atomic_file *file, taper_error *error);

/* Remove the temporary file and free file; the target is unchanged. NULL is fine. */
void formats_atomic_file_abort(formats_atomic_file *file);

/* The first failure of this file; status TAPER_OK: none. Valid until commit or abort. */
const taper_error *formats_atomic_file_problem(const formats_atomic_file *file);

/* Write n bytes to path: open, write, commit. */
taper_status formats_file_write(const char *path, const void *bytes, size_t n, unsigned flags,
                                const formats_atomic_watch *watch, taper_error *error);

/* fsync a folder: renames in it then survive a power failure. */
taper_status formats_folder_sync(const char *folder, taper_error *error);

#endif

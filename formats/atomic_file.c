/* atomic_file.c -- temporary file, fsync, rename, fsync of the folder; see atomic_file.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "formats/atomic_file.h"
#include "formats/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, NAME_ATTEMPTS = 100 };

struct formats_atomic_file {
    int at;          /* folder for the *at() calls: AT_FDCWD, or an open folder */
    char *target;    /* path; a plain name in an open folder */
    char *folder;    /* path of the target's folder */
    char *temporary; /* as target; NULL when that is a device or FIFO */
    char *announced; /* path of the temporary, for the watch */
    int descriptor;
    unsigned flags;
    size_t held; /* bytes in buffer */
    formats_atomic_watch watch;
    taper_error problem; /* the first failure; every later call returns it again */
    uint8_t buffer[BUFFER_BYTES];
};

static void announce(const formats_atomic_file *file) {
    if (file->watch.will_create) file->watch.will_create(file->watch.user, file->announced);
}

static void retract(const formats_atomic_file *file) {
    if (file->watch.gone) file->watch.gone(file->watch.user, file->announced);
}

/* Called before and after steps that a signal must not separate. */
static void hold(const formats_atomic_file *file) {
    if (file->watch.hold) file->watch.hold(file->watch.user);
}

static void let_go(const formats_atomic_file *file) {
    if (file->watch.let_go) file->watch.let_go(file->watch.user);
}

static void release(formats_atomic_file *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    free(file->target);
    free(file->folder);
    free(file->temporary);
    free(file->announced);
    free(file);
}

/* Store the first failure and return it. */
static taper_status repeat_problem(const formats_atomic_file *file, taper_error *error) {
    if (error) *error = file->problem;
    return file->problem.status;
}

static taper_status note_errno(formats_atomic_file *file, int errnum, const char *what,
                               taper_error *error) {
    formats_fail_errno(&file->problem, errnum, what);
    return repeat_problem(file, error);
}

/* A name that the file system does not accept is TAPER_ERR_UNSUPPORTED, not TAPER_ERR_IO: a caller
 * that writes many files into a folder can continue with the next. */
static taper_status fail_naming(const formats_atomic_file *file, int errnum, const char *what,
                                taper_error *error) {
    taper_status status = formats_fail_errno(error, errnum, what);
    if (file->at == AT_FDCWD || (errnum != ENAMETOOLONG && errnum != EILSEQ && errnum != EINVAL))
        return status;
    char reason[96];
    if (strerror_r(errnum, reason, sizeof reason) != 0) reason[0] = '\0';
    return formats_fail(error, TAPER_ERR_UNSUPPORTED, "the file system refuses this name: %s",
                        reason);
}

/* The folder part of a path: "a/b" -> "a", "b" -> ".", "/b" -> "/". NULL without memory. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* The path of a file itself, so that a link to it stays a link. Only of a link the whole path is
 * looked up, as folders above the current one may not be permitted to be read. NULL, with errno. */
static char *path_behind_links(const char *path) {
    struct stat st;
    const int is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    return is_link ? realpath(path, NULL) : strdup(path);
}

/* Examine the existing file at path. *direct: 1 if it must be written in place. */
static taper_status examine_target(formats_atomic_file *file, const char *path, int *direct,
                                   mode_t *mode, taper_error *error) {
    struct stat st;
    *direct = 0;
    *mode = 0;
    int overwrite = (file->flags & FORMATS_ATOMIC_OVERWRITE) != 0;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return formats_fail_errno(error, EISDIR, "write");
        if (!S_ISREG(st.st_mode)) {
            *direct = 1;
            file->target = strdup(path);
        } else {
            if (!overwrite) return formats_fail_errno(error, EEXIST, "write");
            *mode = st.st_mode & 0777;
            file->target = path_behind_links(path);
            if (!file->target && errno != ENOMEM)
                return formats_fail_errno(error, errno, "follow the link");
        }
    } else {
        /* a link to nothing counts as existing */
        if (!overwrite && lstat(path, &st) == 0) return formats_fail_errno(error, EEXIST, "write");
        file->target = strdup(path);
    }
    if (file->target) file->folder = folder_of(file->target);
    if (!file->folder) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
    return TAPER_OK;
}

/* In an open folder a symbolic link is not followed but replaced. */
static taper_status examine_name(formats_atomic_file *file, const char *name, mode_t *mode,
                                 taper_error *error) {
    struct stat st;
    *mode = 0;
    if (fstatat(file->at, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(st.st_mode)) return formats_fail_errno(error, EISDIR, "write");
        if (!(file->flags & FORMATS_ATOMIC_OVERWRITE))
            return formats_fail_errno(error, EEXIST, "write");
        if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
            return formats_fail(error, TAPER_ERR_IO,
                                "exists and is not a file; remove it, or write elsewhere");
        if (S_ISREG(st.st_mode)) *mode = st.st_mode & 0777;
    } else if (errno != ENOENT) {
        return fail_naming(file, errno, "write", error);
    }
    file->target = strdup(name);
    return file->target ? TAPER_OK
                        : formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
}

/* A name for the temporary file, which differs between processes, threads and times. O_EXCL detects
 * the remaining collisions. */
static void name_temporary(formats_atomic_file *file, unsigned attempt, size_t room) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t salt = (uint64_t)now.tv_nsec * 1000003u + (uint64_t)now.tv_sec;
    salt ^= (uint64_t)(uintptr_t)file >> 4;
    snprintf(file->announced, room, "%s/.taper-%ld-%llx.tmp", file->folder, (long)getpid(),
             (unsigned long long)(salt + attempt));
    snprintf(file->temporary, room, "%s",
             file->at == AT_FDCWD ? file->announced : file->announced + strlen(file->folder) + 1);
}

/* Create an unused ".taper-*.tmp" in the folder. */
static taper_status create_temporary(formats_atomic_file *file, taper_error *error) {
    size_t room = strlen(file->folder) + 64;
    file->temporary = malloc(room);
    file->announced = malloc(room);
    if (!file->temporary || !file->announced)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
    int errnum = EEXIST;
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS && errnum == EEXIST; attempt++) {
        name_temporary(file, attempt, room);
        hold(file);
        announce(file);
        file->descriptor =
            openat(file->at, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        errnum = errno;
        if (file->descriptor < 0) retract(file);
        let_go(file);
        if (file->descriptor >= 0) return TAPER_OK;
    }
    return formats_fail_errno(error, errnum, "create a file in the target's folder");
}

/* Create the temporary file with the permissions of the file that it replaces. */
static taper_status begin(formats_atomic_file *file, mode_t mode, taper_error *error) {
    taper_status status = create_temporary(file, error);
    /* failing to copy the permissions does not fail the output */
    if (status == TAPER_OK && mode && fchmod(file->descriptor, mode) != 0) mode = 0;
    return status;
}

static formats_atomic_file *make(int at, unsigned flags, const formats_atomic_watch *watch) {
    formats_atomic_file *file = malloc(sizeof *file);
    if (!file) return NULL;
    file->at = at;
    file->target = file->folder = file->temporary = file->announced = NULL;
    file->descriptor = -1;
    file->flags = flags;
    file->held = 0;
    file->watch = watch ? *watch : (formats_atomic_watch){0};
    file->problem = (taper_error){.status = TAPER_OK};
    return file;
}

static taper_status hand_over(formats_atomic_file **out, formats_atomic_file *file,
                              taper_status status) {
    if (status == TAPER_OK)
        *out = file;
    else
        release(file);
    return status;
}

taper_status formats_atomic_file_open(formats_atomic_file **out, const char *path, unsigned flags,
                                      const formats_atomic_watch *watch, taper_error *error) {
    *out = NULL;
    if (!path || !path[0]) return formats_fail(error, TAPER_ERR_ARG, "an output needs a name");
    formats_atomic_file *file = make(AT_FDCWD, flags, watch);
    if (!file) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
    int direct;
    mode_t mode;
    taper_status status = examine_target(file, path, &direct, &mode, error);
    if (status == TAPER_OK && direct) {
        file->descriptor = open(file->target, O_WRONLY | O_CLOEXEC);
        if (file->descriptor < 0) status = formats_fail_errno(error, errno, "open for writing");
    } else if (status == TAPER_OK) {
        status = begin(file, mode, error);
    }
    return hand_over(out, file, status);
}

taper_status formats_atomic_file_open_in(formats_atomic_file **out, int folder,
                                         const char *folder_path, const char *name, unsigned flags,
                                         const formats_atomic_watch *watch, taper_error *error) {
    *out = NULL;
    if (!name[0] || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
        return formats_fail(error, TAPER_ERR_ARG, "an output in a folder needs a plain name");
    formats_atomic_file *file = make(folder, flags, watch);
    if (!file) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
    mode_t mode;
    taper_status status = examine_name(file, name, &mode, error);
    if (status == TAPER_OK && !(file->folder = strdup(folder_path)))
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
    if (status == TAPER_OK) status = begin(file, mode, error);
    return hand_over(out, file, status);
}

static taper_status write_through(formats_atomic_file *file, const uint8_t *p, size_t n,
                                  taper_error *error) {
    while (n) {
        ssize_t done = write(file->descriptor, p, n < (size_t)1 << 30 ? n : (size_t)1 << 30);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return note_errno(file, errno, "write", error);
        p += done;
        n -= (size_t)done;
    }
    return TAPER_OK;
}

static taper_status flush(formats_atomic_file *file, taper_error *error) {
    size_t n = file->held;
    file->held = 0;
    return write_through(file, file->buffer, n, error);
}

taper_status formats_atomic_file_write(formats_atomic_file *file, const void *bytes, size_t n,
                                       taper_error *error) {
    if (file->problem.status != TAPER_OK) return repeat_problem(file, error);
    if (n > BUFFER_BYTES - file->held) TAPER_TRY(flush(file, error));
    if (n >= BUFFER_BYTES) return write_through(file, bytes, n, error);
    if (n) memcpy(file->buffer + file->held, bytes, n);
    file->held += n;
    return TAPER_OK;
}

taper_status formats_atomic_file_read_back(formats_atomic_file *file, int *descriptor,
                                           taper_error *error) {
    *descriptor = file->temporary ? file->descriptor : -1;
    if (file->problem.status != TAPER_OK) return repeat_problem(file, error);
    return flush(file, error);
}

/* Rename the temporary file to the target if no file has that name. Returns 0 or an errno. */
static int name_exclusively(const formats_atomic_file *file) {
    if (linkat(file->at, file->temporary, file->at, file->target, 0) == 0) {
        unlinkat(file->at, file->temporary, 0);
        return 0;
    }
    if (errno == EEXIST) return EEXIST;
    /* No hard links here (FAT, some network mounts): reserve the name, then rename over it. */
    int placeholder = openat(file->at, file->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (placeholder < 0) return errno;
    close(placeholder);
    if (renameat(file->at, file->temporary, file->at, file->target) == 0) return 0;
    int errnum = errno;
    unlinkat(file->at, file->target, 0);
    return errnum;
}

/* One step with respect to signals: before it the temporary file must be removed, after it none. */
static int give_name(const formats_atomic_file *file) {
    int errnum = 0;
    hold(file);
    if (!(file->flags & FORMATS_ATOMIC_OVERWRITE))
        errnum = name_exclusively(file);
    else if (renameat(file->at, file->temporary, file->at, file->target) != 0)
        errnum = errno;
    if (!errnum) retract(file);
    let_go(file);
    return errnum;
}

static int sync_descriptor(int descriptor) {
    if (fsync(descriptor) == 0) return 0;
    /* pipes and some mounts do not support fsync */
    return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
}

taper_status formats_folder_sync(const char *folder, taper_error *error) {
    int descriptor = open(folder, O_RDONLY | O_CLOEXEC);
    /* a folder without read permission cannot be flushed; its files are */
    if (descriptor < 0 && errno == EACCES) return TAPER_OK;
    if (descriptor < 0) return formats_fail_errno(error, errno, "open the target's folder");
    int errnum = sync_descriptor(descriptor);
    close(descriptor);
    return errnum ? formats_fail_errno(error, errnum, "flush the target's folder to the disk")
                  : TAPER_OK;
}

/* The target is complete, so a folder that cannot be flushed is reported but is not an error. */
static void sync_folder(const formats_atomic_file *file) {
    taper_error why;
    int errnum = file->at == AT_FDCWD ? 0 : sync_descriptor(file->at);
    taper_status status = file->at == AT_FDCWD ? formats_folder_sync(file->folder, &why)
                          : errnum ? formats_fail_errno(&why, errnum, "flush the folder")
                                   : TAPER_OK;
    if (status != TAPER_OK && file->watch.not_synced)
        file->watch.not_synced(file->watch.user, file->target, &why);
}

/* All steps before the rename: bytes on the disk, descriptor closed. */
static taper_status finish(formats_atomic_file *file, taper_error *error) {
    if (file->problem.status != TAPER_OK) return repeat_problem(file, error);
    if (file->descriptor < 0) return TAPER_OK; /* finished before */
    TAPER_TRY(flush(file, error));
    int errnum = file->flags & FORMATS_ATOMIC_NO_SYNC ? 0 : sync_descriptor(file->descriptor);
    if (errnum) return note_errno(file, errnum, "flush to the disk", error);
    int closed = close(file->descriptor);
    file->descriptor = -1;
    if (closed != 0 && errno != EINTR) return note_errno(file, errno, "write", error);
    return TAPER_OK;
}

taper_status formats_atomic_file_finish(formats_atomic_file *file, taper_error *error) {
    return finish(file, error);
}

taper_status formats_atomic_file_commit(formats_atomic_file *file, taper_error *error) {
    taper_status status = finish(file, error);
    if (status != TAPER_OK || !file->temporary) {
        formats_atomic_file_abort(file);
        return status;
    }
    int errnum = give_name(file);
    if (errnum) {
        status = fail_naming(file, errnum, "give the output its name", error);
        formats_atomic_file_abort(file);
        return status;
    }
    if (!(file->flags & FORMATS_ATOMIC_NO_SYNC)) sync_folder(file);
    release(file);
    return TAPER_OK;
}

void formats_atomic_file_abort(formats_atomic_file *file) {
    if (!file) return;
    if (file->temporary) {
        unlinkat(file->at, file->temporary, 0);
        retract(file);
    }
    release(file);
}

const taper_error *formats_atomic_file_problem(const formats_atomic_file *file) {
    return &file->problem;
}

taper_status formats_file_write(const char *path, const void *bytes, size_t n, unsigned flags,
                                const formats_atomic_watch *watch, taper_error *error) {
    formats_atomic_file *file;
    TAPER_TRY(formats_atomic_file_open(&file, path, flags, watch, error));
    taper_status status = formats_atomic_file_write(file, bytes, n, error);
    if (status == TAPER_OK) return formats_atomic_file_commit(file, error);
    formats_atomic_file_abort(file);
    return status;
}

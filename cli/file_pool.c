/* file_pool.c -- see file_pool.h. */
#define _XOPEN_SOURCE 700 /* st_mtim */
#include "cli/file_pool.h"
#include "cli/common/messages.h"
#include "formats/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct pooled {
    cli_file_pool *pool;
    const char *path;
    int descriptor; /* -1: closed */
    struct stat was;
} pooled;

struct cli_file_pool {
    size_t files, room, open, most;
    pooled *last; /* the file that was opened last, if it is open */
    pooled file[];
};

/* How many descriptors the files of a pool may have. */
static size_t most_open(void) {
    enum { OTHERS = 32 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return OTHERS;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
    if (limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur > 2 * OTHERS ? (size_t)limit.rlim_cur - OTHERS
                                       : (size_t)limit.rlim_cur / 2;
}

taper_status cli_file_pool_new(cli_file_pool **out, size_t n, taper_error *error) {
    *out = n < SIZE_MAX / sizeof(pooled) / 2 ? calloc(1, sizeof **out + n * sizeof(pooled)) : NULL;
    if (!*out) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu files", n);
    (*out)->room = n;
    (*out)->most = most_open();
    return TAPER_OK;
}

/* Files are read one after the other, and then again in the same order. So it is the file that was
 * opened last that is needed latest. */
static int close_last(cli_file_pool *pool) {
    pooled *file = pool->last;
    if (!file) return 0;
    close(file->descriptor);
    file->descriptor = -1;
    pool->open--;
    pool->last = NULL;
    for (size_t i = 0; i < pool->files && !pool->last; i++)
        if (pool->file[i].descriptor >= 0) pool->last = &pool->file[i];
    return 1;
}

/* 0 or an errno. */
static int open_file(pooled *file) {
    cli_file_pool *pool = file->pool;
    if (pool->open >= pool->most) close_last(pool);
    do file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    while (file->descriptor < 0 &&
           (errno == EINTR || ((errno == EMFILE || errno == ENFILE) && close_last(pool))));
    if (file->descriptor < 0) return errno;
    pool->open++;
    pool->last = file;
    return 0;
}

static int is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static taper_status open_again(pooled *file) {
    taper_error why;
    struct stat now;
    const int errnum = open_file(file);
    if (!errnum && fstat(file->descriptor, &now) == 0 && is_same(&file->was, &now)) return TAPER_OK;
    if (errnum)
        formats_fail_errno(&why, errnum, "open");
    else
        formats_fail(&why, TAPER_ERR_IO, "the file changed while it was read");
    cli_messages_reason(why.text);
    return TAPER_ERR_IO;
}

static taper_status read_pooled(void *user, uint64_t offset, void *to, size_t n) {
    pooled *file = user;
    const uint64_t size = (uint64_t)file->was.st_size;
    if (offset > size || n > size - offset) return TAPER_ERR_TRUNCATED;
    if (file->descriptor < 0) TAPER_TRY(open_again(file));
    return formats_descriptor_read_at(file->descriptor, offset, to, n);
}

taper_status cli_file_pool_add(cli_file_pool *pool, const char *path, taper_source *source,
                               taper_error *error) {
    if (pool->files == pool->room)
        return formats_fail(error, TAPER_ERR_ARG, "more files than were announced");
    pooled *file = &pool->file[pool->files];
    *file = (pooled){.pool = pool, .path = path, .descriptor = -1};
    int errnum = open_file(file);
    if (errnum) return formats_fail_errno(error, errnum, "open");
    pool->files++;
    if (fstat(file->descriptor, &file->was) != 0)
        return formats_fail_errno(error, errno, "examine");
    *source =
        (taper_source){.user = file, .size = (uint64_t)file->was.st_size, .read = read_pooled};
    return TAPER_OK;
}

void cli_file_pool_free(cli_file_pool *pool) {
    for (size_t i = 0; pool && i < pool->files; i++)
        if (pool->file[i].descriptor >= 0) close(pool->file[i].descriptor);
    free(pool);
}

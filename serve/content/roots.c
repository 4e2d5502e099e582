/* roots.c -- see roots.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "serve/content/roots.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "serve/request/media.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct root {
    char name[SERVE_NAME_BYTES]; /* "": the root of addresses */
    char *path;
    int folder; /* descriptor; -1: the path is a file */
} root;

struct serve_roots {
    root *root;
    size_t n;
};

enum {
    /* a FIFO must not block */
    FILE_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
    FOLDER_FLAGS = O_RDONLY | O_CLOEXEC | O_DIRECTORY
};

/* --- the paths given --- */

/* The last name of a path; of ".", ".." and "/" that of the folder itself. */
static taper_status last_name(const char *path, char to[SERVE_NAME_BYTES], taper_error *error) {
    char *whole = realpath(path, NULL);
    if (!whole) return formats_fail_errno(error, errno, "open");
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t from = n;
    while (from && path[from - 1] != '/') from--;
    const char *name = path + from;
    n -= from;
    if (!n || name[0] == '.') name = strrchr(whole, '/') + 1, n = strlen(name);
    taper_status status = TAPER_OK;
    if (!n || n >= SERVE_NAME_BYTES || name[0] == '.')
        status = formats_fail(error, TAPER_ERR_ARG,
                              "has no name that an address can have; give a "
                              "path whose last name begins with no dot");
    else
        memcpy(to, name, n), to[n] = '\0';
    free(whole);
    return status;
}

static taper_status open_root(root *r, const char *path, taper_error *error) {
    struct stat st;
    r->folder = -1;
    r->path = strdup(path);
    if (!r->path) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the path");
    TAPER_TRY(last_name(path, r->name, error));
    const int descriptor = open(path, FILE_FLAGS);
    if (descriptor < 0 || fstat(descriptor, &st) != 0) {
        const int reason = errno;
        if (descriptor >= 0) close(descriptor);
        return formats_fail_errno(error, reason, "open");
    }
    if (S_ISDIR(st.st_mode)) {
        r->folder = descriptor;
        return TAPER_OK;
    }
    close(descriptor);
    if (!S_ISREG(st.st_mode) || !serve_media_type(r->name))
        return formats_fail(
            error, TAPER_ERR_ARG,
            "is neither a folder nor a file of a kind that is served (.taper, .tpm, "
            ".html and what pages consist of)");
    return TAPER_OK;
}

static taper_status open_all(serve_roots *roots, char *const *path, size_t n, taper_error *error) {
    for (size_t i = 0; i < n; i++) {
        const taper_status status = open_root(&roots->root[roots->n++], path[i], error);
        if (error) error->item = i + 1;
        if (status != TAPER_OK) return status;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(roots->root[k].name, roots->root[i].name))
                return formats_fail(error, TAPER_ERR_ARG, "has the same last name as %s", path[k]);
    }
    if (n == 1 && roots->root[0].folder >= 0) roots->root[0].name[0] = '\0';
    return TAPER_OK;
}

taper_status serve_roots_open(serve_roots **out, char *const *path, size_t n, taper_error *error) {
    serve_roots *roots = calloc(1, sizeof *roots);
    *out = NULL;
    if (roots) roots->root = calloc(n ? n : 1, sizeof *roots->root);
    taper_status status = roots && roots->root
                              ? open_all(roots, path, n, error)
                              : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the paths");
    if (status == TAPER_OK)
        *out = roots;
    else
        serve_roots_close(roots);
    return status;
}

void serve_roots_close(serve_roots *roots) {
    if (!roots) return;
    for (size_t i = 0; i < roots->n; i++) {
        free(roots->root[i].path);
        if (roots->root[i].folder >= 0) close(roots->root[i].folder);
    }
    free(roots->root);
    free(roots);
}

/* --- what is below them --- */

/* The root of a path, and what follows its name. NULL: there is none. */
static const root *root_of(const serve_roots *roots, const char **path) {
    for (size_t i = 0; i < roots->n; i++) {
        const root *r = &roots->root[i];
        const size_t n = strlen(r->name);
        if (!n) return r;
        if (strncmp(*path, r->name, n) != 0 || ((*path)[n] && (*path)[n] != '/')) continue;
        *path += (*path)[n] ? n + 1 : n;
        return r;
    }
    return NULL;
}

/* The folder of the path's last name, opened name by name, so that no link is followed, also if it
 * is made meanwhile. *path: the last name. */
static int walk(int folder, const char **path) {
    int here = openat(folder, ".", FOLDER_FLAGS);
    const char *slash;
    while (here >= 0 && (slash = strchr(*path, '/'))) {
        char name[SERVE_NAME_BYTES];
        const size_t n = (size_t)(slash - *path);
        int below = -1;
        if (n < sizeof name) {
            memcpy(name, *path, n), name[n] = '\0';
            below = openat(here, name, FOLDER_FLAGS | O_NOFOLLOW);
        }
        close(here);
        here = below, *path = slash + 1;
    }
    return here;
}

/* A regular file, or EISDIR. */
static int regular(int descriptor) {
    struct stat st;
    if (descriptor < 0) {
        if (errno == ELOOP || errno == ENOTDIR || errno == ENXIO || errno == ENAMETOOLONG)
            errno = ENOENT;
        return -1;
    }
    const bool is_known = fstat(descriptor, &st) == 0;
    if (is_known && S_ISREG(st.st_mode)) return descriptor;
    close(descriptor);
    errno = is_known && S_ISDIR(st.st_mode) ? EISDIR : ENOENT;
    return -1;
}

int serve_roots_find(const serve_roots *roots, const char *path) {
    const root *r = root_of(roots, &path);
    errno = ENOENT;
    if (!r || (r->folder < 0 && *path)) return -1;
    if (r->folder < 0) return regular(open(r->path, FILE_FLAGS));
    errno = EISDIR;
    if (!*path) return -1;
    errno = ENOENT;
    const int folder = walk(r->folder, &path);
    if (folder < 0) return regular(-1);
    int found = regular(openat(folder, path, FILE_FLAGS | O_NOFOLLOW));
    const int reason = errno;
    close(folder);
    if (found >= 0 && !serve_media_type(path)) {
        close(found);
        found = -1, errno = ENOENT;
    } else {
        errno = reason;
    }
    return found;
}

/* --- lists --- */

static int by_name(const void *a, const void *b) {
    const serve_entry *one = a, *other = b;
    if (one->is_folder != other->is_folder) return one->is_folder ? -1 : 1;
    return strcmp(one->name, other->name);
}

static bool is_listed(const char *name, const struct stat *st) {
    const size_t n = strlen(name);
    if (name[0] == '.' || n >= SERVE_NAME_BYTES) return false;
    if (S_ISDIR(st->st_mode)) return true;
    return S_ISREG(st->st_mode) &&
           (formats_has_extension(name, ".taper") || formats_has_extension(name, ".html"));
}

typedef struct list {
    serve_entry *entry;
    size_t n, room;
} list;

static bool add(list *l, const char *name, const struct stat *st) {
    if (!is_listed(name, st) || l->n == SERVE_MOST_ENTRIES) return true;
    if (!formats_grow(&l->entry, l->n, &l->room, sizeof *l->entry)) return false;
    serve_entry *e = &l->entry[l->n++];
    memcpy(e->name, name, strlen(name) + 1);
    e->is_folder = S_ISDIR(st->st_mode), e->size = (uint64_t)st->st_size;
    return true;
}

static bool list_roots(const serve_roots *roots, list *l) {
    for (size_t i = 0; i < roots->n; i++) {
        struct stat st;
        if (stat(roots->root[i].path, &st) == 0 && !add(l, roots->root[i].name, &st)) return false;
    }
    return true;
}

static bool list_folder(int folder, list *l) {
    DIR *dir = fdopendir(folder);
    bool is_done = dir != NULL;
    if (!dir) close(folder);
    for (struct dirent *d; is_done && (d = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            is_done = add(l, d->d_name, &st);
    }
    if (dir) closedir(dir);
    return is_done;
}

bool serve_roots_list(const serve_roots *roots, const char *path, serve_entry **entry, size_t *n) {
    list l = {0};
    bool is_done = false;
    const root *r = root_of(roots, &path);
    if (!r && !*path) {
        is_done = list_roots(roots, &l);
    } else if (r && r->folder >= 0) {
        const int above = walk(r->folder, &path);
        const int folder =
            above < 0 || !*path ? above : openat(above, path, FOLDER_FLAGS | O_NOFOLLOW);
        if (folder != above && above >= 0) close(above);
        is_done = folder >= 0 && list_folder(folder, &l);
    }
    if (l.n) qsort(l.entry, l.n, sizeof *l.entry, by_name);
    if (!is_done) free(l.entry), l = (list){0};
    *entry = l.entry, *n = l.n;
    return is_done;
}

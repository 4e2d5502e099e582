/* folder_walk.c -- recursive listing of a folder; handles loops of links. See folder_walk.h. */
#include "formats/imageset/folder_walk.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Identity of a folder. Entered folders are kept in an open-addressed hash table. */
typedef struct folder_id {
    dev_t device;
    ino_t inode;
    int used;
} folder_id;

typedef struct walk {
    const char *root;
    struct stat root_is;
    int follow_links;
    uint64_t max_files;
    formats_path_list *files;
    formats_path_list links; /* links to folders, to be entered after everything else */
    folder_id *entered;
    size_t entered_count, entered_capacity; /* capacity is a power of 2 */
    formats_folder_problem_fn *problem;
    void *user;
    taper_error *error;
} walk;

void formats_path_list_free(formats_path_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->paths[i]);
    free(list->paths);
    *list = (formats_path_list){0};
}

static taper_status no_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to list the files");
}

/* Append a path, which the list then owns; on failure it is freed. A NULL path gives
 * TAPER_ERR_NOMEM, so that a caller can pass the result of a failed copy. */
static taper_status add_path(formats_path_list *list, char *path, taper_error *error) {
    if (!path) return no_memory(error);
    if (!formats_grow(&list->paths, list->count, &list->capacity, sizeof *list->paths))
        return free(path), no_memory(error);
    list->paths[list->count++] = path;
    return TAPER_OK;
}

char *formats_path_join(const char *folder, const char *name) {
    size_t n = strlen(folder), m = strlen(name);
    int slash = n > 0 && folder[n - 1] != '/';
    char *path = malloc(n + (size_t)slash + m + 1);
    if (!path) return NULL;
    memcpy(path, folder, n);
    if (slash) path[n] = '/';
    memcpy(path + n + slash, name, m + 1);
    return path;
}

static void report(const walk *w, formats_folder_problem what, const char *path,
                   const taper_error *why) {
    if (w->problem) w->problem(w->user, what, path, why);
}

/* An error that concerns only this path is reported; one that would affect others ends the walk. */
static taper_status report_errno(const walk *w, const char *path, int errnum, const char *what) {
    taper_error why;
    taper_status status = formats_fail_errno(&why, errnum, what);
    if (!formats_errno_is_of_path(errnum))
        return formats_fail(w->error, status, "'%.100s': %.140s", path, why.text);
    report(w, FORMATS_FOLDER_FAILED, path, &why);
    return TAPER_OK;
}

static void report_link(const walk *w, const char *path, const char *sentence) {
    taper_error why;
    formats_fail(&why, TAPER_ERR_UNSUPPORTED, "%s", sentence);
    report(w, FORMATS_FOLDER_LINK, path, &why);
}

static size_t slot_of(const folder_id *table, size_t capacity, dev_t device, ino_t inode) {
    uint64_t hash = ((uint64_t)inode ^ (uint64_t)device << 32) * 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 20) & (capacity - 1);
    while (table[slot].used && (table[slot].device != device || table[slot].inode != inode))
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static taper_status grow_entered(walk *w) {
    size_t capacity = w->entered_capacity ? w->entered_capacity * 2 : 64;
    folder_id *table = calloc(capacity, sizeof *table);
    if (!table) return no_memory(w->error);
    for (size_t i = 0; i < w->entered_capacity; i++) {
        const folder_id *id = &w->entered[i];
        if (id->used) table[slot_of(table, capacity, id->device, id->inode)] = *id;
    }
    free(w->entered);
    w->entered = table;
    w->entered_capacity = capacity;
    return TAPER_OK;
}

/* Record that a folder is entered. *first: 1 if it was not entered before. */
static taper_status enter(walk *w, const struct stat *st, int *first) {
    if (w->entered_count * 2 >= w->entered_capacity) TAPER_TRY(grow_entered(w));
    size_t slot = slot_of(w->entered, w->entered_capacity, st->st_dev, st->st_ino);
    *first = !w->entered[slot].used;
    if (!*first) return TAPER_OK;
    w->entered[slot] = (folder_id){st->st_dev, st->st_ino, 1};
    w->entered_count++;
    return TAPER_OK;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in one folder, in byte order; messages then have this order too. */
static taper_status read_names(const walk *w, const char *path, formats_path_list *names) {
    DIR *dir = opendir(path);
    if (!dir) return report_errno(w, path, errno, "open the folder");
    taper_status status = TAPER_OK;
    while (status == TAPER_OK) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            if (errno) status = report_errno(w, path, errno, "read the folder");
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = add_path(names, strdup(entry->d_name), w->error);
    }
    closedir(dir);
    if (names->count) qsort(names->paths, names->count, sizeof *names->paths, compare_paths);
    return status;
}

/* Folders that Synology, QNAP, macOS, Windows and Linux create among users' files. */
static int is_kept_by_programs(const char *name) {
    static const char *const names[] = {
        "@eaDir",       "#recycle",           "#snapshot",
        "@Recycle",     "@Recently-Snapshot", "__MACOSX",
        "$RECYCLE.BIN", "RECYCLER",           "System Volume Information",
        "lost+found"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i]) == 0) return 1;
    return 0;
}

int formats_path_is_hidden(const char *path) {
    char part[64]; /* longer ones are no system folders */
    for (const char *at = path; at;) {
        const size_t n = strcspn(at, "/");
        if (at[0] == '.' && n > 1 && !(n == 2 && at[1] == '.')) return 1;
        if (at[n] && n < sizeof part) {
            memcpy(part, at, n);
            part[n] = 0;
            if (is_kept_by_programs(part)) return 1;
        }
        at = at[n] ? at + n + 1 : NULL;
    }
    return 0;
}

static taper_status report_hidden(const walk *w, const char *path) {
    taper_error why;
    formats_fail(&why, TAPER_ERR_UNSUPPORTED, "is hidden, or a system folder");
    report(w, FORMATS_FOLDER_HIDDEN, path, &why);
    return TAPER_OK;
}

static taper_status walk_folder(walk *w, const char *relative, const char *path);

/* One entry of a folder: list a file, enter a folder, postpone a link to a folder. */
static taper_status visit(walk *w, const char *relative, const char *path, const char *name) {
    struct stat st;
    if (name[0] == '.') return report_hidden(w, path);
    int missing = lstat(path, &st) != 0, is_link = !missing && S_ISLNK(st.st_mode);
    if (missing || (is_link && stat(path, &st) != 0))
        return report_errno(w, path, errno, "examine");
    if (S_ISDIR(st.st_mode)) {
        if (is_kept_by_programs(name)) return report_hidden(w, path);
        if (is_link && w->follow_links) return add_path(&w->links, strdup(relative), w->error);
        if (is_link) {
            report_link(w, path, "links to folders are entered with --follow-links only");
            return TAPER_OK;
        }
        int first;
        TAPER_TRY(enter(w, &st, &first));
        return first ? walk_folder(w, relative, path) : TAPER_OK;
    }
    if (S_ISREG(st.st_mode)) {
        if (w->files->count >= w->max_files)
            return formats_fail_fact(
                w->error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, formats_power_above(w->max_files),
                "'%s' holds more than %llu files", w->root, (unsigned long long)w->max_files);
        return add_path(w->files, strdup(relative), w->error);
    }
    taper_error why;
    formats_fail(&why, TAPER_ERR_UNSUPPORTED, "is neither a file nor a folder");
    report(w, FORMATS_FOLDER_OTHER, path, &why);
    return TAPER_OK;
}

static taper_status walk_folder(walk *w, const char *relative, const char *path) {
    formats_path_list names = {0};
    taper_status status = read_names(w, path, &names);
    for (size_t i = 0; i < names.count && status == TAPER_OK; i++) {
        char *below =
            relative[0] ? formats_path_join(relative, names.paths[i]) : strdup(names.paths[i]);
        char *full = formats_path_join(path, names.paths[i]);
        status = below && full ? visit(w, below, full, names.paths[i]) : no_memory(w->error);
        free(below);
        free(full);
    }
    formats_path_list_free(&names);
    return status;
}

/* Take the first link in byte order: the result must not depend on the order on the disk. */
static char *take_link(walk *w) {
    size_t first = 0;
    for (size_t i = 1; i < w->links.count; i++)
        if (strcmp(w->links.paths[i], w->links.paths[first]) < 0) first = i;
    char *link = w->links.paths[first];
    w->links.paths[first] = w->links.paths[--w->links.count];
    return link;
}

static int is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* 1 if the folder at path lies below the root of the walk, that is, if the root is among its
 * parents. -1 with errno on failure. */
static int is_below_root(const walk *w, const char *path, int *below) {
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    struct stat st, before = {0};
    int at = open(path, FLAGS), failed = at < 0;
    *below = 0;
    for (int first = 1; !failed; first = 0) {
        failed = fstat(at, &st) != 0;
        if (failed || (*below = is_same(&st, &w->root_is)) || (!first && is_same(&st, &before)))
            break;
        before = st;
        int up = openat(at, "..", FLAGS), why = errno;
        close(at);
        at = up;
        errno = why;
        failed = at < 0;
    }
    int why = errno;
    if (at >= 0) close(at);
    errno = why;
    return failed ? -1 : 0;
}

static taper_status enter_link(walk *w, const char *relative) {
    char *path = formats_path_join(w->root, relative);
    if (!path) return no_memory(w->error);
    struct stat st;
    int first = 0, below = 0;
    taper_status status = TAPER_OK;
    if (stat(path, &st) != 0 || is_below_root(w, path, &below) != 0)
        status = report_errno(w, path, errno, "examine");
    else if (!below)
        report_link(w, path, "links that lead out of the folder are not entered");
    else
        status = enter(w, &st, &first);
    if (status == TAPER_OK && first) status = walk_folder(w, relative, path);
    free(path);
    return status;
}

taper_status formats_folder_walk(const char *folder, uint64_t max_files, int follow_links,
                                 formats_path_list *out, formats_folder_problem_fn *problem,
                                 void *user, taper_error *error) {
    *out = (formats_path_list){0};
    walk w = {.root = folder,
              .follow_links = follow_links,
              .max_files = max_files,
              .files = out,
              .problem = problem,
              .user = user,
              .error = error};
    int first;
    taper_status status = stat(folder, &w.root_is) == 0
                              ? enter(&w, &w.root_is, &first)
                              : formats_fail_errno(error, errno, "open the folder");
    if (status == TAPER_OK) status = walk_folder(&w, "", folder);
    while (status == TAPER_OK && w.links.count) {
        char *link = take_link(&w);
        status = enter_link(&w, link);
        free(link);
    }
    formats_path_list_free(&w.links);
    free(w.entered);
    if (status != TAPER_OK)
        formats_path_list_free(out);
    else if (out->count)
        qsort(out->paths, out->count, sizeof *out->paths, compare_paths);
    return status;
}

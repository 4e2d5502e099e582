/* label_names.c -- see label_names.h. */
#include "formats/imageset/label_names.h"
#include "formats/name_escape.h"
#include "formats/imageset/name_key.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 4200 }; /* bytes of "PATH#N", the name of an image of an IDX or CIFAR file */

typedef struct matching {
    formats_image_list *list;
    const formats_labels *labels;
    size_t *user;        /* [labels->count] number of the image of each line, from 1; 0: none */
    const char **by_end; /* [labels->count] keys, sorted from the last byte; NULL: not made yet */
    int uses_own;        /* 1: the file has the names that all images have in this set */
    taper_error *why;
} matching;

static taper_status no_memory(const matching *m) {
    return formats_fail(m->why, TAPER_ERR_NOMEM, "no memory for the labels");
}

static const image_file *file_of(const matching *m, size_t i) {
    return &m->list->files[m->list->entries[i].file];
}

typedef char *form_fn(const char *name); /* formats_name_key or formats_name_plain */

/* The name of an image in this set: its own name, or "PATH#N" for an IDX or CIFAR file. */
static char *own_name(const matching *m, size_t i, form_fn *form) {
    char room[LONGEST_NAME];
    const image_entry *entry = &m->list->entries[i];
    if (entry->name) {
        char *name = formats_name_unescape(entry->name), *formed = name ? form(name) : NULL;
        free(name);
        return formed;
    }
    snprintf(room, sizeof room, "%.4150s#%llu", file_of(m, i)->path,
             (unsigned long long)entry->part + 1);
    return form(room);
}

/* 1 if the file has the names of all images in this set. Then one of our verbs wrote it, and these
 * names take precedence over paths. */
static taper_status see_own_names(matching *m) {
    m->uses_own = 1;
    for (size_t i = 0; i < m->list->count && m->uses_own; i++) {
        char *key = own_name(m, i, formats_name_key);
        if (!key) return no_memory(m);
        m->uses_own = formats_label_index_has(&m->labels->index, key);
        free(key);
    }
    return TAPER_OK;
}

/* --- ends of paths ------------------------------------------------------------------------ */

/* Compares from the last byte to the first. */
static int compare_ends(const char *a, size_t n, const char *b, size_t m) {
    while (n && m) {
        const unsigned char x = (unsigned char)a[--n], y = (unsigned char)b[--m];
        if (x != y) return x < y ? -1 : 1;
    }
    return n ? 1 : m ? -1 : 0;
}

static int by_end(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return compare_ends(x, strlen(x), y, strlen(y));
}

static taper_status sort_by_end(matching *m) {
    if (m->by_end) return TAPER_OK;
    m->by_end = malloc((m->labels->count + 1) * sizeof *m->by_end);
    if (!m->by_end) return no_memory(m);
    for (size_t i = 0; i < m->labels->count; i++) m->by_end[i] = m->labels->index.keys[i];
    qsort(m->by_end, m->labels->count, sizeof *m->by_end, by_end);
    return TAPER_OK;
}

/* 1 if `end` is the last parts of a key, but not the whole key. */
static int ends_in(const char *key, const char *end) {
    const size_t n = strlen(key), k = strlen(end);
    return n > k && key[n - k - 1] == '/' && !memcmp(key + n - k, end, k);
}

/* The only key that ends in these parts; NULL: none. TAPER_ERR_ARG: several. */
static taper_status find_longer(matching *m, const char *end, const char **found) {
    char *wanted = malloc(strlen(end) + 2);
    if (!wanted) return no_memory(m);
    *wanted = '/';
    memcpy(wanted + 1, end, strlen(end) + 1);
    size_t low = 0, high = m->labels->count;
    while (low < high) { /* lower bound of the keys that end so */
        const size_t middle = low + (high - low) / 2;
        const char *key = m->by_end[middle];
        if (compare_ends(key, strlen(key), wanted, strlen(wanted)) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    free(wanted);
    *found = low < m->labels->count && ends_in(m->by_end[low], end) ? m->by_end[low] : NULL;
    for (low++; *found && low < m->labels->count && ends_in(m->by_end[low], end); low++)
        if (strcmp(m->by_end[low], *found) != 0)
            return formats_fail(m->why, TAPER_ERR_ARG,
                                "two lines may be meant for the image '%.60s': '%.60s' and "
                                "'%.60s'; name it by its path",
                                end, *found, m->by_end[low]);
    return TAPER_OK;
}

/* --- one image ---------------------------------------------------------------------------- */

/* The longest end of a path, of at least this many bytes, that is the key of a line; NULL: none. */
static const char *find_end(const matching *m, const char *path, size_t least) {
    for (const char *end = path; end; end = strchr(end, '/')) {
        end += *end == '/';
        if (strlen(end) < least) return NULL;
        if (formats_label_index_has(&m->labels->index, end)) return end;
    }
    return NULL;
}

/* --- names that look alike ------------------------------------------------------------------ */

/* The last parts of a name, as many as the key has; NULL: the name has fewer. */
static const char *end_like(const char *name, const char *key) {
    size_t parts = 1;
    for (; *key; key++) parts += *key == '/';
    const char *at = name + strlen(name);
    for (; at > name; at--)
        if (at[-1] == '/' && !--parts) return at;
    return parts == 1 ? name : NULL;
}

/* Several lines with different names have this key. *place: the line whose name has the bytes of
 * image i, or labels->count. The key is that of the image's name, of its path or an end of it, or
 * is longer than the path. */
static taper_status find_bytes(const matching *m, size_t i, const char *key, const size_t form[2],
                               size_t *place) {
    const image_file *file = file_of(m, i);
    char *name[2] = {formats_name_plain(file->path), own_name(m, i, formats_name_plain)};
    char *relative = formats_name_plain(file->path + file->relative_at);
    const int has_memory = name[0] && name[1] && relative;
    *place = m->labels->count;
    for (int k = 0; k < 2 && has_memory && *place == m->labels->count; k++) {
        const char *end = end_like(name[k], key);
        if (end) *place = formats_label_index_place(&m->labels->index, key, end);
    }
    int fits[2] = {0, 0}; /* for lines that are longer than the path */
    for (int k = 0; k < 2 && has_memory; k++)
        fits[k] = ends_in(m->labels->index.plain[form[k]], relative);
    if (fits[0] != fits[1] && *place == m->labels->count) *place = form[fits[1]];
    free(name[0]), free(name[1]), free(relative);
    return has_memory ? TAPER_OK : no_memory(m);
}

/* A line with this key, of which there is at least one. If several have names that look alike, the
 * bytes of the image's name decide. */
static taper_status choose_line(const matching *m, size_t i, const char *key, size_t *place) {
    const formats_labels *labels = m->labels;
    size_t form[2];
    formats_label_index_forms(&labels->index, key, &form[0], &form[1]);
    *place = form[1];
    if (form[0] == form[1]) return TAPER_OK;
    TAPER_TRY(find_bytes(m, i, key, form, place));
    if (*place < labels->count) return TAPER_OK;
    char shown[2][FORMATS_NAME_SHOWN];
    formats_names_show(labels->index.plain[form[0]], labels->index.plain[form[1]], shown);
    return formats_fail(m->why, TAPER_ERR_ARG,
                        "lines '%s' and '%s' look alike, and '%.40s' is neither in its bytes; keep "
                        "one of them",
                        shown[0], shown[1], file_of(m, i)->path + file_of(m, i)->relative_at);
}

/* *place: the line for image i, or labels->count. */
static taper_status find_line(matching *m, size_t i, size_t *place) {
    const image_file *file = file_of(m, i);
    char *own = own_name(m, i, formats_name_key), *path = formats_name_key(file->path);
    char *relative = formats_name_key(file->path + file->relative_at);
    const char *found = NULL;
    taper_status status = own && path && relative ? TAPER_OK : no_memory(m);
    if (status == TAPER_OK && m->uses_own)
        found = own;
    else if (status == TAPER_OK && !m->list->entries[i].name)
        found = find_end(m, own, 0);
    else if (status == TAPER_OK) {
        found = find_end(m, path, strlen(relative));
        if (!found && formats_label_index_has(&m->labels->index, own)) found = own;
        if (!found) found = find_end(m, path, 0);
        if (!found) status = sort_by_end(m);
        if (!found && status == TAPER_OK) status = find_longer(m, relative, &found);
    }
    *place = m->labels->count;
    if (found && status == TAPER_OK) status = choose_line(m, i, found, place);
    free(own), free(path), free(relative);
    return status;
}

/* The error that a line matches two files. */
static taper_status fail_twice(const matching *m, size_t place, const char *a, const char *b) {
    char shown[2][FORMATS_NAME_SHOWN];
    char *first = formats_name_key(a), *second = formats_name_key(b);
    const int are_alike = first && second && !strcmp(first, second);
    free(first), free(second);
    if (!are_alike)
        return formats_fail(m->why, TAPER_ERR_ARG,
                            "the line '%.50s' may be meant for '%.60s' or '%.60s'; write more of "
                            "the path",
                            m->labels->names[place], a, b);
    formats_names_show(a, b, shown);
    return formats_fail(m->why, TAPER_ERR_ARG,
                        "the line '%.30s' may be meant for '%s' or '%s', which look alike; write a "
                        "line for each, in its own bytes",
                        m->labels->names[place], shown[0], shown[1]);
}

/* Label image i by the line at `place`. */
static taper_status use_line(matching *m, size_t i, size_t place) {
    const size_t before = m->user[place];
    if (before && strcmp(file_of(m, before - 1)->path, file_of(m, i)->path) != 0)
        return fail_twice(m, place, file_of(m, before - 1)->path, file_of(m, i)->path);
    if (!before) m->user[place] = i + 1;
    m->list->entries[i].label = m->labels->classes[place];
    return TAPER_OK;
}

/* --- all images --------------------------------------------------------------------------- */

/* The last line with the name of line i: it determines the label. */
static size_t line_of(const formats_labels *labels, size_t i) {
    return formats_label_index_place(&labels->index, labels->index.keys[i], labels->index.plain[i]);
}

static taper_status tell_missing(const matching *m, size_t missing, size_t first) {
    const formats_labels *labels = m->labels;
    size_t left = 0;
    if (!m->list->entries[first].name)
        return formats_fail(m->why, TAPER_ERR_ARG,
                            "the labels go by name, but images of IDX and CIFAR files have none; "
                            "give one label a line, or call them '%.60s#1' and so on",
                            file_of(m, first)->path);
    while (left < labels->count && m->user[line_of(labels, left)]) left++;
    const int has_unmatched = left < labels->count;
    return formats_fail(m->why, TAPER_ERR_ARG,
                        "of %zu images, %zu %s not among the %zu names, for example '%.40s'"
                        "%s%.40s%s; give each image a line (below the heading name,label a label "
                        "may be empty)",
                        m->list->count, missing, missing == 1 ? "is" : "are", labels->count,
                        file_of(m, first)->path + file_of(m, first)->relative_at,
                        has_unmatched ? "; no image is called '" : "",
                        has_unmatched ? labels->names[left] : "", has_unmatched ? "'" : "");
}

static taper_status name_images(matching *m) {
    size_t missing = 0, first = 0, place;
    TAPER_TRY(see_own_names(m));
    for (size_t i = 0; i < m->list->count; i++) {
        TAPER_TRY(find_line(m, i, &place));
        if (place < m->labels->count)
            TAPER_TRY(use_line(m, i, place));
        else if (missing++ == 0 || !m->list->entries[i].name)
            first = i;
    }
    return missing ? tell_missing(m, missing, first) : TAPER_OK;
}

static taper_status count_name(const matching *m, size_t *count, char **first, const char *name) {
    if ((*count)++) return TAPER_OK;
    *first = strdup(name);
    return *first ? TAPER_OK : no_memory(m);
}

/* Count unmatched lines, and lines whose label a later line replaces. */
static taper_status count_lines(const matching *m) {
    formats_image_list *list = m->list;
    for (size_t i = 0; i < m->labels->count; i++) {
        const char *name = m->labels->names[i];
        const size_t place = line_of(m->labels, i);
        if (!m->user[place])
            TAPER_TRY(count_name(m, &list->unmatched_lines, &list->unmatched_line, name));
        if (m->labels->classes[place] != m->labels->classes[i])
            TAPER_TRY(count_name(m, &list->overridden_lines, &list->overridden_line, name));
    }
    return TAPER_OK;
}

taper_status formats_label_names_assign(formats_image_list *list, const formats_labels *labels,
                                        taper_error *why) {
    matching m = {.list = list,
                  .labels = labels,
                  .user = calloc(labels->count + 1, sizeof *m.user),
                  .why = why};
    taper_status status = m.user ? name_images(&m) : no_memory(&m);
    if (status == TAPER_OK) status = count_lines(&m);
    free(m.user), free(m.by_end);
    return status;
}

/* fuzz_names.c -- any bytes as names of files, one a line: what they are called in a set, their
 * escapes, their keys, and the files that are made of them. Names must be legal and differ, and an
 * escaped name must come back. */
#include "formats/front.h"
#include "formats/imageset/folder_walk.h"
#include "formats/imageset/image_names.h"
#include "formats/name_escape.h"
#include "formats/imageset/name_key.h"
#include "formats/readers/archive.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST_NAMES = 150, LONGEST = 1000, FEW_MARKS = 32 };

static void must(int holds) {
    if (!holds) abort();
}

/* A name in an archive that is called safe never goes above the folder, part by part. */
static void try_member(const char *name) {
    int depth = 0, is_below = name[0] != '/' && name[0];
    for (const char *at = name; at && is_below;) {
        const size_t part = strcspn(at, "/");
        depth += part == 2 && !strncmp(at, "..", 2) ? -1 : part && strncmp(at, ".", part) ? 1 : 0;
        if (depth < 0) is_below = 0;
        at = at[part] ? at + part + 1 : NULL;
    }
    must(is_below || !formats_archive_name_is_safe(name));
    must(name[0] != '.' || !name[1] || name[1] == '.' || name[1] == '/' ||
         formats_path_is_hidden(name));
}

static void try_key(const char *name) {
    char *key = formats_name_key(name), *again = key ? formats_name_key(key) : NULL;
    must(key && again && strlen(key) <= 3 * strlen(name));
    /* of longer names a run of marks may be sorted in parts */
    if (strlen(name) < FEW_MARKS) must(!strcmp(key, again));
    free(key), free(again);
}

/* The name of an image, escaped, as a container holds it. */
static char *stored_name(const char *path) {
    char *name = formats_image_name(path), *text = name ? formats_name_escape(name) : NULL;
    char *back = text ? formats_name_unescape(text) : NULL;
    must(name && text && back && !strcmp(name, back) && formats_name_is_legal(text));
    free(name), free(back);
    /* text that was not made by us */
    back = formats_name_unescape(path);
    must(back && strlen(back) <= strlen(path));
    free(back);
    return text;
}

static void must_differ(char **name, size_t n, int folding) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            char *a = folding ? formats_fold_case(name[i]) : strdup(name[i]);
            char *b = folding ? formats_fold_case(name[k]) : strdup(name[k]);
            must(a && b && strcmp(a, b));
            free(a), free(b);
        }
}

/* Files of all names. Takes the names. */
static void try_files(char **name, size_t n, const char *suffix, int folding) {
    uint8_t change[MOST_NAMES];
    const char *const suffixes[] = {suffix, NULL};
    must(!formats_image_names_of_files(name, n, suffixes, folding, change));
    if (n <= 20) must_differ(name, n, folding);
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(name[i]);
        must(change[i] <= FORMATS_NAME_CLASH && length > strlen(suffix));
        must(formats_image_stem(name[i]) <= length);
        free(name[i]);
    }
}

/* All names of a set, made unique. Takes the names; returns copies. */
static void make_unique(char **name, size_t n, char **copy) {
    formats_image_names *names = formats_image_names_make();
    must(names != NULL);
    for (size_t i = 0; i < n; i++) {
        name[i] = formats_image_names_next(names, name[i]);
        must(name[i] != NULL);
        unsigned *number = formats_image_names_number(names, name[i]);
        must(number != NULL);
        copy[i] = strdup(name[i]);
        must(copy[i] != NULL);
    }
    formats_image_names_free(names);
    if (n <= 20) must_differ(name, n, 0);
    for (size_t i = 0; i < n; i++) free(name[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    char *name[MOST_NAMES], *copy[MOST_NAMES];
    size_t names = 0;
    if (n < 1) return 0;
    const int folding = bytes[0] & 1;
    const char *suffix = bytes[0] & 2 ? ".jpg" : ".png";
    const uint8_t *at = bytes + 1, *end = bytes + n;
    while (at < end && names < MOST_NAMES) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        const size_t length = (size_t)(stop - at);
        char *path = strndup((const char *)at, length < LONGEST ? length : LONGEST);
        must(path != NULL);
        (void)formats_name_is_legal(path);
        try_member(path);
        try_key(path);
        name[names++] = stored_name(path);
        free(path);
        at = stop < end ? stop + 1 : end;
    }
    make_unique(name, names, copy);
    try_files(copy, names, suffix, folding);
    return 0;
}

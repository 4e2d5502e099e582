/* label_index.c -- see label_index.h. */
#include "formats/imageset/label_index.h"
#include "formats/name_escape.h"
#include "formats/imageset/name_key.h"
#include <stdlib.h>
#include <string.h>

/* --- making ------------------------------------------------------------------------------- */

/* A line for qsort, whose comparison function gets no context. */
typedef struct indexed_line {
    const char *key, *plain;
    size_t place;
} indexed_line;

static int compare_lines(const void *a, const void *b) {
    const indexed_line *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (!order && x->plain != y->plain) order = strcmp(x->plain, y->plain);
    if (order) return order;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Make the key and the plain form of one line. They are usually equal, and then stored once. */
static int index_line(formats_label_index *index, size_t i, const char *written) {
    char *name = formats_name_unescape(written), *key = name ? formats_name_key(name) : NULL;
    char *plain = key ? formats_name_plain(name) : NULL;
    free(name);
    if (plain && !strcmp(plain, key)) free(plain), plain = key;
    index->keys[i] = key;
    index->plain[i] = plain;
    return plain != NULL;
}

static int sort_lines(formats_label_index *index, char *const *names) {
    indexed_line *lines = malloc((index->count + 1) * sizeof *lines);
    size_t made = 0;
    for (; lines && made < index->count && index_line(index, made, names[made]); made++)
        lines[made] = (indexed_line){index->keys[made], index->plain[made], made};
    if (made) qsort(lines, made, sizeof *lines, compare_lines);
    for (size_t i = 0; i < made; i++) index->by_key[i] = lines[i].place;
    const int is_whole = lines && made == index->count;
    free(lines);
    return is_whole;
}

taper_status formats_label_index_make(formats_label_index *index, char *const *names, size_t count,
                                      taper_error *error) {
    *index = (formats_label_index){.count = count,
                                   .keys = calloc(count + 1, sizeof *index->keys),
                                   .plain = calloc(count + 1, sizeof *index->plain),
                                   .by_key = calloc(count + 1, sizeof *index->by_key)};
    if (index->keys && index->plain && index->by_key && sort_lines(index, names)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the labels");
}

void formats_label_index_free(formats_label_index *index) {
    for (size_t i = 0; index->plain && index->keys && i < index->count; i++) {
        if (index->plain[i] != index->keys[i]) free(index->plain[i]);
        free(index->keys[i]);
    }
    free(index->plain), free(index->keys), free(index->by_key);
    *index = (formats_label_index){0};
}

/* --- finding ------------------------------------------------------------------------------ */

/* plain NULL: compares keys only. */
static int compare_line(const formats_label_index *index, size_t place, const char *key,
                        const char *plain) {
    const int order = strcmp(index->keys[place], key);
    return order || !plain ? order : strcmp(index->plain[place], plain);
}

/* Number of lines in by_key before this name; with is_behind, also those with this name. */
static size_t count_before(const formats_label_index *index, const char *key, const char *plain,
                           int is_behind) {
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_line(index, index->by_key[middle], key, plain) < is_behind)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t formats_label_index_place(const formats_label_index *index, const char *key,
                                 const char *plain) {
    const size_t n = count_before(index, key, plain, 1);
    const int is_there = n && compare_line(index, index->by_key[n - 1], key, plain) == 0;
    return is_there ? index->by_key[n - 1] : index->count;
}

int formats_label_index_has(const formats_label_index *index, const char *key) {
    return formats_label_index_place(index, key, NULL) < index->count;
}

void formats_label_index_forms(const formats_label_index *index, const char *key, size_t *first,
                               size_t *last) {
    const size_t before = count_before(index, key, NULL, 0);
    *first = formats_label_index_place(index, key, index->plain[index->by_key[before]]);
    *last = formats_label_index_place(index, key, NULL);
}

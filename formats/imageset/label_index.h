/* label_index.h -- finds the lines of a label file "name,label" by name.
 *
 * For each line it has two forms of the unescaped name: formats_name_key, which is the same for all
 * Unicode forms of a name, and formats_name_plain, which keeps the Unicode form. */
#ifndef FORMATS_LABEL_INDEX_H
#define FORMATS_LABEL_INDEX_H
#include "formats/status.h"

typedef struct formats_label_index {
    size_t count;   /* lines */
    char **keys;    /* [count] */
    char **plain;   /* [count]; shares the pointer of the key if both are equal */
    size_t *by_key; /* [count] line numbers, sorted by key */
} formats_label_index;

/* Index lines with these names (escaped). The caller frees the index, also after TAPER_ERR_NOMEM.
 */
taper_status formats_label_index_make(formats_label_index *index, char *const *names, size_t count,
                                      taper_error *error);
void formats_label_index_free(formats_label_index *index); /* also zeroes it */

/* The last line with this key and, if plain is not NULL, with this plain form: 0..count - 1; count
 * if there is none. */
size_t formats_label_index_place(const formats_label_index *index, const char *key,
                                 const char *plain);
/* 1 if there is a line with this key. */
int formats_label_index_has(const formats_label_index *index, const char *key);
/* Among the lines with this key, of which there must be one: *first and *last are the last lines of
 * the plain forms that are first and last in byte order. If all plain forms are equal, both are the
 * same line. */
void formats_label_index_forms(const formats_label_index *index, const char *key, size_t *first,
                               size_t *last);

#endif

/* label_index.h -- the lines of a label file "name,label" by the names that they hold.
 *
 * Of each line there is the key of its name, whose escapes are taken back (formats_name_key), and
 * the name in its own normal form (formats_name_plain). */
#ifndef FORMATS_LABEL_INDEX_H
#define FORMATS_LABEL_INDEX_H
#include "formats/status.h"

typedef struct formats_label_index {
    size_t count;   /* lines */
    char **keys;    /* [count] */
    char **plain;   /* [count], each the key itself where that is the same */
    size_t *by_key; /* [count] lines, sorted */
} formats_label_index;

/* Index the lines of these names, with escapes. TAPER_ERR_NOMEM: the caller frees it all the same.
 */
taper_status formats_label_index_make(formats_label_index *index, char *const *names, size_t count,
                                      taper_error *error);
void formats_label_index_free(formats_label_index *index); /* also zeroes it */

/* Which line has this key and, where plain is not NULL, the name in this normal form: 0..count - 1,
 * or count when none has. When a name occurs more than once, the last line counts. */
size_t formats_label_index_place(const formats_label_index *index, const char *key,
                                 const char *plain);
/* Is there a line with this key? */
int formats_label_index_has(const formats_label_index *index, const char *key);
/* Of the lines with this key, which there are, two whose names differ: *first and *last in the
 * order of their bytes, each the last line of its name. Both are the same line when all names are
 * one. */
void formats_label_index_forms(const formats_label_index *index, const char *key, size_t *first,
                               size_t *last);

#endif

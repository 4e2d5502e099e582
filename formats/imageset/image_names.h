/* image_names.h -- names of the images of a set, and of the files that they are decoded to.
 *
 * A stored name is a relative path with the suffix of the original file: "cat/0001.jpg". Decoding
 * writes "cat/0001.png", or "cat/0001.jpg.png" if another image gets the name "cat/0001.png". */
#ifndef FORMATS_IMAGE_NAMES_H
#define FORMATS_IMAGE_NAMES_H
#include "formats/status.h"

typedef struct formats_image_names formats_image_names; /* a table of the names given so far */

formats_image_names *formats_image_names_make(void); /* NULL without memory */
/* Frees the table; names that it returned stay valid. NULL is fine. */
void formats_image_names_free(formats_image_names *names);

/* The name of the image at a path: "." and empty parts are removed. Of a path that is absolute or
 * contains "..", only the last part is used. A path without parts gives "image". malloc'd, the
 * caller's to free; NULL without memory. */
char *formats_image_name(const char *relative);

/* A name that is not in the table yet: `name`, or `name` with "-2", "-3" ... before its suffix.
 * Takes ownership of `name`. The result is the caller's to free, but only after
 * formats_image_names_free: the table keeps a pointer. NULL without memory, or if name is NULL. */
char *formats_image_names_next(formats_image_names *names, char *name);

/* A number that the caller stores with a name; 0 for a new name. The pointer is valid until the
 * next call. The table keeps a pointer to the name. NULL without memory. */
unsigned *formats_image_names_number(formats_image_names *names, const char *name);

/* Length of a name without the suffix of an image format (".jpg", ".PNG" and so on). The whole
 * length if there is no such suffix, or nothing before it. */
size_t formats_image_stem(const char *name);

typedef enum formats_name_change {
    FORMATS_NAME_KEPT,
    FORMATS_NAME_SUFFIX, /* a new suffix: "a.jpg" became "a.png" */
    FORMATS_NAME_CLASH   /* another name, because that one is used by another image */
} formats_name_change;

/* Make the names of n files from stored names. suffixes: at least one (".png"), then NULL. A name
 * that has one of them already, in upper or lower case, is kept; of equal names, the first. Others
 * get the first suffix. folding: 1 if no two names may differ by case only. Each name is replaced
 * by a malloc'd one, the caller's to free. change: [n], set to formats_name_change.
 * TAPER_ERR_NOMEM: only some names are replaced. */
taper_status formats_image_names_of_files(char **name, size_t n, const char *const *suffixes,
                                          int folding, uint8_t *change);

/* A copy of UTF-8 text in lower case, by simple rules for Latin, Greek and Cyrillic: texts that
 * differ by case only become equal. malloc'd, the caller's to free; NULL without memory. */
char *formats_fold_case(const char *text);

#endif

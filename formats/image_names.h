/* image_names.h -- relative, safe, unique names for the images of a set.
 *
 * A name is what a decoded file will be called, so it ends in ".png": "cat/0001.jpg" and
 * "cat/0001.png" would be one file and become "cat/0001.png" and "cat/0001-2.png". */
#ifndef FORMATS_IMAGE_NAMES_H
#define FORMATS_IMAGE_NAMES_H
#include "formats/status.h"

typedef struct formats_image_names formats_image_names; /* the names given so far */

formats_image_names *formats_image_names_make(void); /* NULL without memory */
/* The same, of names that are unique also where case does not count. */
formats_image_names *formats_image_names_make_folding(void);
void formats_image_names_free(formats_image_names *names); /* NULL is fine; names given out stay */

/* The next name, for the image at a relative path: "." and empty parts are removed; of a path that
 * is absolute or has a ".." only the last part is used; a suffix of an image format gives way to
 * ".png", or ".png" is appended; "-2", "-3" and so on is put before it until the name is new. The
 * name is malloc'd and the caller's to free, after formats_image_names_free: the table keeps a
 * pointer. NULL without memory. */
char *formats_image_names_next(formats_image_names *names, const char *relative);

/* A copy of UTF-8 text with its letters in lower case, by simple rules for Latin, Greek and
 * Cyrillic: texts that differ by case alone become equal. malloc'd; NULL without memory. */
char *formats_fold_case(const char *text);

#endif

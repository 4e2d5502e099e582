/* image_names.h -- names of the images of a set, as they are stored, and of the files that are made
 * of them.
 *
 * A stored name is a relative path, with the suffix that the file had: "cat/0001.jpg". A file that
 * is decoded has its own suffix: that becomes "cat/0001.png", or "cat/0001.jpg.png" where another
 * image of the set is or becomes "cat/0001.png". */
#ifndef FORMATS_IMAGE_NAMES_H
#define FORMATS_IMAGE_NAMES_H
#include "formats/status.h"

typedef struct formats_image_names formats_image_names; /* the names given so far */

formats_image_names *formats_image_names_make(void);       /* NULL without memory */
void formats_image_names_free(formats_image_names *names); /* NULL is fine; names given out stay */

/* The name of the image at a relative path: "." and empty parts are removed; of a path that is
 * absolute or has a ".." only the last part is used; of one without any part it is "image".
 * malloc'd, the caller's; NULL without memory. */
char *formats_image_name(const char *relative);

/* A name that is new in the table: `name`, which is taken over, or with "-2", "-3" and so on put
 * before its suffix. malloc'd and the caller's to free, after formats_image_names_free: the table
 * keeps a pointer. NULL without memory, or where name is NULL. */
char *formats_image_names_next(formats_image_names *names, char *name);

/* The number that goes with a name, 0 for one that is new, to be read and set before the next call.
 * The table keeps a pointer to the name. NULL without memory. */
unsigned *formats_image_names_number(formats_image_names *names, const char *name);

/* Length of a name without the suffix of an image format (".jpg", ".PNG" and so on), if it has one
 * behind something; else all of it. */
size_t formats_image_stem(const char *name);

typedef enum formats_name_change {
    FORMATS_NAME_KEPT,
    FORMATS_NAME_SUFFIX, /* "a.jpg" is "a.png" */
    FORMATS_NAME_CLASH   /* or another name, as an image of the set has or gets that one */
} formats_name_change;

/* Names of n files with this suffix (".png"), after stored names. A name that ends so stays, the
 * first of equal ones; upper and lower case of the suffix are the same. folding: no two differ by
 * case alone. Each name is replaced by one that is malloc'd and the caller's; change[n].
 * TAPER_ERR_NOMEM: some are replaced. */
taper_status formats_image_names_of_files(char **name, size_t n, const char *suffix, int folding,
                                          uint8_t *change);

/* A copy of UTF-8 text with its letters in lower case, by simple rules for Latin, Greek and
 * Cyrillic: texts that differ by case alone become equal. malloc'd; NULL without memory. */
char *formats_fold_case(const char *text);

#endif

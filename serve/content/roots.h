/* roots.h -- the paths that are served. Nothing else is opened.
 *
 * A folder that is given alone is the root of addresses; otherwise each path has its own last name
 * as the first name of its addresses. Symbolic links below a folder are not followed, whether they
 * lead out of it or not; paths that are given may be links. Names that begin with a dot, and files
 * of unknown kinds (media.h), are not there. */
#ifndef SERVE_CONTENT_ROOTS_H
#define SERVE_CONTENT_ROOTS_H
#include "formats/status.h"
#include <stdbool.h>

typedef struct serve_roots serve_roots;

/* path: [n], borrowed. TAPER_ERR_IO: one cannot be opened; error->item is its number, from 1.
 * TAPER_ERR_ARG: two have the same last name, or one has a name that no address can have. */
taper_status serve_roots_open(serve_roots **out, char *const *path, size_t n, taper_error *error);
void serve_roots_close(serve_roots *roots); /* NULL is fine */

/* Open a clean path (target.h) for reading. Returns a descriptor of a regular file, or -1: errno is
 * EISDIR for a folder, ENOENT for what is not there or not served, else the system's. */
int serve_roots_find(const serve_roots *roots, const char *path);

enum { SERVE_NAME_BYTES = 256, SERVE_MOST_ENTRIES = 10000 };
typedef struct serve_entry {
    char name[SERVE_NAME_BYTES];
    bool is_folder;
    uint64_t size;
} serve_entry;
/* List the folders, containers and pages in the folder of a clean path, by name; folders first. At
 * most SERVE_MOST_ENTRIES. *entry is the caller's to free. False: no such folder, or no memory. */
bool serve_roots_list(const serve_roots *roots, const char *path, serve_entry **entry, size_t *n);

#endif

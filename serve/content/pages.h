/* pages.h -- lists of containers and images, as HTML without scripts and as JSON; info.json. All
 * functions append to a buffer, whose status says whether there was memory. */
#ifndef SERVE_CONTENT_PAGES_H
#define SERVE_CONTENT_PAGES_H
#include "formats/bytes.h"
#include "serve/content/roots.h"
#include "serve/content/sets.h"

enum { SERVE_PAGE_IMAGES = 200, SERVE_MOST_LISTED = 10000 };

/* Which images of a container a list has. */
typedef struct serve_part {
    uint64_t first, count; /* from 0; within the container */
} serve_part;

/* What is in a folder. path: clean; "": the root. */
void serve_page_folder(formats_buffer *to, const char *path, const serve_entry *entry, size_t n);
void serve_json_folder(formats_buffer *to, const char *path, const serve_entry *entry, size_t n);
/* The images of a container, with small pictures. path: clean. */
void serve_page_set(formats_buffer *to, const char *path, const serve_set *set, serve_part part);
void serve_json_set(formats_buffer *to, const char *path, const serve_set *set, serve_part part);
/* info.json of an image (IIIF Image API 3.0). base: scheme and host of addresses, "https://h:1". */
void serve_json_iiif(formats_buffer *to, const char *base, const char *identifier, uint32_t width,
                     uint32_t height, uint64_t most_area);

#endif

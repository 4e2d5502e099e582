/* image_names.h -- the images of a container by name or number. */
#ifndef SERVE_CONTENT_IMAGE_NAMES_H
#define SERVE_CONTENT_IMAGE_NAMES_H
#include "codec/taper.h"

typedef struct serve_image_names serve_image_names;

/* The container is borrowed. About 16 bytes an image. NULL: no memory. */
serve_image_names *serve_image_names_make(const taper_container *container);
void serve_image_names_free(serve_image_names *names); /* NULL is fine */
uint64_t serve_image_names_memory(const serve_image_names *names);

/* The image, or further name, that is asked for: by its name; else by its name without the end
 * behind the last dot, the first of several; else by its number, from 1. UINT64_MAX: none. */
uint64_t serve_image_find(const serve_image_names *names, const char *asked);
/* The same for the name of a picture, which ends in .jpg, .jpeg or .png: first as it is, then
 * without that end. "cat/1.jpg" finds "cat/1.jpg", "cat/1" and "cat/1.png", "7.png" number 7. */
uint64_t serve_image_find_picture(const serve_image_names *names, const char *asked);

#endif

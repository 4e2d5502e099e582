/* sets.h -- open containers, kept for later requests. */
#ifndef SERVE_CONTENT_SETS_H
#define SERVE_CONTENT_SETS_H
#include "codec/taper.h"
#include "formats/metadata/picture_metadata.h"
#include "serve/content/files.h"
#include "serve/content/image_names.h"

typedef struct serve_set serve_set;
typedef struct serve_sets serve_sets;

/* limits, model: borrowed; model: for containers that carry none and were not made with a built-in
 * one; or NULL. most: bytes of memory of the containers that are kept. NULL: no memory. */
serve_sets *serve_sets_open(const taper_limits *limits, const taper_model *model, uint64_t most);
void serve_sets_close(serve_sets *sets); /* NULL is fine */

/* The container of a file; release it. Errors are those of taper_container_open. */
taper_status serve_sets_get(serve_sets *sets, serve_file *file, serve_set **out,
                            taper_error *error);
void serve_set_hold(serve_set *set);
void serve_set_release(serve_set *set); /* NULL is fine */

/* Valid until the set is released. */
const taper_container *serve_set_container(const serve_set *set);
const taper_container_info *serve_set_info(const serve_set *set);
const serve_file *serve_set_file(const serve_set *set);
const serve_image_names *serve_set_names(const serve_set *set);
/* What changes the look of image i: its colour profile and the like, to be freed with
 * formats_metadata_free. EXIF and XMP are left out. Damaged metadata count as none. */
void serve_set_colours(serve_set *set, uint64_t i, formats_metadata *to);

#endif

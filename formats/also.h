/* also.h -- section `also` of a container: further names of its images, those of files that were
 * equal to them. They are numbered behind the images. */
#ifndef FORMATS_ALSO_H
#define FORMATS_ALSO_H
#include "formats/front.h"

/* Read the content of the section into f->also. The directory and, if there are any, labels were
 * read before. On failure the memory that it allocated stays in *f. TAPER_ERR_TRUNCATED: the
 * content ends early; TAPER_ERR_CORRUPT, TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_also_read(formats_front *f, formats_cursor *in, taper_error *error);
void formats_also_write(const formats_front *f, formats_buffer *out); /* f->alsos: 1 or more */

/* Name k, or NULL. */
static inline const char *formats_also_name(const formats_front *f, uint32_t k) {
    return k < f->alsos ? f->also_names + f->also[k].name_at : NULL;
}
/* The image that number i, below images + alsos, is a name of; an image is its own. */
static inline uint32_t formats_also_image(const formats_front *f, uint64_t i) {
    return i < f->images ? (uint32_t)i : f->also[i - f->images].image;
}

/* Set f->also to n further names: name[k] is that of also[k], whose name_at is set. Both are
 * copied, and replace those that were there; n 0: none. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_also_set(formats_front *f, const formats_also *also, const char *const *name,
                              uint32_t n, taper_error *error);

#endif

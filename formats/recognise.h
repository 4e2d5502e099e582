/* recognise.h -- of what kind a file is, and which images are in it.
 *
 * Its first bytes tell; CIFAR, which has no magic number, is known by its structure and by the
 * extension .bin or by coming through a stream. */
#ifndef FORMATS_RECOGNISE_H
#define FORMATS_RECOGNISE_H
#include "formats/image_list.h"

/* Enough of a file to recognise it, and to hold the header of nearly every PNM. */
enum { FORMATS_FRONT_BYTES = 512 };

/* What is known of a file while it is being recognised. */
typedef struct candidate {
    image_file file;  /* path borrowed; kind and pack not set */
    image_pack *pack; /* of a stream: filled from the start; else made when needed */
    uint8_t front[FORMATS_FRONT_BYTES];
    size_t front_size;
    int may_be_cifar;
    int is_unknown; /* nothing in it says that it is an image */
} candidate;

/* Recognise a candidate and add its images. A status with why->status set is this file's failure;
 * with why->status TAPER_OK it is the list's, and b->error tells. */
taper_status formats_recognise(list_builder *b, candidate *c, taper_error *why);

int formats_has_extension(const char *path, const char *extension); /* case aside */

#endif

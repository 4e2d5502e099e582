/* recognise.h -- detects the format of a file and adds its images to a list.
 *
 * The first bytes determine the format. CIFAR has no magic number: a file is CIFAR if its structure
 * fits and its extension is .bin, or if it comes from a stream. */
#ifndef FORMATS_RECOGNISE_H
#define FORMATS_RECOGNISE_H
#include "formats/imageset/image_list.h"

/* Enough bytes to recognise a file, and for the header of nearly every PNM. */
enum { FORMATS_FRONT_BYTES = 512 };

/* A file while it is being recognised. */
typedef struct candidate {
    image_file file;  /* path borrowed; kind and pack not set */
    image_pack *pack; /* set at the start for a stream, else when needed */
    uint8_t front[FORMATS_FRONT_BYTES];
    size_t front_size;
    int may_be_cifar;
    int is_unknown; /* its content is not that of a known image format */
} candidate;

/* Recognise a candidate and add its images. On failure, if why->status is set, the error concerns
 * this file; if it is TAPER_OK, the error concerns the list, and b->error has the text. */
taper_status formats_recognise(list_builder *b, candidate *c, taper_error *why);

/* The same; a file that cannot be used is reported to skip. Frees the pack. Errors are returned
 * only when the set cannot continue. */
taper_status formats_add_candidate(list_builder *b, candidate *c);

/* 0 if a file that begins with these n bytes is none that formats_recognise knows; CIFAR, which has
 * no magic number, apart. */
int formats_may_be_image(const uint8_t *front, size_t n);

#endif

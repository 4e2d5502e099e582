/* container_file.h -- a container file whose front matter is in pages and is read in parts, by a
 * streaming decoder: what a program that writes a few of its images asks beside taper.h. */
#ifndef CODEC_CONTAINER_FILE_H
#define CODEC_CONTAINER_FILE_H
#include "codec/taper.h"

enum { CODEC_IN_PARTS_HEAD = 16 };
/* Nonzero: the front matter of the container that begins with these CODEC_IN_PARTS_HEAD bytes is in
 * pages. */
int codec_in_parts_begins(const void *head);

typedef struct codec_in_parts {
    int names_ascend;        /* nonzero: each name is above those before it, or equal */
    int has_further_names;   /* nonzero: there are names that are not in leaves */
    uint64_t metadata_bytes; /* of the section that has the metadata of all images; 0: none */
} codec_in_parts;

/* 0: the container is in one piece, and was read as a whole; *out is zeroed. */
int codec_in_parts_get(const taper_container *container, codec_in_parts *out);

/* Read the metadata of all images from the file, as an open container has them: afterwards
 * taper_metadata_open works. Without metadata it does nothing. TAPER_ERR_CORRUPT: the checksum is
 * wrong. TAPER_ERR_TRUNCATED: the file ends before. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM, and what
 * reading returns. On failure the container has no metadata. */
taper_status codec_in_parts_read_metadata(taper_decoder *decoder, const taper_source *file,
                                          taper_error *error);

#endif

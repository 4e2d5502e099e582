/* metadata_reader.h -- reads the content of section `meta`: the metadata of all images. SPEC.md,
 * "Section meta".
 *
 * Opening unpacks what says which image has what; payloads are unpacked when an image that has one
 * is asked for. Safe on hostile input. A reader is used by one thread. */
#ifndef FORMATS_METADATA_READER_H
#define FORMATS_METADATA_READER_H
#include "formats/front.h"
#include "formats/metadata_writer.h"

typedef struct formats_metadata_reader formats_metadata_reader;

/* How many images have each kind, and sizes. */
typedef struct formats_metadata_counts {
    uint64_t images[8]; /* by bit of FORMATS_METADATA_* */
    uint64_t payloads;  /* different ones */
    uint64_t payload_bytes;
} formats_metadata_counts;

/* Open the metadata of a front, which is borrowed. Memory is counted within limits, in addition to
 * that of the front. A front without metadata: no image has any.
 * TAPER_ERR_CORRUPT: the content is illegal. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_metadata_reader_open(formats_metadata_reader **out, const formats_front *front,
                                          const taper_limits *limits, taper_error *error);
void formats_metadata_reader_close(formats_metadata_reader *reader); /* NULL is fine */

/* The metadata of image i, below the images of the front. Pointers in *out are valid until the next
 * call. TAPER_ERR_CORRUPT: its payloads do not unpack. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. On failure
 * *out is zeroed. */
taper_status formats_metadata_reader_get(formats_metadata_reader *reader, uint32_t i,
                                         taper_metadata *out, taper_error *error);

formats_metadata_counts formats_metadata_reader_counts(const formats_metadata_reader *reader);

/* Unpack and check all payloads. Errors as formats_metadata_reader_get. */
taper_status formats_metadata_reader_check(formats_metadata_reader *reader, taper_error *error);

#endif

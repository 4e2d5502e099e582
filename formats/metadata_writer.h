/* metadata_writer.h -- makes the content of section `meta`: the metadata of all images. SPEC.md,
 * "Section meta".
 *
 * Payloads that are equal are stored once. They are compared by a hash of 128 bits, so that packed
 * payloads need not stay in memory. A writer is used by one thread. */
#ifndef FORMATS_METADATA_WRITER_H
#define FORMATS_METADATA_WRITER_H
#include "formats/bytes.h"

enum {
    FORMATS_METADATA_ICC = 1,
    FORMATS_METADATA_EXIF = 2,
    FORMATS_METADATA_XMP = 4,
    FORMATS_METADATA_CICP = 8,
    FORMATS_METADATA_GAMMA = 16,
    FORMATS_METADATA_CHROMATICITIES = 32,
    FORMATS_METADATA_DENSITY = 64,
    FORMATS_METADATA_MODIFIED = 128,
    FORMATS_METADATA_BLOBS = 3,     /* kinds of payloads: the first three bits */
    FORMATS_MOST_PAYLOAD = 1 << 24, /* bytes; TAPER_MOST_METADATA */
    /* A page is complete at this size. It is exceeded only by its last payload. */
    FORMATS_METADATA_PAGE = 1 << 21,
    FORMATS_METADATA_MOST_UNIT = 9 /* times are in units of 10^0 .. 10^9 nanoseconds */
};

typedef struct formats_metadata_writer formats_metadata_writer;

/* NULL without memory. */
formats_metadata_writer *formats_metadata_writer_new(void);
void formats_metadata_writer_free(formats_metadata_writer *writer); /* NULL is fine */

/* TAPER_ERR_ARG: a member of the metadata is out of its range. */
taper_status formats_metadata_check(const taper_metadata *metadata, taper_error *error);

/* Upper bound of the memory that the next call takes for a while, and what all calls have kept. */
uint64_t formats_metadata_writer_need(const formats_metadata_writer *writer,
                                      const taper_metadata *metadata);
uint64_t formats_metadata_writer_bytes(const formats_metadata_writer *writer);

/* Add the metadata of an image, which was checked. Images are added in ascending order; those that
 * are left out have none. TAPER_ERR_ARG: the image is not above the one before. TAPER_ERR_NOMEM. */
taper_status formats_metadata_writer_add(formats_metadata_writer *writer, uint64_t image,
                                         const taper_metadata *metadata);

/* Append the content for a set of `images` images; nothing if none of them has metadata. Ends the
 * writer. TAPER_ERR_NOMEM; TAPER_ERR_LIMIT: of the account of out. */
taper_status formats_metadata_writer_finish(formats_metadata_writer *writer, uint64_t images,
                                            formats_buffer *out);

#endif

/* merge_metadata.h -- the metadata of a container that is made from other containers. */
#ifndef FORMATS_MERGE_METADATA_H
#define FORMATS_MERGE_METADATA_H
#include "formats/metadata_reader.h"

/* Which images are carried. */
typedef struct formats_carried {
    uint64_t first;      /* number of the first of them in the result */
    const uint8_t *keep; /* [images] nonzero: it is, in its order; NULL: all are */
    /* [images] a further name that takes the image's place, with its time; NULL: none. The array
     * may be NULL, too. */
    const formats_also *const *taken_by;
} formats_carried;
/* Add the metadata of images of a front to a writer. Memory is charged to `account` meanwhile.
 * TAPER_ERR_CORRUPT: that metadata is damaged; TAPER_ERR_LIMIT, _NOMEM. */
taper_status formats_metadata_carry(const formats_front *from, const formats_carried *which,
                                    const formats_account *account, formats_metadata_writer *to,
                                    taper_error *error);

/* End the writer and give its content to a front, whose number of images is set. */
taper_status formats_metadata_give(formats_metadata_writer *writer, formats_front *to,
                                   taper_error *error);

/* The metadata of a container that joins the images of n fronts. Equal payloads are stored once. A
 * single source keeps its bytes. Errors as above; error->item is set. */
taper_status formats_merge_metadata(const formats_front *front, size_t n, formats_front *to,
                                    taper_error *error);

#endif

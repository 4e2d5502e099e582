/* merge_metadata.h -- the metadata of a container that is made from other containers. */
#ifndef FORMATS_MERGE_METADATA_H
#define FORMATS_MERGE_METADATA_H
#include "formats/metadata_reader.h"

/* Add the metadata of images of a front to a writer, from image number `first` on. keep:
 * [from->images] nonzero for those that are carried, in their order; NULL: all. Memory is charged
 * to `account` meanwhile. TAPER_ERR_CORRUPT: that metadata is damaged; TAPER_ERR_LIMIT, _NOMEM. */
taper_status formats_metadata_carry(const formats_front *from, const uint8_t *keep, uint64_t first,
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

/* rename.h -- other names in the front matter of a container. */
#ifndef CODEC_RENAME_H
#define CODEC_RENAME_H
#include "codec/taper.h"
#include "formats/front.h"

/* Give n images, or further names, other names, as taper_rename. Lists of which nothing changes, of
 * images or of further names, stay where they are. TAPER_ERR_ARG: there is no such image, or a name
 * is not legal; TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_front_rename(formats_front *front, const taper_name *names, size_t n,
                                taper_error *error);

#endif

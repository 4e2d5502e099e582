/* picture_metadata.c -- see picture_metadata.h. */
#include "formats/metadata/picture_metadata.h"
#include <stdlib.h>

void formats_metadata_free(formats_metadata *metadata) {
    if (!metadata) return;
    free(metadata->icc.bytes);
    free(metadata->exif.bytes);
    free(metadata->xmp.bytes);
    *metadata = (formats_metadata){0};
}

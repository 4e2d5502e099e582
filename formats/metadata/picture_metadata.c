/* picture_metadata.c -- see picture_metadata.h. */
#include "formats/metadata/picture_metadata.h"
#include <stdlib.h>
#include <string.h>

int formats_blob_set(formats_blob *blob, const void *bytes, size_t n) {
    formats_blob_free(blob);
    if (!n) return 1;
    blob->bytes = malloc(n);
    if (!blob->bytes) return 0;
    memcpy(blob->bytes, bytes, n);
    blob->size = n;
    return 1;
}

void formats_blob_free(formats_blob *blob) {
    free(blob->bytes);
    *blob = (formats_blob){NULL, 0};
}

void formats_metadata_free(formats_metadata *metadata) {
    if (!metadata) return;
    free(metadata->icc.bytes);
    free(metadata->exif.bytes);
    free(metadata->xmp.bytes);
    *metadata = (formats_metadata){0};
}

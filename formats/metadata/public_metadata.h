/* public_metadata.h -- metadata of files as the library has them, and back. */
#ifndef FORMATS_PUBLIC_METADATA_H
#define FORMATS_PUBLIC_METADATA_H
#include "formats/metadata/picture_metadata.h"
#include "formats/taper_types.h"

/* The payloads are borrowed. */
taper_metadata formats_metadata_public(const formats_metadata *metadata);

/* A copy, to be freed with formats_metadata_free. Returns 1; 0 without memory, *to is zeroed. */
int formats_metadata_copy(const taper_metadata *from, formats_metadata *to);

#endif

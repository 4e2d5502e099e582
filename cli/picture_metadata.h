/* picture_metadata.h -- metadata of a container's images, for the files that decode writes. */
#ifndef CLI_PICTURE_METADATA_H
#define CLI_PICTURE_METADATA_H
#include "cli/picture_plan.h"
#include "formats/metadata/picture_metadata.h"

/* Open the metadata of a container, which is borrowed. *out NULL: it has none, or they are damaged,
 * which is printed. */
void cli_picture_metadata_open(cli_picture_metadata **out, const char *input,
                               const taper_container *container);
void cli_picture_metadata_free(cli_picture_metadata *metadata); /* NULL is fine */

/* A copy of the metadata of image i, to be freed with formats_metadata_free. Without metadata, or
 * if they are damaged, which is printed once, it is zeroed. Threads may call this at once. */
void cli_picture_metadata_get(cli_picture_metadata *metadata, uint64_t i, formats_metadata *to);

/* Set the time of a file, by its name in an open folder (AT_FDCWD: a path), to that in the
 * metadata. A failure is ignored: not every file system has times. */
void cli_picture_set_time(int folder, const char *name, const formats_metadata *metadata);

#endif

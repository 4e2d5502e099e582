/* equal_images.h -- finds images that are equal to earlier ones of a set, for `encode --dedup`.
 *
 * Equal are size, channels, depth, all samples, and all metadata but the time of the file. So files
 * with the same bytes are equal, and so are files that differ only in how they are packed. Hashes
 * find candidates; what is taken for equal was compared sample by sample. */
#ifndef CLI_EQUAL_IMAGES_H
#define CLI_EQUAL_IMAGES_H
#include "codec/taper.h"
#include "formats/metadata/picture_metadata.h"

typedef struct cli_equal_images cli_equal_images;

/* For at most `most` images. NULL without memory. */
cli_equal_images *cli_equal_images_new(size_t most);
void cli_equal_images_free(cli_equal_images *equal); /* NULL is fine */

/* Reads an earlier image again, as it was given to cli_equal_images_find. */
typedef struct cli_earlier_images {
    void *user;
    taper_status (*read)(void *user, size_t number, taper_image *out, formats_metadata *metadata,
                         taper_error *error);
} cli_earlier_images;

/* Look for an earlier image that is equal. Returns 1, and its number in *number; 0: there is none,
 * or it cannot be read again. */
int cli_equal_images_find(cli_equal_images *equal, const taper_image *image,
                          const formats_metadata *metadata, const cli_earlier_images *earlier,
                          size_t *number);
/* Remember the image of the last cli_equal_images_find under a number. */
void cli_equal_images_keep(cli_equal_images *equal, size_t number);

#endif

/* originals.h -- the original images of a container, in its order. */
#ifndef CLI_COMPARE_ORIGINALS_H
#define CLI_COMPARE_ORIGINALS_H
#include "codec/taper.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"

typedef struct cli_originals {
    const formats_imageset *set; /* borrowed; set by the caller, like alpha */
    formats_alpha alpha;
    size_t *index; /* [count] number in the set of each image of the container */
    size_t count;
} cli_originals;

/* Allocate for n images; count stays 0. */
taper_status cli_originals_reserve(cli_originals *originals, size_t n, taper_error *error);
void cli_originals_close(cli_originals *originals); /* a zeroed one is fine */

/* Fill index for a container: by name if both have names; else by order, and then the numbers of
 * images must agree. TAPER_ERR_ARG: an image has no original; the text names it. */
taper_status cli_originals_match(cli_originals *originals, const taper_container *container,
                                 taper_error *error);

/* The original of image i of the container; the caller frees its pixels. Safe from several threads.
 */
taper_status cli_originals_read(const cli_originals *originals, size_t i, taper_image *out,
                                taper_error *error);
/* Apply `alpha` to an image, as cli_originals_read does after reading. */
void cli_originals_apply_alpha(const cli_originals *originals, taper_image *image);
#endif

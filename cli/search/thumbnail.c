/* thumbnail.c -- see thumbnail.h. */
#include "cli/search/thumbnail.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <math.h>

enum { LONGEST = 96 }; /* pixels along the longer side */

taper_status cli_thumbnail_read(const cli_code_set *set, size_t i, taper_image *out,
                                taper_error *why) {
    taper_image whole = {.pixels = NULL};
    *out = whole;
    const taper_status status = cli_code_set_picture(set, i, &whole, why);
    if (status != TAPER_OK) return status == TAPER_ERR_NOMEM ? status : TAPER_OK;
    const uint32_t longest = whole.width > whole.height ? whole.width : whole.height;
    if (longest <= LONGEST || (whole.channels != 1 && whole.channels != 3)) {
        *out = whole;
        return TAPER_OK;
    }
    const double factor = (double)LONGEST / longest;
    const uint32_t width = (uint32_t)fmax(1.0, factor * whole.width),
                   height = (uint32_t)fmax(1.0, factor * whole.height);
    const taper_status scaled = taper_image_scale(&whole, width, height, out, NULL);
    formats_image_free(&whole);
    return scaled;
}

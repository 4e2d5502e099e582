/* taken.c -- see taken.h. */
#include "codec/contents/taken.h"
#include "codec/contents/rename.h"
#include "formats/also.h"
#include <stdlib.h>

/* Returns how many places are taken; names[]: the names of these images. */
static size_t take(formats_front *f, uint8_t *keep, const formats_also **taken_by,
                   taper_name *names) {
    size_t n = 0;
    for (uint32_t k = 0; k < f->alsos; k++) {
        const formats_also *also = &f->also[k];
        if (!keep[f->images + k] || keep[also->image]) continue;
        keep[f->images + k] = 0, keep[also->image] = 1;
        taken_by[also->image] = also;
        names[n++] = (taper_name){also->image, formats_also_name(f, k)};
        if (f->label) f->label[also->image] = also->label;
    }
    return n;
}

taper_status codec_take_places(formats_front *f, uint8_t *keep, const formats_also **taken_by,
                               formats_front *r, taper_error *error) {
    taper_name *names;
    if (!f->alsos) return TAPER_OK;
    TAPER_TRY(formats_front_take(r, f->alsos, sizeof *names, &names, error));
    const size_t n = take(f, keep, taken_by, names);
    const taper_status status = n ? codec_front_rename(f, names, n, error) : TAPER_OK;
    free(names);
    return status;
}

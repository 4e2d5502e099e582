/* model_load.c -- taper_model_load_file: see taper_model.h. Needs POSIX, by formats/file.h. */
#include "codec/taper_model.h"
#include "formats/file.h"
#include "formats/sized.h"
#include <stdlib.h>

taper_status taper_model_load_file(taper_model **out, const char *path, const taper_limits *limits,
                                   taper_error *error) {
    taper_limits checked;
    uint8_t *bytes;
    size_t size;
    TAPER_TRY(formats_need(out, "the model's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(path, "the path", error));
    TAPER_TRY(formats_limits_take(&checked, limits, error));
    TAPER_TRY(formats_file_read(path, checked.max_model_bytes, &bytes, &size, error));
    const taper_status status = taper_model_load(out, bytes, size, limits, error);
    free(bytes);
    return status;
}

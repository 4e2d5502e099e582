/* status.c -- error texts and default limits; see status.h. */
#include "formats/status.h"
#include <stdarg.h>
#include <stdio.h>

taper_status formats_fail(taper_error *error, taper_status status, const char *format, ...) {
    if (!error) return status;
    va_list args;
    va_start(args, format);
    error->status = status;
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

const char *formats_status_name(taper_status status) {
    switch (status) {
    case TAPER_OK: return "ok";
    case TAPER_ERR_ARG: return "wrong argument";
    case TAPER_ERR_NOMEM: return "out of memory";
    case TAPER_ERR_TRUNCATED: return "truncated";
    case TAPER_ERR_CORRUPT: return "corrupt";
    case TAPER_ERR_VERSION: return "other version";
    case TAPER_ERR_LIMIT: return "over a limit";
    case TAPER_ERR_MODEL: return "model missing";
    case TAPER_ERR_UNSUPPORTED: return "unsupported";
    case TAPER_ERR_DEVICE: return "device fault";
    case TAPER_ERR_IO: return "input/output error";
    case TAPER_ERR_EXISTS: return "exists";
    }
    return "unknown status";
}

taper_limits formats_limits_or_default(const taper_limits *limits) {
    taper_limits l = limits ? *limits : (taper_limits){0};
    if (!l.max_pixels) l.max_pixels = (uint64_t)1 << 28;
    if (!l.max_images) l.max_images = (uint64_t)1 << 26;
    if (!l.max_memory) l.max_memory = (uint64_t)1 << 32;
    if (!l.max_model_bytes) l.max_model_bytes = (uint64_t)1 << 29;
    if (!l.max_work) l.max_work = 200000;
    return l;
}

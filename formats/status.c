/* status.c -- error texts and default limits; see status.h. */
#include "formats/status.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static taper_status fill(taper_error *error, const taper_error *facts, const char *format,
                         va_list args) {
    taper_error made = *facts;
    vsnprintf(made.text, sizeof made.text, format, args);
    if (error) *error = made;
    return made.status;
}

taper_status formats_fail(taper_error *error, taper_status status, const char *format, ...) {
    const taper_error facts = {.status = status};
    va_list args;
    va_start(args, format);
    fill(error, &facts, format, args);
    va_end(args);
    return status;
}

taper_status formats_fail_fact(taper_error *error, taper_status status, taper_fact fact,
                               uint64_t needed, const char *format, ...) {
    const taper_error facts = {.status = status, .fact = fact, .needed = needed};
    va_list args;
    va_start(args, format);
    fill(error, &facts, format, args);
    va_end(args);
    return status;
}

taper_status formats_fail_as(taper_error *error, taper_status status, const taper_error *why,
                             const char *format, ...) {
    const taper_error facts = {
        .status = status, .fact = why->fact, .needed = why->needed, .item = why->item};
    va_list args;
    va_start(args, format);
    fill(error, &facts, format, args);
    va_end(args);
    return status;
}

taper_status formats_need(const void *argument, const char *what, taper_error *error) {
    return argument ? TAPER_OK : formats_fail(error, TAPER_ERR_ARG, "%s is NULL", what);
}

taper_status formats_need_source(const taper_source *source, taper_error *error) {
    const int is_whole = source && source->read;
    return is_whole ? TAPER_OK
                    : formats_fail(error, TAPER_ERR_ARG, "the source, or its `read`, is NULL");
}

taper_status formats_need_sink(const taper_sink *sink, taper_error *error) {
    const int is_whole = sink && sink->write;
    return is_whole ? TAPER_OK
                    : formats_fail(error, TAPER_ERR_ARG, "the sink, or its `write`, is NULL");
}

taper_status formats_need_array(const void *array, size_t n, size_t size, const char *what,
                                taper_error *error) {
    if (n && !array) return formats_fail(error, TAPER_ERR_ARG, "%s: the array is NULL", what);
    if (size && n > PTRDIFF_MAX / size)
        return formats_fail(error, TAPER_ERR_ARG, "%s: %zu elements of %zu bytes fit no memory",
                            what, n, size);
    return TAPER_OK;
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

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t formats_most_images(const taper_limits *limits, uint64_t least, uint64_t bytes,
                             uint64_t each) {
    if (limits->max_images != FORMATS_DEFAULT_IMAGES) return limits->max_images;
    return smaller(limits->max_images, least + each * smaller(bytes, limits->max_images));
}

uint64_t formats_most_model_bytes(const taper_limits *limits, uint64_t bytes) {
    const uint64_t least = (uint64_t)1 << 24, each = 256;
    if (limits->max_model_bytes != FORMATS_DEFAULT_MODEL_BYTES) return limits->max_model_bytes;
    return smaller(limits->max_model_bytes, least + each * smaller(bytes, limits->max_model_bytes));
}

uint64_t formats_memory_needed(const taper_limits *limits, uint64_t bytes) {
    const uint64_t sum = limits->taken + bytes;
    return sum < bytes || sum >> 20 == UINT64_MAX >> 20 ? UINT64_MAX : ((sum >> 20) + 1) << 20;
}

uint64_t formats_power_above(uint64_t n) {
    uint64_t power = 1;
    while (power <= n && power >> 62 == 0) power *= 2;
    return power;
}

uint64_t formats_memory_step(const taper_limits *limits, uint64_t bytes) {
    const uint64_t needed = formats_memory_needed(limits, bytes);
    return needed >> 62 ? needed : formats_power_above(needed - 1);
}

taper_limits formats_limits_minus(const taper_limits *limits, uint64_t bytes) {
    taper_limits left = *limits;
    left.taken += bytes;
    left.max_memory = bytes < left.max_memory ? left.max_memory - bytes : 1;
    return left;
}

taper_limits formats_limits_or_default(const taper_limits *limits) {
    taper_limits l = limits ? *limits : (taper_limits){0};
    if (!l.max_pixels) l.max_pixels = (uint64_t)1 << 28;
    if (!l.max_images) l.max_images = FORMATS_DEFAULT_IMAGES;
    if (!l.max_memory) l.max_memory = (uint64_t)1 << 32;
    if (!l.max_model_bytes) l.max_model_bytes = FORMATS_DEFAULT_MODEL_BYTES;
    if (!l.max_work) l.max_work = 200000;
    l.size = sizeof l;
    return l;
}

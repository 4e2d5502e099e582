/* status.h -- the one error convention of the project: return a taper_status, 0 is success;
 * say why in a taper_error when the caller gave one. Library code never prints and never exits. */
#ifndef FORMATS_STATUS_H
#define FORMATS_STATUS_H
#include "formats/taper_types.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Forward a failure to the caller. The failing function has filled the error text already. */
#define TAPER_TRY(expr)                                \
    do {                                               \
        taper_status taper_try_ = (expr);              \
        if (taper_try_ != TAPER_OK) return taper_try_; \
    } while (0)

/* Fill *error (NULL is fine) with a printf-style sentence and return status, so that a failing
 * function ends in `return formats_fail(error, TAPER_ERR_CORRUPT, "...")`. */
taper_status formats_fail(taper_error *error, taper_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* TAPER_ERR_ARG: an argument is NULL that must not be; what: its name in the header. */
taper_status formats_need(const void *argument, const char *what, taper_error *error);
/* The same of functions of the caller's, which a source and a sink hold. */
taper_status formats_need_source(const taper_source *source, taper_error *error);
taper_status formats_need_sink(const taper_sink *sink, taper_error *error);
/* TAPER_ERR_ARG: `array` is NULL though it has n elements, or they are more than memory can have.
 */
taper_status formats_need_array(const void *array, size_t n, size_t size, const char *what,
                                taper_error *error);

/* The ending of a counted word, none for one: "%u pass%s", n, formats_plural(n, "es"). */
static inline const char *formats_plural(uint64_t n, const char *ending) {
    return n == 1 ? "" : ending;
}
/* The ending of a verb after such a word: "%u byte%s follow%s", n, formats_plural(n, "s"),
 * formats_singular(n). */
static inline const char *formats_singular(uint64_t n) { return n == 1 ? "s" : ""; }

/* Is a status about the system rather than about the file? Then the whole run ends: without this
 * file it would give another result when all is well again. */
static inline int formats_is_systems(taper_status status) {
    return status == TAPER_ERR_NOMEM || status == TAPER_ERR_IO;
}

/* A short English name of a status, e.g. "corrupt". Never NULL. */
const char *formats_status_name(taper_status status);

/* Defaults of max_images and max_model_bytes. A small file may claim less, by the next two; numbers
 * that the caller gave hold as they are. */
#define FORMATS_DEFAULT_IMAGES (((uint64_t)1 << 26) - 1)
#define FORMATS_DEFAULT_MODEL_BYTES (((uint64_t)1 << 29) - 1)

/* How many images so many bytes of a file may claim: by default `least`, and `each` for each byte.
 */
uint64_t formats_most_images(const taper_limits *limits, uint64_t least, uint64_t bytes,
                             uint64_t each);
/* How much memory a model of so many bytes may unpack to: by default 2^24 and 256 for each. */
uint64_t formats_most_model_bytes(const taper_limits *limits, uint64_t bytes);

/* What --max-memory has to be, in MiB, for so many bytes beside those that are taken. */
uint64_t formats_memory_needed(const taper_limits *limits, uint64_t bytes);
/* The smallest power of two above n, at most 2^62: a limit to propose where the need is not known.
 */
uint64_t formats_power_above(uint64_t n);
/* The limits that are left when so many bytes more are taken. */
taper_limits formats_limits_beside(const taper_limits *limits, uint64_t bytes);

/* The limit with its default put in where the caller left 0; limits may be NULL (all defaults). */
taper_limits formats_limits_or_default(const taper_limits *limits);

#ifdef __cplusplus
}
#endif
#endif

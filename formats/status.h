/* status.h -- the error convention of the project: functions return a taper_status, where 0 is
 * success, and fill a taper_error if the caller gave one. Library code never prints or exits. */
#ifndef FORMATS_STATUS_H
#define FORMATS_STATUS_H
#include "formats/taper_types.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Return a failure to the caller. The function that failed has filled the error text. */
#define TAPER_TRY(expr)                                \
    do {                                               \
        taper_status taper_try_ = (expr);              \
        if (taper_try_ != TAPER_OK) return taper_try_; \
    } while (0)

/* Fill *error (may be NULL) with a printf-style sentence and return status. Usage:
 * `return formats_fail(error, TAPER_ERR_CORRUPT, "...");`. An argument may be error->text. */
taper_status formats_fail(taper_error *error, taper_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with facts, see taper_fact. */
taper_status formats_fail_fact(taper_error *error, taper_status status, taper_fact fact,
                               uint64_t needed, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The failure *why in other words: its facts, with this status and sentence. */
taper_status formats_fail_as(taper_error *error, taper_status status, const taper_error *why,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* TAPER_ERR_ARG if argument is NULL. what: its name in the header. */
taper_status formats_need(const void *argument, const char *what, taper_error *error);
/* The same for the callbacks of a source and of a sink. */
taper_status formats_need_source(const taper_source *source, taper_error *error);
taper_status formats_need_sink(const taper_sink *sink, taper_error *error);
/* TAPER_ERR_ARG if `array` is NULL and n > 0, or if n elements of `size` bytes cannot exist. */
taper_status formats_need_array(const void *array, size_t n, size_t size, const char *what,
                                taper_error *error);

/* The plural ending of a noun after a number, "" for 1: "%u pass%s", n, formats_plural(n, "es"). */
static inline const char *formats_plural(uint64_t n, const char *ending) {
    return n == 1 ? "" : ending;
}
/* The ending of the verb that follows: "%u byte%s follow%s", n, formats_plural(n, "s"),
 * formats_singular(n). */
static inline const char *formats_singular(uint64_t n) { return n == 1 ? "s" : ""; }

/* 1 if a status concerns the system and not the file. The caller then ends the whole run: without
 * this file the result would differ from that of a later run. */
static inline int formats_is_system_error(taper_status status) {
    return status == TAPER_ERR_NOMEM || status == TAPER_ERR_IO;
}

/* A short English name of a status, e.g. "corrupt". Never NULL. */
const char *formats_status_name(taper_status status);

/* Defaults of max_images and max_model_bytes. For small files the default is lower: see the next
 * two functions. Limits that the caller set are used unchanged. */
#define FORMATS_DEFAULT_IMAGES      (((uint64_t)1 << 26) - 1)
#define FORMATS_DEFAULT_MODEL_BYTES (((uint64_t)1 << 29) - 1)

/* How many images a file of `bytes` may claim; by default at most least + each * bytes. */
uint64_t formats_most_images(const taper_limits *limits, uint64_t least, uint64_t bytes,
                             uint64_t each);
/* To how many bytes a model file of `bytes` may unpack; by default at most 2^24 + 256 * bytes. */
uint64_t formats_most_model_bytes(const taper_limits *limits, uint64_t bytes);

/* max_memory for `bytes` in addition to limits->taken: the next whole MiB. */
uint64_t formats_memory_needed(const taper_limits *limits, uint64_t bytes);
/* The smallest power of two above n, at most 2^62: the limit that is needed when the need is not
 * known exactly. */
uint64_t formats_power_above(uint64_t n);
/* The same for formats_memory_needed. */
uint64_t formats_memory_step(const taper_limits *limits, uint64_t bytes);
/* The limits with max_memory reduced by `bytes` that the caller holds. */
taper_limits formats_limits_minus(const taper_limits *limits, uint64_t bytes);

/* The limits, with defaults in place of 0; limits may be NULL (all defaults). */
taper_limits formats_limits_or_default(const taper_limits *limits);

#ifdef __cplusplus
}
#endif
#endif

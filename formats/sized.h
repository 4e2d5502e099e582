/* sized.h -- public structs that may grow. Their first member is `size_t size`, which the caller
 * sets to the size of the struct in the header that it was compiled with. A library that is older
 * or newer than this header then reads and writes only what both know.
 *
 * `name` is the struct's name for error texts, e.g. "taper_limits". */
#ifndef FORMATS_SIZED_H
#define FORMATS_SIZED_H
#include "formats/status.h"

/* Copy a caller's options to the library's struct of own_size bytes. Members that the caller does
 * not know become 0, the default; own->size becomes own_size. given may be NULL: all are 0.
 * TAPER_ERR_ARG: given->size is 0, or the size of no such struct. TAPER_ERR_UNSUPPORTED: the
 * caller's struct is larger, and sets a member that this library does not know. */
taper_status formats_sized_take(void *own, size_t own_size, const void *given, const char *name,
                                taper_error *error);

/* Copy the library's result of own_size bytes to a caller's struct. Members that the library does
 * not know become 0; to->size stays. TAPER_ERR_ARG: to is NULL, or to->size is 0 or the size of no
 * such struct; nothing was written. */
taper_status formats_sized_give(void *to, const void *own, size_t own_size, const char *name,
                                taper_error *error);

/* A caller's limits, with defaults in place of 0; given may be NULL. Errors as formats_sized_take.
 */
taper_status formats_limits_take(taper_limits *own, const taper_limits *given, taper_error *error);

#endif

/* sized.c -- see sized.h. */
#include "formats/sized.h"
#include <string.h>

/* A larger struct is an error of the caller, for example memory that was not initialised. */
enum { LEAST_SIZE = 2 * sizeof(size_t), MOST_SIZE = 4096 };

static taper_status size_of(const void *given, const char *name, size_t *size, taper_error *error) {
    memcpy(size, given, sizeof *size);
    if (*size < LEAST_SIZE || *size > MOST_SIZE)
        return formats_fail(error, TAPER_ERR_ARG, "%s.size is %zu: set it to sizeof(%s)", name,
                            *size, name);
    return TAPER_OK;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

taper_status formats_sized_take(void *own, size_t own_size, const void *given, const char *name,
                                taper_error *error) {
    size_t size = 0;
    if (given) TAPER_TRY(size_of(given, name, &size, error));
    for (size_t i = own_size; i < size; i++)
        if (((const unsigned char *)given)[i])
            return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                                "%s has a member that this version of the library does not know",
                                name);
    memset(own, 0, own_size);
    if (given) memcpy(own, given, smaller(size, own_size));
    memcpy(own, &own_size, sizeof own_size);
    return TAPER_OK;
}

taper_status formats_limits_take(taper_limits *own, const taper_limits *given, taper_error *error) {
    TAPER_TRY(formats_sized_take(own, sizeof *own, given, "taper_limits", error));
    *own = formats_limits_or_default(own);
    return TAPER_OK;
}

taper_status formats_sized_give(void *to, const void *own, size_t own_size, const char *name,
                                taper_error *error) {
    size_t size;
    TAPER_TRY(formats_need(to, name, error));
    TAPER_TRY(size_of(to, name, &size, error));
    memset(to, 0, size);
    memcpy(to, own, smaller(size, own_size));
    memcpy(to, &size, sizeof size);
    return TAPER_OK;
}

/* mhd.c -- see mhd.h. */
#include "serve/mhd.h"
#include <string.h>

#ifdef LATE_LIBRARY
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, SERVE_MHD);
_Static_assert(sizeof lib == sizeof(serve_mhd_functions), "the same functions");

const serve_mhd_functions *serve_mhd_load(taper_error *error) {
    if (formats_late_library_load(&lib_library, error) != TAPER_OK) return NULL;
    return (const serve_mhd_functions *)(const void *)&lib;
}
#endif

/* late_library.h -- loads a shared library when it is needed; its functions are called by pointers.
 *
 * Libraries of image formats depend on some thirty more, which would be required on every machine
 * and loaded for every command. So a module is compiled with the header of its library, not linked:
 *
 *   #define FUNCTIONS(ONE) ONE(opj_version) ONE(opj_encode)
 *   FORMATS_LATE_LIBRARY(lib, "libopenjp2.so.7", FUNCTIONS);
 *
 * defines `lib_library`, to load it, and `lib`, to call it: lib.opj_version(). Inline functions of
 * the header bypass `lib` and must not be used. The Makefile defines LATE_LIBRARY, the file of the
 * library, where its header is installed (see LATE there); LATE_LIBRARY_2 is that of a second.
 *
 * Directory formats/late/: libraries that are loaded when they are needed. Not part of the library.
 *
 *     late_library     loads one
 *     srgb             converts CMYK to sRGB by lcms2 */
#ifndef FORMATS_LATE_LIBRARY_H
#define FORMATS_LATE_LIBRARY_H
#include "formats/status.h"

typedef struct formats_late_library {
    const char *file;        /* file name for the dynamic linker, with the ABI version */
    const char *const *name; /* [n] names of the functions */
    size_t n;
    void *function; /* [n] pointers to them, in the same order; NULL before loading */
} formats_late_library;

#define FORMATS_LATE_POINTER(function) __typeof__(&function) function;
#define FORMATS_LATE_NAME(function)    #function,
#define FORMATS_LATE_LIBRARY(lib, so_file, FUNCTIONS)                       \
    static struct { FUNCTIONS(FORMATS_LATE_POINTER) } lib;                  \
    static const char *const lib##_name[] = {FUNCTIONS(FORMATS_LATE_NAME)}; \
    _Static_assert(sizeof lib == sizeof lib##_name, "a pointer a name");    \
    static const formats_late_library lib##_library = {                     \
        so_file, lib##_name, sizeof lib##_name / sizeof *lib##_name, &lib}

/* Load the library, if it is not loaded; it stays loaded. Threads may call this at once.
 * TAPER_ERR_UNSUPPORTED: it is not on this machine, or lacks functions; the text names Debian's
 * package of it. */
taper_status formats_late_library_load(const formats_late_library *l, taper_error *error);

enum { FORMATS_PACKAGE_BYTES = 64 };
/* Debian's package of a shared library, by its rule for names: "libheif.so.1" is in libheif1,
 * "liblcms2.so.2" in liblcms2-2. */
void formats_late_library_package(const char *file, char package[FORMATS_PACKAGE_BYTES]);
#endif

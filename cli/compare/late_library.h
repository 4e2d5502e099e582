/* late_library.h -- loads a shared library when it is needed; its functions are called by pointers.
 *
 * The libraries of other codecs depend on some thirty more, which would be required on every
 * machine and loaded for every command. So a codec is compiled with the header of its library, not
 * linked:
 *
 *   #define FUNCTIONS(ONE) ONE(opj_version) ONE(opj_encode)
 *   CLI_LATE_LIBRARY("libopenjp2.so.7", FUNCTIONS);
 *
 * defines `library`, to load it, and `lib`, to call it: lib.opj_version(). Inline functions of the
 * header bypass `lib` and must not be used. */
#ifndef CLI_COMPARE_LATE_LIBRARY_H
#define CLI_COMPARE_LATE_LIBRARY_H
#include "formats/status.h"

typedef struct cli_late_library {
    const char *file;        /* file name for the dynamic linker, with the ABI version */
    const char *const *name; /* [n] names of the functions */
    size_t n;
    void *function; /* [n] pointers to them, in the same order; NULL before loading */
} cli_late_library;

#define CLI_LATE_POINTER(function) __typeof__(&function) function;
#define CLI_LATE_NAME(function)    #function,
#define CLI_LATE_LIBRARY(so_file, FUNCTIONS)                           \
    static struct { FUNCTIONS(CLI_LATE_POINTER) } lib;                 \
    static const char *const lib_name[] = {FUNCTIONS(CLI_LATE_NAME)};  \
    _Static_assert(sizeof lib == sizeof lib_name, "a pointer a name"); \
    static const cli_late_library library = {so_file, lib_name,        \
                                             sizeof lib_name / sizeof *lib_name, &lib}

/* Load the library, if it is not loaded. Not thread-safe. TAPER_ERR_UNSUPPORTED: it is not on this
 * machine, or lacks functions. */
taper_status cli_late_library_load(const cli_late_library *l, taper_error *error);
#endif

/* late_library.h -- a shared library that is loaded when it is needed: its functions as pointers.
 *
 * A rival's library pulls in others, thirty in all, which would have to be on every machine and
 * would be loaded for every command. So a rival is compiled with the library's header, not linked:
 *
 *   #define FUNCTIONS(ONE) ONE(opj_version) ONE(opj_encode)
 *   CLI_LATE_LIBRARY("libopenjp2.so.7", FUNCTIONS);
 *
 * makes `library`, to be loaded, and `lib`, through which it is called: lib.opj_version(). What a
 * header defines inline calls past it and is not for use. */
#ifndef CLI_COMPARE_LATE_LIBRARY_H
#define CLI_COMPARE_LATE_LIBRARY_H
#include "formats/status.h"

typedef struct cli_late_library {
    const char *file;        /* as the dynamic linker finds it, with the number of its ABI */
    const char *const *name; /* of its functions */
    size_t n;
    void *function; /* a pointer to each of them, in the same order; NULL before loading */
} cli_late_library;

#define CLI_LATE_POINTER(function) __typeof__(&function) function;
#define CLI_LATE_NAME(function)    #function,
#define CLI_LATE_LIBRARY(so_file, FUNCTIONS)                           \
    static struct { FUNCTIONS(CLI_LATE_POINTER) } lib;                 \
    static const char *const lib_name[] = {FUNCTIONS(CLI_LATE_NAME)};  \
    _Static_assert(sizeof lib == sizeof lib_name, "a pointer a name"); \
    static const cli_late_library library = {so_file, lib_name,        \
                                             sizeof lib_name / sizeof *lib_name, &lib}

/* Load it; nothing to do when it is. Not safe from several threads at once. TAPER_ERR_UNSUPPORTED:
 * it is not on this machine, or has not all of the functions. */
taper_status cli_late_library_load(const cli_late_library *l, taper_error *error);
#endif

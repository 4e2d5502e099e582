/* late_library.c -- see late_library.h. */
#include "cli/compare/late_library.h"
#include <dlfcn.h>
#include <string.h>

taper_status cli_late_library_load(const cli_late_library *l, taper_error *error) {
    void **function = l->function; /* POSIX: pointers to functions and to data are alike */
    if (*function) return TAPER_OK;
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why =
            dlerror(); /* begins with the name of this library, or of one that it needs */
        return formats_fail(error, TAPER_ERR_UNSUPPORTED, "%s; install it",
                            why ? why : "out of memory");
    }
    for (size_t i = l->n; i-- > 0;) {
        function[i] = dlsym(handle, l->name[i]);
        if (function[i]) continue;
        memset(function, 0, l->n * sizeof *function);
        dlclose(handle);
        return formats_fail(error, TAPER_ERR_UNSUPPORTED, "%s lacks %s; build taper anew for it",
                            l->file, l->name[i]);
    }
    return TAPER_OK;
}

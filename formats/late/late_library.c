/* late_library.c -- see late_library.h. */
#include "formats/late/late_library.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

void formats_late_library_package(const char *file, char package[FORMATS_PACKAGE_BYTES]) {
    const char *end = strstr(file, ".so");
    const size_t n = end ? (size_t)(end - file) : strlen(file);
    const char *version = end && end[3] == '.' ? end + 4 : "";
    const int digits = n && file[n - 1] >= '0' && file[n - 1] <= '9' && version[0];
    snprintf(package, FORMATS_PACKAGE_BYTES, "%.*s%s%s", (int)n, file, digits ? "-" : "", version);
}

/* From the text of the dynamic linker, which begins with the name of this library, or of one that
 * it needs. */
static taper_status cannot_load(const formats_late_library *l, const char *why,
                                taper_error *error) {
    char package[FORMATS_PACKAGE_BYTES];
    formats_late_library_package(l->file, package);
    const int is_absent = why && !strncmp(why, l->file, strlen(l->file)) && strstr(why, "No such");
    if (is_absent)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED, "%.*s is not on this machine: install %s",
                            (int)strcspn(l->file, "."), l->file, package);
    return formats_fail(error, TAPER_ERR_UNSUPPORTED, "%s; install %s", why ? why : "out of memory",
                        package);
}

static taper_status load(const formats_late_library *l, taper_error *error) {
    void **function = l->function; /* POSIX: pointers to functions and to data are alike */
    if (*function) return TAPER_OK;
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return cannot_load(l, dlerror(), error);
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

taper_status formats_late_library_load(const formats_late_library *l, taper_error *error) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    const taper_status status = load(l, error);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

/* lapack.c -- see lapack.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "lapack.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Fortran's: all by reference, lengths of the texts behind. */
typedef void dsyevr_fn(const char *job, const char *range, const char *half, const int *n,
                       double *a, const int *lda, const double *low, const double *high,
                       const int *first, const int *last, const double *tolerance, int *found,
                       double *value, double *vector, const int *ldz, int *support, double *work,
                       const int *work_size, int *iwork, const int *iwork_size, int *info, size_t,
                       size_t, size_t);
typedef void dgesdd_fn(const char *job, const int *m, const int *n, double *a, const int *lda,
                       double *value, double *u, const int *ldu, double *v, const int *ldv,
                       double *work, const int *work_size, int *iwork, int *info, size_t);

static const char *const library[] = {"liblapack.so.3", "libopenblas.so.0", "liblapack.so"};
enum { LIBRARIES = sizeof library / sizeof *library };

/* --- loading --------------------------------------------------------------------------- */

static int there_is_room(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 0;
    munmap(at, bytes);
    return 1;
}

/* OpenBLAS takes a buffer for each of its threads and tries for ever when it gets none; where a
 * thread cannot be started it never ends. So there is to be room before it is loaded, for fewer
 * threads if need be. */
static taper_status make_room(taper_error *error) {
    const size_t code = (size_t)64 << 20, thread = (size_t)144 << 20;
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    const char *wanted = getenv("OPENBLAS_NUM_THREADS");
    long given = wanted ? strtol(wanted, NULL, 10) : 0;
    if (given > 0 && given < threads) threads = given;
    for (long most = threads > 0 ? threads : 1; most; most /= 2) {
        if (!there_is_room(code + (size_t)most * thread)) continue;
        char text[24];
        snprintf(text, sizeof text, "%ld", most);
        if (most < threads && setenv("OPENBLAS_NUM_THREADS", text, 1)) break;
        return TAPER_OK;
    }
    return formats_fail(error, TAPER_ERR_NOMEM,
                        "no memory for LAPACK, which training needs and which takes 208 MiB of "
                        "address space; raise the limit");
}

static void *loaded(void) {
    for (int i = 0; i < LIBRARIES; i++) {
        void *handle = dlopen(library[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (handle) return handle;
    }
    return NULL;
}

/* A function of LAPACK; its library stays loaded. */
static taper_status find(const char *name, void **function, taper_error *error) {
    void *handle = loaded();
    if (!handle) TAPER_TRY(make_room(error));
    char why[160] = "out of memory";
    for (int i = 0; i < LIBRARIES && !handle; i++) {
        handle = dlopen(library[i], RTLD_NOW | RTLD_LOCAL);
        const char *text = handle || i ? NULL : dlerror();
        if (text) snprintf(why, sizeof why, "%s", text);
    }
    *function = handle ? dlsym(handle, name) : NULL;
    if (*function) return TAPER_OK;
    if (!handle && !strstr(why, "No such file"))
        return formats_fail(error, TAPER_ERR_NOMEM, "LAPACK cannot be loaded: %s", why);
    return formats_fail(error, TAPER_ERR_IO,
                        "training needs LAPACK; install libopenblas0 or liblapack3");
}

/* --- decompositions -------------------------------------------------------------------- */

static taper_status no_memory(uint32_t n, taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM,
                        "no memory to decompose a matrix of %u values; use a smaller --window", n);
}

taper_status train_lapack_eigenvectors(uint32_t n, uint32_t k, double *matrix, double *value,
                                       double *vector, taper_error *error) {
    dsyevr_fn *dsyevr;
    int size = (int)n, first = (int)(n - k + 1), found = 0, info = 0, query = -1, integers = 0;
    double none = 0, doubles = 0;
    TAPER_TRY(find("dsyevr_", (void **)&dsyevr, error));
    const char *range = k == n ? "A" : "I";
    dsyevr("V", range, "U", &size, matrix, &size, &none, &none, &first, &size, &none, &found, value,
           vector, &size, &integers, &doubles, &query, &integers, &query, &info, 1, 1, 1);
    int work_size = (int)doubles, iwork_size = integers;
    double *work = malloc((size_t)work_size * sizeof *work);
    int *iwork = malloc(((size_t)iwork_size + 2 * (size_t)n) * sizeof *iwork);
    if (work && iwork)
        dsyevr("V", range, "U", &size, matrix, &size, &none, &none, &first, &size, &none, &found,
               value, vector, &size, iwork + iwork_size, work, &work_size, iwork, &iwork_size,
               &info, 1, 1, 1);
    int lacking = !work || !iwork;
    free(work), free(iwork);
    if (lacking) return no_memory(n, error);
    if (!info && found == (int)k) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_DEVICE,
                        "LAPACK finds no eigenvectors of %u inputs (dsyevr: %d); are the pixels "
                        "finite?",
                        n, info);
}

taper_status train_lapack_svd(uint32_t n, double *matrix, double *value, double *u, double *v,
                              taper_error *error) {
    dgesdd_fn *dgesdd;
    int size = (int)n, info = 0, query = -1, *iwork = malloc(8 * (size_t)n * sizeof *iwork);
    double doubles = 0;
    taper_status status = find("dgesdd_", (void **)&dgesdd, error);
    if (status != TAPER_OK || !iwork) {
        free(iwork);
        return status != TAPER_OK ? status : no_memory(n, error);
    }
    dgesdd("A", &size, &size, matrix, &size, value, u, &size, v, &size, &doubles, &query, iwork,
           &info, 1);
    int work_size = (int)doubles;
    double *work = malloc((size_t)work_size * sizeof *work);
    if (!work) status = no_memory(n, error);
    else
        dgesdd("A", &size, &size, matrix, &size, value, u, &size, v, &size, work, &work_size, iwork,
               &info, 1);
    free(work), free(iwork);
    if (status == TAPER_OK && info)
        return formats_fail(error, TAPER_ERR_DEVICE,
                            "LAPACK finds no singular values of %u units (dgesdd: %d)", n, info);
    return status;
}

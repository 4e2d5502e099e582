/* lapack.c -- see lapack.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "train/linear/lapack.h"
#include "formats/file.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fortran functions: all arguments by reference, lengths of strings at the end. */
typedef void dsyevr_fn(const char *job, const char *range, const char *half, const int *n,
                       double *a, const int *lda, const double *low, const double *high,
                       const int *first, const int *last, const double *tolerance, int *found,
                       double *value, double *vector, const int *ldz, int *support, double *work,
                       const int *work_size, int *iwork, const int *iwork_size, int *info, size_t,
                       size_t, size_t);
typedef void dgesdd_fn(const char *job, const int *m, const int *n, double *a, const int *lda,
                       double *value, double *u, const int *ldu, double *v, const int *ldv,
                       double *work, const int *work_size, int *iwork, int *info, size_t);

/* --- in the child process: loading ----------------------------------------------------- */

static int is_memory_free(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 0;
    munmap(at, bytes);
    return 1;
}

/* OpenBLAS allocates a buffer for each of its threads and retries forever if that fails. So memory
 * is checked before it is loaded. It has one thread, because its results depend on their number. */
static taper_status check_memory(taper_error *error) {
    const size_t code = (size_t)64 << 20, thread = (size_t)144 << 20;
    if (is_memory_free(code + thread) && !setenv("OPENBLAS_NUM_THREADS", "1", 1)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM,
                        "no memory for LAPACK, which training needs and which takes 208 MiB of "
                        "address space; raise the limit");
}

static taper_status load(void **library, taper_error *error) {
    static const char *const name[] = {"liblapack.so.3", "libopenblas.so.0", "liblapack.so"};
    char why[160] = "out of memory";
    TAPER_TRY(check_memory(error));
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        *library = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
        if (*library) return TAPER_OK;
        const char *text = i ? NULL : dlerror();
        if (text) snprintf(why, sizeof why, "%s", text);
    }
    if (strstr(why, "No such file"))
        return formats_fail(error, TAPER_ERR_IO,
                            "training needs LAPACK; install libopenblas0 or liblapack3");
    return formats_fail(error, TAPER_ERR_NOMEM, "LAPACK cannot be loaded: %s", why);
}

/* --- in the child process: decompositions ---------------------------------------------- */

static taper_status no_memory(uint32_t n, taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM,
                        "no memory to decompose a matrix of %u values; use a smaller --window", n);
}

static taper_status find_eigenvectors(const train_lapack *l, uint32_t k, void *library,
                                      taper_error *error) {
    dsyevr_fn *dsyevr;
    *(void **)&dsyevr = dlsym(library, "dsyevr_");
    if (!dsyevr) return formats_fail(error, TAPER_ERR_IO, "LAPACK lacks dsyevr");
    const int n = (int)l->n, first = (int)(l->n - k + 1), query = -1;
    int found = 0, info = 0, integers = 0, *support = malloc(2 * (size_t)n * sizeof *support);
    const char *range = k == l->n ? "A" : "I";
    double none = 0, doubles = 0;
    dsyevr("V", range, "U", &n, l->matrix, &n, &none, &none, &first, &n, &none, &found, l->value,
           l->u, &n, support, &doubles, &query, &integers, &query, &info, 1, 1, 1);
    const int size = (int)doubles;
    double *work = malloc((size_t)size * sizeof *work);
    int *iwork = malloc((size_t)integers * sizeof *iwork);
    if (!support || !work || !iwork) return no_memory(l->n, error);
    dsyevr("V", range, "U", &n, l->matrix, &n, &none, &none, &first, &n, &none, &found, l->value,
           l->u, &n, support, work, &size, iwork, &integers, &info, 1, 1, 1);
    free(work), free(iwork), free(support);
    if (!info && found == (int)k) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_DEVICE,
                        "LAPACK finds no eigenvectors of %u inputs (dsyevr: %d)", l->n, info);
}

static taper_status find_singular_vectors(const train_lapack *l, void *library,
                                          taper_error *error) {
    dgesdd_fn *dgesdd;
    *(void **)&dgesdd = dlsym(library, "dgesdd_");
    if (!dgesdd) return formats_fail(error, TAPER_ERR_IO, "LAPACK lacks dgesdd");
    const int n = (int)l->n, query = -1;
    int info = 0, *iwork = malloc(8 * (size_t)n * sizeof *iwork);
    double doubles = 0;
    dgesdd("A", &n, &n, l->matrix, &n, l->value, l->u, &n, l->v, &n, &doubles, &query, iwork, &info,
           1);
    const int size = (int)doubles;
    double *work = malloc((size_t)size * sizeof *work);
    if (!iwork || !work) return no_memory(l->n, error);
    dgesdd("A", &n, &n, l->matrix, &n, l->value, l->u, &n, l->v, &n, work, &size, iwork, &info, 1);
    free(work), free(iwork);
    if (!info) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_DEVICE,
                        "LAPACK finds no singular values of %u units (dgesdd: %d)", l->n, info);
}

/* Answers every request, the number of eigenvectors or 0 for an SVD, with the result. Messages of
 * the libraries are suppressed, because they do not help users. */
static void serve(const train_lapack *l, int socket) {
    void *library = NULL;
    uint32_t k;
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
    while (recv(socket, &k, sizeof k, MSG_WAITALL) == sizeof k) {
        taper_error error = {0};
        if (!library) error.status = load(&library, &error);
        if (error.status == TAPER_OK)
            error.status = k ? find_eigenvectors(l, k, library, &error)
                             : find_singular_vectors(l, library, &error);
        if (send(socket, &error, sizeof error, MSG_NOSIGNAL) != sizeof error) break;
    }
}

/* --- in the parent process ------------------------------------------------------------- */

static void begin_process(const train_lapack *l, const int ends[2]) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) signal(ending[i], SIG_DFL);
    close(ends[0]);
    serve(l, ends[1]);
    _Exit(0); /* the child process only */
}

taper_status train_lapack_open(train_lapack *l, uint32_t n, taper_error *error) {
    size_t square = (size_t)n * n;
    int ends[2];
    *l = (train_lapack){.n = n, .bytes = (3 * square + n) * sizeof(double), .socket = -1};
    void *shared = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return no_memory(n, error);
    l->matrix = shared;
    l->u = l->matrix + square, l->v = l->u + square, l->value = l->v + square;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return formats_fail_errno(error, errno, "speak to a process for LAPACK");
    l->process = fork();
    if (l->process == 0) begin_process(l, ends);
    int errnum = errno;
    close(ends[1]);
    l->socket = ends[0];
    if (l->process > 0) return TAPER_OK;
    return formats_fail_errno(error, errnum, "start a process for LAPACK");
}

void train_lapack_close(train_lapack *l) {
    if (!l->matrix) return;
    if (l->socket >= 0) close(l->socket); /* ends the child process */
    if (l->process > 0)
        while (waitpid(l->process, NULL, 0) < 0 && errno == EINTR) continue;
    munmap(l->matrix, l->bytes);
    memset(l, 0, sizeof *l);
}

static taper_status request(train_lapack *l, uint32_t k, taper_error *error) {
    taper_error outcome;
    ssize_t got = -1;
    if (send(l->socket, &k, sizeof k, MSG_NOSIGNAL) == sizeof k) do
            got = recv(l->socket, &outcome, sizeof outcome, MSG_WAITALL);
        while (got < 0 && errno == EINTR);
    if (got != sizeof outcome)
        return formats_fail(error, TAPER_ERR_NOMEM,
                            "LAPACK ended during the decomposition of a matrix of %u values, most "
                            "likely for lack of memory; raise the limit or use a smaller --window",
                            l->n);
    if (outcome.status != TAPER_OK) formats_fail(error, outcome.status, "%s", outcome.text);
    return outcome.status;
}

taper_status train_lapack_eigenvectors(train_lapack *l, uint32_t k, taper_error *error) {
    return request(l, k, error);
}

taper_status train_lapack_svd(train_lapack *l, taper_error *error) { return request(l, 0, error); }

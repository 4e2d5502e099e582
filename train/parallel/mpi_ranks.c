/* mpi_ranks.c -- see mpi_ranks.h. */
#include "train/parallel/mpi_ranks.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char file_name[] = "taper-mpi.so";

/* Of this process; MPI can begin only once in it. */
static train_ranks all;
static const train_mpi_library *library;

/* The first of these variables that is set. */
static const char *find(const char *const *variable, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (getenv(variable[i])) return getenv(variable[i]);
    return NULL;
}

int train_mpi_is_started(void) {
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                       "MV2_COMM_WORLD_RANK"};
    static const char *const size[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                       "SLURM_STEP_NUM_TASKS"};
    if (!find(rank, sizeof rank / sizeof *rank)) return 0;
    const char *processes = find(size, sizeof size / sizeof *size);
    return !processes || strcmp(processes, "1") != 0;
}

/* Loads the library from a folder relative to the program's. */
static void *load_from(const char *folder, const char *relative) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s%s", folder, relative, file_name);
    /* global: Open MPI loads its parts later, which look for its symbols */
    return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
}

static taper_status load(taper_error *error) {
    char folder[4096] = "";
    const ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    char *slash = n > 0 ? strrchr(folder, '/') : NULL;
    if (slash) *slash = 0;
    dlerror();
    void *found = load_from(folder, "");
    if (!found) found = load_from(folder, "../lib/taper/");
    if (!found) {
        const char *why = dlerror();
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "MPI has started this program, which was built without it (%.120s); "
                            "install an MPI with mpicc, such as libopenmpi-dev, and build again",
                            why ? why : "taper-mpi.so is not there");
    }
    library = dlsym(found, "taper_mpi_library");
    if (library && library->version == TRAIN_MPI_VERSION) return TAPER_OK;
    library = NULL;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "%s is of another version of taper; install both together", file_name);
}

taper_status train_mpi_open(train_ranks **ranks, double patience, char name[TRAIN_MPI_NAME],
                            taper_error *error) {
    *ranks = NULL;
    TAPER_TRY(load(error));
    const taper_status status = library->open(&all, patience, name, error);
    if (status != TAPER_OK)
        library = NULL;
    else if (all.size > 1)
        *ranks = &all;
    return status;
}

void train_mpi_close(int code) {
    if (!library) return;
    train_ranks_free(&all);
    library->close(code);
    library = NULL;
}

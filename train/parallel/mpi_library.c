/* mpi_library.c -- see mpi_library.h. Compiled by mpicc, into taper-mpi.so.
 *
 * Collectives are started without blocking and waited for here, because a blocking call would wait
 * for ever for a rank that hangs. */
#include "train/parallel/mpi_library.h"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* MPI counts in int. */
enum { MOST = 1 << 30, TESTS_AT_FULL_SPEED = 4000, NAP_NANOSECONDS = 50000 };

static double patience_seconds;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static taper_status explain(int code, const char *what, taper_error *error) {
    char words[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    MPI_Error_string(code, words, &length);
    return formats_fail(error, TAPER_ERR_IO, "%s among the processes of MPI failed: %.160s", what,
                        words);
}

static taper_status wait_for(int code, MPI_Request *request, const char *what, taper_error *error) {
    const double begun = now();
    for (unsigned tests = 0; code == MPI_SUCCESS; tests++) {
        int done = 0;
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && done) return TAPER_OK;
        if (tests < TESTS_AT_FULL_SPEED) continue;
        if (now() - begun > patience_seconds)
            return formats_fail(error, TAPER_ERR_IO,
                                "the other processes of MPI did not answer within %.0f s: one has "
                                "ended or hangs; see the messages of the others",
                                patience_seconds);
        nanosleep(&(struct timespec){0, NAP_NANOSECONDS}, NULL);
    }
    return explain(code, what, error);
}

static taper_status check_size(size_t bytes, taper_error *error) {
    if (bytes <= MOST) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "%zu bytes at once are too many for MPI", bytes);
}

static taper_status exchange(void *state, const void *to, void *from, size_t bytes,
                             taper_error *error) {
    MPI_Request request;
    (void)state;
    TAPER_TRY(check_size(bytes, error));
    return wait_for(MPI_Ialltoall(to, (int)bytes, MPI_BYTE, from, (int)bytes, MPI_BYTE,
                                  MPI_COMM_WORLD, &request),
                    &request, "an exchange", error);
}

static taper_status gather(void *state, const void *mine, void *all, size_t bytes,
                           taper_error *error) {
    MPI_Request request;
    (void)state;
    TAPER_TRY(check_size(bytes, error));
    return wait_for(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                   MPI_COMM_WORLD, &request),
                    &request, "a gathering", error);
}

static taper_status broadcast(void *state, void *data, size_t bytes, uint32_t root,
                              taper_error *error) {
    (void)state;
    for (size_t i = 0; i < bytes; i += MOST) {
        const size_t n = bytes - i < MOST ? bytes - i : MOST;
        MPI_Request request;
        TAPER_TRY(wait_for(
            MPI_Ibcast((char *)data + i, (int)n, MPI_BYTE, (int)root, MPI_COMM_WORLD, &request),
            &request, "a broadcast", error));
    }
    return TAPER_OK;
}

/* The first line of what MPI says of itself, up to a comma. */
static void name_library(char name[TRAIN_MPI_NAME]) {
    char words[MPI_MAX_LIBRARY_VERSION_STRING] = "MPI";
    int length;
    MPI_Get_library_version(words, &length);
    snprintf(name, TRAIN_MPI_NAME, "%.*s", (int)strcspn(words, ",\n"), words);
}

/* Ranks on this machine. */
static int count_local(train_ranks *ranks) {
    MPI_Comm local;
    int rank = 0, size = 1;
    int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(local, &rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(local, &size);
    if (code == MPI_SUCCESS) code = MPI_Comm_free(&local);
    ranks->local_rank = (uint32_t)rank, ranks->local_size = (uint32_t)size;
    return code;
}

static const train_transport transport = {exchange, gather, broadcast};

static taper_status open_mpi(train_ranks *ranks, double patience, char name[TRAIN_MPI_NAME],
                             taper_error *error) {
    int level, rank = 0, size = 1;
    patience_seconds = patience;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (code == MPI_SUCCESS) code = count_local(ranks);
    if (code != MPI_SUCCESS) return explain(code, "the start", error);
    if (size > TRAIN_MOST_RANKS)
        return formats_fail(error, TAPER_ERR_ARG, "%d processes of MPI; at most %d are possible",
                            size, TRAIN_MOST_RANKS);
    ranks->rank = (uint32_t)rank, ranks->size = (uint32_t)size;
    ranks->patience = patience;
    ranks->transport = &transport;
    name_library(name);
    return TAPER_OK;
}

static void close_mpi(int code) {
    if (code) MPI_Abort(MPI_COMM_WORLD, code);
    MPI_Finalize();
}

const train_mpi_library taper_mpi_library
    __attribute__((visibility("default"))) = {TRAIN_MPI_VERSION, open_mpi, close_mpi};

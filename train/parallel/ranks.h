/* ranks.h -- processes, called ranks as in MPI, that train one model together.
 *
 * Every rank runs the same program on the same options. Each reads a part of the images. What the
 * ranks compute from their parts is added up, so that all of them hold the same numbers, and one
 * rank alone would hold the same up to the rounding of sums.
 *
 * All ranks make the same calls in the same order. A call returns on a rank when that rank's part
 * is done. Sums are added in the order of the ranks, x0 + x1 + x2 ..., so they depend on the number
 * of ranks and not on which of them was first. Adding zeros is exact: where each element is known
 * to one rank, the sum gives it to all.
 *
 * One rank is a pointer NULL, for which every call here returns at once. An object belongs to one
 * thread.
 *
 * Errors of every call: TAPER_ERR_IO: another rank has ended, or did not answer in time; the text
 * says which. TAPER_ERR_NOMEM. The contents of the arrays are then undefined, and further calls
 * fail: end the process.
 *
 * Directory train/parallel/: training by several processes.
 *   ranks          this interface; its sums
 *   mpi_ranks      ranks that are the processes of MPI, by a library that is loaded when MPI has
 *                  started the program
 *   mpi_library    that library, the only file that includes mpi.h */
#ifndef TRAIN_RANKS_H
#define TRAIN_RANKS_H
#include "formats/status.h"
#include <stddef.h>
#include <stdint.h>

enum { TRAIN_MOST_RANKS = 65535 };

/* How bytes go from rank to rank. Sizes are equal on all ranks. */
typedef struct train_transport {
    /* Block r of to[size][bytes] goes to rank r; from[size][bytes]: a block of each rank. */
    taper_status (*exchange)(void *state, const void *to, void *from, size_t bytes,
                             taper_error *error);
    /* all[size][bytes]: `mine` of each rank. */
    taper_status (*gather)(void *state, const void *mine, void *all, size_t bytes,
                           taper_error *error);
    /* data[bytes] of rank `root` goes to all. */
    taper_status (*broadcast)(void *state, void *data, size_t bytes, uint32_t root,
                              taper_error *error);
} train_transport;

typedef struct train_ranks {
    uint32_t rank, size; /* rank < size <= TRAIN_MOST_RANKS */
    /* Of the ranks on this machine: number and count. */
    uint32_t local_rank, local_size;
    double patience; /* seconds that a call waits for the others */
    const train_transport *transport;
    void *state; /* private to the transport */
    /* --- private --- */
    char *memory; /* for sums; see train_ranks_free */
} train_ranks;

void train_ranks_free(train_ranks *ranks); /* its memory, not the transport */

/* 1: this rank is the first, which alone writes files and messages. */
int train_is_first(const train_ranks *ranks);
/* The number of ranks. */
uint32_t train_rank_count(const train_ranks *ranks);

/* x[n] becomes the sum over all ranks. Memory beyond x: 2 MiB. */
taper_status train_sum_floats(train_ranks *ranks, float *x, size_t n, taper_error *error);
taper_status train_sum_doubles(train_ranks *ranks, double *x, size_t n, taper_error *error);
taper_status train_sum_integers(train_ranks *ranks, uint64_t *x, size_t n, taper_error *error);
/* Bytes of which each is 0 on all ranks but one. */
taper_status train_sum_bytes(train_ranks *ranks, uint8_t *x, size_t n, taper_error *error);

/* all[size][bytes]: `mine` of each rank; at most 1 GiB of each. */
taper_status train_gather(train_ranks *ranks, const void *mine, void *all, size_t bytes,
                          taper_error *error);
/* data[bytes] of rank `root` goes to all. */
taper_status train_broadcast(train_ranks *ranks, void *data, size_t bytes, uint32_t root,
                             taper_error *error);

#endif

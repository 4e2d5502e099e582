/* mpi_ranks.h -- ranks that are the processes of MPI.
 *
 * Nothing of MPI is loaded in a program that MPI has not started. */
#ifndef TRAIN_MPI_RANKS_H
#define TRAIN_MPI_RANKS_H
#include "train/parallel/mpi_library.h"

/* 1: a launcher of MPI (mpirun, mpiexec, or srun with --mpi) has started this process, by the
 * variables that Open MPI, MPICH, MVAPICH, Intel MPI and PMIx set. */
int train_mpi_is_started(void);

/* Begins MPI, by taper-mpi.so beside the program or in ../lib/taper. *ranks: all processes, or NULL
 * if this is the only one; they stay until train_mpi_close. Once in a process. patience: seconds
 * that a call waits for the other ranks. TAPER_ERR_UNSUPPORTED: there is no such library, with the
 * remedy; TAPER_ERR_IO: MPI does not begin. */
taper_status train_mpi_open(train_ranks **ranks, double patience, char name[TRAIN_MPI_NAME],
                            taper_error *error);

/* Ends MPI if it has begun. code: this process's exit code; if it is not 0, all ranks are ended
 * with it, and this call does not return. */
void train_mpi_close(int code);

#endif

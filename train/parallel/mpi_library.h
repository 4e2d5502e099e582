/* mpi_library.h -- what taper-mpi.so exports, the only part of taper that is linked with MPI.
 *
 * Implementations of MPI differ in their binary interfaces, and most machines have none. So the
 * program loads this library only when it is one of several processes of MPI (mpi_ranks.h). Make
 * builds it with mpicc where that is installed. */
#ifndef TRAIN_MPI_LIBRARY_H
#define TRAIN_MPI_LIBRARY_H
#include "train/parallel/ranks.h"

enum { TRAIN_MPI_VERSION = 2, TRAIN_MPI_NAME = 64 };

typedef struct train_mpi_library {
    uint32_t version; /* TRAIN_MPI_VERSION */
    /* Begins MPI; once in a process. Fills in the numbers of *ranks, its transport, and the name of
     * the implementation, such as "Open MPI v4.1.4". patience: seconds that a call waits for other
     * ranks. TAPER_ERR_IO: MPI does not begin. */
    taper_status (*open)(train_ranks *ranks, double patience, char name[TRAIN_MPI_NAME],
                         taper_error *error);
    /* Ends MPI. code not 0: all ranks are ended with this exit code, whatever they do; does not
     * return then. */
    void (*close)(int code);
} train_mpi_library;

/* The symbol that is exported. */
extern const train_mpi_library taper_mpi_library;

#endif

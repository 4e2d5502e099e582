/* processes.h -- the processes of MPI that train one model (train/parallel/mpi_ranks.h). */
#ifndef CLI_TRAIN_PROCESSES_H
#define CLI_TRAIN_PROCESSES_H
#include "cli/train/common.h"
#include "train/parallel/ranks.h"

/* Begins MPI, if it has started this process, and sets what depends on it: later processes print
 * errors only, and processes on one machine share its processors. *ranks: NULL if there is one
 * process. Prints a message and returns an exit code. */
int cli_train_begin_processes(const char *verb, cli_common *common, train_ranks **ranks);

/* Checks that all processes were given the same words and the same model (bytes; or NULL). Words
 * about the machine may differ: --device, --threads, --max-memory. */
int cli_train_compare_processes(const char *verb, train_ranks *ranks, char **words,
                                const void *model, size_t bytes);

/* Ends MPI. code: the exit code; for a failure all processes are ended with it. Returns code. */
int cli_train_end_processes(int code);
#endif

/* request.h -- checkpoints that signals ask for: SIGUSR1, after which training goes on, and
 * SIGTERM, after which it ends. Slurm sends them before it ends a job. */
#ifndef CLI_TRAIN_REQUEST_H
#define CLI_TRAIN_REQUEST_H
#include "train/optimise/checkpoint.h"

enum { CLI_TRAIN_ENDED = 128 + SIGTERM }; /* the exit code then */

/* What was asked for; of this process. */
train_request *cli_train_request(void);

/* Installs the handlers. While no steps are taken, or at the second time, SIGTERM ends the process
 * as it does otherwise (signals.h). */
void cli_train_listen(void);
#endif

/* device.h -- the devices of --device: the processor, the shadow device for tests, or a GPU. Verbs
 * that encode or decode run on the processor only (bench/gpu/README.md, "Coding"). */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H
#include "cli/common/options.h"
#include "cli/common/settings.h"
#include "codec/backend/backend.h"
#include "train/cuda/cuda.h"
#include "train/parallel/ranks.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct cli_device {
    train_device train;
    bool is_cuda;
} cli_device;

/* True for auto, cpu, shadow, cuda and cuda:N. */
bool cli_device_is_name(const char *name);
/* True if name is a GPU and this build has no CUDA. */
bool cli_device_is_missing(const char *name);
/* The number of the GPU that name, one of cuda, cuda:N and auto, means on a machine that has
 * `count`: N if it is given; else 0, or, of several ranks on a machine, a GPU for each, in turn if
 * there are more ranks than GPUs. Numbers above 1000 become 1000. */
int cli_device_number(const char *name, const train_ranks *ranks, int count);

/* Open common->device. auto: the GPU of cli_device_number if it is usable, else the processor; -v
 * prints which. ranks: NULL for one. be: borrowed; the processor uses its threads. Errors as
 * train_cuda_open; then nothing is allocated. */
taper_status cli_device_open(cli_device *device, const cli_common *common, const train_ranks *ranks,
                             codec_backend *be, train_precision precision, taper_error *error);
void cli_device_close(cli_device *device); /* zeroed is fine */
/* After a training that failed by TAPER_ERR_DEVICE or TAPER_ERR_NOMEM: add the message of the GPU
 * and a remedy to error. checkpoint: path of the saved checkpoint, or NULL. */
void cli_device_explain(const cli_device *device, taper_status status, const char *checkpoint,
                        taper_error *error);
/* Check --device of a verb that encodes or decodes: auto and cpu are the processor. For other
 * devices prints a message and returns CLI_USAGE. */
int cli_device_for_coding(const cli_verb *verb, const cli_common *common);
/* Print one line per GPU, or why there is none. */
void cli_device_list(FILE *to);

#endif

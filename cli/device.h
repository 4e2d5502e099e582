/* device.h -- what --device names: the processor, the shadow, or a GPU. Verbs that code have the
 * processor alone, until a GPU has been measured to gain there (bench/gpu/README.md, "Coding"). */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H
#include "cli/common/options.h"
#include "cli/common/settings.h"
#include "codec/backend/backend.h"
#include "train/cuda/cuda.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct cli_device {
    train_device train;
    bool is_cuda;
} cli_device;

/* auto, cpu, shadow, cuda or cuda:N. */
bool cli_device_is_name(const char *name);
/* Does it name a GPU, in a build that can use one? */
bool cli_device_is_missing(const char *name);

/* Open what common->device names, on the backend's threads where it is the processor. auto: the
 * first GPU that can be used, else the processor; -v tells which. be is borrowed. A status as
 * train_cuda_open's: nothing is held then. */
taper_status cli_device_open(cli_device *device, const cli_common *common, codec_backend *be,
                             train_precision precision, taper_error *error);
void cli_device_close(cli_device *device); /* zeroed is fine */
/* Put what the GPU has to say, and what helps, into the error of a training that failed by
 * TAPER_ERR_DEVICE or for lack of memory. checkpoint: where it was saved, or NULL. */
void cli_device_explain(const cli_device *device, taper_status status, const char *checkpoint,
                        taper_error *error);
/* The device of a verb that codes: auto and cpu are the processor, which -v tells. CLI_DONE, or
 * CLI_USAGE when another was named, which is said. */
int cli_device_for_coding(const cli_verb *verb, const cli_common *common);
/* A line for each GPU, or why there is none. */
void cli_device_list(FILE *to);

#endif

/* device.c -- see device.h. */
#include "cli/device.h"
#include "cli/common/messages.h"
#include "train/processor/processor.h"
#include <stdlib.h>
#include <string.h>

#ifndef HAVE_CUDA
#define HAVE_CUDA 0
#endif

enum { MOST_NUMBER = 1000 }; /* above, no GPU is found either */

static bool is_cuda_name(const char *name) {
    return !strcmp(name, "cuda") ||
           (!strncmp(name, "cuda:", 5) && name[5] && !name[5 + strspn(name + 5, "0123456789")]);
}

bool cli_device_is_name(const char *name) {
    return !strcmp(name, "auto") || !strcmp(name, "cpu") || !strcmp(name, "shadow") ||
           is_cuda_name(name);
}

bool cli_device_is_missing(const char *name) { return is_cuda_name(name) && !HAVE_CUDA; }

int cli_device_number(const char *name, const train_ranks *ranks, int count) {
    const char *given = strchr(name, ':');
    const long number = given ? strtol(given + 1, NULL, 10) : 0;
    if (given) return number > MOST_NUMBER ? MOST_NUMBER : (int)number;
    return ranks && count > 0 ? (int)(ranks->local_rank % (uint32_t)count) : 0;
}

int cli_device_for_coding(const cli_verb *verb, const cli_common *common) {
    const char *name = common->device;
    if (is_cuda_name(name))
        return cli_usage(verb, "encoding and decoding run on the processor only; omit --device %s",
                         name);
    if (strcmp(name, "auto") != 0 && strcmp(name, "cpu") != 0)
        return cli_usage(verb, "--device is auto or cpu, not '%s'", name);
    cli_detail(common, 1, verb->name, "on the processor, %s",
               strcmp(name, "auto") ? "as asked"
                                    : "as no GPU has been measured to be faster at coding");
    return CLI_DONE;
}

static taper_status open_processor(cli_device *d, codec_backend *be, const char *name,
                                   taper_error *error) {
    train_processor_kind kind = strcmp(name, "shadow") ? TRAIN_PROCESSOR : TRAIN_SHADOW;
    d->is_cuda = false;
    if (train_processor_open(&d->train, be, kind) == TAPER_OK) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a device");
}

#if HAVE_CUDA
static taper_status open_cuda(cli_device *d, const char *name, const train_ranks *ranks,
                              codec_backend *be, train_precision precision, taper_error *error) {
    int count = 0;
    d->is_cuda = true;
    TAPER_TRY(train_cuda_devices(NULL, 0, &count, error));
    TAPER_TRY(train_cuda_open(&d->train, cli_device_number(name, ranks, count), precision, error));
    d->train.pool = be->pool;
    return TAPER_OK;
}

taper_status cli_device_open(cli_device *d, const cli_common *common, const train_ranks *ranks,
                             codec_backend *be, train_precision precision, taper_error *error) {
    const char *name = common->device;
    taper_error none = {0};
    *d = (cli_device){.is_cuda = false};
    if (is_cuda_name(name)) return open_cuda(d, name, ranks, be, precision, error);
    const bool any = !strcmp(name, "auto");
    if (!any || open_cuda(d, name, ranks, be, precision, &none) != TAPER_OK)
        TAPER_TRY(open_processor(d, be, name, error));
    if (any)
        cli_detail(common, 1, "train", "on %s%s%s", d->train.name, none.text[0] ? ": " : "",
                   none.text);
    return TAPER_OK;
}

void cli_device_close(cli_device *d) {
    if (d->is_cuda)
        train_cuda_close(&d->train);
    else
        train_processor_close(&d->train);
}

void cli_device_explain(const cli_device *d, taper_status status, const char *checkpoint,
                        taper_error *error) {
    if (!d->is_cuda) return;
    const char *fault = train_cuda_fault(&d->train);
    const char *remedy = strchr(fault, ';') ? "" /* it names one */
                         : checkpoint       ? "; run again with --resume, on this device or another"
                                            : "; run again, with --checkpoint to keep what is done";
    if (status == TAPER_ERR_DEVICE && *fault)
        snprintf(error->text, sizeof error->text, "%s%s", fault, remedy);
    if (status == TAPER_ERR_NOMEM && !error->text[0])
        snprintf(error->text, sizeof error->text,
                 "%s has no memory left: give a smaller --batch, or --device cpu", d->train.name);
}

void cli_device_list(FILE *to) {
    enum { MOST = 64 };
    train_cuda_info info[MOST];
    taper_error error = {0};
    int count = 0;
    if (train_cuda_devices(info, MOST, &count, &error) != TAPER_OK)
        fprintf(to, "cuda: %s\n", cli_explain(&error).text);
    for (int i = 0; i < count && i < MOST; i++)
        fprintf(to, "cuda:%d: %s, compute capability %d.%d, %.1f GiB\n", i, info[i].name,
                info[i].capability / 10, info[i].capability % 10,
                (double)info[i].bytes / (1024.0 * 1024.0 * 1024.0));
}
#else
taper_status cli_device_open(cli_device *d, const cli_common *common, const train_ranks *ranks,
                             codec_backend *be, train_precision precision, taper_error *error) {
    (void)ranks, (void)precision;
    *d = (cli_device){.is_cuda = false};
    return open_processor(d, be, common->device, error);
}

void cli_device_close(cli_device *d) { train_processor_close(&d->train); }

void cli_device_explain(const cli_device *d, taper_status status, const char *checkpoint,
                        taper_error *error) {
    (void)d, (void)status, (void)checkpoint, (void)error;
}

void cli_device_list(FILE *to) { fprintf(to, "cuda: not in this build\n"); }
#endif

/* cuda.h -- NVIDIA GPUs as devices (train/device/device.h).
 *
 * Every operation is a kernel of this project, except matrix products, which are cuBLASLt's. Random
 * numbers are the same as the processor's, and so is the arithmetic of single elements
 * (train/device/elements.h). Sums have another order, which depends on shapes only. So a run gives
 * the same bits on one kind of GPU with memory for equally many rows, and nearly the processor's
 * results.
 *
 * The CUDA runtime is linked statically; a machine without a driver has no devices. cuBLASLt is
 * loaded at the first product, NCCL when several ranks train.
 *
 * Directory train/cuda/: GPUs as devices.
 *   cuda                this header, in C: finding, opening and closing devices
 *   device              memory and streams; stream: the state of a stream
 *   kernel              macros for kernels; marks: those that tests replace
 *   lt                  matrix products by cuBLASLt; lt_library: its functions, loaded
 *   factors             the factors of products, in bfloat16
 *   group               GPUs of several ranks, by NCCL; nccl_library: its functions, loaded
 *   operations          the operations, in kernels/ by subject, as in train/processor;
 *                       kernels/teams: rows, and threads for them; kernels/neighbours: rows
 *                       against all columns */
#ifndef TRAIN_CUDA_H
#define TRAIN_CUDA_H
#include "train/device/device.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { TRAIN_CUDA_LEAST_CAPABILITY = 75 }; /* compute capability 7.5, Turing */

/* Precision of the factors of matrix products. Sums are always single precision. */
typedef enum train_precision {
    TRAIN_FLOAT32 = 0,
    TRAIN_TF32 = 1,    /* factors rounded to 10 bits of mantissa */
    TRAIN_BFLOAT16 = 2 /* rounded to 7 bits; weights are stored in single precision */
} train_precision;

typedef struct train_cuda_info {
    char name[128]; /* "NVIDIA H100 80GB HBM3" */
    int capability; /* 90 for 9.0 */
    int multiprocessors;
    uint64_t bytes; /* of its memory */
} train_cuda_info;

/* *count: the number of devices; info: the first `most` of them. TAPER_ERR_DEVICE: there is no
 * usable device; error says whether the driver is missing, too old, or finds none. */
taper_status train_cuda_devices(train_cuda_info *info, int most, int *count, taper_error *error);

/* Opens device number `ordinal`, from 0. TAPER_ERR_ARG: there is no such device; TAPER_ERR_DEVICE:
 * it is too old or busy, or there is no driver; TAPER_ERR_NOMEM. Nothing is held then. */
taper_status train_cuda_open(train_device *device, int ordinal, train_precision precision,
                             taper_error *error);
/* Call it after all memory of the device has been released. Leaves it zeroed; zeroed is fine. */
void train_cuda_close(train_device *device);

/* A message of what has failed: "cuda:0: errors: unspecified launch failure"; "" if nothing has.
 * Operations run after their calls return, so the message may name a later operation. */
const char *train_cuda_fault(const train_device *device);

#ifdef __cplusplus
}
#endif
#endif

/* cuda.h -- NVIDIA's GPUs as devices (train/device/device.h).
 *
 * Every operation is a kernel of ours, but for products of matrices, which are cuBLASLt's. Draws of
 * random numbers are the processor's own, and so is the arithmetic of each element
 * (train/device/elements.h); sums have another order, which shapes alone decide, so that a run
 * repeats bit for bit on one kind of GPU that has memory for as many rows, and is near the
 * processor's.
 *
 * The CUDA runtime is linked in; a machine without a driver is one without devices. cuBLASLt is
 * loaded when the first product is made.
 *
 * The room train/cuda/: GPUs as devices.
 *   cuda                this page, in C: devices found, opened, closed
 *   device              memory and streams; stream: what operations know of theirs
 *   kernel              CUDA as kernels are written here; model/: the same on the processor
 *   lt                  products of matrices, by cuBLASLt; lt_library: its functions, loaded
 *   factors             what products read, in bfloat16
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

/* How products of matrices are taken. Sums are single precision in all of them. */
typedef enum train_precision {
    TRAIN_FLOAT32 = 0,
    TRAIN_TF32 = 1,    /* factors rounded to 10 bits of mantissa */
    TRAIN_BFLOAT16 = 2 /* to 7 bits; weights stay single precision */
} train_precision;

typedef struct train_cuda_info {
    char name[128]; /* "NVIDIA H100 80GB HBM3" */
    int capability; /* 90 for 9.0 */
    int multiprocessors;
    uint64_t bytes; /* of its memory */
} train_cuda_info;

/* How many devices there are, and the first `most` of them. TAPER_ERR_DEVICE: there is none to be
 * used; error says whether the driver is missing, too old, or finds no device. */
taper_status train_cuda_devices(train_cuda_info *info, int most, int *count, taper_error *error);

/* Device number `ordinal`, from 0. TAPER_ERR_ARG: there is none of this number;
 * TAPER_ERR_DEVICE: it is too old, busy, or there is no driver; TAPER_ERR_NOMEM. Nothing is held
 * then. */
taper_status train_cuda_open(train_device *device, int ordinal, train_precision precision,
                             taper_error *error);
/* All its memory has been released. Leaves it zeroed; zeroed is fine. */
void train_cuda_close(train_device *device);

/* What has failed, for people: "cuda:0: errors: unspecified launch failure"; "" where nothing has.
 * An operation is done after its call: its failure may be told of a later one. */
const char *train_cuda_fault(const train_device *device);

#ifdef __cplusplus
}
#endif
#endif

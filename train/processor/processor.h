/* processor.h -- the host's processors as a device: the reference implementation of all operations.
 *
 * It uses the matrix product and the threads of a codec_backend, which it borrows; one model uses
 * all of them. `shadow` is the same device in memory that the host cannot access while no operation
 * runs (PROT_NONE), so that a learner which dereferences device memory crashes. Its results are the
 * same bits. Two models may be trained on it in parallel, for tests.
 *
 * Directory train/processor/: the processor as a device.
 *   processor          its two tables; the shadow; injected failures, for tests
 *   launch             how an operation is run
 *   definitions        declarations of the operations; the sources below define them in plain C
 *   products rows                  matrix products and biases; rows of examples and of windows
 *   noise codes units              dropout and other noise; codes at a cut; whole units
 *   losses classes predictions     errors; labels; bits, heads and restored pixels
 *   neighbours pulls               losses of codes by their neighbours; their gradients
 *   layers quantiles               clipped, normalised and convolutional layers; tracked quantiles
 *   vectors                        long vectors, weight decay by row, and the optimiser */
#ifndef TRAIN_PROCESSOR_H
#define TRAIN_PROCESSOR_H
#include "codec/backend/backend.h"
#include "train/device/device.h"

typedef enum train_processor_kind {
    TRAIN_PROCESSOR = 0,
    TRAIN_SHADOW = 1 /* slow: page protection changes around every operation */
} train_processor_kind;

/* be is borrowed and must outlive the device. TAPER_ERR_NOMEM: nothing is held. */
taper_status train_processor_open(train_device *device, codec_backend *be,
                                  train_processor_kind kind);
/* Call it after all memory of the device has been released. Leaves it zeroed; zeroed is fine. */
void train_processor_close(train_device *device);

/* For tests. Allocation number `allocation` from now (1 is the next; 0: none) fails with
 * TAPER_ERR_NOMEM. Operation number `operation` loses the device permanently; uploads, downloads
 * and copies count as operations. */
void train_processor_fail(train_device *device, uint64_t allocation, uint64_t operation);
/* The numbers of allocations and operations since train_processor_fail, or since open. */
void train_processor_count(const train_device *device, uint64_t *allocations, uint64_t *operations);

#endif

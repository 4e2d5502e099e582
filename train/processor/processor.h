/* processor.h -- this machine's processors as a device, which defines every operation.
 *
 * It works through a codec_backend, whose matrix product and threads it borrows; one model keeps
 * them busy. `shadow` is the same device in memory that the host cannot touch while no
 * operation is under way (PROT_NONE): a learner that looks at a device's memory by itself is killed
 * there. Its results are the same bits. Two models may learn on it at once, for tests.
 *
 * The room train/processor/: the processor as a device.
 *   processor          its two tables; the shadow; failures, for tests
 *   launch             how an operation is run
 *   definitions        the operations, declared; then by subject, in plain C:
 *   products rows                  matrix products and biases; rows of examples, rows around rows
 *   noise codes units              dropout and the like; codes at a cut; whole units
 *   losses classes predictions     errors; labels; bits and what heads and restorers give
 *   neighbours pulls               codes that pick each other as neighbours: losses; gradients
 *   layers quantiles               layers that are clipped or normalised; followed quantiles
 *   vectors                        long vectors, weight decay by rows, and the optimiser */
#ifndef TRAIN_PROCESSOR_H
#define TRAIN_PROCESSOR_H
#include "codec/backend/backend.h"
#include "train/device/device.h"

typedef enum train_processor_kind {
    TRAIN_PROCESSOR = 0,
    TRAIN_SHADOW = 1 /* slow: a change of protection around every operation */
} train_processor_kind;

/* be is borrowed and must outlive the device. TAPER_ERR_NOMEM: nothing is held. */
taper_status train_processor_open(train_device *device, codec_backend *be,
                                  train_processor_kind kind);
/* All its memory has been released. Leaves it zeroed; zeroed is fine. */
void train_processor_close(train_device *device);

/* For tests: allocation number `allocation` from now (1 is the next; 0: none) fails for lack of
 * memory, and operation number `operation` loses the device, for good: uploads, downloads, copies
 * count too. */
void train_processor_fail(train_device *device, uint64_t allocation, uint64_t operation);
/* How many there were since train_processor_fail, or open. */
void train_processor_count(const train_device *device, uint64_t *allocations, uint64_t *operations);

#endif

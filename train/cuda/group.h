/* group.h -- GPUs of several ranks that add up arrays by NCCL (train/device/group.h).
 *
 * A sum goes in pieces, as those of train/parallel/ranks.c: each GPU gets its block of a piece from
 * all, adds it up in the order of the ranks, and sends the sum to all. NCCL moves bytes; its own
 * sums have another order.
 *
 * A sum runs on the stream, after its call has returned, and a GPU whose partner has ended waits in
 * it for ever. So the host waits for a stream only after cuda_group_settle or cuda_group_await,
 * which give up after the group's patience. */
#ifndef TRAIN_CUDA_GROUP_H
#define TRAIN_CUDA_GROUP_H
#include "train/cuda/cuda.h"
#include "train/cuda/nccl_library.h"
#include "train/device/group.h"

/* A device's. All zero: it has not joined. */
struct cuda_group {
    const cuda_nccl_library *nccl;
    cuda_nccl_comm *comm; /* NULL also after it was given up */
    uint32_t rank, size;
    double patience;
    void *blocks; /* of a piece, from all ranks; on the device */
    size_t bytes;
    cudaEvent_t done; /* the last sum */
    bool is_pending;  /* the host has not seen that it is done */
    bool is_lost;     /* it was given up: sums are undefined */
};
cuda_group *cuda_group_of(const train_device *device);

extern const train_group cuda_group_table;

/* Wait until the event is reached, or all sums are done. With no sum on its way they return at
 * once. TAPER_ERR_DEVICE: another rank has ended, or does not answer. */
taper_status cuda_group_await(train_device *device, cudaEvent_t event);
taper_status cuda_group_settle(train_device *device);
/* train_group.leave. */
void cuda_group_leave(train_device *device);

#endif

/* group.h -- devices of several ranks (train/parallel/ranks.h) that add up arrays among themselves,
 * without the host.
 *
 * A device that can is a member of no group until train_group_join has made all ranks' devices one.
 * Then device->joined is 1, and arrays on the device are added up by the functions of its table.
 * Sums are added in the order of the ranks, so they have the bits of those by the host. */
#ifndef TRAIN_GROUP_H
#define TRAIN_GROUP_H
#include "train/device/device.h"
#include "train/parallel/ranks.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { TRAIN_GROUP_KEY = 128, TRAIN_DEVICE_ID = 16, TRAIN_GROUP_WHY = 200 };

/* What a device needs to find the others. */
typedef struct train_membership {
    uint32_t rank, size;
    double patience; /* as in train_ranks */
    char key[TRAIN_GROUP_KEY];
} train_membership;

/* Errors have a text, which says why the host must add up. */
struct train_group {
    /* id: a number that no other device has, on any machine. */
    taper_status (*identify)(train_device *device, uint8_t id[TRAIN_DEVICE_ID], taper_error *error);
    /* A new key, for one group. */
    taper_status (*make_key)(train_device *device, char key[TRAIN_GROUP_KEY], taper_error *error);
    /* All devices of the group join at the same time; `with` is the same but for the rank. After a
     * failure the device is as before. */
    taper_status (*join)(train_device *device, const train_membership *with, taper_error *error);
    void (*leave)(train_device *device); /* does nothing to a device that has not joined */

    /* x[n], on the device, becomes the sum over all ranks, when the stream gets there. All ranks
     * call in the same order, from one thread. TAPER_ERR_DEVICE: a device has failed, or did not
     * answer within `patience` seconds. */
    taper_status (*sum_floats)(train_stream *stream, float *x, size_t n);
    taper_status (*sum_doubles)(train_stream *stream, double *x, size_t n);
};

/* Joins the devices of all ranks, if each rank has a device of its own and all can join. Every rank
 * calls it, whatever its device; device->joined is then the same on all. why: the reason for which
 * none has joined; "" if they have, if there is one rank (NULL), or if no rank has such a device.
 * Errors: those of ranks.h. */
taper_status train_group_join(train_device *device, train_ranks *ranks, char why[TRAIN_GROUP_WHY],
                              taper_error *error);

#ifdef __cplusplus
}
#endif
#endif

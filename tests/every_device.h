/* every_device.h -- the devices on which every operation is tried: the processor with one thread
 * and with three, and the shadow. */
#ifndef TESTS_EVERY_DEVICE_H
#define TESTS_EVERY_DEVICE_H
#include "on_device.h"

enum { DEVICES = 3 };
static on_device device[DEVICES];

static int open_every_device(void **state) {
    (void)state;
    on_device_open_threads(&device[0], TRAIN_PROCESSOR, 1);
    on_device_open_threads(&device[1], TRAIN_PROCESSOR, 3);
    on_device_open_threads(&device[2], TRAIN_SHADOW, 2);
    return 0;
}

static int close_every_device(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) on_device_close(&device[i]);
    return 0;
}

#endif

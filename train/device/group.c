/* group.c -- which devices join, the same for every device; see group.h. */
#include "train/device/group.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum state { NO_GROUP = 0, ABLE = 1, UNABLE = 2 } state;

/* What a rank says of its device to all others. */
typedef struct member {
    uint32_t state;
    uint8_t id[TRAIN_DEVICE_ID];
    char key[TRAIN_GROUP_KEY]; /* made by the first rank */
    char why[TRAIN_GROUP_WHY]; /* it is not able */
} member;

static void set_state(member *m, taper_status status, const taper_error *error) {
    m->state = status == TAPER_OK ? ABLE : UNABLE;
    if (status != TAPER_OK) snprintf(m->why, sizeof m->why, "%.*s", 160, error->text);
}

static member introduce(train_device *device) {
    member m = {.state = NO_GROUP};
    taper_error error = {0};
    if (device->group) set_state(&m, device->group->identify(device, m.id, &error), &error);
    return m;
}

static taper_status join(train_device *device, train_ranks *ranks, const member *first,
                         taper_error *error) {
    train_membership with = {ranks->rank, ranks->size, ranks->patience, {0}};
    memcpy(with.key, first->key, sizeof with.key);
    return device->group->join(device, &with, error);
}

/* The first rank whose device is that of rank i. */
static uint32_t first_on(const member *all, uint32_t i) {
    uint32_t k = 0;
    while (memcmp(all[k].id, all[i].id, sizeof all[i].id) != 0) k++;
    return k;
}

/* Whether all are able. why: the reason if some are. */
static int are_able(const member *all, uint32_t size, char why[TRAIN_GROUP_WHY]) {
    uint32_t able = 0;
    for (uint32_t i = 0; i < size; i++) able += all[i].state != NO_GROUP;
    for (uint32_t i = 0; i < size && able && !why[0]; i++) {
        if (all[i].state == NO_GROUP)
            snprintf(why, TRAIN_GROUP_WHY, "process %u has no GPU", i);
        else if (all[i].state == UNABLE)
            snprintf(why, TRAIN_GROUP_WHY, "process %u: %.*s", i, 160, all[i].why);
    }
    return able && !why[0];
}

/* Whether each rank has a device of its own. */
static int are_apart(const member *all, uint32_t size, char why[TRAIN_GROUP_WHY]) {
    for (uint32_t i = 0; i < size && !why[0]; i++)
        if (first_on(all, i) != i)
            snprintf(why, TRAIN_GROUP_WHY, "processes %u and %u share a GPU", first_on(all, i), i);
    return !why[0];
}

/* all[size]: room for what the ranks say. */
static taper_status join_all(train_device *device, train_ranks *ranks, member *all,
                             char why[TRAIN_GROUP_WHY], taper_error *error) {
    const uint32_t size = ranks->size;
    taper_error reason = {0};
    member mine = introduce(device);
    TAPER_TRY(train_gather(ranks, &mine, all, sizeof mine, error));
    if (!are_able(all, size, why) || !are_apart(all, size, why)) return TAPER_OK;
    if (train_is_first(ranks))
        set_state(&mine, device->group->make_key(device, mine.key, &reason), &reason);
    TAPER_TRY(train_gather(ranks, &mine, all, sizeof mine, error));
    if (!are_able(all, size, why)) return TAPER_OK;
    set_state(&mine, join(device, ranks, &all[0], &reason), &reason);
    taper_status status = train_gather(ranks, &mine, all, sizeof mine, error);
    device->joined = status == TAPER_OK && are_able(all, size, why);
    if (!device->joined) device->group->leave(device);
    return status;
}

taper_status train_group_join(train_device *device, train_ranks *ranks, char why[TRAIN_GROUP_WHY],
                              taper_error *error) {
    why[0] = 0;
    if (!ranks) return TAPER_OK;
    member *all = malloc(ranks->size * sizeof *all);
    const taper_status status =
        all ? join_all(device, ranks, all, why, error)
            : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u processes", ranks->size);
    free(all);
    return status;
}

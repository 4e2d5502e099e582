/* kept_groups.h -- the groups of supplied bytes whose states are kept, so that further bytes
 * continue them: in turn, for many images that are refined together. All but the last are parked
 * (parking/awake_strips.h). The least recently used ones are dropped when they take too much
 * memory. */
#ifndef CODEC_KEPT_GROUPS_H
#define CODEC_KEPT_GROUPS_H
#include "codec/decoder/group_reader.h"
#include "codec/parking/awake_strips.h"

typedef struct codec_kept_group {
    codec_group_reader reader; /* images 0: closed */
    const formats_front *front;
    uint64_t used_at; /* the call that used it last */
    uint64_t bytes;   /* of memory, as charged, without reader.strips */
    int stale;        /* bytes came that it has not seen */
    int ended;        /* what only decoding needs was freed */
    uint32_t pass_limit;
    /* A bit a layer: its checksum block was complete, and right. */
    uint64_t checked[FORMATS_MAX_LAYERS / 64];
} codec_kept_group;

/* Begins zeroed, but for the borrowed account and the limit. */
typedef struct codec_kept_groups {
    formats_account *account;
    uint32_t pass_limit;      /* the model's passes, at most, to decode; UINT32_MAX: all */
    codec_kept_group **group; /* [n] in no order */
    size_t n, capacity;
    codec_kept_group *current; /* the one that was opened last; not dropped */
    uint64_t calls;
    codec_awake_strips awake; /* of these groups */
    struct codec_pool *pool;  /* borrowed; threads for large groups */
} codec_kept_groups;

/* Open group from->front's g, or find it, and decode what is there of it. *out is borrowed, until
 * the next call. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: the group is not kept. */
taper_status codec_kept_groups_open(codec_kept_groups *groups, const taper_model *model,
                                    const codec_chunk_source *from, uint32_t g,
                                    codec_group_reader **out, taper_error *error);
/* Bytes offset .. end - 1 of the file came. replaced: some of them were there, and different. */
void codec_kept_groups_supplied(codec_kept_groups *groups, uint64_t offset, uint64_t end,
                                int replaced);
/* The end of the source changed. */
void codec_kept_groups_cut(codec_kept_groups *groups, uint64_t before, uint64_t now);
/* Nonzero: group `number` of the container is kept. */
int codec_kept_groups_has(const codec_kept_groups *groups, uint32_t number);

/* Free memory: all groups but the current one, and what only decoding needs of that. */
void codec_kept_groups_shrink(codec_kept_groups *groups);
void codec_kept_groups_set_pool(codec_kept_groups *groups, struct codec_pool *pool);
void codec_kept_groups_free(codec_kept_groups *groups); /* the account and the pool stay */

/* Nonzero if bytes offset .. end - 1 belong to group g of this front, or to a chunk that shares a
 * checksum with it. */
int codec_group_concerns(const formats_front *front, uint32_t g, uint64_t offset, uint64_t end);

#endif

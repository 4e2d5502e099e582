/* checkpoint.h -- a training run on disk: what is needed to go on as if it had never stopped.
 *
 * File: the ten bytes "TPRCHK\r\n\x1a\n" (text-mode transfers show), format version u32, then
 * little-endian
 *   fingerprint u64 | step u64 | epochs without gain u32 | best loss, start loss f64 as u64 bits |
 *   sums of losses 4 x f64 | history count u32, per entry 8 x f64 | parts u32, per part: bytes of
 * an element u32, elements u64, elements | CRC32C of all before, u32. The fingerprint covers
 * options, shapes and data, so that a run is not resumed as another one. Written to a temporary,
 * synced and renamed: after kill -9 or on a full disk the previous checkpoint is still whole. */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H
#include "formats/atomic_file.h"
#include "train/device/device.h"

enum {
    TRAIN_LOSSES = 4, /* of a step */
    TRAIN_CHECKPOINT_PARTS = 8,
    TRAIN_CHECKPOINT_MAX_HISTORY = 1 << 20
};

/* One entry of the learning curve, as it stood at the end of an epoch. */
typedef struct train_history {
    double loss[TRAIN_LOSSES];   /* means over the epoch's steps */
    double figure[TRAIN_LOSSES]; /* what the learner measured then; [0]: loss on held-out rows */
} train_history;

/* A learner's array that a checkpoint holds; the learner's own memory. */
typedef struct train_checkpoint_part {
    void *memory;
    size_t n;
    uint32_t size; /* bytes of an element, 4 or 8 */
    int on_device;
    int is_real; /* floats, which are finite in every run that has not diverged */
} train_checkpoint_part;

typedef struct train_checkpoint {
    uint64_t fingerprint, step;
    uint32_t stale_epochs;
    double best_loss, start_loss, sum[TRAIN_LOSSES];
    train_history *history; /* malloc'd by read; borrowed by write */
    uint32_t n_history;
    const train_checkpoint_part *part; /* [parts] */
    uint32_t parts;
    train_stream *stream; /* for parts that are on the device */
} train_checkpoint;

/* Where a run is saved, and whether it goes on from there. */
typedef struct train_saving {
    const char *path;                  /* NULL: nowhere */
    int resume;                        /* go on from the file, if it exists */
    const formats_atomic_watch *watch; /* of the file; NULL: none */
} train_saving;

/* Write whole or not at all; an existing file is replaced. watch: of its temporary, or NULL.
 * TAPER_ERR_IO, TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_checkpoint_write(const char *path, const train_checkpoint *checkpoint,
                                    const formats_atomic_watch *watch, taper_error *error);

/* A new run may save itself there: nothing is, or an earlier checkpoint, or no regular file. Else
 * TAPER_ERR_EXISTS; TAPER_ERR_IO when it cannot be read. */
taper_status train_checkpoint_replaces(const char *path, taper_error *error);
/* A regular file that begins as checkpoints do. */
int train_checkpoint_is_there(const char *path);

/* Read into the parts. checkpoint->fingerprint, part, parts and stream say what is expected. The
 * parts' content is undefined after a failure. On success *history is the caller's to free.
 * TAPER_ERR_IO: cannot be read (errno ENOENT when it does not exist); TAPER_ERR_TRUNCATED,
 * TAPER_ERR_CORRUPT: not a whole checkpoint, or one with a real part or a loss that is not finite
 * (best and start loss may be infinite: unknown); TAPER_ERR_VERSION; TAPER_ERR_ARG: of another run
 * (options, network or data differ). */
taper_status train_checkpoint_read(const char *path, train_checkpoint *checkpoint,
                                   taper_error *error);

/* *to: PATH with a suffix, as each network of a model has a checkpoint of its own; malloc'd, NULL
 * for NULL. TAPER_ERR_NOMEM. */
taper_status train_checkpoint_beside(char **to, const char *path, const char *suffix,
                                     taper_error *error);

#endif

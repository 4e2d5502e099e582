/* checkpoint.h -- the state of a training run in a file. A resumed run continues as if it had not
 * been interrupted.
 *
 * File, little-endian:
 *   10 bytes "TPRCHK\r\n\x1a\n" (detects text-mode transfers)
 *   format version u32
 *   fingerprint u64
 *   step u64
 *   epochs without gain u32
 *   best loss, start loss: f64 as u64 bits
 *   sums of losses: 4 x f64
 *   history count u32, then 8 x f64 for each entry
 *   parts u32, then for each part: bytes of an element u32, elements u64, the elements
 *   CRC32C of all before, u32
 * The fingerprint covers options, shapes and data, so that a run is not resumed as another one. The
 * file is written under a temporary name, synced and renamed: after kill -9 or on a full disk the
 * previous checkpoint is intact. */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H
#include "formats/atomic_file.h"
#include "train/device/device.h"
#include <signal.h>

enum {
    TRAIN_LOSSES = 4, /* of a step */
    TRAIN_CHECKPOINT_PARTS = 8,
    TRAIN_CHECKPOINT_MAX_HISTORY = 1 << 20
};

/* One entry of the learning curve, at the end of an epoch. */
typedef struct train_history {
    double loss[TRAIN_LOSSES]; /* means over the epoch's steps */
    /* The learner's measurements; [0]: loss on held-out rows. */
    double figure[TRAIN_LOSSES];
} train_history;

/* An array of the learner that a checkpoint contains; the memory belongs to the learner. */
typedef struct train_checkpoint_part {
    void *memory;
    size_t n;
    uint32_t size; /* bytes of an element, 4 or 8 */
    int on_device;
    /* Floats, which are finite unless the run has diverged. */
    int is_real;
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

/* A request for a checkpoint, which a signal handler may make at any time. */
enum { TRAIN_SAVE = 1, TRAIN_SAVE_AND_END = 2 };
typedef struct train_request {
    /* 0, or TRAIN_SAVE: writes a checkpoint after this step, and goes on; or TRAIN_SAVE_AND_END:
     * the run then ends with TAPER_ERR_IO. Of several ranks one is asked; all of them do it, and
     * have this set afterwards. */
    volatile sig_atomic_t wanted;
    volatile sig_atomic_t heard; /* 1: a loop is running, and will see it */
} train_request;

/* The checkpoint file of a run, and whether to resume from it. */
typedef struct train_saving {
    const char *path;                  /* NULL: no checkpoints */
    int resume;                        /* resume from the file, if it exists */
    const formats_atomic_watch *watch; /* of the file; NULL: none */
    train_request *request;            /* NULL: none */
} train_saving;

/* Writes the whole file or nothing; an existing file is replaced. watch: of its temporary file, or
 * NULL. TAPER_ERR_IO, TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_checkpoint_write(const char *path, const train_checkpoint *checkpoint,
                                    const formats_atomic_watch *watch, taper_error *error);

/* Checks that a new run may write its checkpoint there: the path does not exist, or is an earlier
 * checkpoint, or is not a regular file. Otherwise TAPER_ERR_EXISTS; TAPER_ERR_IO if it cannot be
 * read. */
taper_status train_checkpoint_replaces(const char *path, taper_error *error);
/* Returns 1 if path is a regular file that begins like a checkpoint. */
int train_checkpoint_is_there(const char *path);

/* Reads into the parts. checkpoint->fingerprint, part, parts and stream specify what is expected.
 * On success the caller frees *history. After a failure the contents of the parts are undefined.
 *   TAPER_ERR_IO         cannot be read (errno ENOENT if it does not exist)
 *   TAPER_ERR_TRUNCATED, TAPER_ERR_CORRUPT
 *                        not a complete checkpoint, or a real part or a loss is not finite (best
 *                        and start loss may be infinite: unknown)
 *   TAPER_ERR_VERSION    another format version
 *   TAPER_ERR_ARG        of another run: options, network or data differ */
taper_status train_checkpoint_read(const char *path, train_checkpoint *checkpoint,
                                   taper_error *error);

/* *to: path with a suffix, for the checkpoint of one of several networks of a model. malloc'd; NULL
 * if path is NULL. TAPER_ERR_NOMEM. */
taper_status train_checkpoint_suffixed(char **to, const char *path, const char *suffix,
                                       taper_error *error);

#endif

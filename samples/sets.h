/* sets.h -- writing generated images as the file formats that the readers are to be tried on.
 *
 * The bytes of IDX and CIFAR are put together here and not by formats/, so that the readers are
 * tested against a second writer. Targets are overwritten; files are not synced to disk one by one:
 * a sample set is made again in seconds. */
#ifndef SAMPLES_SETS_H
#define SAMPLES_SETS_H
#include "formats/status.h"

enum { SAMPLES_PNG = 1, SAMPLES_IDX = 2, SAMPLES_CIFAR = 4 };

/* count labelled images of 32 x 32 under folder, in the formats or'ed together:
 * png/CLASS/0001.png; idx/images.idx (count x 32 x 32 x 3), idx/labels.idx, each also with .gz;
 * cifar/train.bin and test.bin (the last sixth), records of a label and three planes. */
taper_status samples_write_small(const char *folder, unsigned formats, uint64_t seed,
                                 uint32_t count, taper_error *error);

/* count grey images of 20 x 20, a capital each, "A" to "Z" in turn: png/A/0001.png; idx/images.idx
 * and idx/labels.idx as above. There is no CIFAR format for them: TAPER_ERR_ARG. */
taper_status samples_write_letters(const char *folder, unsigned formats, uint64_t seed,
                                   uint32_t count, taper_error *error);

/* count scenes as folder/01-leaves.png and so on. */
taper_status samples_write_scenes(const char *folder, uint64_t seed, uint32_t count,
                                  taper_error *error);

#endif

/* start_choice.h -- compares a start that was learned without labels with random weights, by short
 * training on some labelled rows and the errors on others.
 *
 * What the pixels vary in most need not be what the classes differ in. Principal components and
 * pretrained layers of images with one loud row of noise keep the noise, and training hardly leaves
 * it; with few images of digits they have a third fewer errors than random weights
 * (bench/results/README.md). */
#ifndef TRAIN_START_CHOICE_H
#define TRAIN_START_CHOICE_H
#include "train/supervised/embedding_stage.h"

/* A train_embedding_stage.choose_start. Rows that options hold out to choose the epoch have no part
 * in the trials. Of up to 4,000 others each is held out once, in four folds; of more, a quarter of
 * 4,000 is held out. net, the learned start, becomes random weights if these have fewer errors, by
 * more than chance; stage->start has the result. After a failure, which are those of
 * train_embedding, net is unchanged. A trial that diverges has lost. */
taper_status train_start_choose(train_embedding_stage *stage, const train_embedding_choice *choice,
                                const train_embedding_options *options, const train_pixels *rows,
                                codec_network *net, taper_error *error);

#endif

/* taught.h -- what a teacher network (train/labelling) provides before an embedding is trained:
 * labels for unlabelled images, and initial hidden layers. The teacher does not see the labels of
 * held-out images. */
#ifndef TRAIN_TAUGHT_H
#define TRAIN_TAUGHT_H
#include "codec/backend/backend.h"
#include "train/supervised/embedding_choice.h"

typedef struct train_taught {
    /* Rows with their labels and the guessed ones. */
    train_pixels pixels;
    codec_network teacher;
    /* private: arrays of pixels */
    uint32_t *label;
    uint8_t *guessed;
} train_taught;

/* Trains a teacher on rows and fills taught; free it after a failure too. TAPER_ERR_ARG: no hidden
 * layers; as train_labelling, train_embedding_rows_take; stopped. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_teach(const train_embedding_choice *choice, const train_pixels *rows,
                         codec_backend *be, train_device *device,
                         const train_embedding_callbacks *callbacks, train_taught *taught,
                         taper_error *error);
/* Copies the teacher's hidden layers to net's, which have the same widths. */
void train_taught_start(const train_taught *taught, codec_network *net);
void train_taught_free(train_taught *taught); /* leaves it zeroed; zeroed is fine */

#endif

/* train_gradient_bits.h -- binary codes of gradient orientations (codec/transform/gradients.h):
 * their autoencoder learns from pictures of gradients, and its encoder alone becomes the model. */
#ifndef TRAIN_GRADIENT_BITS_H
#define TRAIN_GRADIENT_BITS_H
#include "codec/transform/gradients.h"
#include "formats/bytes.h"
#include "train/sampling/dataset.h"

/* The gradients of each image, as a grey picture of one row of cells for each kind of value. All
 * images must have one size, and the cells must be legal; at most CODEC_MAX_WINDOW_SIDE cells.
 * Free *pictures, after TAPER_ERR_NOMEM too. */
taper_status train_gradient_pictures(train_dataset *pictures, const train_dataset *data,
                                     codec_cells cells);

/* Replace a model's file, of a binary model of such pictures without feedback, by that of an
 * embedding model of images: its encoder, with the same bits. window: of the images.
 * TAPER_ERR_NOMEM. */
taper_status train_keep_gradient_encoder(formats_buffer *file, codec_window window,
                                         codec_cells cells, taper_error *error);

#endif

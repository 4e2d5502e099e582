/* label_spreading.h -- guesses labels of unlabelled images by spreading known labels along the
 * edges of a neighbour graph. Source: Zhou, Bousquet, Lal, Weston & Schoelkopf, "Learning with
 * local and global consistency", NIPS 2003: F = alpha S F + (1 - alpha) Y, with S the graph's
 * weights, Y 1 where an image has the label, and alpha 0.99. It is solved by conjugate gradients,
 * because 1 - alpha S is symmetric and positive definite. */
#ifndef TRAIN_LABEL_SPREADING_H
#define TRAIN_LABEL_SPREADING_H
#include "train/labelling/neighbour_graph.h"

/* guess[n]: the label with the largest F, or an image's own label; UINT32_MAX: no labelled image is
 * connected to it. sure[n], 0 .. 1: the share of that label in the image's F; 1 for its own label.
 * label[n]: below `classes`, or any other value for none. TAPER_ERR_NOMEM. */
taper_status train_spread_labels(const train_neighbour_graph *graph, const uint32_t *label,
                                 uint32_t classes, uint32_t *guess, float *sure);

#endif

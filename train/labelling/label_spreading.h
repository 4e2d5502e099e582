/* label_spreading.h -- labels for images that have none, from those that have one, along the edges
 * of a graph of neighbours: "Learning with local and global consistency", Zhou, Bousquet, Lal,
 * Weston & Schoelkopf, NIPS 2003: F = alpha S F + (1 - alpha) Y, S the graph's weights, Y 1 where
 * an image has the label, alpha 0.99; by conjugate gradients, as (1 - alpha S) is symmetric and
 * positive definite. */
#ifndef TRAIN_LABEL_SPREADING_H
#define TRAIN_LABEL_SPREADING_H
#include "train/labelling/neighbour_graph.h"

/* guess[n]: the label of the largest F of each image, its own where it has one; UINT32_MAX: no
 * labelled image can be reached. sure[n], 0 .. 1: its share in the image's F; 1 where it has one.
 * label[n]: below `classes`, or any other for none. TAPER_ERR_NOMEM. */
taper_status train_spread_labels(const train_neighbour_graph *graph, const uint32_t *label,
                                 uint32_t classes, uint32_t *guess, float *sure);

#endif

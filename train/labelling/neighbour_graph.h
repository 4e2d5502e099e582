/* neighbour_graph.h -- a weighted graph of nearest neighbours among images. Labels are spread along
 * its edges (label_spreading.h).
 *
 * Images are compared by their first principal components (at most TRAIN_GRAPH_COMPONENTS). These
 * find neighbours of the same class slightly more often than pixels do, in a tenth of the time
 * (bench/results/README.md). An edge joins two images if one is among the other's
 * TRAIN_GRAPH_NEIGHBOURS nearest. Its weight is exp(-D_ij / (s_i s_j)), with D squared distances
 * and s_i the distance of i's last neighbour (Zelnik-Manor & Perona, "Self-tuning spectral
 * clustering", NIPS 2004). It is divided by the root of the product of both images' sums of edge
 * weights. */
#ifndef TRAIN_NEIGHBOUR_GRAPH_H
#define TRAIN_NEIGHBOUR_GRAPH_H
#include "codec/backend/backend.h"
#include "train/device/device.h"
#include "train/sampling/dataset.h"

enum { TRAIN_GRAPH_COMPONENTS = 50, TRAIN_GRAPH_NEIGHBOURS = 5 };

/* Edges of image i: first[i] .. first[i + 1] - 1; each edge is stored at both ends. */
typedef struct train_neighbour_graph {
    size_t n;
    size_t *first; /* [n + 1] */
    uint32_t *to;  /* [first[n]] */
    float *weight; /* [first[n]] */
} train_neighbour_graph;

/* Labels are ignored. Free the graph, after a failure too. threads 0: one per online core. The
 * graph is the same on every device, for any number of threads. TAPER_ERR_ARG: fewer than two
 * images, or all are equal; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; errors of train_linear_layer. */
taper_status train_neighbour_graph_make(train_neighbour_graph *graph, const train_pixels *pixels,
                                        codec_backend *be, train_device *device, unsigned threads,
                                        taper_error *error);
void train_neighbour_graph_free(
    train_neighbour_graph *graph); /* leaves it zeroed; zeroed is fine */

#endif

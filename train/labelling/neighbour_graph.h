/* neighbour_graph.h -- images and those most like them: who is a neighbour of whom, and how much
 * that counts. Labels spread along its edges (label_spreading.h).
 *
 * Images are compared by their first principal components (at most TRAIN_GRAPH_COMPONENTS), which
 * find neighbours of the same class a little more often than pixels do, in a tenth of the time
 * (bench/results/README.md). An edge joins two images of which one is among the other's
 * TRAIN_GRAPH_NEIGHBOURS nearest; it weighs exp(-D_ij / (s_i s_j)), D squared distances and s_i the
 * distance of i's last neighbour (Zelnik-Manor & Perona, "Self-tuning spectral clustering", NIPS
 * 2004), over the root of the product of what both images' edges weigh together. */
#ifndef TRAIN_NEIGHBOUR_GRAPH_H
#define TRAIN_NEIGHBOUR_GRAPH_H
#include "codec/backend/backend.h"
#include "train/device/device.h"
#include "train/sampling/dataset.h"

enum { TRAIN_GRAPH_COMPONENTS = 50, TRAIN_GRAPH_NEIGHBOURS = 5 };

/* Edges of image i: first[i] .. first[i + 1] - 1; each is there from both ends. */
typedef struct train_neighbour_graph {
    size_t n;
    size_t *first; /* [n + 1] */
    uint32_t *to;  /* [first[n]] */
    float *weight; /* [first[n]] */
} train_neighbour_graph;

/* Labels are not looked at. graph: free it, after a failure, too. threads: 0: one per online core.
 * The same graph on every device, for any number of threads. TAPER_ERR_ARG: fewer than two images,
 * or all the same; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; what train_linear_layer returns. */
taper_status train_neighbour_graph_make(train_neighbour_graph *graph, const train_pixels *pixels,
                                        codec_backend *be, train_device *device, unsigned threads,
                                        taper_error *error);
void train_neighbour_graph_free(
    train_neighbour_graph *graph); /* leaves it zeroed; zeroed is fine */

#endif

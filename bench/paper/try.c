/* try.c -- one network by hand, to choose settings on held-out images. */
#include "bench/paper/parts.h"
#include <math.h>

void paper_part_try(paper *p) {
    paper_network network;
    paper_curve curve;
    paper_train(p, "try", "", NULL, &network);
    paper_lengths(&curve, network.net.units, 0);
    paper_measure(p, &network, &p->held_out, &curve);
    double octaves = 0.0;
    for (size_t i = 0; i < curve.n; i++) {
        printf("%4u bits  %9.2f\n", curve.length[i], curve.mse[i]);
        if (i)
            octaves += 0.5 * (curve.mse[i] + curve.mse[i - 1]) *
                       log2((double)curve.length[i] / curve.length[i - 1]);
    }
    printf("mean over octaves %.2f\n", octaves / log2((double)network.net.units));
    paper_network_free(&network);
}

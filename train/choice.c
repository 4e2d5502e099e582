/* choice.c -- see choice.h. */
#include "train/choice.h"
#include <math.h>

/* Payload bytes at a quality; NAN: not reached. Below the first layer's quality they are those of
 * the first layer. */
static double bytes_at(const train_rd_curve *c, double psnr) {
    if (c->n && psnr <= c->point[0].psnr_db) return c->point[0].bytes_per_image;
    return train_bytes_at(c, psnr);
}

/* Adds the cost of each model at one quality to its sum; 0: none reaches it. */
static int add_costs(const train_offer *offer, size_t n, double psnr, double raw_bytes,
                     uint64_t set_images, double *sum) {
    double missing = raw_bytes;
    int reached = 0;
    for (size_t i = 0; i < n; i++) {
        double bytes = bytes_at(offer[i].curve, psnr);
        if (!(bytes > 0)) continue;
        missing = fmax(missing, bytes);
        reached = 1;
    }
    for (size_t i = 0; i < n && reached; i++) {
        double bytes = bytes_at(offer[i].curve, psnr);
        sum[i] +=
            log((bytes > 0 ? bytes : missing) + (double)offer[i].model_bytes / (double)set_images);
    }
    return reached;
}

size_t train_choose(const train_offer *offer, size_t n, double raw_bytes, uint64_t set_images) {
    enum { MOST = 16 };
    static const double quality[] = {35, 30, 25, 20, 15, 10}; /* a ladder, and the one below it */
    double sum[MOST] = {0};
    size_t best = 0;
    int reached = 0;
    if (n > MOST) n = MOST;
    for (int i = 0; i < 6 && !(i == 3 && reached); i++)
        reached += add_costs(offer, n, quality[i], raw_bytes, set_images, sum);
    for (size_t i = 1; i < n; i++)
        if (sum[i] < sum[best]) best = i;
    return best;
}

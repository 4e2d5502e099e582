/* cascade_shares.c -- see cascade_shares.h. */
#include "codec/search/cascade_shares.h"
#include <math.h>

/* The distance after each layer. */
static void distances_after(const codec_ordered_index *index, const uint16_t *weight,
                            const uint64_t *code, size_t place,
                            double after[CODEC_INDEX_MOST_LAYERS]) {
    double so_far = 0;
    for (size_t l = 0; l < index->layers; l++) {
        const size_t width = codec_index_layer_words(index->words, l);
        so_far += weight[l] * (double)codec_bits_distance(code + codec_index_layer_first(l),
                                                          index->layer[l] + place * width, width);
        after[l] = so_far;
    }
}

void codec_shares_count(codec_share_sums *sums, const codec_ordered_index *index,
                        const uint16_t *weight, const uint64_t *code, size_t place) {
    const size_t last = index->layers - 1;
    double after[CODEC_INDEX_MOST_LAYERS];
    distances_after(index, weight, code, place, after);
    if (!after[last]) return;
    sums->pairs++;
    sums->whole += after[last];
    for (size_t l = 0; l <= last; l++) {
        sums->part[l] += after[l];
        sums->square[l] += after[l] * after[l] / after[last];
    }
}

/* Uses (d - c D)^2 / D = d^2 / D - 2 c d + c^2 D. */
void codec_shares_of(const codec_share_sums *sums, size_t layers, float *share) {
    for (size_t l = 0; l < layers; l++) {
        share[2 * l] = 1;
        share[2 * l + 1] = 0;
        if (!sums->pairs) continue;
        const double mean = sums->part[l] / sums->whole;
        const double spread =
            sums->square[l] - 2 * mean * sums->part[l] + mean * mean * sums->whole;
        share[2 * l] = (float)mean;
        share[2 * l + 1] = (float)sqrt(fmax(0, spread / sums->pairs));
    }
}

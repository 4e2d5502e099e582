/* build.c -- making an index: seconds, and bytes beside the codes; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/code_set.h"

static void measure(const retrieval_set *set, int falling, unsigned threads) {
    retrieval_index index;
    char config[256];
    retrieval_index_make(set, falling, threads, &index);
    taper_index_info info = {.size = sizeof info};
    taper_index_get_info(index.index, &info, NULL);
    snprintf(config, sizeof config,
             "{\"method\":\"build\",\"codes\":\"%s\",\"n\":%zu,\"bits\":%zu,\"weights\":\"%s\","
             "\"threads\":%u}",
             set->kind, set->n, set->bits, falling ? "falling" : "even", threads);
    bench_print("retrieval/build", "build", index.seconds, "s", config);
    bench_print("retrieval/build", "beside_codes",
                100 * (double)info.other_bytes / (double)info.code_bytes, "% of codes", config);
    bench_print("retrieval/build", "highest_measured_recall", info.recall, "of 10", config);
    retrieval_index_free(&index);
}

void retrieval_part_build(const retrieval *r) {
    retrieval_set set;
    retrieval_set_read(r, &set);
    for (int falling = 0; falling < 2; falling++)
        for (unsigned threads = 1; threads <= 2; threads++) measure(&set, falling, threads);
    retrieval_set_free(&set);
}

/* retrieval.c -- a benchmark of search among many codes of real images.
 *
 *     bench_retrieval PART --data DIR --out DIR [--model FILE.tpm] [--real FILE.tpm]
 *         [--images N] [--queries N] [--seed N] [--threads N]
 *
 * Files go to --out, words to standard error, JSON lines to standard output. Parts that belong
 * together are run with the same --data, --images, --queries and --seed. */
#include "bench/retrieval/retrieval.h"
#include "bench/bench.h"
#include "cli/common/heap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const retrieval_part parts[] = {
    {"codes", "codes of references and queries, in bits", retrieval_part_codes},
    {"truth", "the true neighbours of queries, by pixels and by real codes", retrieval_part_truth},
    {"sheet", "a picture of some references, to look at", retrieval_part_sheet},
    {NULL, NULL, NULL},
};

static void usage(void) {
    fprintf(stderr, "usage: bench_retrieval PART --data DIR --out DIR [--model FILE.tpm] "
                    "[--real FILE.tpm]\n"
                    "       [--images N] [--queries N] [--seed N] [--threads N]\n");
    for (const retrieval_part *part = parts; part->name; part++)
        fprintf(stderr, "  %-8s %s\n", part->name, part->does);
    exit(2);
}

static void read_arguments(retrieval *r, int argc, char **argv) {
    const figures_option options[] = {{"--data", .text = &r->data},
                                      {"--out", .text = &r->out},
                                      {"--model", .text = &r->model},
                                      {"--real", .text = &r->real},
                                      {"--images", .number = &r->images},
                                      {"--queries", .number = &r->queries},
                                      {"--seed", .number = &r->seed},
                                      {"--threads", .number = &r->threads},
                                      {0}};
    if (!figures_read(options, argc, argv) || !r->data || !r->out) usage();
    if (!r->images || !r->queries) figures_die("--images and --queries are 1 or more");
    if (mkdir(r->out, 0777) != 0 && errno != EEXIST) figures_die("%s: %s", r->out, strerror(errno));
}

int main(int argc, char **argv) {
    cli_heap_keep();
    bench_begin(argc, argv);
    retrieval r = {.images = 1000000, .queries = 1000, .seed = 1};
    const retrieval_part *part = parts;
    while (part->name && argc > 1 && strcmp(part->name, argv[1]) != 0) part++;
    if (argc < 2 || !part->name) usage();
    read_arguments(&r, argc, argv);
    part->run(&r);
    return 0;
}

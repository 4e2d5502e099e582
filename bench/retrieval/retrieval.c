/* retrieval.c -- a benchmark of search among many codes of real images.
 *
 *     bench_retrieval PART --out DIR [--data DIR] [--model FILE.tpm] [--real FILE.tpm]
 *         [--truth DIR] [--images N] [--queries N] [--bits N] [--seed N] [--threads N]
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
    {"codes", "codes of references and queries, in bits", 1, retrieval_part_codes},
    {"truth", "the true neighbours of queries, by pixels and by real codes", 1,
     retrieval_part_truth},
    {"sheet", "a picture of some references, to look at", 1, retrieval_part_sheet},
    {"query-time", "neighbourhoods: time, size, recall", 0, retrieval_part_query_time},
    {"lengths", "neighbourhoods, scans, semantic hashing by code length", 0,
     retrieval_part_lengths},
    {"multi-index", "a rival: exact neighbours by multi-index hashing, by code length", 0,
     retrieval_part_multi_index},
    {"growth", "neighbourhoods by how many codes there are", 0, retrieval_part_growth},
    {"recall", "nearest neighbours by the recall asked for", 0, retrieval_part_recall},
    {"scan", "exact search beside a scan of all bits", 0, retrieval_part_scan},
    {"shortlist", "the nearest by a quarter of the bits, ranked by all", 0,
     retrieval_part_shortlist},
    {"margins", "what is found, ranked by how sure a query's bits are", 1, retrieval_part_margins},
    {"build", "an index: seconds and bytes", 0, retrieval_part_build},
    {"page", "OUT/index.html and its plots, of records in OUT", 0, retrieval_part_page},
    {"precision", "classes of ten neighbours by code length, beside bits of projections", 1,
     retrieval_part_precision},
    {"neighbourhoods", "a picture of nested neighbourhoods", 1, retrieval_part_neighbourhoods},
    {NULL, NULL, 0, NULL},
};

static void usage(void) {
    fprintf(stderr, "usage: bench_retrieval PART --out DIR [--data DIR] [--model FILE.tpm] "
                    "[--real FILE.tpm]\n"
                    "       [--truth DIR] [--images N] [--queries N] [--bits N] [--seed N] "
                    "[--threads N]\n");
    for (const retrieval_part *part = parts; part->name; part++)
        fprintf(stderr, "  %-14s %s\n", part->name, part->does);
    exit(2);
}

static void read_arguments(retrieval *r, const retrieval_part *part, int argc, char **argv) {
    const figures_option options[] = {{"--data", .text = &r->data},
                                      {"--out", .text = &r->out},
                                      {"--model", .text = &r->model},
                                      {"--real", .text = &r->real},
                                      {"--truth", .text = &r->truth},
                                      {"--images", .number = &r->images},
                                      {"--queries", .number = &r->queries},
                                      {"--bits", .number = &r->bits},
                                      {"--seed", .number = &r->seed},
                                      {"--threads", .number = &r->threads},
                                      {0}};
    if (!figures_read(options, argc, argv) || !r->out) usage();
    if (part->needs_data && !r->data) figures_die("%s needs --data", part->name);
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
    read_arguments(&r, part, argc, argv);
    part->run(&r);
    return 0;
}

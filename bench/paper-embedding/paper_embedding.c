/* paper_embedding.c -- the tables and figures of the papers on codes whose nearest neighbours share
 * their label (embedding.h).
 *
 *     paper_embedding PART [--out DIR] [--work DIR] [--cells "PATTERN ..."] [--seed N] [--quick]
 *         [--threads N] [--set "KEY=VALUE ..."] [--device cpu|auto|cuda:N]
 *
 * TAPER_DATA names the folder that holds mnist/ and usps/ (sets.h). Records go to --out, SET.jsonl
 * and pictures; words to standard error; what is learned, to be gone on with, to --work. --cells
 * chooses cells by shell patterns, --set adds settings to every recipe (settings.h).
 * bench/paper-embedding/run.sh calls this. */
#include "cli/common/heap.h"
#include "bench/bench.h"
#include "bench/paper-embedding/embedding.h"
#include <stdlib.h>
#include <string.h>

static const embedding_part parts[] = {
    {"mnist", "cells of MNIST that are asked for and have no record", embedding_part_mnist},
    {"usps", "cells of USPS, likewise", embedding_part_usps},
    {"circles", "cells of the guide's circles, likewise", embedding_part_circles},
    {"speed", "time and storage of k-NN, JSON lines on standard output", embedding_part_speed},
    {"page", "OUT/index.html from records and pictures", embedding_part_page},
    {"list", "all cells, those without a record with their price", embedding_part_list},
    {"try", "cells on the validation part of training images; nothing is kept", embedding_part_try},
    {NULL, NULL, NULL},
};

static void usage(void) {
    fprintf(stderr, "usage: paper_embedding PART [--out DIR] [--work DIR] [--cells \"PATTERN ...\"]"
                    " [--seed N]\n"
                    "       [--quick] [--threads N] [--set \"KEY=VALUE ...\"] [--device NAME]\n");
    for (const embedding_part *part = parts; part->name; part++)
        fprintf(stderr, "  %-8s %s\n", part->name, part->does);
    exit(2);
}

static void read_arguments(embedding *e, int argc, char **argv) {
    const figures_option options[] = {{"--out", .text = &e->figures.out},
                                      {"--work", .text = &e->figures.work},
                                      {"--cells", .text = &e->patterns},
                                      {"--set", .text = &e->extra},
                                      {"--device", .text = &e->device_name},
                                      {"--seed", .number = &e->seed},
                                      {"--threads", .number = &e->threads},
                                      {"--quick", .flag = &e->quick},
                                      {0}};
    if (!figures_read(options, argc, argv)) usage();
}

int main(int argc, char **argv) {
    cli_heap_keep();
    bench_begin(argc, argv);
    const char *data = getenv("TAPER_DATA");
    embedding e = {.figures = {.out = "build/paper-embedding", .work = "build/paper-embedding"},
                   .data = data ? data : ".",
                   .patterns = "",
                   .extra = "",
                   .seed = 1,
                   .threads = 2,
                   .device_name = "cpu"};
    const embedding_part *part = parts;
    while (part->name && argc > 1 && strcmp(part->name, argv[1]) != 0) part++;
    if (argc < 2 || !part->name) usage();
    read_arguments(&e, argc, argv);
    codec_backend_cpu(&e.be);
    figures_check(codec_backend_set_threads(&e.be, e.threads), "threads", NULL);
    taper_error error = {0};
    if (!cli_device_is_name(e.device_name) || cli_device_is_missing(e.device_name))
        figures_die("no device %s", e.device_name);
    cli_common common = {.device = e.device_name};
    figures_check(cli_device_open(&e.device, &common, NULL, &e.be, TRAIN_FLOAT32, &error),
                  e.device_name, &error);
    part->run(&e);
    cli_device_close(&e.device);
    codec_backend_close(&e.be);
    return 0;
}

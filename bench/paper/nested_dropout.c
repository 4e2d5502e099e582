/* nested_dropout.c -- the figures of Rippel, Gelbart & Adams, Learning ordered representations with
 * nested dropout (2014).
 *
 *     nested_dropout PART [--out DIR] [--work DIR] [--quick] [--threads N] [--set "KEY=VALUE ..."]
 *         [--kinds "untied-feedback untied"] [--dedicated "untied"] [--seeds "1 2 3"]
 *
 * TAPER_DATA names the folder of images (data.c). JSON lines go to standard output, words to
 * standard error, figures to --out, checkpoints and sections of the page to --work. --set adds
 * settings to those of every network on images; --kinds, --dedicated and --seeds choose networks
 * where there are several (kinds.h). bench/paper/run.sh calls this. */
#include "cli/common/heap.h"
#include "bench/bench.h"
#include "bench/paper/parts.h"
#include "train/processor/processor.h"
#include <stdlib.h>
#include <string.h>

const paper_part paper_parts[] = {
    {"fig1", "100 filters with and without unit sweeping", paper_part_fig1},
    {"fig2", "pinwheel, nested neighbourhoods", paper_part_fig2},
    {"fig5a", "test images from their first bits", paper_part_fig5a},
    {"fig5b", "error against code length, all methods", paper_part_fig5b},
    {"baselines", "nested codes against the strongest rivals", paper_part_baselines},
    {"adaptive", "adaptive against fixed regularisation", paper_part_adaptive},
    {"invariance", "bits that flip under noise", paper_part_invariance},
    {"broadcast", "one code for many bandwidths", paper_part_broadcast},
    {"theory", "figures of the tests of section 3, from standard input", paper_part_theory},
    {"try", "train one network as --set says; errors on held-out images", paper_part_try},
    {"page", "put the sections of the parts together", paper_part_page},
    {NULL, NULL, NULL},
};

static void usage(void) {
    fprintf(stderr, "usage: nested_dropout PART [--out DIR] [--work DIR] [--quick] [--threads N] "
                    "[--set \"KEY=VALUE ...\"]\n"
                    "       [--kinds \"untied-feedback untied tied-feedback tied\"] "
                    "[--dedicated \"KIND ...\"] [--seeds \"1 2 3\"]\n");
    for (const paper_part *part = paper_parts; part->name; part++)
        fprintf(stderr, "  %-10s %s\n", part->name, part->does);
    exit(2);
}

static void read_arguments(paper *p, int argc, char **argv) {
    const figures_option options[] = {{"--out", .text = &p->figures.out},
                                      {"--work", .text = &p->figures.work},
                                      {"--set", .text = &p->extra},
                                      {"--kinds", .text = &p->kinds},
                                      {"--dedicated", .text = &p->dedicated},
                                      {"--seeds", .text = &p->seeds},
                                      {"--threads", .number = &p->threads},
                                      {"--quick", .flag = &p->quick},
                                      {0}};
    if (!figures_read(options, argc, argv)) usage();
}

int main(int argc, char **argv) {
    cli_heap_keep();
    bench_begin(argc, argv);
    const char *data = getenv("TAPER_DATA");
    paper p = {.data = data ? data : ".",
               .figures = {.out = "build/paper", .work = "build/paper"},
               .extra = "",
               .kinds = "untied-feedback untied tied",
               .dedicated = "untied-feedback untied",
               .seeds = "1 2 3",
               .threads = 2};
    const paper_part *part = paper_parts;
    while (part->name && argc > 1 && strcmp(part->name, argv[1]) != 0) part++;
    if (argc < 2 || !part->name) usage();
    read_arguments(&p, argc, argv);
    if (p.quick && !p.extra[0]) p.extra = "epochs=2 images=4000 batch=100";
    codec_backend_cpu(&p.be);
    figures_check(codec_backend_set_threads(&p.be, p.threads), "threads", NULL);
    figures_check(train_processor_open(&p.device, &p.be, TRAIN_PROCESSOR), "device", NULL);
    part->run(&p);
    train_processor_close(&p.device);
    codec_backend_close(&p.be);
    free(p.training.pixels), free(p.held_out.pixels), free(p.test.pixels), free(p.mean);
    return 0;
}

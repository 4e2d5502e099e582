/* embedding.h -- what the parts of paper_embedding share.
 *
 * The program makes the tables and figures of three papers on codes whose nearest neighbours share
 * their label:
 *   dt-embedding     Min, van der Maaten, Yuan, Bonner & Zhang, Deep supervised t-distributed
 *                    embedding (ICML 2010): tables 1 and 2, figures 2 and 3
 *   nonlinear NCA    Salakhutdinov & Hinton, Learning a nonlinear embedding by preserving class
 *                    neighbourhood structure (AISTATS 2007): figure 4
 *   NCA, a guide     its figure of concentric circles, and its table of time and storage
 * The unit of work is a CELL of a table: one run, whose record is kept, so that a long table is
 * filled piece by piece. The page is made of records and pictures alone.
 *
 * Directory bench/paper-embedding/:
 *   cells        the cells, by name; recipes: what each is learned with
 *   sets         images and labels: MNIST, USPS and its splits, circles, drawn digits
 *   circles      the guide's synthetic data
 *   learn        a cell to a network; baselines: in closed form; stacks: pretrained layers, shared
 *   judge        a network to errors of k-NN
 *   records      JSON lines, kept and found again
 *   scatter      codes of two numbers as a picture; sweep: what one unit says of an image
 *   speed        time and storage of k-NN in pixels and in codes
 *   semi         few labels and split codes, on the page; nested: codes for every length;
 *                preset: what train-labels makes of sets
 *   tables page  what the papers have beside what is here */
#ifndef BENCH_PAPER_EMBEDDING_H
#define BENCH_PAPER_EMBEDDING_H
#include "bench/figures/figures.h"
#include "cli/device.h"
#include "codec/backend/backend.h"

typedef struct embedding {
    figures figures;
    const char *data;     /* folder that holds mnist/ and usps/; from TAPER_DATA */
    const char *patterns; /* of the cells that are to be run, shell patterns */
    const char *extra;    /* settings put after those of every recipe; "" usually */
    uint32_t seed;        /* of all cells */
    int quick;            /* few drawn digits, few epochs: to see that all runs */
    unsigned threads;
    codec_backend be;
    const char *device_name; /* as --device of taper */
    cli_device device;
} embedding;

typedef struct embedding_part {
    const char *name, *does;
    void (*run)(embedding *e);
} embedding_part;

void embedding_part_mnist(embedding *e);
void embedding_part_usps(embedding *e);
void embedding_part_circles(embedding *e);
void embedding_part_speed(embedding *e);
void embedding_part_page(embedding *e);
void embedding_part_list(embedding *e); /* cells, whether they have a record, prices */
void embedding_part_try(embedding *e);  /* cells on the validation part; nothing is kept */
#endif

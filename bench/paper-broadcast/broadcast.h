/* broadcast.h -- a broadcast to receivers of many bandwidths: what pictures cost and look like as
 * files of other codecs and as cuts of a container.
 *
 * Directory bench/paper-broadcast/: the program that codes, decodes, draws and writes the page;
 * scripts for the rest.
 *     broadcast         the program, its parts
 *     coding            one picture as a file, and files as pictures
 *     enlarge           a small picture at its full size
 *     pages             plots and the page
 *     population.py     bandwidths: histograms, seeded draws
 *     ladder.py         the best seven files for a histogram
 *     offers.py         what the pictures cost and show, measured once
 *     sockets.py        a server and receivers over TCP
 *     over_tcp.py       what is served, asked for and seen
 *     report.py         the table, the plots and the page
 *     paper_broadcast.py  all of it in order
 *     run.sh            the command, its price and its settings */
#ifndef BENCH_PAPER_BROADCAST_BROADCAST_H
#define BENCH_PAPER_BROADCAST_BROADCAST_H
#include "cli/compare/rival.h"

/* A file that a sender may offer: a picture at 1/scale of its sides. */
typedef struct broadcast_rung {
    const cli_rival *codec;
    unsigned scale;   /* 1, 2, 4, 8 */
    unsigned setting; /* of the codec's settings */
    double quality;
} broadcast_rung;

/* A picture of 8 bits without alpha; its pixels are the caller's to free. */
taper_image broadcast_read(const char *path);
/* Code the picture as a rung, append it to *file. psnr: what a receiver sees, in dB; or NULL. */
void broadcast_code(const broadcast_rung *rung, const taper_image *picture, formats_buffer *file,
                    double *psnr);
/* A progressive JPEG of the picture, which can be shown from any prefix that has its first scan. */
void broadcast_code_progressive(const taper_image *picture, double quality, formats_buffer *file);
/* What a receiver shows that has n bytes of a rung's file, at full size; setting and quality do not
 * matter. Without anything to show a grey picture. Its pixels are the caller's to free. */
taper_image broadcast_see(const broadcast_rung *rung, const taper_image *picture,
                          const uint8_t *bytes, size_t n);
/* The same of a container of these pictures, one call of seen for each. */
typedef void broadcast_seen_fn(void *user, const taper_image *picture, const taper_image *shown);
void broadcast_see_container(const uint8_t *bytes, size_t n, const taper_image *picture,
                             size_t pictures, broadcast_seen_fn *seen, void *user);
/* The mean PSNR in dB of what is seen of these pictures; of files of other codecs one picture.
 * rung->codec NULL: a container. */
double broadcast_show(const broadcast_rung *rung, const uint8_t *bytes, size_t n,
                      const taper_image *picture, size_t pictures);
/* PSNR of a grey picture. */
double broadcast_show_nothing(const taper_image *picture);

/* The codec of that name, loaded; NULL of "taper". */
const cli_rival *broadcast_codec(const char *name);

/* Enlarge by cubic interpolation (Catmull and Rom) to the size of *out, whose pixels are there. */
void broadcast_enlarge(const taper_image *small, taper_image *out);

/* Of standard input: lines SERIES, x, y with tabs between; OUT/STEM.svg, .png, .gp, .csv. */
void broadcast_plot(int argc, char **argv);
/* OUT/index.html of standard input, see pages.c. */
void broadcast_page(int argc, char **argv);
#endif

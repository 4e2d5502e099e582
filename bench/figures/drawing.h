/* drawing.h -- pictures of pictures: a raster with words and dots on it, as PNG and as SVG.
 *
 * Both show a pixel of the raster as a square of `zoom`, in which words and dots are measured. The
 * SVG holds the raster as it is and the words and dots as shapes; in the PNG these are drawn. The
 * SVG has no background, and its words have the colour of the text of the page that it is in. */
#ifndef BENCH_FIGURES_DRAWING_H
#define BENCH_FIGURES_DRAWING_H
#include "bench/figures/figures.h"

enum { FIGURES_MAX_MARKS = 400, FIGURES_MAX_CLOUDS = 400 };

typedef struct figures_mark {
    float x, y;    /* a word's lower left corner; a dot's centre */
    float size;    /* height of a capital; radius */
    char word[64]; /* "": a dot */
    uint8_t colour[3];
} figures_mark;

/* Many dots of one kind, below the marks: one element of the SVG. */
typedef struct figures_cloud {
    float *xy; /* [n][2] owned */
    size_t n;
    float radius;
    uint8_t colour[3];
} figures_cloud;

typedef struct figures_drawing {
    uint32_t width, height, zoom; /* of the raster */
    uint8_t *rgb;                 /* owned */
    uint8_t *is_drawn;            /* owned: 255 where an image is, else 0 */
    figures_mark mark[FIGURES_MAX_MARKS];
    size_t marks;
    figures_cloud cloud[FIGURES_MAX_CLOUDS];
    size_t clouds;
} figures_drawing;

void figures_draw_begin(figures_drawing *d, uint32_t width, uint32_t height,
                        uint32_t zoom); /* white */
/* A planar image of bytes, its upper left corner at (x, y) of the raster. */
void figures_draw_image(figures_drawing *d, uint32_t x, uint32_t y, const uint8_t *planes,
                        uint32_t side, uint32_t channels);
void figures_draw_word(figures_drawing *d, float x, float y, float size, const char *word);
void figures_draw_dot(figures_drawing *d, float x, float y, float radius, const uint8_t colour[3]);
/* n dots at xy[n][2], which are copied. Of two clouds the later one is on top. */
void figures_draw_cloud(figures_drawing *d, const float *xy, size_t n, float radius,
                        const uint8_t colour[3]);
/* OUT/STEM.png and OUT/STEM.svg; frees the drawing. alt: what is to be seen. */
void figures_draw_end(const figures *f, figures_drawing *d, const char *stem, const char *alt);
#endif

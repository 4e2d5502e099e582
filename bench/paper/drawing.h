/* drawing.h -- pictures of pictures: a raster with words and dots on it, as PNG and as SVG.
 *
 * Both show a pixel of the raster as a square of `zoom`, in which words and dots are measured. The
 * SVG holds the raster as it is and the words and dots as shapes; in the PNG these are drawn. */
#ifndef BENCH_PAPER_DRAWING_H
#define BENCH_PAPER_DRAWING_H
#include "bench/paper/paper.h"

enum { PAPER_MAX_MARKS = 400 };

typedef struct paper_mark {
    float x, y;    /* a word's lower left corner; a dot's centre */
    float size;    /* height of a capital; radius */
    char word[32]; /* "": a dot */
    uint8_t colour[3];
} paper_mark;

typedef struct paper_drawing {
    uint32_t width, height, zoom; /* of the raster */
    uint8_t *rgb;                 /* owned */
    paper_mark mark[PAPER_MAX_MARKS];
    size_t marks;
} paper_drawing;

void paper_draw_begin(paper_drawing *d, uint32_t width, uint32_t height, uint32_t zoom); /* white */
/* A planar image of bytes, its upper left corner at (x, y) of the raster. */
void paper_draw_image(paper_drawing *d, uint32_t x, uint32_t y, const uint8_t *planes,
                      uint32_t side, uint32_t channels);
void paper_draw_word(paper_drawing *d, float x, float y, float size, const char *word);
void paper_draw_dot(paper_drawing *d, float x, float y, float radius, const uint8_t colour[3]);
/* OUT/STEM.png and OUT/STEM.svg; frees the drawing. alt: what is to be seen. */
void paper_draw_end(const paper *p, paper_drawing *d, const char *stem, const char *alt);
#endif

/* scatter.c -- see scatter.h. */
#include "bench/paper-embedding/scatter.h"
#include "bench/figures/drawing.h"
#include "bench/paper-embedding/sets.h"
#include <stdlib.h>

enum { SIDE = 600, TOP = 34, LEGEND = 56, ZOOM = 2, MARGIN = 12, CHUNKS = 16, OUTSIDE = 500 };

static const uint8_t colours[EMBEDDING_CLASSES][3] = {
    {31, 119, 180}, {255, 127, 14},  {44, 160, 44},   {214, 39, 40},  {148, 103, 189},
    {140, 86, 75},  {227, 119, 194}, {127, 127, 127}, {188, 189, 34}, {23, 190, 207}};

typedef struct frame {
    double scale, middle[2]; /* of codes; scale: pixels of the picture a unit */
} frame;

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Where all but one in OUTSIDE lie, on each side. */
static frame frame_of(const float *codes, size_t n) {
    float *sorted = figures_memory(n, sizeof *sorted);
    double widest = 1e-30, middle[2];
    for (int axis = 0; axis < 2; axis++) {
        for (size_t i = 0; i < n; i++) sorted[i] = codes[2 * i + (size_t)axis];
        qsort(sorted, n, sizeof *sorted, by_size);
        double low = (double)sorted[n / OUTSIDE], high = (double)sorted[n - 1 - n / OUTSIDE];
        middle[axis] = 0.5 * (low + high);
        if (high - low > widest) widest = high - low;
    }
    free(sorted);
    return (frame){(SIDE - 2 * MARGIN) / widest, {middle[0], middle[1]}};
}

static float place(double x) {
    const double half = SIDE / 2.0 - 4.0;
    return (float)(x < -half ? -half : x > half ? half : x);
}

static void to_picture(const frame *f, const float code[2], float xy[2]) {
    xy[0] = SIDE / 2.0f + place(f->scale * ((double)code[0] - f->middle[0]));
    xy[1] = TOP + SIDE / 2.0f - place(f->scale * ((double)code[1] - f->middle[1]));
}

/* A share of the rows after the other, so that no class hides all others. */
static void draw_dots(figures_drawing *d, const frame *f, const float *codes,
                      const train_pixels *rows) {
    float *xy = figures_memory(rows->n, sizeof(float[2]));
    const float radius = rows->n > 4000 ? 1.3f : 2.0f;
    for (size_t chunk = 0; chunk < CHUNKS; chunk++)
        for (uint32_t class = 0; class < EMBEDDING_CLASSES; class ++) {
            size_t n = 0;
            for (size_t i = rows->n * chunk / CHUNKS; i < rows->n * (chunk + 1) / CHUNKS; i++)
                if (rows->label[i] == class) to_picture(f, codes + 2 * i, xy + 2 * n++);
            if (n) figures_draw_cloud(d, xy, n, radius, colours[class]);
        }
    free(xy);
}

static void draw_legend(figures_drawing *d, const train_pixels *rows) {
    uint32_t classes = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->label[i] >= classes) classes = rows->label[i] + 1;
    for (uint32_t class = 0; class < classes; class ++) {
        float y = TOP + 24.0f + 30.0f * (float)class;
        char word[4];
        snprintf(word, sizeof word, "%u", class % 10);
        figures_draw_dot(d, SIDE + 16.0f, y - 7.0f, 7.0f, colours[class]);
        figures_draw_word(d, SIDE + 32.0f, y, 14.0f, word);
    }
}

static void draw_frame(figures_drawing *d) {
    for (uint32_t i = 0; i < SIDE / ZOOM; i++)
        for (int edge = 0; edge < 4; edge++) {
            uint32_t far = SIDE / ZOOM - 1,
                     x = edge < 2    ? i
                         : edge == 2 ? 0
                                     : far,
                     y = TOP / ZOOM + (edge < 2 ? (edge ? far : 0) : i);
            for (int c = 0; c < 3; c++) d->rgb[3 * ((size_t)y * d->width + x) + (size_t)c] = 215;
        }
}

void embedding_scatter(const embedding *e, const char *stem, const char *title, const float *codes,
                       const train_pixels *rows) {
    figures_drawing *d = figures_memory(1, sizeof *d);
    frame f = frame_of(codes, rows->n);
    figures_draw_begin(d, (SIDE + LEGEND) / ZOOM, (SIDE + TOP) / ZOOM, ZOOM);
    figures_draw_word(d, 2.0f, 22.0f, 14.0f, title);
    draw_frame(d);
    draw_dots(d, &f, codes, rows);
    draw_legend(d, rows);
    figures_draw_end(&e->figures, d, stem, title);
    free(d);
}

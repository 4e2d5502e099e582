/* drawing.c -- see drawing.h. */
#include "bench/figures/drawing.h"
#include "cli/common/page.h"
#include "formats/images/png.h"
#include "samples/letters.h"
#include <stdlib.h>
#include <string.h>

void figures_draw_begin(figures_drawing *d, uint32_t width, uint32_t height, uint32_t zoom) {
    *d = (figures_drawing){.width = width, .height = height, .zoom = zoom};
    d->rgb = figures_memory((size_t)width * height, 3);
    memset(d->rgb, 255, (size_t)width * height * 3);
    d->is_drawn = figures_memory((size_t)width * height, 1);
    memset(d->is_drawn, 0, (size_t)width * height);
}

void figures_draw_image(figures_drawing *d, uint32_t x, uint32_t y, const uint8_t *planes,
                        uint32_t side, uint32_t channels) {
    size_t places = (size_t)side * side;
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            if (y + i >= d->height || x + j >= d->width) continue;
            uint8_t *to = d->rgb + 3 * ((size_t)(y + i) * d->width + x + j);
            const uint8_t *from = planes + (size_t)i * side + j;
            for (uint32_t c = 0; c < 3; c++) to[c] = from[channels == 3 ? c * places : 0];
            d->is_drawn[(size_t)(y + i) * d->width + x + j] = 255;
        }
}

static figures_mark *new_mark(figures_drawing *d, float x, float y, float size) {
    if (d->marks == FIGURES_MAX_MARKS) figures_die("too many marks on a picture");
    figures_mark *m = &d->mark[d->marks++];
    *m = (figures_mark){.x = x, .y = y, .size = size};
    return m;
}

void figures_draw_word(figures_drawing *d, float x, float y, float size, const char *word) {
    figures_mark *m = new_mark(d, x, y, size);
    snprintf(m->word, sizeof m->word, "%s", word);
}

void figures_draw_dot(figures_drawing *d, float x, float y, float radius, const uint8_t colour[3]) {
    memcpy(new_mark(d, x, y, radius)->colour, colour, 3);
}

void figures_draw_cloud(figures_drawing *d, const float *xy, size_t n, float radius,
                        const uint8_t colour[3]) {
    if (d->clouds == FIGURES_MAX_CLOUDS) figures_die("too many clouds on a picture");
    figures_cloud *cloud = &d->cloud[d->clouds++];
    *cloud = (figures_cloud){figures_memory(n, sizeof(float[2])), n, radius, {0}};
    memcpy(cloud->xy, xy, n * sizeof(float[2]));
    memcpy(cloud->colour, colour, 3);
}

/* --- PNG ------------------------------------------------------------------------------- */

static void encode_png(const uint8_t *rgb, uint32_t width, uint32_t height, uint8_t channels,
                       uint8_t **bytes, size_t *n) {
    union {
        const uint8_t *from;
        void *pixels;
    } view = {.from = rgb}; /* the encoder only reads */
    taper_image image = {width, height, channels, 8, view.pixels};
    taper_error error = {0};
    figures_check(formats_png_encode(&image, bytes, n, &error), "PNG", &error);
}

/* The raster, transparent where it is white and no image is. */
static void encode_raster(const figures_drawing *d, uint8_t **bytes, size_t *n) {
    const size_t places = (size_t)d->width * d->height;
    uint8_t *rgba = figures_memory(places, 4);
    for (size_t i = 0; i < places; i++) {
        const uint8_t *p = d->rgb + 3 * i;
        memcpy(rgba + 4 * i, p, 3);
        rgba[4 * i + 3] = p[0] == 255 && p[1] == 255 && p[2] == 255 ? d->is_drawn[i] : 255;
    }
    encode_png(rgba, d->width, d->height, 4, bytes, n);
    free(rgba);
}

static void fill_cloud(samples_canvas *c, const figures_cloud *cloud) {
    samples_texture ink = samples_texture_flat((samples_colour){(float)cloud->colour[0] / 255,
                                                                (float)cloud->colour[1] / 255,
                                                                (float)cloud->colour[2] / 255});
    samples_look look = {.texture = &ink, .opacity = 1.0f, .softness = 1.0f};
    for (size_t i = 0; i < cloud->n; i++)
        samples_canvas_disc(c, cloud->xy[2 * i], cloud->xy[2 * i + 1], cloud->radius, &look);
}

static void stroke(samples_canvas *c, const figures_mark *m) {
    samples_texture ink = samples_texture_flat((samples_colour){
        (float)m->colour[0] / 255, (float)m->colour[1] / 255, (float)m->colour[2] / 255});
    samples_look look = {.texture = &ink, .opacity = 1.0f, .softness = 1.0f};
    float x = m->x;
    if (!m->word[0]) samples_canvas_disc(c, m->x, m->y, m->size, &look);
    for (const char *letter = m->word; *letter; letter++) {
        samples_path path = {0};
        char capital = *letter >= 'a' && *letter <= 'z' ? (char)(*letter - 'a' + 'A') : *letter;
        x += samples_letter(&path, capital, x, m->y, m->size);
        samples_canvas_stroke(c, &path, 0.055f * m->size + 0.25f, &look);
    }
}

/* The raster, zoomed, with its marks drawn on it. */
static uint8_t *with_marks(const figures_drawing *d) {
    samples_canvas canvas;
    size_t width = (size_t)d->width * d->zoom, n = width * d->height * d->zoom;
    if (!samples_canvas_make(&canvas, (int)width, (int)(d->height * d->zoom)))
        figures_die("no memory for a picture");
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = d->rgb + 3 * (i / width / d->zoom * d->width + i % width / d->zoom);
        canvas.pixel[i] =
            (samples_colour){(float)from[0] / 255, (float)from[1] / 255, (float)from[2] / 255};
    }
    for (size_t i = 0; i < d->clouds; i++) fill_cloud(&canvas, &d->cloud[i]);
    for (size_t i = 0; i < d->marks; i++) stroke(&canvas, &d->mark[i]);
    uint8_t *rgb = figures_memory(n, 3);
    samples_canvas_to_rgb8(&canvas, rgb);
    samples_canvas_free(&canvas);
    return rgb;
}

/* --- SVG ------------------------------------------------------------------------------- */

/* Strokes of no length with round ends. */
static void put_cloud(FILE *to, const figures_cloud *cloud) {
    unsigned colour =
        (unsigned)cloud->colour[0] << 16 | (unsigned)cloud->colour[1] << 8 | cloud->colour[2];
    if (!cloud->n) return;
    fprintf(to,
            "<path fill=\"none\" stroke-linecap=\"round\" stroke-width=\"%.1f\" "
            "stroke=\"#%06x\" d=\"",
            2.0 * (double)cloud->radius, colour);
    for (size_t i = 0; i < cloud->n; i++)
        fprintf(to, "M%.1f %.1fh0", (double)cloud->xy[2 * i], (double)cloud->xy[2 * i + 1]);
    fputs("\"/>\n", to);
}

static void put_svg(FILE *to, const figures_drawing *d, const uint8_t *png, size_t n,
                    const char *alt) {
    uint32_t width = d->width * d->zoom, height = d->height * d->zoom;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"0 0 %u %u\">\n<title>%s</title>\n"
            "<style>svg:root{color-scheme:light dark;color:#1b1f24}"
            "@media(prefers-color-scheme:dark){svg:root{color:#e3e7eb;background:#14181d}}"
            "</style>\n",
            width, height, width, height, alt);
    fprintf(to,
            "<image width=\"%u\" height=\"%u\" style=\"image-rendering:pixelated\" "
            "href=\"data:image/png;base64,",
            width, height);
    cli_page_base64(to, png, n);
    fputs("\"/>\n", to);
    for (size_t i = 0; i < d->clouds; i++) put_cloud(to, &d->cloud[i]);
    for (size_t i = 0; i < d->marks; i++) {
        const figures_mark *m = &d->mark[i];
        unsigned colour = (unsigned)m->colour[0] << 16 | m->colour[1] << 8 | m->colour[2];
        if (m->word[0])
            fprintf(to,
                    "<text x=\"%.1f\" y=\"%.1f\" font-family=\"sans-serif\" font-size=\"%.1f\" "
                    "fill=\"currentColor\">%s</text>\n",
                    (double)m->x, (double)m->y, 1.35 * (double)m->size, m->word);
        else
            fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#%06x\"/>\n",
                    (double)m->x, (double)m->y, (double)m->size, colour);
    }
    fputs("</svg>\n", to);
}

static void write_file(const figures *f, const char *stem, const char *suffix, const void *bytes,
                       size_t n) {
    char *path = figures_path(f->out, "%s%s", stem, suffix);
    figures_write(path, bytes, n);
    free(path);
}

void figures_draw_end(const figures *f, figures_drawing *d, const char *stem, const char *alt) {
    uint8_t *marked = with_marks(d), *png;
    size_t n, size = 0;
    char *text = NULL;
    encode_png(marked, d->width * d->zoom, d->height * d->zoom, 3, &png, &n);
    write_file(f, stem, ".png", png, n);
    free(png);
    encode_raster(d, &png, &n);
    FILE *to = open_memstream(&text, &size);
    if (!to) figures_die("no memory for a picture");
    put_svg(to, d, png, n, alt);
    if (fclose(to) != 0) figures_die("no memory for a picture");
    write_file(f, stem, ".svg", text, size);
    free(text), free(png), free(marked), free(d->rgb), free(d->is_drawn);
    for (size_t i = 0; i < d->clouds; i++) free(d->cloud[i].xy);
    *d = (figures_drawing){0};
}

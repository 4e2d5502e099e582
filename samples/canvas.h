/* canvas.h -- a small software canvas: anti-aliased strokes, discs and polygons by distance.
 *
 * Pixels are floats 0..1 per channel (display values), the centre of the top left one lies at (0.5,
 * 0.5). A shape is drawn in one pass: for each pixel its distance to the outline gives the
 * coverage, so overlapping strokes of one path do not blend twice. */
#ifndef SAMPLES_CANVAS_H
#define SAMPLES_CANVAS_H
#include "samples/random.h"
#include "samples/texture.h"

typedef struct samples_canvas {
    int width, height;
    samples_colour *pixel; /* [height * width] */
} samples_canvas;

/* False when there is no memory. */
int samples_canvas_make(samples_canvas *c, int width, int height);
void samples_canvas_free(samples_canvas *c);

/* Lines through points, in several strokes: a new one starts at each point whose flag says so. */
enum { SAMPLES_PATH_POINTS = 160 };
typedef struct samples_path {
    int count;
    float x[SAMPLES_PATH_POINTS], y[SAMPLES_PATH_POINTS];
    unsigned char starts[SAMPLES_PATH_POINTS];
} samples_path;

/* Points beyond the path's room are dropped. */
void samples_path_move(samples_path *p, float x, float y);
void samples_path_line(samples_path *p, float x, float y);
/* An arc of an ellipse from angle a to b (radians, y points down), as lines; starts a new stroke
 * when move is set. */
void samples_path_arc(samples_path *p, float cx, float cy, float rx, float ry, float a, float b,
                      int move);
/* x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5]. */
void samples_path_transform(samples_path *p, const float m[6]);

/* How a shape looks. */
typedef struct samples_look {
    const samples_texture *texture;
    float opacity;  /* 0..1 */
    float softness; /* width in pixels over which the edge fades; at least 1 is anti-aliased */
    float relief; /* 0: flat; 1: lit like a tube (strokes) or a ball or cushion (discs, polygons) */
    float bevel;  /* polygons: pixels from the edge over which the relief falls off */
    float light_x, light_y; /* unit vector towards the light, in the picture */
} samples_look;

void samples_canvas_fill(samples_canvas *c, const samples_texture *texture);
void samples_canvas_disc(samples_canvas *c, float x, float y, float radius,
                         const samples_look *look);
/* An ellipse turned by angle; its distance is good for softness well below the radii. */
void samples_canvas_ellipse(samples_canvas *c, float x, float y, float rx, float ry, float angle,
                            const samples_look *look);
void samples_canvas_stroke(samples_canvas *c, const samples_path *p, float half_width,
                           const samples_look *look);
/* The inside of the path's strokes, each closed, by the even-odd rule. */
void samples_canvas_polygon(samples_canvas *c, const samples_path *p, const samples_look *look);

/* Gaussian blur; radius is the standard deviation in pixels, 0..5; below 0.2 nothing is done.
 * False: no memory. */
int samples_canvas_blur(samples_canvas *c, float radius);

/* What a lens and a sensor do, in this order: light falling off from one side and to the corners, a
 * blur, exposure and contrast, noise that grows with the light. */
typedef struct samples_camera {
    float light_angle, light_fall; /* brightness changes by +- light_fall across the picture */
    float vignette;                /* share of light lost in the corners */
    float blur;                    /* pixels */
    float exposure, contrast;      /* factor; 1 leaves as is */
    samples_colour tint;           /* factor per channel */
    float noise;                   /* standard deviation at mid grey, 0..1 scale */
} samples_camera;
int samples_canvas_photograph(samples_canvas *c, const samples_camera *camera, samples_random *r);

/* Rounded and clamped samples, interleaved. */
void samples_canvas_to_rgb8(const samples_canvas *c, uint8_t *rgb);
void samples_canvas_to_rgb16(const samples_canvas *c, uint16_t *rgb);
void samples_canvas_to_grey8(const samples_canvas *c, uint8_t *grey);

#endif

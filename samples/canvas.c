/* canvas.c -- shapes by distance, blur, and the camera; see canvas.h. */
#include "samples/canvas.h"
#include "samples/arithmetic.h"
#include <math.h>
#include <stdlib.h>

int samples_canvas_make(samples_canvas *c, int width, int height) {
    c->width = width;
    c->height = height;
    c->pixel = calloc((size_t)width * (size_t)height, sizeof *c->pixel);
    return c->pixel != NULL;
}

void samples_canvas_free(samples_canvas *c) {
    free(c->pixel);
    c->pixel = NULL;
}

/* --- paths --- */

static void add_point(samples_path *p, float x, float y, int starts) {
    if (p->count == SAMPLES_PATH_POINTS) return;
    p->x[p->count] = x;
    p->y[p->count] = y;
    p->starts[p->count++] = (unsigned char)starts;
}

void samples_path_move(samples_path *p, float x, float y) { add_point(p, x, y, 1); }
void samples_path_line(samples_path *p, float x, float y) { add_point(p, x, y, p->count == 0); }

void samples_path_arc(samples_path *p, float cx, float cy, float rx, float ry, float a, float b,
                      int move) {
    int steps = 1 + (int)(fabsf(b - a) * 3.2f); /* 20 for a full turn */
    for (int i = 0; i <= steps; i++) {
        float angle = a + (b - a) * (float)i / (float)steps;
        add_point(p, cx + rx * samples_cos(angle), cy + ry * samples_sin(angle),
                  i == 0 && (move || p->count == 0));
    }
}

void samples_path_transform(samples_path *p, const float m[6]) {
    for (int i = 0; i < p->count; i++) {
        float x = p->x[i], y = p->y[i];
        p->x[i] = m[0] * x + m[1] * y + m[2];
        p->y[i] = m[3] * x + m[4] * y + m[5];
    }
}

/* --- distances --- */

/* Where a pixel stands relative to a shape: distance to the outline, negative inside; and which way
 * the surface faces there: a vector in the picture of length 0 (towards the viewer) .. 1. */
typedef struct place {
    float distance, face_x, face_y;
} place;

typedef struct shape {
    place (*at)(const struct shape *s, float x, float y);
    const samples_path *path;
    float x, y, rx, ry, cosine, sine; /* disc, ellipse */
    float half_width, bevel;
    float left, top, right, bottom; /* pixels outside are not touched */
} shape;

/* Squared distance from (x, y) to the path's lines; *dx, *dy lead there from the nearest point. */
static float to_path(const samples_path *p, int close, float x, float y, float *dx, float *dy) {
    float best = 1e30f;
    int start = 0;
    for (int i = 0; i < p->count; i++) {
        if (p->starts[i]) start = i;
        int last = i + 1 == p->count || p->starts[i + 1];
        if (last && !close && start != i) continue;
        int next = last ? start : i + 1; /* a stroke of one point is a dot */
        float ax = p->x[i], ay = p->y[i], ux = p->x[next] - ax, uy = p->y[next] - ay;
        float length = ux * ux + uy * uy;
        float t = length > 0 ? samples_clamp(((x - ax) * ux + (y - ay) * uy) / length, 0, 1) : 0;
        float ex = x - ax - t * ux, ey = y - ay - t * uy, d = ex * ex + ey * ey;
        if (d >= best) continue;
        best = d;
        *dx = ex;
        *dy = ey;
    }
    return best;
}

static place stroke_at(const shape *s, float x, float y) {
    float dx = 0, dy = 0, d = sqrtf(to_path(s->path, 0, x, y, &dx, &dy));
    float scale = s->half_width > 0.25f ? 1 / s->half_width : 4;
    return (place){d - s->half_width, dx * scale, dy * scale};
}

static int inside_path(const samples_path *p, float x, float y) {
    int crossings = 0, start = 0;
    for (int i = 0; i < p->count; i++) {
        if (p->starts[i]) start = i;
        int next = i + 1 == p->count || p->starts[i + 1] ? start : i + 1;
        float ay = p->y[i], by = p->y[next];
        if ((ay > y) == (by > y)) continue;
        float at = p->x[i] + (y - ay) / (by - ay) * (p->x[next] - p->x[i]);
        crossings += at > x;
    }
    return crossings & 1;
}

static place polygon_at(const shape *s, float x, float y) {
    float dx = 0, dy = 0, d = sqrtf(to_path(s->path, 1, x, y, &dx, &dy));
    if (!inside_path(s->path, x, y)) return (place){d, 0, 0};
    float lean = samples_clamp(1 - d / s->bevel, 0, 1) / (d > 1e-3f ? d : 1e-3f);
    return (place){-d, -dx * lean, -dy * lean};
}

static place ellipse_at(const shape *s, float x, float y) {
    float dx = x - s->x, dy = y - s->y;
    float u = (s->cosine * dx + s->sine * dy) / s->rx, v = (s->cosine * dy - s->sine * dx) / s->ry;
    float radius = sqrtf(u * u + v * v);
    /* first order: (radius - 1) / |gradient of radius| */
    float gu = u / s->rx, gv = v / s->ry, slope = sqrtf(gu * gu + gv * gv);
    float d = slope > 1e-6f ? (radius - 1) * radius / slope : -(s->rx < s->ry ? s->rx : s->ry);
    return (place){d, s->cosine * u - s->sine * v, s->sine * u + s->cosine * v};
}

/* --- drawing --- */

/* Light that a surface throws back: 1 facing the viewer, brighter towards the light, darker away
 * from it. */
static float shading(const samples_look *look, place at) {
    float lean = at.face_x * at.face_x + at.face_y * at.face_y;
    float up = sqrtf(samples_clamp(1 - lean, 0, 1));
    float lit = 0.62f * (at.face_x * look->light_x + at.face_y * look->light_y) + 0.78f * up;
    float gleam = samples_clamp(lit - 0.9f, 0, 1) * 2.5f;
    return 1 + look->relief * (0.35f + 0.85f * samples_clamp(lit, -0.2f, 1) + gleam - 1);
}

static void draw(samples_canvas *c, const shape *s, const samples_look *look) {
    float soft = look->softness > 1 ? look->softness : 1;
    int left = (int)samples_clamp(s->left - soft, 0, (float)c->width);
    int right = (int)samples_clamp(s->right + soft + 1, 0, (float)c->width);
    int top = (int)samples_clamp(s->top - soft, 0, (float)c->height);
    int bottom = (int)samples_clamp(s->bottom + soft + 1, 0, (float)c->height);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            place at = s->at(s, px, py);
            float cover = samples_clamp(0.5f - at.distance / soft, 0, 1);
            if (soft > 1.5f) cover = samples_smooth(cover);
            if (!(cover > 0)) continue;
            samples_colour ink = samples_texture_at(look->texture, px, py);
            if (look->relief > 0) ink = samples_colour_scaled(ink, shading(look, at));
            samples_colour *to = &c->pixel[y * c->width + x];
            *to = samples_colour_mixed(*to, ink, cover * look->opacity);
        }
    }
}

void samples_canvas_fill(samples_canvas *c, const samples_texture *texture) {
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            c->pixel[y * c->width + x] =
                samples_texture_at(texture, (float)x + 0.5f, (float)y + 0.5f);
}

void samples_canvas_ellipse(samples_canvas *c, float x, float y, float rx, float ry, float angle,
                            const samples_look *look) {
    float reach = rx > ry ? rx : ry;
    shape s = {.at = ellipse_at, .x = x, .y = y, .rx = rx, .ry = ry};
    s.cosine = samples_cos(angle);
    s.sine = samples_sin(angle);
    s.left = x - reach;
    s.right = x + reach;
    s.top = y - reach;
    s.bottom = y + reach;
    draw(c, &s, look);
}

void samples_canvas_disc(samples_canvas *c, float x, float y, float radius,
                         const samples_look *look) {
    samples_canvas_ellipse(c, x, y, radius, radius, 0, look);
}

static void bound_path(shape *s, const samples_path *p, float margin) {
    s->left = s->top = 1e30f;
    s->right = s->bottom = -1e30f;
    for (int i = 0; i < p->count; i++) {
        s->left = fminf(s->left, p->x[i] - margin);
        s->right = fmaxf(s->right, p->x[i] + margin);
        s->top = fminf(s->top, p->y[i] - margin);
        s->bottom = fmaxf(s->bottom, p->y[i] + margin);
    }
}

void samples_canvas_stroke(samples_canvas *c, const samples_path *p, float half_width,
                           const samples_look *look) {
    if (p->count == 0) return;
    shape s = {.at = stroke_at, .path = p, .half_width = half_width};
    bound_path(&s, p, half_width);
    draw(c, &s, look);
}

void samples_canvas_polygon(samples_canvas *c, const samples_path *p, const samples_look *look) {
    if (p->count == 0) return;
    shape s = {.at = polygon_at, .path = p, .bevel = look->bevel > 0.5f ? look->bevel : 0.5f};
    bound_path(&s, p, 0);
    draw(c, &s, look);
}

/* --- lens and sensor --- */

enum { BLUR_REACH = 12 }; /* pixels to each side at most */

/* Convolve a line of n pixels with weights[-reach .. reach]; edges are repeated. copy has room for
 * n + 2 reach. */
static void blur_line(samples_colour *line, int n, int stride, const float *weights, int reach,
                      samples_colour *copy) {
    for (int i = -reach; i < n + reach; i++)
        copy[i + reach] = line[(i < 0 ? 0 : i >= n ? n - 1 : i) * stride];
    for (int i = 0; i < n; i++) {
        samples_colour sum = {0, 0, 0};
        for (int k = -reach; k <= reach; k++) {
            samples_colour at = copy[i + reach + k];
            sum.r += weights[k] * at.r;
            sum.g += weights[k] * at.g;
            sum.b += weights[k] * at.b;
        }
        line[i * stride] = sum;
    }
}

int samples_canvas_blur(samples_canvas *c, float radius) {
    float table[2 * BLUR_REACH + 1], *weights = table + BLUR_REACH, total = 0;
    int reach = 1 + (int)(2.3f * radius), longest = c->width > c->height ? c->width : c->height;
    if (radius < 0.2f) return 1;
    if (reach > BLUR_REACH) reach = BLUR_REACH;
    samples_colour *copy = malloc((size_t)(longest + 2 * reach) * sizeof *copy);
    if (!copy) return 0;
    for (int k = -reach; k <= reach; k++) /* exp(-k^2 / 2 radius^2) */
        total += weights[k] = samples_exp2(-0.72134752f * (float)(k * k) / (radius * radius));
    for (int k = -reach; k <= reach; k++) weights[k] /= total;
    for (int y = 0; y < c->height; y++)
        blur_line(c->pixel + y * c->width, c->width, 1, weights, reach, copy);
    for (int x = 0; x < c->width; x++)
        blur_line(c->pixel + x, c->height, c->width, weights, reach, copy);
    free(copy);
    return 1;
}

/* Light that reaches the point (u, v), both -1..1 over the picture. */
static float light_at(const samples_camera *camera, float u, float v) {
    float side = samples_cos(camera->light_angle) * u + samples_sin(camera->light_angle) * v;
    return (1 + camera->light_fall * side) * (1 - camera->vignette * 0.5f * (u * u + v * v));
}

/* Exposure, an S-curve of contrast around mid grey, and the soft shoulder by which film and sensors
 * saturate. */
static float tone(const samples_camera *camera, float value) {
    float x = 0.45f + (value * camera->exposure - 0.45f) * camera->contrast;
    return x > 0.8f ? 1 - 0.2f / (1 + (x - 0.8f) * 5) : x;
}

int samples_canvas_photograph(samples_canvas *c, const samples_camera *camera, samples_random *r) {
    for (int y = 0; y < c->height; y++) {
        for (int x = 0; x < c->width; x++) {
            float u = (2 * (float)x + 1) / (float)c->width - 1,
                  v = (2 * (float)y + 1) / (float)c->height - 1;
            samples_colour *p = &c->pixel[y * c->width + x];
            *p = samples_colour_scaled(*p, light_at(camera, u, v));
        }
    }
    if (!samples_canvas_blur(c, camera->blur)) return 0;
    for (int i = 0; i < c->width * c->height; i++) {
        samples_colour *p = &c->pixel[i];
        float grey = samples_normal(r),
              level = sqrtf(0.15f + samples_clamp(samples_luma(*p), 0, 1) * 1.7f);
        float sigma = camera->noise * level; /* shot noise, most of it the same in all channels */
        p->r =
            tone(camera, p->r * camera->tint.r) + sigma * (0.8f * grey + 0.45f * samples_normal(r));
        p->g =
            tone(camera, p->g * camera->tint.g) + sigma * (0.8f * grey + 0.35f * samples_normal(r));
        p->b =
            tone(camera, p->b * camera->tint.b) + sigma * (0.8f * grey + 0.55f * samples_normal(r));
    }
    return 1;
}

static uint8_t to8(float value) { return (uint8_t)(samples_clamp(value, 0, 1) * 255 + 0.5f); }

void samples_canvas_to_rgb8(const samples_canvas *c, uint8_t *rgb) {
    for (int i = 0; i < c->width * c->height; i++) {
        rgb[3 * i] = to8(c->pixel[i].r);
        rgb[3 * i + 1] = to8(c->pixel[i].g);
        rgb[3 * i + 2] = to8(c->pixel[i].b);
    }
}

void samples_canvas_to_rgb16(const samples_canvas *c, uint16_t *rgb) {
    for (int i = 0; i < c->width * c->height; i++) {
        rgb[3 * i] = (uint16_t)(samples_clamp(c->pixel[i].r, 0, 1) * 65535 + 0.5f);
        rgb[3 * i + 1] = (uint16_t)(samples_clamp(c->pixel[i].g, 0, 1) * 65535 + 0.5f);
        rgb[3 * i + 2] = (uint16_t)(samples_clamp(c->pixel[i].b, 0, 1) * 65535 + 0.5f);
    }
}

void samples_canvas_to_grey8(const samples_canvas *c, uint8_t *grey) {
    for (int i = 0; i < c->width * c->height; i++) grey[i] = to8(samples_luma(c->pixel[i]));
}

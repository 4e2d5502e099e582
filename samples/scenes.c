/* scenes.c -- the larger pictures; see scenes.h. */
#include "samples/scenes.h"
#include "samples/arithmetic.h"
#include "samples/letters.h"
#include <math.h>

static const char *const names[SAMPLES_SCENE_KINDS] = {"leaves", "sky", "surface", "text", "table"};

const char *samples_scene_name(samples_scene_kind kind) { return names[kind]; }

samples_scene samples_scene_of(uint64_t index) {
    static const int sizes[][2] = {{256, 192}, {256, 192}, {255, 191}, {256, 192},
                                   {192, 256}, {199, 257}, {256, 192}, {233, 179},
                                   {256, 192}, {131, 97},  {320, 201}};
    const int *size = sizes[index % (sizeof sizes / sizeof sizes[0])];
    samples_scene s = {.kind = (samples_scene_kind)(index % SAMPLES_SCENE_KINDS),
                       .width = size[0],
                       .height = size[1]};
    s.grey = index % 24 == 7;
    s.deep = index % 48 == 11;
    return s;
}

/* A texture for something of about `size` pixels. */
static samples_texture texture_for(samples_random *r, samples_colour colour, float size) {
    static const samples_texture_kind common[] = {SAMPLES_CLOUD, SAMPLES_CLOUD,    SAMPLES_GRAIN,
                                                  SAMPLES_GRAIN, SAMPLES_GRADIENT, SAMPLES_FLAT};
    samples_texture_kind kind = samples_chance(r, 0.7f)
                                    ? common[samples_below(r, 6)]
                                    : (samples_texture_kind)samples_below(r, SAMPLES_TEXTURE_KINDS);
    float scale = samples_clamp(size * samples_between(r, 0.15f, 0.8f), 2.5f, 60);
    samples_texture t = samples_texture_random(r, kind, colour, scale);
    t.contrast *= samples_between(r, 0.3f, 1);
    return t;
}

static samples_look look_of(const samples_texture *t, float light) {
    return (samples_look){.texture = t,
                          .opacity = 1,
                          .softness = 1.2f,
                          .bevel = 6,
                          .light_x = samples_cos(light),
                          .light_y = samples_sin(light)};
}

/* Radius with density r^-3 between low and high, by inversion. */
static float leaf_radius(samples_random *r, float low, float high) {
    float u = samples_unit(r), a = 1 / (low * low), b = 1 / (high * high);
    return 1 / sqrtf(a + (b - a) * u);
}

/* One leaf: a disc, an ellipse or a crooked polygon. */
static void leaf(samples_canvas *c, samples_random *r, float x, float y, float radius,
                 const samples_look *look) {
    int kind = samples_below(r, 4);
    float angle = samples_between(r, 0, 2 * SAMPLES_PI);
    if (kind < 1) {
        samples_canvas_disc(c, x, y, radius, look);
    } else if (kind < 3) {
        samples_canvas_ellipse(c, x, y, radius, radius * samples_between(r, 0.3f, 0.9f), angle,
                               look);
    } else {
        samples_path p = {0};
        int corners = 3 + samples_below(r, 4);
        for (int i = 0; i < corners; i++) {
            float a = angle + 2 * SAMPLES_PI * ((float)i + samples_between(r, -0.2f, 0.2f)) /
                                  (float)corners;
            float reach = radius * samples_between(r, 0.7f, 1.2f);
            samples_path_line(&p, x + reach * samples_cos(a), y + reach * samples_sin(a));
        }
        samples_canvas_polygon(c, &p, look);
    }
}

static void draw_leaves(samples_canvas *c, samples_random *r, float light) {
    samples_colour family = samples_colour_natural(r);
    samples_texture floor = texture_for(r, family, 60);
    samples_canvas_fill(c, &floor);
    float coherent = samples_between(r, 0, 0.7f), relief = samples_between(r, 0, 0.8f);
    for (int i = 0; i < 900; i++) {
        float radius = leaf_radius(r, 4, 120);
        float x = samples_between(r, -20, (float)c->width + 20),
              y = samples_between(r, -20, (float)c->height + 20);
        samples_colour colour = samples_chance(r, coherent) ? samples_colour_near(r, family, 1)
                                                            : samples_colour_natural(r);
        if (samples_chance(r, 0.04f)) colour = samples_colour_vivid(r);
        samples_texture t = texture_for(r, colour, radius);
        samples_look look = look_of(&t, light);
        if (radius > 4) { /* a little darkness under its edge */
            samples_texture dark = samples_texture_flat((samples_colour){0.02f, 0.02f, 0.03f});
            samples_look shade = look_of(&dark, light);
            shade.opacity = 0.35f;
            shade.softness = 2 + 0.12f * radius;
            samples_canvas_disc(c, x - look.light_x * 0.08f * radius,
                                y - look.light_y * 0.08f * radius, radius, &shade);
        }
        look.relief = relief * samples_unit(r);
        leaf(c, r, x, y, radius, &look);
    }
}

/* A ridge: noise around a height, filled to the bottom; rows further down are nearer. */
static void ridge(samples_canvas *c, samples_random *r, float height, float rough,
                  const samples_look *look) {
    samples_path p = {0};
    uint32_t seed = (uint32_t)samples_bits(r);
    float w = (float)c->width, wave = samples_between(r, 30, 110);
    samples_path_move(&p, -8, (float)c->height + 20);
    for (int i = 0; i <= 120; i++) {
        float x = -8 + (w + 16) * (float)i / 120;
        samples_path_line(&p, x,
                          height + rough * 2 * (samples_noise(seed, x / wave, 0, 5, 0.5f) - 0.5f));
    }
    samples_path_line(&p, w + 8, (float)c->height + 20);
    samples_canvas_polygon(c, &p, look);
}

static void draw_sky(samples_canvas *c, samples_random *r, float light) {
    float h = (float)c->height;
    samples_colour zenith = samples_hsv_between(r, 0.53f, 0.66f, 0.3f, 0.8f, 0.35f, 0.9f);
    samples_colour haze = samples_hsv_between(r, 0, 0.14f, 0.05f, 0.6f, 0.75f, 1);
    samples_texture sky = {.kind = SAMPLES_GRADIENT,
                           .a = zenith,
                           .b = haze,
                           .c = haze,
                           .scale = 0.75f * h,
                           .cosine = 0,
                           .sine = 1,
                           .contrast = 1};
    samples_canvas_fill(c, &sky);
    uint32_t seed = (uint32_t)samples_bits(r);
    float cover = samples_between(r, 0.35f, 0.75f), scale = samples_between(r, 40, 110);
    for (int y = 0; y < c->height; y++) { /* clouds, flatter towards the horizon */
        for (int x = 0; x < c->width; x++) {
            float squeeze = 1.2f + 2.5f * (float)y / h, v = (float)y * squeeze / scale,
                  u = (float)x / scale;
            float s = samples_noise(seed, u, v, 6, 0.55f),
                  above = samples_noise(seed, u, v - 0.12f, 4, 0.55f);
            float thick = samples_smooth((s - cover) * 3.5f);
            samples_colour white =
                samples_colour_scaled((samples_colour){1, 0.98f, 0.96f},
                                      0.97f - 0.35f * samples_clamp(above - 0.4f, 0, 1));
            samples_colour *p = &c->pixel[y * c->width + x];
            *p = samples_colour_mixed(*p, white, 0.9f * thick);
        }
    }
    samples_colour near = samples_colour_natural(r);
    int ridges = 2 + samples_below(r, 4);
    for (int i = 0; i < ridges; i++) {
        float depth = (float)(i + 1) / (float)ridges;
        samples_colour colour =
            samples_colour_mixed(haze, samples_colour_near(r, near, 0.4f), 0.25f + 0.7f * depth);
        samples_texture t = samples_texture_random(r, depth > 0.7f ? SAMPLES_CELLS : SAMPLES_CLOUD,
                                                   colour, 4 + 10 * depth);
        t.contrast = 0.3f + 0.6f * depth;
        samples_look look = look_of(&t, light);
        ridge(c, r, h * (0.45f + 0.45f * depth), h * samples_between(r, 0.04f, 0.16f), &look);
    }
}

static void draw_surface(samples_canvas *c, samples_random *r, float light) {
    samples_texture_kind kind =
        (samples_texture_kind)(SAMPLES_CLOUD +
                               samples_below(r, SAMPLES_TEXTURE_KINDS - SAMPLES_CLOUD));
    samples_colour base = samples_colour_natural(r);
    samples_texture t = samples_texture_random(r, kind, base, samples_between(r, 12, 48));
    t.contrast = samples_between(r, 0.7f, 1);
    if (samples_chance(r, 0.6f)) t.b = samples_colour_natural(r);
    samples_canvas_fill(c, &t);
    uint32_t seed = (uint32_t)samples_bits(r);
    float bumps = samples_between(r, 0, 0.25f), scale = samples_between(r, 4, 14);
    for (int y = 0; y < c->height; y++) { /* uneven: slopes towards the light are brighter */
        for (int x = 0; x < c->width; x++) {
            float u = (float)x / scale, v = (float)y / scale;
            float slope = samples_noise(seed, u + 0.2f * samples_cos(light),
                                        v + 0.2f * samples_sin(light), 4, 0.6f) -
                          samples_noise(seed, u, v, 4, 0.6f);
            samples_colour *p = &c->pixel[y * c->width + x];
            *p = samples_colour_scaled(*p, samples_clamp(1 - bumps * 2.5f * slope, 0.4f, 1.6f));
        }
    }
    if (samples_chance(r, 0.5f)) { /* something else covers a part of it */
        samples_texture other = texture_for(r, samples_colour_natural(r), 80);
        samples_look look = look_of(&other, light);
        look.relief = 0.3f;
        float x = samples_between(r, 0, (float)c->width),
              y = samples_between(r, 0, (float)c->height);
        leaf(c, r, x, y, samples_between(r, 30, 90), &look);
    }
}

/* One line of words from x to right; m turns the page. */
static void text_line(samples_canvas *c, samples_random *r, float x, float right, float y,
                      float size, float weight, const float m[6], const samples_look *look) {
    while (x < right) {
        char word[12];
        samples_word(r, word);
        for (const char *s = word; *s; s++) {
            samples_path p = {0};
            x += samples_letter(&p, *s, x, y, size);
            samples_path_transform(&p, m);
            samples_canvas_stroke(c, &p, weight, look);
        }
        if (samples_chance(r, 0.08f)) {
            samples_path p = {0};
            samples_letter(&p, '.', x - 0.3f * size, y, size);
            samples_path_transform(&p, m);
            samples_canvas_stroke(c, &p, weight, look);
        }
        x += 0.6f * size;
    }
}

static void draw_text(samples_canvas *c, samples_random *r, float light) {
    int dark = samples_chance(r, 0.25f); /* light letters on dark ground */
    samples_colour paper = samples_colour_near(
        r, dark ? samples_hsv(samples_unit(r), 0.6f, 0.25f) : (samples_colour){0.9f, 0.88f, 0.82f},
        0.3f);
    samples_colour ink =
        dark ? (samples_colour){0.92f, 0.92f, 0.85f} : samples_hsv(samples_unit(r), 0.4f, 0.15f);
    samples_texture ground =
        samples_texture_random(r, SAMPLES_GRAIN, paper, samples_between(r, 8, 40));
    ground.contrast = 0.25f;
    samples_canvas_fill(c, &ground);
    samples_texture print = samples_texture_flat(ink);
    samples_look look = look_of(&print, light);
    float turn = samples_normal(r) * 0.08f, co = samples_cos(turn), si = samples_sin(turn);
    const float m[6] = {co, -si, 0.12f * (float)c->height * si,
                        si, co,  -0.3f * (float)c->width * si};
    float size = samples_between(r, 6, 13), y = 12 + 1.6f * size;
    text_line(c, r, 14, 0.55f * (float)c->width, y, 1.7f * size, 0.16f * size, m,
              &look); /* a title */
    for (y += 2.4f * size; y < (float)c->height + 10; y += 1.75f * size) {
        if (samples_chance(r, 0.1f)) continue; /* between paragraphs */
        float right = (float)c->width - 24;
        if (samples_chance(r, 0.2f)) right *= 0.5f;
        text_line(c, r, 12, right, y, size, samples_clamp(0.075f * size, 0.5f, 1.4f), m, &look);
    }
}

static void draw_table(samples_canvas *c, samples_random *r, float light) {
    float h = (float)c->height, w = (float)c->width;
    samples_texture wall = texture_for(r, samples_colour_natural(r), 120);
    wall.contrast *= 0.6f;
    samples_canvas_fill(c, &wall);
    static const samples_texture_kind tops[] = {SAMPLES_WOOD, SAMPLES_CHECKS, SAMPLES_MARBLE,
                                                SAMPLES_WEAVE, SAMPLES_GRAIN};
    samples_texture_kind wood = tops[samples_below(r, 5)];
    samples_colour base = samples_colour_natural(r);
    samples_texture top = samples_texture_random(r, wood, base, samples_between(r, 10, 30));
    samples_look look = look_of(&top, light);
    ridge(c, r, h * samples_between(r, 0.35f, 0.6f), 0.5f, &look);
    int things = 5 + samples_below(r, 12);
    for (int i = 0; i < things;
         i++) { /* from the back to the front, nearer ones lower and larger */
        float depth = ((float)i + samples_unit(r)) / (float)things, y = h * (0.45f + 0.5f * depth);
        float radius = (8 + 30 * depth) * samples_between(r, 0.5f, 1.2f),
              x = samples_between(r, 0, w);
        samples_texture dark = samples_texture_flat((samples_colour){0.03f, 0.03f, 0.05f});
        samples_look shade = look_of(&dark, light);
        shade.opacity = 0.55f;
        shade.softness = 0.5f * radius;
        samples_canvas_ellipse(c, x - look.light_x * 0.6f * radius, y + 0.8f * radius,
                               1.1f * radius, 0.3f * radius, 0, &shade);
        samples_colour colour =
            samples_chance(r, 0.5f) ? samples_colour_vivid(r) : samples_colour_natural(r);
        samples_texture skin = texture_for(r, colour, radius);
        samples_look thing = look_of(&skin, light);
        thing.relief = samples_between(r, 0.5f, 1);
        thing.bevel = 0.4f * radius;
        leaf(c, r, x, y, radius, &thing);
    }
}

int samples_scene_draw(samples_canvas *c, uint64_t seed, uint64_t index) {
    static void (*const draw[SAMPLES_SCENE_KINDS])(samples_canvas *, samples_random *, float) = {
        draw_leaves, draw_sky, draw_surface, draw_text, draw_table};
    samples_random r = samples_random_start(seed ^ 0x7363656eu, index);
    float light = -0.5f * SAMPLES_PI + samples_normal(&r) * 0.6f;
    draw[samples_scene_of(index).kind](c, &r, light);
    samples_camera camera = {.light_angle = light};
    camera.light_fall = samples_between(&r, 0, 0.25f);
    camera.vignette = samples_between(&r, 0, 0.35f);
    camera.blur = samples_between(&r, 0.3f, 0.8f);
    camera.exposure = samples_between(&r, 0.85f, 1.1f);
    camera.contrast = samples_between(&r, 0.9f, 1.2f);
    camera.noise = samples_between(&r, 0.003f, 0.015f);
    float warm = samples_normal(&r) * 0.04f;
    camera.tint = (samples_colour){1 + warm, 1, 1 - warm};
    return samples_canvas_photograph(c, &camera, &r);
}

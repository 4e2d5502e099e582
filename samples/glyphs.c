/* glyphs.c -- ten signs under affine change, stroke width, colour, clutter, light and noise; see
 * glyphs.h. */
#include "samples/glyphs.h"
#include "samples/arithmetic.h"

/* --- the ten signs, each within -1..1, y pointing down --- */

static void arrow(samples_path *p) {
    samples_path_move(p, -0.9f, 0);
    samples_path_line(p, 0.9f, 0);
    samples_path_move(p, 0.25f, -0.6f);
    samples_path_line(p, 0.9f, 0);
    samples_path_line(p, 0.25f, 0.6f);
}

static void bolt(samples_path *p) {
    samples_path_move(p, 0.35f, -0.95f);
    samples_path_line(p, -0.45f, 0.1f);
    samples_path_line(p, 0.4f, 0.0f);
    samples_path_line(p, -0.35f, 0.95f);
}

static void cross(samples_path *p) {
    samples_path_move(p, -0.8f, -0.8f);
    samples_path_line(p, 0.8f, 0.8f);
    samples_path_move(p, 0.8f, -0.8f);
    samples_path_line(p, -0.8f, 0.8f);
}

static void fork_(samples_path *p) {
    samples_path_move(p, 0, 0.95f);
    samples_path_line(p, 0, -0.9f);
    samples_path_move(p, -0.65f, -0.9f);
    samples_path_line(p, -0.65f, -0.35f);
    samples_path_arc(p, 0, -0.35f, 0.65f, 0.45f, SAMPLES_PI, 0, 0);
    samples_path_line(p, 0.65f, -0.9f);
}

static void house(samples_path *p) {
    samples_path_move(p, -0.65f, 0.9f);
    samples_path_line(p, -0.65f, -0.1f);
    samples_path_line(p, 0, -0.9f);
    samples_path_line(p, 0.65f, -0.1f);
    samples_path_line(p, 0.65f, 0.9f);
    samples_path_line(p, -0.65f, 0.9f);
}

static void knot(samples_path *p) { /* a figure of eight, lying */
    for (int i = 0; i <= 28; i++) {
        float t = 2 * SAMPLES_PI * (float)i / 28;
        float x = 0.95f * samples_sin(t), y = 0.62f * samples_sin(2 * t);
        if (i == 0)
            samples_path_move(p, x, y);
        else
            samples_path_line(p, x, y);
    }
}

static void ladder(samples_path *p) {
    samples_path_move(p, -0.5f, -0.95f);
    samples_path_line(p, -0.5f, 0.95f);
    samples_path_move(p, 0.5f, -0.95f);
    samples_path_line(p, 0.5f, 0.95f);
    for (int i = 0; i < 3; i++) {
        samples_path_move(p, -0.5f, -0.6f + 0.6f * (float)i);
        samples_path_line(p, 0.5f, -0.6f + 0.6f * (float)i);
    }
}

static void ring(samples_path *p) { samples_path_arc(p, 0, 0, 0.85f, 0.85f, 0, 2 * SAMPLES_PI, 1); }

static void spiral(samples_path *p) {
    for (int i = 0; i <= 34; i++) {
        float t = (float)i / 34, angle = t * 4.4f * SAMPLES_PI;
        float radius = 0.08f + 0.87f * t;
        if (i == 0)
            samples_path_move(p, 0.08f, 0);
        else
            samples_path_line(p, radius * samples_cos(angle), radius * samples_sin(angle));
    }
}

static void star(samples_path *p) {
    for (int i = 0; i <= 10; i++) {
        float angle = SAMPLES_PI * (-0.5f + 0.2f * (float)i), radius = i & 1 ? 0.42f : 1;
        if (i == 0)
            samples_path_move(p, 0, -1);
        else
            samples_path_line(p, radius * samples_cos(angle), radius * samples_sin(angle));
    }
}

/* width: half the stroke's in the unit frame, lowest and highest that keep the sign readable;
 * closed: may be filled. */
static const struct sign {
    const char *name;
    void (*draw)(samples_path *p);
    float thin, thick;
    int closed;
} signs[SAMPLES_CLASSES] = {{"arrow", arrow, 0.10f, 0.22f, 0},   {"bolt", bolt, 0.10f, 0.22f, 0},
                            {"cross", cross, 0.10f, 0.26f, 0},   {"fork", fork_, 0.08f, 0.17f, 0},
                            {"house", house, 0.08f, 0.2f, 1},    {"knot", knot, 0.08f, 0.17f, 1},
                            {"ladder", ladder, 0.07f, 0.14f, 0}, {"ring", ring, 0.08f, 0.3f, 1},
                            {"spiral", spiral, 0.07f, 0.12f, 0}, {"star", star, 0.06f, 0.15f, 1}};

const char *samples_class_name(int k) { return signs[k].name; }

int samples_small_class(uint64_t seed, uint64_t index) {
    /* each run of ten images holds each class once, in an order drawn for the run */
    samples_random r = samples_random_start(seed ^ 0x636c6173u, index / SAMPLES_CLASSES);
    int order[SAMPLES_CLASSES];
    for (int i = 0; i < SAMPLES_CLASSES; i++) {
        int j = samples_below(&r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order[index % SAMPLES_CLASSES];
}

/* --- what stands behind and around --- */

static samples_look plain_look(const samples_texture *t, float opacity, float softness) {
    return (samples_look){.texture = t, .opacity = opacity, .softness = softness, .bevel = 3};
}

/* Ground and sky, wall and floor, table and wall: two textures and the line between them. */
static void horizon(samples_canvas *c, samples_random *r) {
    static const samples_texture_kind grounds[] = {SAMPLES_CLOUD, SAMPLES_GRAIN,   SAMPLES_WOOD,
                                                   SAMPLES_CELLS, SAMPLES_STRIPES, SAMPLES_CHECKS};
    samples_colour far = samples_colour_natural(r), near = samples_colour_natural(r);
    samples_texture_kind above = samples_chance(r, 0.6f) ? SAMPLES_GRADIENT : SAMPLES_CLOUD;
    samples_texture sky = samples_texture_random(r, above, far, samples_between(r, 14, 40));
    samples_canvas_fill(c, &sky);
    samples_texture_kind below = grounds[samples_below(r, 6)];
    samples_texture ground = samples_texture_random(r, below, near, samples_between(r, 3, 9));
    float y = samples_between(r, 10, 26), tilt = samples_between(r, -3, 3);
    samples_path p = {0};
    samples_path_move(&p, -4, y - tilt);
    samples_path_line(&p, 36, y + tilt);
    samples_path_line(&p, 36, 40);
    samples_path_line(&p, -4, 40);
    samples_look look = plain_look(&ground, 1, samples_between(r, 1, 3));
    samples_canvas_polygon(c, &p, &look);
}

static void background(samples_canvas *c, samples_random *r) {
    if (samples_chance(r, 0.35f)) {
        horizon(c, r);
        return;
    }
    /* the first kinds come more often: smooth ones, as photographs of objects have them */
    samples_texture_kind kind =
        samples_chance(r, 0.5f)
            ? (samples_texture_kind)(1 + samples_below(r, 3))
            : (samples_texture_kind)(1 + samples_below(r, SAMPLES_TEXTURE_KINDS - 1));
    float scale = kind == SAMPLES_GRADIENT ? samples_between(r, 20, 50)
                  : kind == SAMPLES_CLOUD  ? samples_between(r, 6, 30)
                                           : samples_between(r, 4, 14);
    samples_texture t = samples_texture_random(r, kind, samples_colour_natural(r), scale);
    if (kind == SAMPLES_GRADIENT) t.x0 = t.y0 = 16 - 0.3f * scale;
    samples_canvas_fill(c, &t);
}

/* Things out of focus: discs, bars and blobs of the same world. */
static void clutter(samples_canvas *c, samples_random *r, int many, float light) {
    for (int i = 0; i < many; i++) {
        samples_colour colour =
            samples_chance(r, 0.7f) ? samples_colour_natural(r) : samples_colour_vivid(r);
        samples_texture_kind kind = samples_chance(r, 0.5f) ? SAMPLES_GRAIN : SAMPLES_CLOUD;
        samples_texture t = samples_texture_random(r, kind, colour, samples_between(r, 3, 12));
        samples_look look = plain_look(&t, 1, samples_between(r, 1, 5));
        look.opacity = samples_between(r, 0.55f, 1);
        look.relief = samples_chance(r, 0.5f) ? samples_between(r, 0.2f, 0.9f) : 0;
        look.light_x = samples_cos(light);
        look.light_y = samples_sin(light);
        float x = samples_between(r, -4, 36), y = samples_between(r, -4, 36),
              size = samples_between(r, 1.5f, 9);
        if (samples_chance(r, 0.6f)) {
            float flat = samples_between(r, 0.4f, 1), angle = samples_between(r, 0, SAMPLES_PI);
            samples_canvas_ellipse(c, x, y, size, size * flat, angle, &look);
        } else {
            samples_path p = {0};
            float angle = samples_between(r, 0, 2 * SAMPLES_PI), length = samples_between(r, 6, 36);
            samples_path_move(&p, x, y);
            samples_path_line(&p, x + length * samples_cos(angle), y + length * samples_sin(angle));
            samples_canvas_stroke(c, &p, 0.3f * size, &look);
        }
    }
}

/* --- the sign in front --- */

/* A random affine map from the unit frame to the picture; *size is pixels per unit. */
static void place_sign(samples_random *r, float m[6], float *size) {
    float turn = samples_normal(r) * 0.32f, shear = samples_normal(r) * 0.16f;
    float stretch = samples_exp2(samples_normal(r) * 0.22f);
    *size = samples_between(r, 8.0f, 13.2f);
    float sx = *size * (stretch > 1 ? 1 : stretch), sy = *size / (stretch > 1 ? stretch : 1);
    float co = samples_cos(turn), si = samples_sin(turn), room = 15.5f - *size;
    float flip = samples_chance(r, 0.5f) ? -1.0f : 1.0f;
    m[0] = flip * sx * co;
    m[1] = sx * (shear * co) - sy * si;
    m[2] = 16 + room * samples_between(r, -1, 1);
    m[3] = flip * sx * si;
    m[4] = sx * (shear * si) + sy * co;
    m[5] = 16 + room * samples_between(r, -1, 1);
}

/* Mean colour of the canvas in its middle. */
static samples_colour middle_colour(const samples_canvas *c) {
    samples_colour sum = {0, 0, 0};
    for (int y = 8; y < 24; y++) {
        for (int x = 8; x < 24; x++) {
            samples_colour p = c->pixel[y * c->width + x];
            sum = (samples_colour){sum.r + p.r, sum.g + p.g, sum.b + p.b};
        }
    }
    return samples_colour_scaled(sum, 1.0f / 256);
}

/* A colour that can be told from the background, though now and then only just. */
static samples_colour contrasting(samples_random *r, samples_colour behind) {
    float wanted = samples_between(r, 0.12f, 0.5f);
    samples_colour found = samples_colour_vivid(r);
    for (int i = 0; i < 12; i++) {
        float dr = found.r - behind.r, dg = found.g - behind.g, db = found.b - behind.b;
        if (0.35f * dr * dr + 0.45f * dg * dg + 0.2f * db * db > wanted * wanted) break;
        found = samples_chance(r, 0.5f) ? samples_colour_vivid(r) : samples_colour_natural(r);
    }
    return found;
}

static void sign_in_front(samples_canvas *c, samples_random *r, const struct sign *sign,
                          float light) {
    samples_path p = {0};
    float m[6], size;
    sign->draw(&p);
    for (int i = 0; i < p.count; i++) { /* a hand that is not quite steady */
        p.x[i] += samples_normal(r) * 0.025f;
        p.y[i] += samples_normal(r) * 0.025f;
    }
    place_sign(r, m, &size);
    samples_path_transform(&p, m);
    float half_width = size * samples_between(r, sign->thin, sign->thick);
    if (half_width < 0.7f) half_width = 0.7f;
    float light_x = samples_cos(light), light_y = samples_sin(light);
    samples_colour behind = middle_colour(c), colour = contrasting(r, behind);

    if (samples_chance(r, 0.75f)) { /* its shadow, away from the light */
        float reach = samples_between(r, 0.8f, 3.0f);
        samples_texture dark = samples_texture_flat(samples_colour_scaled(behind, 0.25f));
        samples_look look = plain_look(&dark, 1, samples_between(r, 1.5f, 5));
        look.opacity = samples_between(r, 0.25f, 0.7f);
        samples_path shadow = p;
        samples_path_transform(&shadow,
                               (const float[]){1, 0, -light_x * reach, 0, 1, -light_y * reach});
        samples_canvas_stroke(c, &shadow, half_width, &look);
    }
    static const samples_texture_kind stuff[] = {SAMPLES_FLAT,     SAMPLES_GRAIN, SAMPLES_CLOUD,
                                                 SAMPLES_GRADIENT, SAMPLES_WOOD,  SAMPLES_STRIPES,
                                                 SAMPLES_MARBLE};
    samples_texture_kind made_of = stuff[samples_below(r, 7)];
    samples_texture skin = samples_texture_random(r, made_of, colour, samples_between(r, 3, 12));
    skin.contrast *= 0.7f;
    samples_look look = plain_look(&skin, 1, samples_between(r, 1, 1.6f));
    look.light_x = light_x;
    look.light_y = light_y;
    if (sign->closed && samples_chance(r, 0.35f)) {
        samples_colour other = contrasting(r, colour);
        made_of = stuff[samples_below(r, 7)];
        samples_texture inner =
            samples_texture_random(r, made_of, other, samples_between(r, 4, 12));
        inner.contrast *= 0.6f;
        samples_look inside = look;
        inside.texture = &inner;
        inside.relief = samples_chance(r, 0.5f) ? samples_between(r, 0.2f, 0.8f) : 0;
        inside.bevel = samples_between(r, 2, 6);
        samples_canvas_polygon(c, &p, &inside);
    }
    look.relief = samples_chance(r, 0.7f) ? samples_between(r, 0.3f, 1) : 0;
    samples_canvas_stroke(c, &p, half_width, &look);
}

static samples_camera camera_of(samples_random *r, float light) {
    samples_camera k = {.light_angle = light};
    k.exposure = samples_between(r, 0.75f, 1.2f);
    k.light_fall = samples_between(r, 0, 0.35f);
    k.vignette = samples_between(r, 0, 0.35f);
    k.blur = samples_between(r, 0.2f, 0.75f);
    k.contrast = samples_between(r, 0.8f, 1.25f);
    float warm = samples_normal(r) * 0.05f;
    k.tint = (samples_colour){1 + warm, 1, 1 - warm};
    float noise = samples_unit(r);
    k.noise = 0.003f + 0.022f * noise * noise;
    return k;
}

int samples_small_draw(samples_canvas *c, uint64_t seed, uint64_t index) {
    samples_random r = samples_random_start(seed, index);
    float light = -0.5f * SAMPLES_PI + samples_normal(&r) * 0.8f; /* mostly from above */
    background(c, &r);
    clutter(c, &r, samples_below(&r, 6), light);
    if (!samples_canvas_blur(c, samples_between(&r, 0, 1.3f)))
        return 0; /* behind the plane of focus */
    sign_in_front(c, &r, &signs[samples_small_class(seed, index)], light);
    if (samples_chance(&r, 0.25f))
        clutter(c, &r, 1, light); /* something in the way, at the edge or not */
    samples_camera camera = camera_of(&r, light);
    return samples_canvas_photograph(c, &camera, &r);
}

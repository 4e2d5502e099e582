/* texture.c -- colours, noise and procedural textures; see texture.h. */
#include "samples/texture.h"
#include "samples/arithmetic.h"
#include <math.h>

/* --- colours --- */

samples_colour samples_colour_mixed(samples_colour a, samples_colour b, float t) {
    return (samples_colour){samples_mixed(a.r, b.r, t), samples_mixed(a.g, b.g, t),
                            samples_mixed(a.b, b.b, t)};
}

samples_colour samples_colour_scaled(samples_colour a, float factor) {
    return (samples_colour){a.r * factor, a.g * factor, a.b * factor};
}

float samples_luma(samples_colour a) { return 0.299f * a.r + 0.587f * a.g + 0.114f * a.b; }

static float hue_ramp(float hue) {
    hue -= samples_floor(hue);
    float t = hue * 6;
    return samples_clamp(t < 3 ? t - 1 : 5 - t, 0, 1); /* rises 1..2, stays, falls 4..5 */
}

samples_colour samples_hsv(float hue, float saturation, float value) {
    float r = hue_ramp(hue + 0.5f), g = hue_ramp(hue + 1.0f / 6), b = hue_ramp(hue - 1.0f / 6);
    return (samples_colour){value * (1 - saturation * (1 - r)), value * (1 - saturation * (1 - g)),
                            value * (1 - saturation * (1 - b))};
}

samples_colour samples_hsv_between(samples_random *r, float hue0, float hue1, float saturation0,
                                   float saturation1, float value0, float value1) {
    float hue = samples_between(r, hue0, hue1),
          saturation = samples_between(r, saturation0, saturation1);
    return samples_hsv(hue, saturation, samples_between(r, value0, value1));
}

samples_colour samples_colour_natural(samples_random *r) {
    /* centre and spread of hue, highest saturation: earth and skin, foliage, sky, anything, greys
     */
    static const float families[][3] = {{0.08f, 0.05f, 0.65f},
                                        {0.26f, 0.07f, 0.60f},
                                        {0.58f, 0.05f, 0.55f},
                                        {0.5f, 0.5f, 0.45f},
                                        {0.1f, 0.1f, 0.12f}};
    const float *f = families[samples_below(r, 5)];
    float hue = f[0] + f[1] * samples_between(r, -1, 1);
    float pale = samples_unit(r);
    return samples_hsv(hue, f[2] * (1 - pale * pale), samples_between(r, 0.18f, 0.92f));
}

samples_colour samples_colour_vivid(samples_random *r) {
    return samples_hsv_between(r, 0, 1, 0.55f, 0.95f, 0.55f, 1);
}

samples_colour samples_colour_near(samples_random *r, samples_colour base, float spread) {
    float light = 1 + spread * samples_between(r, -0.9f, 0.9f),
          warm = spread * samples_between(r, -0.12f, 0.12f);
    float green = spread * samples_between(r, -0.08f, 0.08f);
    return (samples_colour){samples_clamp(base.r * light + warm, 0, 1),
                            samples_clamp(base.g * light + green, 0, 1),
                            samples_clamp(base.b * light - warm, 0, 1)};
}

/* --- noise --- */

/* 0..1 at a lattice point. */
static float lattice(uint32_t seed, int x, int y) {
    uint64_t key = (uint64_t)seed << 32 ^ (uint64_t)(uint32_t)x * 0x9e3779b1u ^
                   (uint64_t)(uint32_t)y * 0x85ebca77u << 16;
    return (float)(samples_mix(key) >> 40) * 0x1p-24f;
}

/* Value noise, smooth between lattice points. */
static float value_noise(uint32_t seed, float x, float y) {
    float fx = samples_floor(x), fy = samples_floor(y);
    int ix = (int)fx, iy = (int)fy;
    float tx = samples_smooth(x - fx), ty = samples_smooth(y - fy);
    float top = samples_mixed(lattice(seed, ix, iy), lattice(seed, ix + 1, iy), tx);
    float bottom = samples_mixed(lattice(seed, ix, iy + 1), lattice(seed, ix + 1, iy + 1), tx);
    return samples_mixed(top, bottom, ty);
}

float samples_noise(uint32_t seed, float x, float y, int octaves, float rough) {
    float sum = 0, weight = 1, total = 0;
    for (int i = 0; i < octaves; i++) {
        sum += weight * (value_noise(seed + (uint32_t)i, x, y) - 0.5f);
        total += weight * weight;
        weight *= rough;
        /* turned by an irrational-looking angle, so that the lattices of the octaves do not line up
         */
        float turned = 1.6f * x - 1.2f * y + 13.7f;
        y = 1.2f * x + 1.6f * y + 7.3f;
        x = turned;
    }
    return 0.5f + 1.5f * sum / sqrtf(total);
}

/* --- textures --- */

/* Distance to the nearest of one scattered point per cell (0..about 1) and which it is. */
static float nearest_cell(uint32_t seed, float x, float y, float *id) {
    int ix = (int)samples_floor(x), iy = (int)samples_floor(y);
    float best = 9;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            float dx = (float)(ix + i) + lattice(seed, ix + i, iy + j) - x;
            float dy = (float)(iy + j) + lattice(seed + 1, ix + i, iy + j) - y;
            float d = dx * dx + dy * dy;
            if (d >= best) continue;
            best = d;
            *id = lattice(seed + 2, ix + i, iy + j);
        }
    }
    return sqrtf(best);
}

static samples_colour bricks_at(const samples_texture *t, float u, float v) {
    float row = samples_floor(v * 2), shifted = u + (((int)row & 1) ? 0.5f : 0);
    float column = samples_floor(shifted), x = shifted - column, y = v * 2 - row;
    float edge = samples_clamp(samples_clamp((x < 0.5f ? x : 1 - x) * 14, 0, 1) *
                                   samples_clamp((y < 0.5f ? y : 1 - y) * 7, 0, 1),
                               0, 1);
    float tone = 0.7f * lattice(t->seed, (int)column, (int)row) +
                 0.3f * samples_noise(t->seed + 9, u * 6, v * 6, 2, 0.6f);
    return samples_colour_mixed(t->c, samples_colour_mixed(t->a, t->b, tone), edge);
}

/* u, v: the point in the texture's own turned frame, in features. */
static samples_colour colour_at(const samples_texture *t, float u, float v) {
    float s, id = 0;
    switch (t->kind) {
    case SAMPLES_GRADIENT: return samples_colour_mixed(t->a, t->b, samples_smooth(u));
    case SAMPLES_CLOUD:
        s = samples_noise(t->seed, u, v, 5, t->rough);
        return samples_colour_mixed(samples_colour_mixed(t->a, t->b, samples_clamp(s, 0, 1)), t->c,
                                    samples_smooth((s - 0.65f) * 3));
    case SAMPLES_GRAIN:
        s = 0.6f * samples_noise(t->seed, u * 4, v * 4, 3, 0.8f) +
            0.4f * samples_noise(t->seed + 5, u * 0.4f, v * 0.4f, 2, 0.5f);
        return samples_colour_mixed(t->a, t->b, samples_clamp(s, 0, 1));
    case SAMPLES_WOOD:
        s = v * 1.5f + 2.2f * samples_noise(t->seed, u * 0.15f, v * 0.6f, 3, 0.5f);
        s = 0.5f + 0.35f * samples_sin(s * 2 * SAMPLES_PI) +
            0.3f * (samples_noise(t->seed + 3, u * 0.5f, v * 8, 2, 0.6f) - 0.5f);
        return samples_colour_mixed(t->a, t->b, samples_clamp(s, 0, 1));
    case SAMPLES_MARBLE:
        s = samples_sin((u + 3 * samples_noise(t->seed, u * 0.7f, v * 0.7f, 5, t->rough)) * 2 *
                        SAMPLES_PI);
        s = 1 - (s < 0 ? -s : s);
        return samples_colour_mixed(t->a, t->b, s * s);
    case SAMPLES_STRIPES:
        s = samples_sin((v + 0.35f * samples_noise(t->seed, u * 0.4f, v * 0.4f, 2, 0.5f)) * 2 *
                        SAMPLES_PI);
        return samples_colour_mixed(t->a, t->b, samples_smooth(0.5f + 1.2f * s));
    case SAMPLES_CHECKS:
        s = samples_sin(u * SAMPLES_PI) * samples_sin(v * SAMPLES_PI);
        return samples_colour_mixed(t->a, t->b, samples_smooth(0.5f + 4 * s));
    case SAMPLES_BRICKS: return bricks_at(t, u, v);
    case SAMPLES_WEAVE: {
        float over = samples_sin(u * 2 * SAMPLES_PI) * samples_sin(v * 2 * SAMPLES_PI);
        float thread = over > 0 ? samples_sin(u * 8 * SAMPLES_PI) : samples_sin(v * 8 * SAMPLES_PI);
        s = 0.5f + 0.25f * thread + 0.35f * over;
        return samples_colour_mixed(t->a, t->b, samples_clamp(s, 0, 1));
    }
    case SAMPLES_CELLS:
        s = nearest_cell(t->seed, u, v, &id);
        return samples_colour_scaled(samples_colour_mixed(t->a, id > 0.6f ? t->c : t->b, id),
                                     1.1f - 0.65f * samples_smooth(s * 1.2f));
    case SAMPLES_FLAT:
    case SAMPLES_TEXTURE_KINDS: break;
    }
    return t->a;
}

samples_colour samples_texture_at(const samples_texture *t, float x, float y) {
    if (t->kind == SAMPLES_FLAT) return t->a;
    float dx = (x - t->x0) / t->scale, dy = (y - t->y0) / t->scale;
    float u = t->cosine * dx + t->sine * dy, v = t->cosine * dy - t->sine * dx;
    samples_colour found = colour_at(t, u, v);
    return samples_colour_mixed(t->a, found, t->contrast);
}

samples_texture samples_texture_flat(samples_colour colour) {
    return (samples_texture){
        .kind = SAMPLES_FLAT, .a = colour, .b = colour, .c = colour, .scale = 1, .cosine = 1};
}

samples_texture samples_texture_random(samples_random *r, samples_texture_kind kind,
                                       samples_colour base, float scale) {
    float angle = samples_between(r, 0, 2 * SAMPLES_PI);
    if (kind == SAMPLES_BRICKS || kind == SAMPLES_WOOD) angle *= 0.06f; /* lie flat, more or less */
    samples_texture t = {.kind = kind, .a = base, .scale = scale};
    t.b = samples_colour_near(r, base, 0.7f);
    t.c = samples_chance(r, 0.5f) ? samples_colour_near(r, base, 1) : samples_colour_natural(r);
    t.cosine = samples_cos(angle);
    t.sine = samples_sin(angle);
    t.x0 = samples_between(r, -64, 64);
    t.y0 = samples_between(r, -64, 64);
    t.rough = samples_between(r, 0.4f, 0.75f);
    t.contrast = samples_between(r, 0.5f, 1);
    t.seed = (uint32_t)samples_bits(r);
    return t;
}

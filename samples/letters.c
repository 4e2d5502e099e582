/* letters.c -- the stroke alphabet; see letters.h. */
#include "samples/letters.h"
#include "samples/arithmetic.h"
#include <string.h>

/* Strokes as pairs of digits "xy" on a grid of 0..4 by 0..6, y upwards; a blank starts a new
 * stroke. */
static const struct {
    char c;
    const char *strokes;
} alphabet[] = {{'A', "002640 1333"},
                {'B', "000636454433033342413000"},
                {'C', "4536160501103041"},
                {'D', "00062644422000"},
                {'E', "46060040 0333"},
                {'F', "460600 0333"},
                {'G', "4536160501103041 414323"},
                {'H', "0006 4046 0343"},
                {'I', "1030 1636 2026"},
                {'J', "4641301001"},
                {'K', "0006 4602 1340"},
                {'L', "060040"},
                {'M', "0006234640"},
                {'N', "00064046"},
                {'O', "100105163645413010"},
                {'P', "00063645443303"},
                {'Q', "100105163645413010 2240"},
                {'R', "00063645443303 2340"},
                {'S', "453616050413334241301001"},
                {'T', "0646 2026"},
                {'U', "060110304146"},
                {'V', "062046"},
                {'W', "0610233046"},
                {'X', "0046 0640"},
                {'Y', "062346 2320"},
                {'Z', "06460040"},
                {'0', "100105163645413010 0145"},
                {'1', "052620 1030"},
                {'2', "05163645440040"},
                {'3', "05163645443313 334241301001"},
                {'4', "30360242"},
                {'5', "460604344341301001"},
                {'6', "4536160501103041423303"},
                {'7', "064610"},
                {'8', "13040516364544331302011030414233"},
                {'9', "4334130405163645413010"},
                {'.', "2020"},
                {'-', "1333"},
                {':', "2121 2424"}};

float samples_letter(samples_path *p, char c, float x, float y, float size) {
    const char *s = "";
    for (size_t i = 0; i < sizeof alphabet / sizeof alphabet[0]; i++)
        if (alphabet[i].c == c) s = alphabet[i].strokes;
    int fresh = 1;
    while (*s) {
        if (*s == ' ') {
            fresh = 1;
            s++;
            continue;
        }
        float px = x + (float)(s[0] - '0') * size / 6, py = y - (float)(s[1] - '0') * size / 6;
        if (fresh)
            samples_path_move(p, px, py);
        else
            samples_path_line(p, px, py);
        fresh = 0;
        s += 2;
    }
    return size * (c == ' ' || c == '.' ? 0.6f : 0.95f);
}

void samples_word(samples_random *r, char to[12]) {
    static const char consonants[] = "BCDFGHJKLMNPRSTVWZ", vowels[] = "AEIOUY";
    int n = 2 + samples_below(r, 5), number = samples_chance(r, 0.12f), vowel = samples_below(r, 2);
    n += samples_below(r, 4);
    memset(to, 0, 12);
    for (int i = 0; i < n; i++) {
        if (number)
            to[i] = (char)('0' + samples_below(r, 10));
        else
            to[i] = vowel ? vowels[samples_below(r, 6)] : consonants[samples_below(r, 18)];
        vowel = samples_chance(r, 0.12f) ? vowel : !vowel;
    }
}

/* --- images of one letter --- */

const char *samples_letter_name(int k) {
    static const char names[SAMPLES_LETTERS][2] = {"A", "B", "C", "D", "E", "F", "G", "H", "I",
                                                   "J", "K", "L", "M", "N", "O", "P", "Q", "R",
                                                   "S", "T", "U", "V", "W", "X", "Y", "Z"};
    return names[k];
}

/* Strokes around (0, 0), a capital's height 1, to where and how they stand in the image. */
static void place(samples_path *p, samples_random *r) {
    const float turn = samples_between(r, -0.3f, 0.3f), slant = samples_between(r, -0.35f, 0.35f);
    const float high = samples_between(r, 9.0f, 14.0f);
    const float wide = high * samples_between(r, 0.75f, 1.15f);
    const float x = samples_between(r, -1.8f, 1.8f), y = samples_between(r, -1.8f, 1.8f);
    const float c = samples_cos(turn), s = samples_sin(turn);
    const float middle = 0.5f * SAMPLES_LETTER_SIDE;
    const float m[6] = {c * wide, c * slant * wide - s * high, middle + x,
                        s * wide, s * slant * wide + c * high, middle + y};
    samples_path_transform(p, m);
}

int samples_letter_draw(samples_canvas *c, uint64_t seed, uint64_t index) {
    samples_random r = samples_random_start(seed, index);
    samples_path path = {0};
    const float width = samples_letter(
        &path, samples_letter_name((int)(index % SAMPLES_LETTERS))[0], 0.0f, 0.0f, 1.0f);
    samples_path_transform(&path, (const float[6]){1, 0, -0.42f * width, 0, 1, 0.5f});
    place(&path, &r);
    const float paper = samples_between(&r, 0.0f, 0.3f), light = samples_between(&r, 0.6f, 1.0f);
    const samples_texture ground = samples_texture_flat((samples_colour){paper, paper, paper});
    const samples_texture ink = samples_texture_flat((samples_colour){light, light, light});
    const float half_width = samples_between(&r, 0.6f, 1.4f);
    samples_canvas_fill(c, &ground);
    samples_canvas_stroke(c, &path, half_width,
                          &(samples_look){.texture = &ink, .opacity = 1.0f, .softness = 1.0f});
    const samples_camera camera = {.exposure = 1.0f,
                                   .contrast = 1.0f,
                                   .tint = {1.0f, 1.0f, 1.0f},
                                   .blur = samples_between(&r, 0.0f, 0.8f),
                                   .noise = 0.08f};
    return samples_canvas_photograph(c, &camera, &r);
}

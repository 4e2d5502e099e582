/* letters.c -- the stroke alphabet; see letters.h. */
#include "samples/letters.h"
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

/* awake_strips.c -- see awake_strips.h. */
#include "codec/parking/awake_strips.h"
#include <string.h>

void codec_awake_remove(codec_awake_strips *a, const codec_strips *s) {
    for (uint32_t i = 0; i < a->n; i++)
        if (a->strips[i] == s) {
            a->n--;
            memmove(a->strips + i, a->strips + i + 1, (a->n - i) * sizeof *a->strips);
            return;
        }
}

/* Park those behind the first ones that take at most so many bytes in all, except `kept`. */
static void park(codec_awake_strips *a, const codec_strips *kept, uint64_t most) {
    uint64_t sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        codec_strips *s = a->strips[i];
        if (s != kept && codec_strips_have_levels(s)) sum += codec_strips_held(s);
        if (s == kept || sum <= most || codec_strips_park(s) != TAPER_OK) a->strips[n++] = s;
    }
    a->n = n;
}

void codec_awake_use(codec_awake_strips *a, codec_strips *s, const formats_account *account) {
    codec_awake_remove(a, s);
    if (a->n == CODEC_MOST_AWAKE) (void)codec_strips_park(a->strips[--a->n]);
    memmove(a->strips + 1, a->strips, a->n++ * sizeof *a->strips);
    a->strips[0] = s;
    const int is_little = account && formats_account_left(account) < codec_strips_missing(s);
    park(a, s, is_little ? 0 : CODEC_MOST_AWAKE_BYTES);
}

void codec_awake_keep(codec_awake_strips *a, const codec_strips *s) { park(a, s, 0); }

/* cascade_sample.c -- see cascade_sample.h. */
#include "codec/search/cascade_sample.h"
#include <stdlib.h>
#include <string.h>

/* The place of code i of the sample: the middle of part i of the order. */
static size_t place_of(const codec_cascade *c, size_t i) {
    return (size_t)((2 * (uint64_t)i + 1) * c->index->n / (2 * CODEC_CASCADE_SAMPLE));
}

static void copy_codes(codec_cascade_sample *s, const codec_cascade *c) {
    uint64_t *to = s->words;
    for (size_t l = 0; l < c->index->layers; l++) {
        const size_t width = codec_index_layer_words(c->index->words, l);
        for (size_t i = 0; i < CODEC_CASCADE_SAMPLE; i++, to += width)
            memcpy(to, c->index->layer[l] + place_of(c, i) * width, width * sizeof *to);
    }
    for (size_t i = 0; i < CODEC_CASCADE_SAMPLE; i++) s->image[i] = c->image[place_of(c, i)];
}

taper_status codec_cascade_sample_take(codec_cascade_sample *s, codec_cascade *c) {
    *s = (codec_cascade_sample){0};
    c->sample = NULL;
    if (c->index->n <= CODEC_CASCADE_SMALL) return TAPER_OK;
    s->words = malloc(CODEC_CASCADE_SAMPLE * c->index->words * sizeof *s->words);
    s->image = malloc(CODEC_CASCADE_SAMPLE * sizeof *s->image);
    if (!s->words || !s->image) {
        codec_cascade_sample_free(s);
        return TAPER_ERR_NOMEM;
    }
    copy_codes(s, c);
    s->index.n = CODEC_CASCADE_SAMPLE;
    s->index.words = c->index->words;
    codec_index_set_layers(&s->index, s->words);
    s->cascade = (codec_cascade){&s->index, s->image, c->weight, NULL, NULL};
    c->sample = &s->cascade;
    return TAPER_OK;
}

void codec_cascade_sample_free(codec_cascade_sample *s) {
    free(s->words);
    free(s->image);
    *s = (codec_cascade_sample){0};
}

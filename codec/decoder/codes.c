/* codes.c -- taper_decoder_codes: an image's codes, without the network; see taper.h. */
#include "codec/bitplane/head.h"
#include "codec/decoder/decoder.h"
#include <stdlib.h>
#include <string.h>

/* The number of known planes of the first units, without raised planes, of n windows from p. */
static void count_planes(const taper_model *model, const codec_group *g, uint32_t p, uint32_t n,
                         uint32_t units, uint8_t *planes) {
    for (uint32_t u = 0; u < units; u++) {
        uint32_t raised = (uint32_t)g->tables->planes[u] - model->tables.planes[u];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t known = codec_planes_known(g, u, p + i);
            planes[(size_t)i * units + u] = (uint8_t)(known > raised ? known - raised : 0);
        }
    }
}

/* Copy the first units of n windows from p. code: temporary, large enough for `at_once` codes. */
static void copy_values(const codec_group *g, uint32_t p, uint32_t n, uint32_t units, float *code,
                        uint32_t at_once, float *values) {
    size_t all = g->tables->units;
    for (uint32_t end = p + n, more; p < end; p += more) {
        more = end - p < at_once ? end - p : at_once;
        codec_head_dequantise(g, p, more, code);
        for (uint32_t i = 0; i < more; i++, values += units)
            memcpy(values, code + i * all, units * sizeof *values);
    }
}

taper_status taper_decoder_codes(taper_decoder *d, uint64_t i, uint32_t units, uint32_t passes,
                                 float *values, uint8_t *planes, taper_completeness *done,
                                 taper_error *error) {
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_find(d, i, &image.info, error));
    if (!units || units > codec_decoder_model(d)->network.units || !values)
        return formats_fail(error, TAPER_ERR_ARG, "1 to %u units are legal, not %u",
                            codec_decoder_model(d)->network.units, units);
    if (image.info.is_indexed)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "image %llu is stored by its colours and has no codes; decode it, and "
                            "make codes of its pixels",
                            (unsigned long long)i);
    TAPER_TRY(codec_decoder_load_image(d, i, passes, &image, error));
    codec_group_reader *r = image.group;
    uint32_t at_once = image.n < CODEC_RENDER_WINDOWS ? image.n : CODEC_RENDER_WINDOWS;
    uint64_t bytes = (uint64_t)at_once * codec_decoder_model(d)->network.units * sizeof *values;
    if (bytes > formats_account_left(&d->account))
        codec_decoder_drop_others(d, codec_container_rate_class(d->container, image.info.group));
    if (bytes > formats_account_left(&d->account))
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_account_needed(&d->account, bytes),
                                 "these codes need %llu more bytes of memory than the limit of "
                                 "%llu allows",
                                 (unsigned long long)bytes,
                                 (unsigned long long)d->limits.max_memory);
    float *code = malloc((size_t)bytes);
    if (!code) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for codes");
    for (uint32_t b = 0; b < r->strips.n; b++) {
        const codec_group *g = &r->strips.coder[b].group;
        size_t before = (size_t)r->strips.first[b] * units;
        int divided = r->strips.n > 1; /* then the image is the whole group */
        uint32_t first = divided ? 0 : image.first, n = divided ? g->n : image.n;
        copy_values(g, first, n, units, code, at_once, values + before);
        if (planes) count_planes(codec_decoder_model(d), g, first, n, units, planes + before);
    }
    free(code);
    if (done) *done = codec_decoder_completeness(d, r);
    return codec_decoder_damage(r, error);
}

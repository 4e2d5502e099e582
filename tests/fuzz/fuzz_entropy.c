/* fuzz_entropy.c -- any bytes as a chunk's string, with fixed tables or those of a binary model;
 * the first bytes draw which, the shape of the group and how the string arrives. Decoding in pieces
 * must give what decoding at once gives. */
#include "../dct_model.h"
#include "codec/bitplane/quantiser.h"
#include "codec/bitplane/chunk_coder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(int holds) {
    if (!holds) abort();
}

static const taper_model *the_model(int in_parts) {
    static taper_model *model[2];
    formats_buffer file = formats_buffer_make(1 << 20);
    codec_window window = {4, 4, 3, NULL};
    if (!model[in_parts])
        model[in_parts] = dct_model_in_parts(window, 28, 4, in_parts ? 3 : 1, &file);
    formats_buffer_free(&file);
    return model[in_parts];
}

static const codec_code_tables *binary_tables(void) {
    static codec_code_tables tables;
    float density[28];
    for (int u = 0; u < 28; u++) density[u] = (float)u / 27;
    if (!tables.units) must(codec_code_tables_make_binary(&tables, 28, 16, density) == TAPER_OK);
    return &tables;
}

static void check_levels(const codec_group *g) {
    const codec_code_tables *t = g->tables;
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t p = 0; p < g->n; p++)
            must(abs(g->level[(size_t)u * g->stride + p]) < 1 << t->planes[u]);
    float *x = malloc(sizeof *x * t->units * g->n);
    must(x != NULL);
    codec_dequantise(g, 0, g->n, x);
    for (size_t i = 0; i < (size_t)t->units * g->n; i++) must(fabsf(x[i]) < 1e6f);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 5) return 0;
    int in_parts = bytes[4] >> 2 & 1;
    const codec_code_tables *t = bytes[4] & 2 ? binary_tables() : &the_model(in_parts)->tables;
    codec_grid grid[4];
    for (int i = 0; i < 4; i++)
        grid[i] = (codec_grid){1 + (bytes[0] >> i & 1), 1 + (bytes[1] >> i & 1)};
    uint32_t end = (uint32_t)(bytes[2] + 1) * t->n_passes / 256;
    size_t step = 1 + bytes[3] % 37;
    int whole = bytes[4] & 1;
    bytes += 5, n -= 5;
    codec_chunk_coder once, pieces;
    must(codec_chunk_coder_alloc(&once, t, grid, 1 + step % 4, NULL) == TAPER_OK);
    must(codec_chunk_coder_alloc(&pieces, t, grid, 1 + step % 4, NULL) == TAPER_OK);
    codec_rc_decoder rc;
    codec_rc_decoder_init(&rc, bytes, n, whole);
    int done = codec_chunk_decode(&once, &rc, end);
    must(!whole || done);
    must(once.group.pass <= end && done == (once.group.pass == end));
    check_levels(&once.group);
    codec_rc_decoder_init(&rc, bytes, 0, 0);
    for (size_t at = 0; at < n; at += step) {
        size_t known = at + step < n ? at + step : n;
        codec_rc_decoder_extend(&rc, bytes, known, 0);
        codec_chunk_decode(&pieces, &rc, end);
    }
    codec_rc_decoder_extend(&rc, bytes, n, whole);
    codec_chunk_decode(&pieces, &rc, end);
    /* the one illegal string begins with eight bytes FF, beyond the first interval: there, any bits
     * do */
    static const uint8_t beyond[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    if (n < sizeof beyond || memcmp(bytes, beyond, sizeof beyond)) {
        must(pieces.group.pass == once.group.pass && pieces.group.position == once.group.position);
        must(!memcmp(once.group.level, pieces.group.level,
                     sizeof *once.group.level * t->units * once.group.stride));
    }
    codec_chunk_coder_free(&once), codec_chunk_coder_free(&pieces);
    return 0;
}

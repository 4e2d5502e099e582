/* test_code_tables.c -- order, serialised form, and a rejection for every illegal field. */
#include "cmocka_all.h"
#include "codec/bitplane/code_tables.h"
#include "dct_model.h"

enum { UNITS = 5, SEED = 31 };

/* Tables of UNITS units with distinct values in every field. */
static codec_code_tables sample(int own_steps) {
    codec_code_tables t;
    static const uint8_t planes[UNITS] = {4, 0, 15, 2, 1};
    assert_int_equal(codec_code_tables_alloc(&t, UNITS), TAPER_OK);
    for (uint32_t u = 0; u < UNITS; u++) {
        t.step[u] = own_steps ? 0.5f + (float)u : 2.25f;
        t.planes[u] = planes[u];
        t.log_scale[u] = (int16_t)(300 * (int)u - 512);
    }
    assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
    assert_int_equal(t.n_passes, 22);
    uint8_t *rd_slope = t.rd_slope;
    for (uint32_t u = 0; u < UNITS; rd_slope += t.planes[u++])
        for (uint32_t d = 0; d < t.planes[u]; d++) rd_slope[d] = (uint8_t)(255 - 7 * d - u);
    assert_int_equal(codec_order_make(&t), TAPER_OK);
    t.n_layers = 3;
    t.layer[0] = (codec_layer_end){1, 0};
    t.layer[1] = (codec_layer_end){20, 70000};
    t.layer[2] = (codec_layer_end){22, 70000};
    uint64_t state = SEED;
    uint8_t *bytes[] = {(uint8_t *)t.recon,         t.zero_norm,         (uint8_t *)t.prior,
                        (uint8_t *)t.signed_weight, (uint8_t *)t.weight, (uint8_t *)t.bias};
    size_t size[] = {sizeof t.recon,         sizeof t.zero_norm, sizeof t.prior,
                     sizeof t.signed_weight, sizeof t.weight,    sizeof t.bias};
    for (int i = 0; i < 6; i++)
        for (size_t k = 0; k < size[i]; k++) bytes[i][k] = (uint8_t)(picture_random(&state) >> 50);
    return t;
}

/* The same, of two or three parts; with three, passes look at themselves. */
static codec_code_tables sample_in_parts(uint32_t parts) {
    static const uint8_t least[] = {50, 43};
    codec_code_tables t = sample(0);
    t.fractions = parts;
    memcpy(t.least, least, sizeof least);
    assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
    for (uint32_t i = 0; i < t.n_rd_slopes; i++) t.rd_slope[i] = (uint8_t)(200 - i);
    t.rd_slope[1] = t.rd_slope[0], t.rd_slope[parts] = t.rd_slope[parts - 1];
    assert_int_equal(codec_order_make(&t), TAPER_OK);
    assert_int_equal(t.n_passes, 22 * parts - 1);
    t.layer[2].pass = t.n_passes;
    t.causal = parts == 3;
    if (t.causal) dct_fill_causal(&t);
    return t;
}

static void order_is_by_slope_then_depth_then_unit(void **unused) {
    (void)unused;
    codec_code_tables t;
    assert_int_equal(codec_code_tables_alloc(&t, 3), TAPER_OK);
    t.planes[0] = 2, t.planes[1] = 3, t.planes[2] = 1;
    assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
    static const uint8_t rd_slope[] = {200, 100, 255, 200, 200, 200};
    memcpy(t.rd_slope, rd_slope, sizeof rd_slope);
    assert_int_equal(codec_order_make(&t), TAPER_OK);
    static const codec_pass want[] = {{1, 0, 0}, {0, 0, 0}, {2, 0, 0},
                                      {1, 1, 0}, {1, 2, 0}, {0, 1, 0}};
    assert_int_equal(t.n_passes, 6);
    assert_memory_equal(t.pass, want, sizeof want);
    t.rd_slope[3] = 254, t.rd_slope[4] = 255; /* rises within unit 1 */
    assert_int_equal(codec_order_make(&t), TAPER_ERR_CORRUPT);
    codec_code_tables_free(&t);
    assert_null(t.step);
}

/* Parts of one slope go together, but not with the next plane. */
static void parts_are_passes_where_slopes_differ(void **unused) {
    (void)unused;
    codec_code_tables t;
    assert_int_equal(codec_code_tables_alloc(&t, 2), TAPER_OK);
    t.planes[0] = 2, t.planes[1] = 1, t.fractions = 3;
    assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
    assert_int_equal(t.n_rd_slopes, 9);
    static const uint8_t rd_slope[] = {250, 240, 240, 240, 230, 220, 245, 245, 240};
    memcpy(t.rd_slope, rd_slope, sizeof rd_slope);
    static const codec_pass want[] = {{0, 0, 0}, {1, 0, 1}, {0, 0, 2}, {1, 0, 2},
                                      {0, 1, 0}, {0, 1, 1}, {0, 1, 2}};
    assert_int_equal(codec_order_make(&t), TAPER_OK);
    assert_int_equal(t.n_passes, 7);
    assert_memory_equal(t.pass, want, sizeof want);
    assert_int_equal(codec_order_make_apart(&t), TAPER_OK);
    assert_int_equal(t.n_passes, 9);
    codec_code_tables_free(&t);
}

/* Whatever the slopes, a unit's planes come in order and every pass comes once. */
static void order_is_always_legal(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    for (int round = 0; round < 50; round++) {
        codec_code_tables t;
        assert_int_equal(codec_code_tables_alloc(&t, 40), TAPER_OK);
        for (uint32_t u = 0; u < 40; u++) t.planes[u] = (uint8_t)(picture_random(&state) >> 60);
        assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
        uint8_t *rd_slope = t.rd_slope;
        for (uint32_t u = 0; u < 40; rd_slope += t.planes[u++])
            for (uint32_t d = 0; d < t.planes[u]; d++) {
                uint32_t top = d ? rd_slope[d - 1] : 255;
                rd_slope[d] = (uint8_t)(picture_random(&state) % (top + 1));
            }
        assert_int_equal(codec_order_make(&t), TAPER_OK);
        uint8_t depth[40] = {0};
        for (uint32_t i = 0; i < t.n_passes; i++)
            assert_int_equal(t.pass[i].depth, depth[t.pass[i].unit]++);
        assert_memory_equal(depth, t.planes, 40);
        codec_code_tables_free(&t);
    }
}

static void assert_same(const codec_code_tables *a, const codec_code_tables *b) {
    assert_int_equal(a->units, b->units);
    assert_memory_equal(a->step, b->step, a->units * sizeof *a->step);
    assert_memory_equal(a->planes, b->planes, a->units);
    assert_memory_equal(a->log_scale, b->log_scale, a->units * sizeof *a->log_scale);
    assert_int_equal(a->n_passes, b->n_passes);
    assert_int_equal(a->fractions, b->fractions);
    assert_memory_equal(a->least, b->least, a->fractions - 1);
    assert_memory_equal(a->rd_slope, b->rd_slope, a->n_rd_slopes);
    assert_memory_equal(a->pass, b->pass, a->n_passes * sizeof *a->pass);
    assert_int_equal(a->n_layers, b->n_layers);
    assert_memory_equal(a->layer, b->layer, a->n_layers * sizeof *a->layer);
    assert_memory_equal(a->recon, b->recon, sizeof a->recon);
    assert_memory_equal(a->zero_norm, b->zero_norm, sizeof a->zero_norm);
    assert_memory_equal(a->weight, b->weight, sizeof a->weight);
    assert_memory_equal(a->bias, b->bias, sizeof a->bias);
    assert_memory_equal(a->prior, b->prior, sizeof a->prior);
    assert_memory_equal(a->signed_weight, b->signed_weight, sizeof a->signed_weight);
    assert_int_equal(a->causal, b->causal);
    assert_memory_equal(a->causal_weight, b->causal_weight, sizeof a->causal_weight);
    assert_memory_equal(a->causal_logit, b->causal_logit, sizeof a->causal_logit);
}

static void what_is_written_is_read(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        codec_code_tables t = kind < 2 ? sample(kind) : sample_in_parts((uint32_t)kind), back;
        formats_buffer out = formats_buffer_make(1 << 20);
        assert_int_equal(codec_code_tables_write(&t, &out), TAPER_OK);
        formats_cursor in = formats_cursor_over(out.data, out.size);
        assert_int_equal(codec_code_tables_read(&back, UNITS, &in, NULL), TAPER_OK);
        assert_int_equal(formats_cursor_left(&in), 0);
        assert_same(&t, &back);
        codec_code_tables_free(&back);
        for (size_t size = 0; size < out.size; size++) { /* every truncation */
            uint8_t *cut = malloc(size + 1);
            assert_non_null(cut);
            memcpy(cut, out.data, size);
            in = formats_cursor_over(cut, size);
            taper_error error = {0};
            taper_status status = codec_code_tables_read(&back, UNITS, &in, &error);
            assert_true(status == TAPER_ERR_TRUNCATED || status == TAPER_ERR_CORRUPT);
            assert_int_equal(error.status, status);
            assert_null(back.step);
            free(cut);
        }
        codec_code_tables_free(&t);
        formats_buffer_free(&out);
    }
}

/* Spoil one field of the tables, write them, and see the reader refuse. */
typedef void spoil_fn(codec_code_tables *t);

static void nan_step(codec_code_tables *t) { t->step[2] = NAN; }
static void zero_step(codec_code_tables *t) { t->step[0] = 0; }
static void negative_step(codec_code_tables *t) { t->step[1] = -1; }
static void tiny_step(codec_code_tables *t) { t->step[3] = 9e-7f; }
static void huge_step(codec_code_tables *t) { t->step[3] = 1.1e6f; }
static void infinite_step(codec_code_tables *t) { t->step[3] = INFINITY; }
static void low_scale(codec_code_tables *t) { t->log_scale[1] = -513; }
static void high_scale(codec_code_tables *t) { t->log_scale[4] = 1024; }
static void rising_slope(codec_code_tables *t) { t->rd_slope[1] = 255, t->rd_slope[0] = 254; }
static void no_layer(codec_code_tables *t) { t->n_layers = 0; }
static void empty_layer(codec_code_tables *t) { t->layer[1].pass = 1; }
static void falling_layer(codec_code_tables *t) { t->layer[1].pass = 0; }
static void layer_past_the_end(codec_code_tables *t) { t->layer[2].pass = 23; }
static void layers_end_early(codec_code_tables *t) { t->layer[2].pass = 21; }
static void falling_size(codec_code_tables *t) { t->layer[2].bytes_per_mpixel = 69999; }
static void rising_bins(codec_code_tables *t) { t->least[1] = 50; }
static void high_bin(codec_code_tables *t) { t->least[0] = CODEC_BINS; }
static void rising_part(codec_code_tables *t) { t->rd_slope[1] = 254, t->rd_slope[0] = 253; }

/* Written as it is, whatever it is, but read again as what the file says. */
static void assert_refused(codec_code_tables *t, size_t number) {
    codec_code_tables back;
    formats_buffer out = formats_buffer_make(1 << 20);
    assert_int_equal(codec_code_tables_write(t, &out), TAPER_OK);
    formats_cursor in = formats_cursor_over(out.data, out.size);
    taper_error error = {0};
    if (codec_code_tables_read(&back, UNITS, &in, &error) != TAPER_ERR_CORRUPT)
        fail_msg("case %zu was not refused as corrupt", number);
    assert_int_equal(error.status, TAPER_ERR_CORRUPT);
    assert_true(strlen(error.text) > 10);
    assert_null(back.step);
    codec_code_tables_free(t);
    formats_buffer_free(&out);
}

static void illegal_parts_are_refused(void **unused) {
    (void)unused;
    static spoil_fn *const spoil[] = {rising_bins, high_bin, rising_part};
    static const uint8_t parts[] = {0, 1, 5, 255};
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        codec_code_tables t = sample_in_parts(3);
        spoil[i](&t);
        assert_refused(&t, i);
    }
    codec_code_tables t = sample_in_parts(3), back;
    formats_buffer out = formats_buffer_make(1 << 20);
    assert_int_equal(codec_code_tables_write(&t, &out), TAPER_OK);
    for (size_t i = 0; i < sizeof parts; i++) {
        out.data[1] = parts[i];
        formats_cursor in = formats_cursor_over(out.data, out.size);
        assert_int_equal(codec_code_tables_read(&back, UNITS, &in, NULL), TAPER_ERR_CORRUPT);
    }
    codec_code_tables_free(&t);
    formats_buffer_free(&out);
}

static void illegal_fields_are_refused(void **unused) {
    (void)unused;
    static spoil_fn *const spoil[] = {
        nan_step,      zero_step,     negative_step,      tiny_step,        huge_step,
        infinite_step, low_scale,     high_scale,         rising_slope,     no_layer,
        empty_layer,   falling_layer, layer_past_the_end, layers_end_early, falling_size};
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        codec_code_tables t = sample(1);
        spoil[i](&t);
        assert_refused(&t, i);
    }
}

/* Bytes that no writer makes: the step mode, too many planes, too many layers. */
static void illegal_bytes_are_refused(void **unused) {
    (void)unused;
    codec_code_tables t = sample(0), back;
    formats_buffer out = formats_buffer_make(1 << 20);
    assert_int_equal(codec_code_tables_write(&t, &out), TAPER_OK);
    size_t planes_at = 1 + 4, layers_at = planes_at + UNITS + 2 * UNITS + t.n_passes;
    const struct {
        size_t at;
        uint8_t value;
    } bad[] = {{0, 2},           {0, 8},          {planes_at + 1, 16},
               {planes_at, 255}, {layers_at, 65}, {layers_at, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t was = out.data[bad[i].at];
        out.data[bad[i].at] = bad[i].value;
        formats_cursor in = formats_cursor_over(out.data, out.size);
        if (codec_code_tables_read(&back, UNITS, &in, NULL) != TAPER_ERR_CORRUPT)
            fail_msg("case %zu was not refused as corrupt", i);
        out.data[bad[i].at] = was;
    }
    formats_cursor in = formats_cursor_over(out.data, out.size);
    assert_int_equal(codec_code_tables_read(&back, UNITS, &in, NULL), TAPER_OK);
    codec_code_tables_free(&back);
    formats_buffer_free(&out);
    for (uint32_t u = 0; u < UNITS; u++) t.planes[u] = 0; /* a model that sends nothing */
    assert_int_equal(codec_code_tables_set_planes(&t), TAPER_OK);
    assert_int_equal(codec_code_tables_write(&t, &out), TAPER_OK);
    in = formats_cursor_over(out.data, out.size);
    assert_int_equal(codec_code_tables_read(&back, UNITS, &in, NULL), TAPER_ERR_CORRUPT);
    codec_code_tables_free(&t);
    formats_buffer_free(&out);
}

static void bands_and_ratios(void **unused) {
    (void)unused;
    assert_int_equal(codec_band(0), 0);
    for (uint32_t b = 0; b < CODEC_BANDS - 1; b++) {
        assert_int_equal(codec_band((1u << b) - 1), b);
        assert_int_equal(codec_band((1u << (b + 1)) - 2), b);
    }
    assert_int_equal(codec_band(CODEC_MAX_UNITS), CODEC_BANDS - 1);
    assert_int_equal(codec_class(CODEC_REFINE_LATER, CODEC_MAX_UNITS), CODEC_CLASSES - 1);
    for (int32_t r = -2000; r < 2000; r++) {
        uint32_t bin = codec_ratio_bin(r);
        assert_true(bin <= CODEC_RATIO_BINS - 2 && bin <= codec_ratio_bin(r + 1));
    }
    assert_int_equal(codec_ratio_bin(-160), 0);
    assert_int_equal(codec_ratio_bin(0), 20);
    assert_int_equal(codec_ratio_bin(7), 20);
    assert_int_equal(codec_ratio_bin(8), 21);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_slope_then_depth_then_unit),
        cmocka_unit_test(parts_are_passes_where_slopes_differ),
        cmocka_unit_test(order_is_always_legal),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(illegal_fields_are_refused),
        cmocka_unit_test(illegal_parts_are_refused),
        cmocka_unit_test(illegal_bytes_are_refused),
        cmocka_unit_test(bands_and_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arguments.c -- every function of codec/taper.h with every argument at its extremes; see
 * arguments.h. test_arguments_model, _search and _index have those of the other headers. */
#include "arguments.h"
#include "dct_model.h"
#include "formats/imageset/folder_walk.h"
#include "infos.h"
#include "tiny_embedding_model.h"

enum { SIDE = 9, BYTES = SIDE * SIDE * 3, BITS = 70, WORDS = 2, N = 2 };

/* What is good: a model, images, a container of them that carries both models. */
static taper_model *model, *maker;
static formats_buffer model_file, maker_file, file;
static taper_image image[N];
static uint64_t code[N * WORDS];
static formats_memory memory;
static taper_source source;

/* --- sinks and sources ------------------------------------------------------------------ */

static taper_status swallow(void *user, const void *bytes, size_t n) {
    (void)user, (void)bytes, (void)n;
    return TAPER_OK;
}
static const taper_sink sink = {NULL, swallow}, no_sink = {NULL, NULL};

static taper_source without_read(void) {
    taper_source s = source;
    s.read = NULL;
    return s;
}

static taper_status read_nothing(void *user, uint64_t offset, void *to, size_t n) {
    (void)user, (void)offset;
    memset(to, 0, n);
    return TAPER_OK;
}

/* --- the encoder ------------------------------------------------------------------------ */

static taper_search_codes codes_of(size_t n) {
    return (taper_search_codes){sizeof(taper_search_codes),
                                info_of_model(maker).id,
                                BITS,
                                n,
                                code,
                                maker_file.data,
                                maker_file.size};
}

static taper_encoder *encoder_with(size_t n) {
    taper_encoder *e;
    assert_int_equal(taper_encoder_new(&e, model, NULL, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taper_encoder_add(e, &image[i], NULL, 0, NULL), TAPER_OK);
    return e;
}

/* A whole run with these options, as far as it goes. */
static void encode(const taper_encode_options *options) {
    taper_encoder *e;
    taper_error error = {0};
    taper_encode_options own = options ? *options : (taper_encode_options){.threads = 0};
    own.size = sizeof own;
    if (allowed(taper_encoder_new(&e, model, options ? &own : NULL, &error), &error)) return;
    for (size_t i = 0; i < N; i++)
        allowed(taper_encoder_add(e, &image[i], NULL, -1, &error), &error);
    allowed(taper_encoder_finish(e, 0, &sink, &error), &error);
    taper_encoder_free(e);
}

static void try_encoder_new(void) {
    taper_error error = {0};
    taper_encoder *e;
    refused(taper_encoder_new(NULL, model, NULL, &error), &error);
    refused(taper_encoder_new(&e, maker, NULL, &error), &error);
    encode(NULL);
    EACH_NUMBER(v) {
        encode(&(taper_encode_options){.layout = (taper_layout)*v});
        encode(&(taper_encode_options){.allocation = (taper_allocation)*v});
        encode(&(taper_encode_options){.group_images = (uint32_t)*v});
        encode(&(taper_encode_options){.target_bytes_per_megapixel = *v});
        encode(&(taper_encode_options){.embed_model = (int)*v});
        encode(&(taper_encode_options){.threads = (unsigned)*v});
        encode(&(taper_encode_options){.quick = (int)*v});
        encode(&(taper_encode_options){.measure = (int)*v});
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            encode(&(taper_encode_options){.limits = &limits});
        }
    }
    taper_encode_options own = {.size = sizeof own, .limits = &argument_no_size};
    refused(taper_encoder_new(&e, model, &own, &error), &error);
    own = (taper_encode_options){
        .size = sizeof own, .embed_model = 1, .model_bytes = model_file.data};
    EACH_COUNT(v) {
        own.model_size = *v;
        refused(taper_encoder_new(&e, model, &own, &error), &error);
    }
    own.model_bytes = NULL, own.model_size = model_file.size;
    refused(taper_encoder_new(&e, model, &own, &error), &error);
}

/* Images whose geometry is not that of their pixels are illegal, or above the limits. */
static void try_encoder_add(void) {
    taper_error error = {0};
    taper_encoder *e = encoder_with(0);
    refused(taper_encoder_add(NULL, &image[0], NULL, -1, &error), &error);
    refused(taper_encoder_add(e, NULL, NULL, -1, &error), &error);
    EACH_NUMBER(v) {
        for (int field = 0; field < 4; field++) {
            taper_image other = image[0];
            if (field == 0) other.width = (uint32_t)*v;
            if (field == 1) other.height = (uint32_t)*v;
            if (field == 2) other.channels = (uint8_t)*v;
            if (field == 3) other.depth = (uint8_t)*v;
            const taper_status status =
                allowed(taper_encoder_add(e, &other, NULL, 0, &error), &error);
            assert_true(*v == 1 || status);
        }
        allowed(taper_encoder_add(e, &image[0], NULL, (int32_t)*v, &error), &error);
    }
    allowed(taper_encoder_add(e, &image[0], NULL, INT32_MIN, &error), &error);
    taper_image without = image[0];
    without.pixels = NULL;
    refused(taper_encoder_add(e, &without, NULL, -1, &error), &error);
    refused(taper_encoder_add(e, &image[0], "", -1, &error), &error);
    refused(taper_encoder_add(e, &image[0], "../a", -1, &error), &error);
    assert_int_equal(taper_encoder_add(e, &image[0], NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(e);
}

static taper_status grey_rows(void *user, const taper_image *rows) {
    (void)user;
    memset(rows->pixels, 128, (size_t)rows->width * rows->height * rows->channels);
    return TAPER_OK;
}

static void try_encoder_add_rows(void) {
    taper_error error = {0};
    taper_encoder *e = encoder_with(0);
    const taper_row_source good = {sizeof good, 3, 2, 1, 8, NULL, grey_rows};
    taper_row_source bad = good;
    refused(taper_encoder_add_rows(NULL, &good, NULL, -1, &error), &error);
    refused(taper_encoder_add_rows(e, NULL, NULL, -1, &error), &error);
    refused(taper_encoder_add_rows(e, &good, "../a", -1, &error), &error);
    bad.read = NULL;
    refused(taper_encoder_add_rows(e, &bad, NULL, -1, &error), &error);
    bad = good, bad.size = 0;
    refused(taper_encoder_add_rows(e, &bad, NULL, -1, &error), &error);
    EACH_NUMBER(v) {
        bad = good, bad.channels = (uint8_t)*v;
        allowed(taper_encoder_add_rows(e, &bad, NULL, -1, &error), &error);
        bad = good, bad.width = *v ? 1 : 0;
        allowed(taper_encoder_add_rows(e, &bad, NULL, (int32_t)*v, &error), &error);
    }
    assert_int_equal(taper_encoder_add_rows(e, &good, NULL, -1, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(e);
}

static void try_encoder_set_classes(void) {
    static const char *const names[] = {"a", NULL};
    taper_error error = {0};
    refused(taper_encoder_set_classes(NULL, names, 1, &error), &error);
    EACH_COUNT(v) {
        taper_encoder *e = encoder_with(N);
        if (*v) refused(taper_encoder_set_classes(e, NULL, *v, &error), &error);
        if (*v > 1) refused(taper_encoder_set_classes(e, names, *v, &error), &error);
        refused(taper_encoder_set_classes(e, names, 2, &error), &error);
        assert_int_equal(taper_encoder_set_classes(e, names, *v == 1, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
        taper_encoder_free(e);
    }
}

/* An encoder of N images, all of a set: the only legal part of it has these numbers. */
static void try_encoder_set_part(void) {
    const taper_part whole = {.size = sizeof whole, .parts = 1, .images = N};
    taper_error error = {0};
    taper_encoder *e = encoder_with(N);
    refused(taper_encoder_set_part(NULL, &whole, &error), &error);
    refused(taper_encoder_set_part(e, NULL, &error), &error);
    refused(taper_encoder_set_part(e, &(taper_part){0}, &error), &error);
    EACH_NUMBER(v) {
        taper_part other[] = {whole, whole, whole, whole};
        other[0].parts = (uint32_t)*v, other[1].part = (uint32_t)*v;
        other[2].images = *v, other[3].left_out = *v;
        const int legal[] = {(uint32_t)*v == 1, !*v, *v == N, !*v};
        for (int i = 0; i < 4; i++)
            assert_int_equal(allowed(taper_encoder_set_part(e, &other[i], &error), &error),
                             legal[i] ? TAPER_OK : TAPER_ERR_ARG);
    }
    assert_int_equal(taper_encoder_set_part(e, &whole, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    refused(taper_encoder_set_part(e, &whole, &error), &error);
    taper_encoder_free(e);
}

static void try_encoder_set_metadata(void) {
    taper_error error = {0};
    taper_metadata m = {.size = sizeof m, .has_modified = 1};
    taper_encoder *e = encoder_with(0);
    refused(taper_encoder_set_metadata(e, &m, &error), &error);
    taper_encoder_free(e);
    refused(taper_encoder_set_metadata(NULL, &m, &error), &error);
    EACH_NUMBER(v) {
        taper_metadata other[] = {
            {.size = (size_t)*v},
            {.size = sizeof m, .icc_size = (size_t)*v},
            {.size = sizeof m, .exif_size = (size_t)*v},
            {.size = sizeof m,
             .xmp = "x",
             .xmp_size = (size_t)*v > 1 ? TAPER_MOST_METADATA + 1 : 1},
            {.size = sizeof m, .gamma = (uint32_t)*v},
            {.size = sizeof m, .density_x = (uint32_t)*v, .density_y = 1},
            {.size = sizeof m, .has_cicp = 1, .cicp = {0, 0, 0, (uint8_t)*v}},
            {.size = sizeof m, .has_modified = 1, .modified_ns = (int64_t)*v},
        };
        for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
            e = encoder_with(1);
            refused(taper_encoder_set_metadata(e, NULL, &error), &error);
            allowed(taper_encoder_set_metadata(e, &other[i], &error), &error);
            assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
            refused(taper_encoder_set_metadata(e, &m, &error), &error);
            taper_encoder_free(e);
        }
    }
}

static void try_encoder_add_name(void) {
    taper_error error = {0};
    refused(taper_encoder_add_name(NULL, 0, "a", -1, NULL, &error), &error);
    EACH_NUMBER(v) {
        const int64_t time = (int64_t)*v;
        taper_encoder *e = encoder_with(1);
        refused(taper_encoder_add_name(e, 0, NULL, -1, NULL, &error), &error);
        refused(taper_encoder_add_name(e, 0, "/", -1, NULL, &error), &error);
        allowed(taper_encoder_add_name(e, *v, "a", -1, &time, &error), &error);
        allowed(taper_encoder_add_name(e, 0, "a", (int32_t)*v, &time, &error), &error);
        assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
        refused(taper_encoder_add_name(e, 0, "a", -1, NULL, &error), &error);
        taper_encoder_free(e);
    }
}

static void try_encoder_set_search_codes(void) {
    taper_error error = {0};
    taper_encoder *e = encoder_with(N);
    taper_search_codes codes = codes_of(N);
    refused(taper_encoder_set_search_codes(NULL, &codes, &error), &error);
    refused(taper_encoder_set_search_codes(e, NULL, &error), &error);
    codes.size = 0;
    refused(taper_encoder_set_search_codes(e, &codes, &error), &error);
    codes.size = sizeof codes;
    EACH_NUMBER(v) {
        codes = codes_of(N), codes.model_id = *v;
        refused(taper_encoder_set_search_codes(e, &codes, &error), &error);
        codes = codes_of(N), codes.bits = (uint32_t)*v;
        if (*v != 1) refused(taper_encoder_set_search_codes(e, &codes, &error), &error);
        codes = codes_of((size_t)*v);
        refused(taper_encoder_set_search_codes(e, &codes, &error), &error);
    }
    codes = codes_of(N), codes.codes = NULL;
    refused(taper_encoder_set_search_codes(e, &codes, &error), &error);
    EACH_COUNT(v) {
        codes = codes_of(N), codes.model_size = *v;
        assert_int_not_equal(allowed(taper_encoder_set_search_codes(e, &codes, &error), &error),
                             TAPER_OK);
    }
    codes = codes_of(N), codes.model_bytes = NULL;
    assert_int_equal(taper_encoder_set_search_codes(e, &codes, NULL), TAPER_OK);
    taper_encoder_free(e);
}

static void try_encoder_finish(void) {
    taper_error error = {0};
    taper_encoder *e = encoder_with(1);
    refused(taper_encoder_finish(NULL, 0, &sink, &error), &error);
    refused(taper_encoder_finish(e, 0, NULL, &error), &error);
    refused(taper_encoder_finish(e, 0, &no_sink, &error), &error);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(e);
    EACH_NUMBER(v) {
        e = encoder_with(1);
        allowed(taper_encoder_finish(e, *v, &sink, &error), &error);
        taper_encoder_free(e);
    }
}

static void try_encoder_finish_file(void) {
    taper_error error = {0};
    taper_encoder *e = encoder_with(1);
    refused(taper_encoder_finish_file(NULL, 0, "/dev/null", &error), &error);
    refused(taper_encoder_finish_file(e, 0, NULL, &error), &error);
    assert_int_equal(taper_encoder_finish_file(e, 0, "/dev/null", NULL), TAPER_OK);
    taper_encoder_free(e);
}

static void try_encoder_is_short(void) { assert_int_equal(taper_encoder_is_short(NULL), 0); }

static void try_encoder_quality(void) {
    taper_error error = {0};
    taper_encode_quality quality = {.size = sizeof quality};
    taper_encoder *e = encoder_with(1);
    refused(taper_encoder_quality(NULL, &quality, &error), &error);
    refused(taper_encoder_quality(e, NULL, &error), &error);
    refused(taper_encoder_quality(e, &quality, &error), &error);
    taper_encoder_free(e);
}

static void try_encoder_set_aim(void) {
    taper_error error = {0};
    taper_encoder *e = encoder_with(0);
    refused(taper_encoder_set_aim(NULL, 40, &error), &error);
    refused(taper_encoder_set_aim(e, 101, &error), &error);
    taper_encoder_free(e);
}

static void try_encoder_aims(void) {
    taper_error error = {0};
    taper_aim_report report = {.size = sizeof report};
    taper_encoder *e = encoder_with(1);
    refused(taper_encoder_aims(NULL, &report, &error), &error);
    refused(taper_encoder_aims(e, NULL, &error), &error);
    refused(taper_encoder_aims(e, &report, &error), &error);
    taper_encoder_free(e);
}

static void try_encoder_free(void) { taper_encoder_free(NULL); }

/* --- the decoder ------------------------------------------------------------------------ */

static taper_decoder *opened(void) {
    taper_decoder *d;
    assert_int_equal(open_decoder(&d, &source, model, NULL, NULL), TAPER_OK);
    return d;
}

static taper_decoder *fresh(void) {
    taper_decoder *d;
    assert_int_equal(stream_decoder(&d, model, NULL, NULL), TAPER_OK);
    return d;
}

static void render_all(taper_decoder *d) {
    uint8_t pixels[BYTES];
    taper_image out = {.pixels = pixels};
    taper_error error = {0};
    for (size_t i = 0; i < N; i++) allowed(taper_decoder_render(d, i, &out, NULL, &error), &error);
}

static void try_decoder_new_streaming(void) {
    taper_error error = {0};
    taper_decoder *d;
    const taper_open_options without = {.size = sizeof without, .without_model = 1};
    refused(stream_decoder(NULL, model, NULL, &error), &error);
    refused(stream_decoder(&d, model, &argument_no_size, &error), &error);
    refused(taper_decoder_new_streaming(&d, &without, &error), &error);
    assert_int_equal(stream_decoder(&d, NULL, NULL, NULL), TAPER_OK); /* it carries its own */
    close_decoder(d);
    EACH_NUMBER(v)
    for (int i = 0; i < ARGUMENT_LIMITS; i++) {
        const taper_limits limits = argument_limits(i, *v);
        assert_int_equal(stream_decoder(&d, NULL, &limits, NULL), TAPER_OK);
        if (!allowed(taper_decoder_push(d, file.data, file.size, &error), &error)) render_all(d);
        close_decoder(d);
    }
}

static void try_decoder_new(void) {
    taper_error error = {0};
    taper_decoder *d;
    taper_container *c;
    assert_int_equal(taper_container_open(&c, &source, NULL, NULL), TAPER_OK);
    refused(taper_decoder_new(NULL, c, NULL, &error), &error);
    refused(taper_decoder_new(&d, NULL, NULL, &error), &error);
    EACH_NUMBER(v) {
        const taper_decode_options cut = {.size = sizeof cut, .cut = *v}, room = {.max_memory = *v};
        if (!allowed(taper_decoder_new(&d, c, &cut, &error), &error))
            render_all(d), taper_decoder_free(d);
        if (!allowed(taper_decoder_new(&d, c, &room, &error), &error))
            render_all(d), taper_decoder_free(d);
    }
    taper_container_close(c);
}

/* Of a file: an image, and a container. */
static void try_decode_file(void) {
    taper_error error = {0};
    taper_image decoded;
    taper_container *c;
    const char *path = "arguments.taper";
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file.data, 1, file.size, to), file.size);
    assert_int_equal(fclose(to), 0);
    refused(taper_decode_file(NULL, 0, &decoded, &error), &error);
    refused(taper_decode_file(path, 0, NULL, &error), &error);
    assert_int_equal(allowed(taper_decode_file("nowhere", 0, &decoded, &error), &error),
                     TAPER_ERR_IO);
    EACH_NUMBER(v) {
        allowed(taper_decode_file(path, *v, &decoded, &error), &error);
        taper_image_free(&decoded);
        assert_null(decoded.pixels);
    }
    refused(taper_container_open_file(NULL, path, NULL, &error), &error);
    refused(taper_container_open_file(&c, NULL, NULL, &error), &error);
    assert_int_equal(taper_container_open_file(&c, path, NULL, NULL), TAPER_OK);
    taper_container_close(c);
    refused(taper_container_open_memory(NULL, file.data, file.size, NULL, &error), &error);
    refused(taper_container_open_memory(&c, NULL, 1, NULL, &error), &error);
    EACH_COUNT(n)
    if (*n < 2) allowed(taper_container_open_memory(&c, file.data, *n, NULL, &error), &error);
    assert_int_equal(taper_container_open_memory(&c, file.data, file.size, NULL, NULL), TAPER_OK);
    taper_container_close(c);
    remove(path);
}

static void try_image_free(void) { taper_image_free(NULL); }

static void try_decoder_push(void) {
    taper_error error = {0};
    taper_decoder *d = fresh();
    refused(taper_decoder_push(NULL, file.data, 1, &error), &error);
    refused(taper_decoder_push(d, NULL, 1, &error), &error);
    refused(taper_decoder_push(d, file.data, SIZE_MAX, &error), &error);
    assert_int_equal(taper_decoder_push(d, NULL, 0, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(d, file.data, file.size, NULL), TAPER_OK);
    close_decoder(d);
}

static void try_container_open(void) {
    taper_error error = {0};
    taper_decoder *d;
    const taper_source empty = without_read();
    refused(open_decoder(NULL, &source, model, NULL, &error), &error);
    refused(open_decoder(&d, NULL, model, NULL, &error), &error);
    refused(open_decoder(&d, &empty, model, NULL, &error), &error);
    refused(open_decoder(&d, &source, model, &argument_no_size, &error), &error);
    assert_int_equal(open_decoder(&d, &source, NULL, NULL, NULL), TAPER_OK);
    close_decoder(d);
    EACH_NUMBER(v) {
        const taper_source zeros = {NULL, *v, read_nothing};
        assert_int_not_equal(allowed(open_decoder(&d, &zeros, model, NULL, &error), &error),
                             TAPER_OK);
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            if (allowed(open_decoder(&d, &source, NULL, &limits, &error), &error)) continue;
            render_all(d);
            close_decoder(d);
        }
    }
}

static void try_decoder_plan_name(void) {
    taper_error error = {0};
    taper_range range;
    size_t count;
    uint64_t i;
    taper_decoder *d = fresh();
    for (int whole = 0; whole <= 1; whole++) {
        refused(taper_decoder_plan_name(NULL, "a", 0, &range, 1, &count, &i, &error), &error);
        refused(taper_decoder_plan_name(d, NULL, 0, &range, 1, &count, &i, &error), &error);
        refused(taper_decoder_plan_name(d, "a", 0, &range, 1, NULL, &i, &error), &error);
        refused(taper_decoder_plan_name(d, "a", 0, NULL, 1, &count, &i, &error), &error);
        refused(taper_decoder_plan_name(d, "a", 0, &range, 1, &count, NULL, &error), &error);
        refused(taper_decoder_plan_name(d, "a", 0, &range, SIZE_MAX, &count, &i, &error), &error);
        EACH_NUMBER(v)
        allowed(taper_decoder_plan_name(d, "", *v, &range, 1, &count, &i, &error), &error);
        assert_int_equal(taper_decoder_plan_name(d, "", 0, NULL, 0, &count, &i, NULL),
                         whole ? TAPER_ERR_ARG : TAPER_OK);
        assert_int_equal(taper_decoder_supply(d, 0, file.data, file.size, NULL), TAPER_OK);
    }
    (void)taper_decoder_plan(d, 0, UINT64_MAX, NULL, 0, &count, NULL);
    render_all(d);
    close_decoder(d);
}

static void try_decoder_decode(void) {
    taper_error error = {0};
    taper_completeness done;
    taper_decoder *d = fresh();
    refused(taper_decoder_decode(NULL, 0, &done, &error), &error);
    assert_int_equal(taper_decoder_decode(d, 0, &done, NULL), TAPER_ERR_TRUNCATED);
    assert_int_equal(taper_decoder_supply(d, 0, file.data, file.size, NULL), TAPER_OK);
    refused(taper_decoder_decode(d, 0, NULL, &error), &error);
    EACH_NUMBER(v) allowed(taper_decoder_decode(d, *v, &done, &error), &error);
    close_decoder(d);
}

static void try_decoder_plan_images(void) {
    taper_error error = {0};
    taper_range range;
    size_t count;
    uint64_t one = 0;
    for (int whole = 0; whole < 2; whole++) {
        taper_decoder *d = fresh();
        if (whole)
            assert_int_equal(taper_decoder_supply(d, 0, file.data, file.size, NULL), TAPER_OK);
        taper_plan_options o = {.size = sizeof o};
        refused(taper_decoder_plan_images(NULL, &o, &range, 1, &count, &error), &error);
        refused(taper_decoder_plan_images(d, &o, &range, 1, NULL, &error), &error);
        refused(taper_decoder_plan_images(d, &o, NULL, 1, &count, &error), &error);
        refused(taper_decoder_plan_images(d, &o, &range, SIZE_MAX, &count, &error), &error);
        assert_int_equal(taper_decoder_plan_images(d, NULL, NULL, 0, &count, NULL), TAPER_OK);
        o.n = 1;
        refused(taper_decoder_plan_images(d, &o, &range, 1, &count, &error), &error);
        o.image = &one, o.n = SIZE_MAX;
        refused(taper_decoder_plan_images(d, &o, &range, 1, &count, &error), &error);
        EACH_NUMBER(v) {
            const uint64_t number = *v;
            o = (taper_plan_options){.size = sizeof o, .image = &number, .n = 1};
            allowed(taper_decoder_plan_images(d, &o, &range, 1, &count, &error), &error);
            o = (taper_plan_options){.size = sizeof o,
                                     .cut = *v,
                                     .max_bytes = *v,
                                     .max_gap = *v,
                                     .passes = (uint32_t)*v};
            allowed(taper_decoder_plan_images(d, &o, &range, 1, &count, &error), &error);
        }
        o.size = 0;
        refused(taper_decoder_plan_images(d, &o, &range, 1, &count, &error), &error);
        taper_decoder_free(d);
    }
}

static void try_decoder_plan(void) {
    taper_error error = {0};
    taper_range range;
    size_t count;
    taper_decoder *d = fresh();
    for (int whole = 0; whole <= 1; whole++) {
        refused(taper_decoder_plan(NULL, 0, 0, &range, 1, &count, &error), &error);
        refused(taper_decoder_plan(d, 0, 0, &range, 1, NULL, &error), &error);
        refused(taper_decoder_plan(d, 0, 0, NULL, 1, &count, &error), &error);
        refused(taper_decoder_plan(d, 0, 0, &range, SIZE_MAX, &count, &error), &error);
        assert_int_equal(taper_decoder_plan(d, 0, 0, NULL, 0, &count, NULL), TAPER_OK);
        EACH_NUMBER(v) {
            allowed(taper_decoder_plan(d, *v, UINT64_MAX, &range, 1, &count, &error), &error);
            allowed(taper_decoder_plan(d, 0, *v, &range, 1, &count, &error), &error);
        }
        assert_int_equal(taper_decoder_supply(d, 0, file.data, file.size, NULL), TAPER_OK);
    }
    render_all(d);
    close_decoder(d);
}

static void try_decoder_supply(void) {
    taper_error error = {0};
    taper_decoder *d = fresh();
    for (int whole = 0; whole <= 1; whole++) {
        refused(taper_decoder_supply(NULL, 0, file.data, 1, &error), &error);
        refused(taper_decoder_supply(d, 0, NULL, 1, &error), &error);
        refused(taper_decoder_supply(d, 0, file.data, SIZE_MAX, &error), &error);
        EACH_NUMBER(v) {
            allowed(taper_decoder_supply(d, *v, file.data, 0, &error), &error);
            if (*v > 1) allowed(taper_decoder_supply(d, *v, file.data, 1, &error), &error);
        }
        allowed(taper_decoder_supply(d, 0, file.data, file.size, &error), &error);
    }
    render_all(d);
    close_decoder(d);
}

static void try_decoder_free(void) { close_decoder(NULL); }

static void try_decoder_set_threads(void) {
    taper_error error = {0};
    taper_decoder *d = opened();
    refused(taper_decoder_set_threads(NULL, 1, &error), &error);
    EACH_NUMBER(v) {
        allowed(taper_decoder_set_threads(d, (unsigned)*v, &error), &error);
        render_all(d);
    }
    close_decoder(d);
}

static void try_decoder_set_scale(void) {
    taper_error error = {0};
    taper_decoder *d = opened();
    refused(taper_decoder_set_scale(NULL, 1, &error), &error);
    EACH_NUMBER(v) {
        allowed(taper_decoder_set_scale(d, (uint32_t)*v, &error), &error);
        render_all(d);
    }
    close_decoder(d);
}

/* --- what a decoder tells --------------------------------------------------------------- */

static void try_decoder_bytes_needed(void) {
    assert_int_equal(taper_decoder_bytes_needed(NULL), 0);
}

static taper_container *container(void) {
    taper_container *c;
    assert_int_equal(taper_container_open(&c, &source, NULL, NULL), TAPER_OK);
    return c;
}

static void try_container_bind(void) {
    taper_error error = {0};
    const taper_open_options options = {.size = sizeof options, .without_model = 1};
    taper_decoder *d;
    taper_container *c;
    assert_int_equal(taper_container_open(&c, &source, &options, NULL), TAPER_OK);
    assert_null(taper_container_model(c));
    assert_int_equal(allowed(taper_decoder_new(&d, c, NULL, &error), &error), TAPER_ERR_MODEL);
    refused(taper_container_bind(NULL, NULL, &error), &error);
    assert_int_equal(taper_container_bind(c, NULL, NULL), TAPER_OK);
    assert_non_null(taper_container_model(c));
    refused(taper_container_bind(c, NULL, &error), &error); /* it has one */
    taper_container_close(c);
}

static void try_container_model(void) { assert_null(taper_container_model(NULL)); }

static void try_container_close(void) { taper_container_close(NULL); }

static void try_decoder_container(void) { assert_null(taper_decoder_container(NULL)); }

static void try_container_image_bytes(void) {
    taper_error error = {0};
    uint64_t here, all;
    taper_container *c = container();
    refused(taper_container_image_bytes(NULL, 0, 0, &here, &all, &error), &error);
    refused(taper_container_image_bytes(c, 0, 0, NULL, &all, &error), &error);
    refused(taper_container_image_bytes(c, 0, 0, &here, NULL, &error), &error);
    EACH_NUMBER(v) {
        allowed(taper_container_image_bytes(c, *v, UINT64_MAX, &here, &all, &error), &error);
        assert_int_equal(taper_container_image_bytes(c, 0, *v, &here, &all, NULL), TAPER_OK);
        assert_true(here <= all && (*v < file.size || here == all));
    }
    taper_container_close(c);
}

static void try_container_get_info(void) {
    taper_container_info info = {.size = sizeof info};
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_get_info(NULL, &info, &error), &error);
    refused(taper_container_get_info(c, NULL, &error), &error);
    taper_container_close(c);
}

static void try_container_get_image(void) {
    taper_image_info info = {.size = sizeof info};
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_get_image(NULL, 0, &info, &error), &error);
    refused(taper_container_get_image(c, 0, NULL, &error), &error);
    EACH_NUMBER(v)
    assert_int_equal(taper_container_get_image(c, *v, &info, NULL),
                     *v < N ? TAPER_OK : TAPER_ERR_ARG);
    taper_container_close(c);
}

static void try_container_get_part(void) {
    taper_part part = {.size = sizeof part};
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_get_part(NULL, &part, &error), &error);
    refused(taper_container_get_part(c, NULL, &error), &error);
    refused(taper_container_get_part(c, &(taper_part){0}, &error), &error);
    assert_int_equal(taper_container_get_part(c, &part, NULL), TAPER_OK);
    assert_int_equal(part.parts, 0);
    taper_container_close(c);
}

static void try_container_class_name(void) {
    taper_container *c = container();
    assert_null(taper_container_class_name(NULL, 0));
    EACH_NUMBER(v)
    assert_true(*v < 2 || !taper_container_class_name(c, (uint32_t)*v));
    taper_container_close(c);
}

static void try_container_group(void) {
    uint64_t first, count;
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_group(NULL, 0, &first, &count, &error), &error);
    refused(taper_container_group(c, 0, NULL, &count, &error), &error);
    refused(taper_container_group(c, 0, &first, NULL, &error), &error);
    EACH_NUMBER(v)
    assert_int_equal(taper_container_group(c, (uint32_t)*v, &first, &count, NULL),
                     (uint32_t)*v ? TAPER_ERR_ARG : TAPER_OK);
    taper_container_close(c);
}

static void try_container_image_at(void) {
    taper_container *c = container();
    EACH_NUMBER(v) assert_true(taper_container_image_at(NULL, *v) == *v);
    EACH_NUMBER(v) assert_true(taper_container_image_at(c, *v) == *v);
    taper_container_close(c);
}

static void try_container_layer_stage(void) {
    taper_container *c = container();
    EACH_NUMBER(v) assert_int_equal(taper_container_layer_stage(NULL, (uint32_t)*v), 0);
    EACH_NUMBER(v) assert_int_equal(taper_container_layer_stage(c, (uint32_t)*v), 0);
    taper_container_close(c);
}

static void try_decoder_render(void) {
    uint8_t pixels[BYTES];
    taper_image out = {.pixels = pixels}, nowhere = {0};
    taper_error error = {0};
    taper_decoder *d = opened();
    refused(taper_decoder_render(NULL, 0, &out, NULL, &error), &error);
    refused(taper_decoder_render(d, 0, NULL, NULL, &error), &error);
    refused(taper_decoder_render(d, 0, &nowhere, NULL, &error), &error);
    EACH_NUMBER(v) allowed(taper_decoder_render(d, *v, &out, NULL, &error), &error);
    close_decoder(d);
}

static void try_decoder_render_scaled(void) {
    uint8_t pixels[BYTES];
    taper_image out = {.pixels = pixels}, nowhere = {0};
    taper_error error = {0};
    taper_decoder *d = opened();
    refused(taper_decoder_render_scaled(NULL, 0, 2, &out, NULL, &error), &error);
    refused(taper_decoder_render_scaled(d, 0, 2, NULL, NULL, &error), &error);
    refused(taper_decoder_render_scaled(d, 0, 2, &nowhere, NULL, &error), &error);
    EACH_NUMBER(v) allowed(taper_decoder_render_scaled(d, *v, 4, &out, NULL, &error), &error);
    EACH_NUMBER(v)
    allowed(taper_decoder_render_scaled(d, 0, (uint32_t)*v, &out, NULL, &error), &error);
    close_decoder(d);
}

static void try_container_layer(void) {
    uint64_t cut;
    uint32_t passes;
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_layer(NULL, 0, 0, &cut, &passes, &error), &error);
    refused(taper_container_layer(c, 0, 0, NULL, &passes, &error), &error);
    refused(taper_container_layer(c, 0, 0, &cut, NULL, &error), &error);
    EACH_NUMBER(v) {
        allowed(taper_container_layer(c, *v, 0, &cut, &passes, &error), &error);
        allowed(taper_container_layer(c, 0, (uint32_t)*v, &cut, &passes, &error), &error);
    }
    taper_container_close(c);
}

static taper_status take_rows(void *user, uint32_t first, const taper_image *rows) {
    (void)user, (void)first, (void)rows;
    return TAPER_OK;
}

static void try_decoder_render_rows(void) {
    taper_error error = {0};
    taper_decoder *d = opened();
    const taper_row_sink to = {NULL, take_rows}, none = {0};
    refused(taper_decoder_render_rows(NULL, 0, 1, NULL, &to, NULL, &error), &error);
    refused(taper_decoder_render_rows(d, 0, 1, NULL, NULL, NULL, &error), &error);
    refused(taper_decoder_render_rows(d, 0, 1, NULL, &none, NULL, &error), &error);
    EACH_NUMBER(v) allowed(taper_decoder_render_rows(d, *v, 1, NULL, &to, NULL, &error), &error);
    EACH_NUMBER(v) {
        const uint32_t n = (uint32_t)*v;
        const taper_crop crop[] = {{n, 0, 1, 1}, {0, n, 1, 1}, {0, 0, n, 1}, {1, 1, n, n}};
        for (int k = 0; k < 4; k++)
            allowed(taper_decoder_render_rows(d, 0, 1, &crop[k], &to, NULL, &error), &error);
        allowed(taper_decoder_render_rows(d, 0, n, NULL, &to, NULL, &error), &error);
    }
    close_decoder(d);
}

static void try_decoder_render_crop(void) {
    taper_error error = {0};
    taper_decoder *d = opened();
    uint8_t pixels[BYTES];
    taper_image out = {.pixels = pixels}, nowhere = {0};
    const taper_crop one = {0, 0, 1, 1};
    refused(taper_decoder_render_crop(NULL, 0, 1, &one, &out, NULL, &error), &error);
    refused(taper_decoder_render_crop(d, 0, 1, &one, NULL, NULL, &error), &error);
    refused(taper_decoder_render_crop(d, 0, 1, &one, &nowhere, NULL, &error), &error);
    EACH_NUMBER(v) allowed(taper_decoder_render_crop(d, *v, 1, &one, &out, NULL, &error), &error);
    EACH_NUMBER(v)
    allowed(taper_decoder_render_crop(d, 0, (uint32_t)*v, &one, &out, NULL, &error), &error);
    close_decoder(d);
}

static void try_decoder_render_batch(void) {
    taper_error error = {0};
    uint8_t out[4] = {0};
    const taper_batch_item item = {0};
    const taper_batch good = {.size = sizeof good,
                              .item = &item,
                              .n = 1,
                              .width = 1,
                              .height = 1,
                              .channels = 3,
                              .to = out,
                              .channel_stride = 1};
    taper_decoder *d = opened();
    assert_int_equal(taper_decoder_render_batch(d, &good, NULL), TAPER_OK);
    refused(taper_decoder_render_batch(NULL, &good, &error), &error);
    refused(taper_decoder_render_batch(d, NULL, &error), &error);
    for (int i = 0; i < 8; i++) {
        taper_batch bad = good;
        if (i == 0) bad.item = NULL;
        if (i == 1) bad.to = NULL;
        if (i == 2) bad.width = 0;
        if (i == 3) bad.channels = 2;
        if (i == 4) bad.size = 0;
        if (i == 5) bad.scale = 3;
        if (i == 6) bad.sample = TAPER_SAMPLE_FLOAT32; /* not aligned */
        if (i == 7) bad.n = SIZE_MAX;
        refused(taper_decoder_render_batch(d, &bad, &error), &error);
    }
    close_decoder(d);
}

static void try_decoder_codes(void) {
    const uint32_t units = info_of_model(model).units;
    float *values = malloc(4 * units * sizeof *values);
    uint8_t *planes = malloc(4 * units);
    taper_completeness done;
    taper_error error = {0};
    taper_decoder *d = opened();
    refused(taper_decoder_codes(NULL, 0, 1, 9, values, planes, &done, &error), &error);
    refused(taper_decoder_codes(d, 0, 1, 9, NULL, planes, &done, &error), &error);
    assert_int_equal(taper_decoder_codes(d, 0, units, 9, values, NULL, NULL, NULL), TAPER_OK);
    EACH_NUMBER(v) {
        allowed(taper_decoder_codes(d, *v, 1, 9, values, planes, &done, &error), &error);
        allowed(taper_decoder_codes(d, 0, (uint32_t)*v, 9, values, planes, &done, &error), &error);
        allowed(taper_decoder_codes(d, 0, 1, (uint32_t)*v, values, planes, &done, &error), &error);
    }
    close_decoder(d);
    free(values);
    free(planes);
}

static void try_container_search_code(void) {
    uint64_t one[WORDS];
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_search_code(NULL, 0, one, &error), &error);
    refused(taper_container_search_code(c, 0, NULL, &error), &error);
    EACH_NUMBER(v)
    allowed(taper_container_search_code(c, *v, one, &error), &error);
    taper_container_close(c);
}

static void try_container_search_model(void) {
    taper_model *m;
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_container_search_model(NULL, &m, &error), &error);
    refused(taper_container_search_model(c, NULL, &error), &error);
    taper_container_close(c);
}

static void try_metadata(void) {
    taper_metadata_reader *r;
    taper_metadata m = {.size = sizeof m};
    taper_metadata_info info = {.size = sizeof info};
    taper_error error = {0};
    taper_container *c = container();
    refused(taper_metadata_open(NULL, c, &error), &error);
    refused(taper_metadata_open(&r, NULL, &error), &error);
    assert_int_equal(taper_metadata_open(&r, c, NULL), TAPER_OK);
    refused(taper_metadata_get(NULL, 0, &m, &error), &error);
    refused(taper_metadata_get(r, 0, NULL, &error), &error);
    refused(taper_metadata_get_info(NULL, &info, &error), &error);
    refused(taper_metadata_get_info(r, NULL, &error), &error);
    assert_int_equal(taper_metadata_get_info(r, &info, NULL), TAPER_OK);
    EACH_NUMBER(v) {
        allowed(taper_metadata_get(r, *v, &m, &error), &error);
        m = (taper_metadata){.size = (size_t)*v};
        allowed(taper_metadata_get(r, 0, &m, &error), &error);
        m.size = sizeof m;
    }
    taper_metadata_close(r);
    taper_metadata_close(NULL);
    taper_container_close(c);
}

/* --- containers into containers --------------------------------------------------------- */

static void try_truncate(void) {
    taper_error error = {0};
    const taper_source empty = without_read();
    refused(taper_truncate(NULL, 100, &sink, NULL, &error), &error);
    refused(taper_truncate(&empty, 100, &sink, NULL, &error), &error);
    refused(taper_truncate(&source, 100, NULL, NULL, &error), &error);
    refused(taper_truncate(&source, 100, &no_sink, NULL, &error), &error);
    refused(taper_truncate(&source, 100, &sink, &argument_no_size, &error), &error);
    EACH_NUMBER(v) {
        allowed(taper_truncate(&source, *v, &sink, NULL, &error), &error);
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            allowed(taper_truncate(&source, file.size, &sink, &limits, &error), &error);
        }
    }
}

static void try_repack(void) {
    taper_error error = {0};
    const taper_source empty = without_read();
    const taper_layout set = TAPER_LAYOUT_SET;
    refused(taper_repack(NULL, model, set, 0, &sink, NULL, &error), &error);
    refused(taper_repack(&empty, model, set, 0, &sink, NULL, &error), &error);
    refused(taper_repack(&source, model, set, 0, NULL, NULL, &error), &error);
    refused(taper_repack(&source, model, set, 0, &no_sink, NULL, &error), &error);
    refused(taper_repack(&source, model, set, 0, &sink, &argument_no_size, &error), &error);
    assert_int_equal(taper_repack(&source, NULL, set, 0, &sink, NULL, NULL), TAPER_OK);
    EACH_NUMBER(v) {
        allowed(taper_repack(&source, model, (taper_layout)*v, 0, &sink, NULL, &error), &error);
        allowed(taper_repack(&source, model, set, (uint32_t)*v, &sink, NULL, &error), &error);
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            allowed(taper_repack(&source, model, set, 0, &sink, &limits, &error), &error);
        }
    }
}

static void try_merge(void) {
    taper_error error = {0};
    const taper_source empty = without_read();
    refused(taper_merge(NULL, 1, &sink, NULL, &error), &error);
    refused(taper_merge(&empty, 1, &sink, NULL, &error), &error);
    refused(taper_merge(&source, 1, NULL, NULL, &error), &error);
    refused(taper_merge(&source, 1, &no_sink, NULL, &error), &error);
    refused(taper_merge(&source, 1, &sink,
                        &(taper_merge_options){.size = sizeof(taper_merge_options),
                                               .limits = &argument_no_size},
                        &error),
            &error);
    refused(taper_merge(&source, 1, &sink,
                        &(taper_merge_options){.size = sizeof(taper_merge_options),
                                               .open = &(taper_container *){NULL}},
                        &error),
            &error);
    EACH_COUNT(v)
    assert_int_equal(allowed(taper_merge(&source, *v, &sink, NULL, &error), &error),
                     *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
    EACH_NUMBER(v)
    for (int i = 0; i < ARGUMENT_LIMITS; i++) {
        const taper_limits limits = argument_limits(i, *v);
        allowed(taper_merge(
                    &source, 1, &sink,
                    &(taper_merge_options){.size = sizeof(taper_merge_options), .limits = &limits},
                    &error),
                &error);
    }
}

static void try_remove(void) {
    taper_error error = {0};
    const taper_source empty = without_read();
    const uint64_t one = 1;
    const taper_remove_options no_size = {.size = sizeof no_size, .limits = &argument_no_size};
    refused(taper_remove(NULL, &one, 1, &sink, NULL, &error), &error);
    refused(taper_remove(&empty, &one, 1, &sink, NULL, &error), &error);
    refused(taper_remove(&source, NULL, 1, &sink, NULL, &error), &error);
    refused(taper_remove(&source, &one, 1, NULL, NULL, &error), &error);
    refused(taper_remove(&source, &one, 1, &no_sink, NULL, &error), &error);
    refused(taper_remove(&source, &one, 1, &sink, &no_size, &error), &error);
    EACH_NUMBER(v) {
        const uint64_t number = *v;
        const taper_remove_options options = {.size = sizeof options, .model = model};
        allowed(taper_remove(&source, &number, 1, &sink, &options, &error), &error);
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            const taper_remove_options with = {
                .size = sizeof with, .model = model, .limits = &limits};
            allowed(taper_remove(&source, &one, 1, &sink, &with, &error), &error);
        }
    }
}

static void try_rename(void) {
    taper_error error = {0};
    const taper_source empty = without_read();
    const taper_name one = {1, "a.png"}, none = {1, NULL};
    refused(taper_rename(NULL, &one, 1, &sink, NULL, &error), &error);
    refused(taper_rename(&empty, &one, 1, &sink, NULL, &error), &error);
    refused(taper_rename(&source, NULL, 1, &sink, NULL, &error), &error);
    refused(taper_rename(&source, &none, 1, &sink, NULL, &error), &error);
    refused(taper_rename(&source, &one, 1, NULL, NULL, &error), &error);
    refused(taper_rename(&source, &one, 1, &no_sink, NULL, &error), &error);
    refused(taper_rename(&source, &one, 1, &sink, &argument_no_size, &error), &error);
    EACH_NUMBER(v) {
        const taper_name name = {*v, "a.png"};
        allowed(taper_rename(&source, &name, 1, &sink, NULL, &error), &error);
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            allowed(taper_rename(&source, &one, 1, &sink, &limits, &error), &error);
        }
    }
}

static void try_strip(void) {
    taper_error error = {0};
    const taper_source empty = without_read();
    refused(taper_strip(NULL, &sink, NULL, &error), &error);
    refused(taper_strip(&empty, &sink, NULL, &error), &error);
    refused(taper_strip(&source, NULL, NULL, &error), &error);
    refused(taper_strip(&source, &no_sink, NULL, &error), &error);
    refused(taper_strip(&source, &sink, &argument_no_size, &error), &error);
    EACH_NUMBER(v)
    for (int i = 0; i < ARGUMENT_LIMITS; i++) {
        const taper_limits limits = argument_limits(i, *v);
        allowed(taper_strip(&source, &sink, &limits, &error), &error);
    }
}

static void try_verify(void) {
    taper_error error = {0};
    taper_verify_report report = {.size = sizeof report};
    const taper_source empty = without_read();
    refused(taper_verify(NULL, &report, NULL, &error), &error);
    refused(taper_verify(&empty, &report, NULL, &error), &error);
    refused(taper_verify(&source, NULL, NULL, &error), &error);
    refused(taper_verify(&source, &report, &argument_no_size, &error), &error);
    EACH_NUMBER(v)
    for (int i = 0; i < ARGUMENT_LIMITS; i++) {
        const taper_limits limits = argument_limits(i, *v);
        allowed(taper_verify(&source, &report, &limits, &error), &error);
    }
}

/* --- the library ------------------------------------------------------------------------ */

static void try_version(void) {
    char numbers[32];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", TAPER_VERSION_MAJOR, TAPER_VERSION_MINOR,
             TAPER_VERSION_PATCH);
    assert_string_equal(taper_version(), numbers);
    assert_string_equal(TAPER_VERSION, numbers);
}

static void try_kernels(void) {
    char text[4] = "x";
    taper_kernels(NULL, 0);
    taper_kernels(text, 0);
    assert_string_equal(text, "x");
    taper_kernels(text, sizeof text);
    assert_int_equal(strlen(text), 3);
}

static void try_status_name(void) {
    EACH_NUMBER(v) assert_non_null(taper_status_name((taper_status)*v));
}

static const argument_trial table[] = {
    {"taper_version", try_version},
    {"taper_kernels", try_kernels},
    {"taper_status_name", try_status_name},
    {"taper_encoder_new", try_encoder_new},
    {"taper_encoder_add", try_encoder_add},
    {"taper_encoder_add_rows", try_encoder_add_rows},
    {"taper_encoder_set_classes", try_encoder_set_classes},
    {"taper_encoder_set_part", try_encoder_set_part},
    {"taper_encoder_set_metadata", try_encoder_set_metadata},
    {"taper_encoder_add_name", try_encoder_add_name},
    {"taper_encoder_set_search_codes", try_encoder_set_search_codes},
    {"taper_encoder_finish", try_encoder_finish},
    {"taper_encoder_finish_file", try_encoder_finish_file},
    {"taper_encoder_is_short", try_encoder_is_short},
    {"taper_encoder_quality", try_encoder_quality},
    {"taper_encoder_set_aim", try_encoder_set_aim},
    {"taper_encoder_aims", try_encoder_aims},
    {"taper_encoder_free", try_encoder_free},
    {"taper_decoder_new", try_decoder_new},
    {"taper_decoder_new_streaming", try_decoder_new_streaming},
    {"taper_decoder_container", try_decoder_container},
    {"taper_decode_file", try_decode_file},
    {"taper_image_free", try_image_free},
    {"taper_container_open_file", try_decode_file},
    {"taper_container_open_memory", try_decode_file},
    {"taper_container_bind", try_container_bind},
    {"taper_container_close", try_container_close},
    {"taper_container_model", try_container_model},
    {"taper_container_image_bytes", try_container_image_bytes},
    {"taper_decoder_push", try_decoder_push},
    {"taper_container_open", try_container_open},
    {"taper_decoder_plan", try_decoder_plan},
    {"taper_decoder_plan_name", try_decoder_plan_name},
    {"taper_decoder_decode", try_decoder_decode},
    {"taper_decoder_plan_images", try_decoder_plan_images},
    {"taper_decoder_supply", try_decoder_supply},
    {"taper_decoder_free", try_decoder_free},
    {"taper_decoder_set_threads", try_decoder_set_threads},
    {"taper_decoder_set_scale", try_decoder_set_scale},
    {"taper_decoder_bytes_needed", try_decoder_bytes_needed},
    {"taper_container_get_info", try_container_get_info},
    {"taper_container_get_image", try_container_get_image},
    {"taper_container_get_part", try_container_get_part},
    {"taper_container_class_name", try_container_class_name},
    {"taper_container_group", try_container_group},
    {"taper_container_image_at", try_container_image_at},
    {"taper_decoder_render", try_decoder_render},
    {"taper_decoder_render_scaled", try_decoder_render_scaled},
    {"taper_decoder_render_rows", try_decoder_render_rows},
    {"taper_decoder_render_crop", try_decoder_render_crop},
    {"taper_container_layer", try_container_layer},
    {"taper_container_layer_stage", try_container_layer_stage},
    {"taper_decoder_render_batch", try_decoder_render_batch},
    {"taper_decoder_codes", try_decoder_codes},
    {"taper_container_search_code", try_container_search_code},
    {"taper_container_search_model", try_container_search_model},
    {"taper_metadata_open", try_metadata},
    {"taper_metadata_get", try_metadata},
    {"taper_metadata_get_info", try_metadata},
    {"taper_metadata_close", try_metadata},
    {"taper_truncate", try_truncate},
    {"taper_repack", try_repack},
    {"taper_merge", try_merge},
    {"taper_remove", try_remove},
    {"taper_rename", try_rename},
    {"taper_strip", try_strip},
    {"taper_verify", try_verify},
};
enum { FUNCTIONS = sizeof table / sizeof *table };

/* --- the tests -------------------------------------------------------------------------- */

static int make(void **state) {
    (void)state;
    model_file = formats_buffer_make(1 << 24), maker_file = formats_buffer_make(1 << 24);
    model = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &model_file);
    maker = tiny_embedding_bits((tiny_shape){.window = {5, 5, 3}, .units = BITS, .depth = 1}, 7,
                                &maker_file);
    for (size_t i = 0; i < N; i++) image[i] = dct_picture(SIDE, SIDE, 3, i);
    for (size_t i = 0; i < N; i++) code[i * WORDS] = 0x123456789abcdef * (i + 1);
    const taper_encode_options options = {.size = sizeof options,
                                          .embed_model = 1,
                                          .model_bytes = model_file.data,
                                          .model_size = model_file.size};
    const taper_search_codes codes = codes_of(N);
    taper_encoder *e;
    file = formats_buffer_make(1 << 24);
    const taper_sink to = dct_sink(&file);
    if (taper_encoder_new(&e, model, &options, NULL)) return 1;
    for (size_t i = 0; i < N; i++)
        if (taper_encoder_add(e, &image[i], NULL, -1, NULL)) return 1;
    if (taper_encoder_set_search_codes(e, &codes, NULL) || taper_encoder_finish(e, 0, &to, NULL))
        return 1;
    taper_encoder_free(e);
    memory = (formats_memory){file.data, file.size};
    source = formats_memory_source(&memory);
    return 0;
}

static int drop(void **state) {
    (void)state;
    for (size_t i = 0; i < N; i++) formats_image_free(&image[i]);
    taper_model_free(model), taper_model_free(maker);
    formats_buffer_free(&model_file), formats_buffer_free(&maker_file), formats_buffer_free(&file);
    return 0;
}

static void every_function_is_tried(void **state) {
    (void)state;
    argument_table_is_complete("codec/taper.h", table, FUNCTIONS);
}

/* A header that is new needs a test of its arguments. */
static void every_header_has_a_test(void **state) {
    formats_path_list list;
    size_t headers = 0;
    (void)state;
    assert_int_equal(formats_folder_walk("codec", UINT64_MAX, 0, &list, NULL, NULL, NULL),
                     TAPER_OK);
    for (size_t i = 0; i < list.count; i++)
        headers += !strncmp(list.paths[i], "taper", 5) && strstr(list.paths[i], ".h");
    formats_path_list_free(&list);
    assert_int_equal(headers, 5); /* taper.h; taper_ model, search, index, quality */
}

static void extremes_are_answered(void **state) {
    (void)state;
    argument_run_all(table, FUNCTIONS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_tried),
        cmocka_unit_test(every_header_has_a_test),
        cmocka_unit_test(extremes_are_answered),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

/* test_search_codes.c -- codes for search in a container, and the model that made them. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/groups/assemble.h"
#include "codec/decoder/front_load.h"
#include "dct_model.h"
#include "formats/container.h"
#include "infos.h"
#include "tiny_embedding_model.h"

enum { N = 5, BITS = 70, WORDS = 2 };

typedef struct fixture {
    taper_model *coder, *maker; /* of the pictures, of the codes */
    formats_buffer maker_file, other_file;
    taper_image image[N];
    uint64_t code[N * WORDS];
} fixture;

static int make(void **state) {
    static fixture f;
    f = (fixture){.maker_file = formats_buffer_make(1 << 24),
                  .other_file = formats_buffer_make(1 << 24)};
    f.coder = dct_model_make((codec_window){8, 8, 3, NULL}, 0, 2, &f.other_file);
    f.maker = tiny_embedding_bits((tiny_shape){.window = {5, 5, 3}, .units = BITS + 1, .depth = 1},
                                  7, &f.maker_file);
    for (size_t i = 0; i < N; i++) f.image[i] = dct_picture(13, 9, 3, i);
    for (size_t i = 0; i < N * WORDS; i++)
        f.code[i] = i % WORDS ? ~0ull << 58 : i * 0x123456789abcdef;
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    taper_model_free(f->coder), taper_model_free(f->maker);
    formats_buffer_free(&f->maker_file), formats_buffer_free(&f->other_file);
    return 0;
}

static taper_search_codes codes_of(const fixture *f) {
    return (taper_search_codes){.size = sizeof(taper_search_codes),
                                .model_id = info_of_model(f->maker).id,
                                .bits = BITS,
                                .n = N,
                                .codes = f->code,
                                .model_bytes = f->maker_file.data,
                                .model_size = f->maker_file.size};
}

static taper_encoder *encoder_of(const fixture *f, taper_layout layout) {
    taper_encode_options options = {.size = sizeof options, .layout = layout};
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->coder, &options, NULL), TAPER_OK);
    for (int i = 0; i < N; i++)
        assert_int_equal(taper_encoder_add(encoder, &f->image[i], NULL, -1, NULL), TAPER_OK);
    return encoder;
}

static formats_buffer encode(const fixture *f, const taper_search_codes *codes) {
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    taper_encoder *encoder = encoder_of(f, TAPER_LAYOUT_SET);
    assert_int_equal(taper_encoder_set_search_codes(encoder, codes, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    return out;
}

/* Are codes and model of a container, `images` images that are f's again and again, those of f? */
static void assert_arrived(const fixture *f, const formats_buffer *file, size_t images) {
    formats_memory memory = {file->data, file->size};
    const taper_source source = formats_memory_source(&memory);
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    taper_model *model;
    uint64_t code[WORDS];
    assert_int_equal(open_decoder(&decoder, &source, f->coder, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_container_get_info(taper_decoder_container(decoder), &info, NULL),
                     TAPER_OK);
    assert_true(info.images == images && info.search_bits == BITS && info.search_model_bytes);
    for (size_t i = 0; i < images; i++) {
        assert_int_equal(
            taper_container_search_code(taper_decoder_container(decoder), i, code, NULL), TAPER_OK);
        assert_memory_equal(code, f->code + i % N * WORDS, sizeof code);
    }
    assert_int_equal(taper_container_search_model(taper_decoder_container(decoder), &model, NULL),
                     TAPER_OK);
    assert_true(info_of_model(model).id == info.search_model_id);
    assert_true(info.search_model_id == info_of_model(f->maker).id);
    taper_model_free(model);
    close_decoder(decoder);
}

static void codes_and_their_model_arrive(void **state) {
    const fixture *f = *state;
    const taper_search_codes codes = codes_of(f);
    formats_buffer file = encode(f, &codes);
    assert_arrived(f, &file, N);
    formats_buffer_free(&file);
}

/* What makes other containers of it carries both. */
static void other_containers_have_them(void **state) {
    const fixture *f = *state;
    const taper_search_codes codes = codes_of(f);
    taper_search_codes without = codes;
    without.model_bytes = NULL;
    formats_buffer file = encode(f, &codes), plain = encode(f, &without);
    formats_memory memory = {file.data, file.size}, plain_memory = {plain.data, plain.size};
    const taper_source source = formats_memory_source(&memory),
                       plain_source = formats_memory_source(&plain_memory);
    assert_int_equal(file.size - plain.size, f->maker_file.size + FORMATS_SECTION_SIZE);
    for (int way = 0; way < 3; way++) {
        formats_buffer out = formats_buffer_make(1 << 24);
        const taper_sink sink = dct_sink(&out);
        const taper_source shards[] = {plain_source, source};
        taper_status status =
            way == 0   ? taper_truncate(&source, file.size - 40, &sink, NULL, NULL)
            : way == 1 ? taper_repack(&source, f->coder, TAPER_LAYOUT_IMAGE, 0, &sink, NULL, NULL)
                       : taper_merge(shards, 2, &sink, NULL, NULL);
        assert_int_equal(status, TAPER_OK);
        assert_arrived(f, &out, way == 2 ? 2 * N : N);
        formats_buffer_free(&out);
    }
    formats_buffer_free(&file), formats_buffer_free(&plain);
}

/* What each reader of a container says of it: taper_container_open, _push, _supply, taper_verify,
 * taper_truncate, taper_repack, taper_merge. model: NULL: the one that it carries. */
enum { READERS = 7 };
static void ask_readers(const formats_buffer *file, const taper_model *model,
                        const taper_limits *limits, taper_status *said) {
    formats_memory memory = {file->data, file->size};
    const taper_source source = formats_memory_source(&memory);
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    taper_verify_report report = {.size = sizeof report};
    taper_decoder *d;
    said[0] = open_decoder(&d, &source, model, limits, NULL);
    close_decoder(d);
    for (int supplied = 0; supplied <= 1; supplied++) {
        assert_int_equal(stream_decoder(&d, model, limits, NULL), TAPER_OK);
        said[1 + supplied] = supplied ? taper_decoder_supply(d, 0, file->data, file->size, NULL)
                                      : taper_decoder_push(d, file->data, file->size, NULL);
        close_decoder(d);
    }
    said[3] = taper_verify(&source, &report, limits, NULL);
    said[4] = taper_truncate(&source, file->size, &sink, limits, NULL);
    said[5] = taper_repack(&source, model, TAPER_LAYOUT_IMAGE, 0, &sink, limits, NULL);
    said[6] = taper_merge(
        &source, 1, &sink,
        &(taper_merge_options){.size = sizeof(taper_merge_options), .limits = limits}, NULL);
    formats_buffer_free(&out);
}

static void assert_all_say(const formats_buffer *file, const taper_model *model,
                           taper_status expected) {
    taper_status said[READERS];
    ask_readers(file, model, NULL, said);
    for (int i = 0; i < READERS; i++) assert_int_equal(said[i], expected);
}

/* A model inside that is broken, or of another container, or of another code. */
static void all_readers_agree_on_broken_models(void **state) {
    const fixture *f = *state;
    const taper_search_codes codes = codes_of(f);
    const formats_buffer *maker = &f->maker_file, *coder = &f->other_file;
    formats_buffer sound = encode(f, &codes), another = formats_buffer_make(1 << 24);
    taper_model *other = tiny_embedding_bits(
        (tiny_shape){.window = {5, 5, 3}, .units = BITS, .depth = 1}, 8, &another);
    const struct {
        const uint8_t *model, *search_model;
        size_t size, search_size;
        taper_status expected;
    } cases[] = {
        {coder->data, maker->data, coder->size, maker->size, TAPER_OK},
        {coder->data, maker->data, coder->size - 1, maker->size, TAPER_ERR_CORRUPT},
        {coder->data, maker->data, coder->size, maker->size - 1, TAPER_ERR_CORRUPT},
        {maker->data, maker->data, maker->size, maker->size, TAPER_ERR_CORRUPT},
        {coder->data, coder->data, coder->size, coder->size, TAPER_ERR_CORRUPT},
        {coder->data, another.data, coder->size, another.size, TAPER_ERR_CORRUPT},
        {NULL, another.data, 0, another.size, TAPER_ERR_CORRUPT},
        {NULL, maker->data, 0, maker->size, TAPER_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        formats_buffer file = dct_carry(&sound, cases[i].model, cases[i].size,
                                        cases[i].search_model, cases[i].search_size);
        assert_all_say(&file, f->coder, cases[i].expected);
        if (cases[i].model) assert_all_say(&file, NULL, cases[i].expected);
        formats_buffer_free(&file);
    }
    taper_model_free(other);
    formats_buffer_free(&sound), formats_buffer_free(&another);
}

/* A model for search above the limits, which images do not need. */
static void models_above_the_limits_are_passed_on(void **state) {
    const fixture *f = *state;
    const taper_search_codes codes = codes_of(f);
    const taper_limits limits = {.size = sizeof(taper_limits), .max_model_bytes = 300};
    formats_buffer file = encode(f, &codes);
    taper_status said[READERS];
    ask_readers(&file, f->coder, &limits, said);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(said[i], i == 3 ? TAPER_ERR_LIMIT : TAPER_OK); /* verify reads it */
    formats_buffer_free(&file);
}

static void only_their_own_model_is_taken(void **state) {
    const fixture *f = *state;
    taper_encoder *encoder = encoder_of(f, TAPER_LAYOUT_SET);
    taper_error error = {0};
    taper_search_codes codes = codes_of(f);
    codes.model_id++;
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "are not of model"));
    codes = codes_of(f);
    codes.model_bytes = f->other_file.data, codes.model_size = f->other_file.size;
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_ERR_ARG);
    codes = codes_of(f);
    codes.bits = BITS + 2; /* the model has one bit less */
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_ERR_ARG);
    codes = codes_of(f); /* whose model makes numbers */
    codes.model_id = info_of_model(f->coder).id;
    codes.model_bytes = f->other_file.data, codes.model_size = f->other_file.size;
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "numbers"));
    codes = codes_of(f);
    codes.model_size--;
    assert_int_not_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_OK);
    codes = codes_of(f);
    codes.n--;
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_ERR_ARG);
    codes = codes_of(f);
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_set_search_codes(encoder, &codes, NULL), TAPER_ERR_ARG);
    taper_encoder_free(encoder);
}

/* With another model in their place, what opens it finds out. */
static void a_strange_model_is_found(void **state) {
    const fixture *f = *state;
    const taper_search_codes codes = codes_of(f);
    formats_buffer file = encode(f, &codes), strange = formats_buffer_make(1 << 24);
    formats_memory memory = {file.data, file.size};
    const taper_source source = formats_memory_source(&memory);
    formats_front front;
    taper_verify_report report = {.size = sizeof report};
    taper_model *model;
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
    for (int way = 0; way < 4; way++) {
        const taper_limits limits = formats_limits_or_default(NULL);
        assert_int_equal(codec_front_load(&source, NULL, &front, NULL), TAPER_OK);
        if (way == 0) front.search_model_id++;
        if (way == 1) front.search_bits = BITS + 2; /* as many bytes */
        if (way == 2) front.search_model_size -= 9;
        if (way == 3) { /* its codes are numbers */
            free(front.search_model);
            front.search_model = malloc(f->other_file.size);
            front.search_model_size = f->other_file.size;
            memcpy(front.search_model, f->other_file.data, f->other_file.size);
            front.search_model_id = info_of_model(f->coder).id;
        }
        assert_int_equal(codec_front_search_model(&front, &limits, &model, NULL),
                         TAPER_ERR_CORRUPT);
        assert_null(model);
        strange.size = 0;
        assert_int_equal(formats_front_write(&front, &strange, NULL), TAPER_OK);
        const uint64_t data = front.chunk_at[(uint64_t)front.layers * front.groups];
        formats_write_bytes(&strange, file.data + file.size - data, (size_t)data);
        formats_memory there = {strange.data, strange.size};
        const taper_source damaged = formats_memory_source(&there);
        assert_int_equal(taper_verify(&damaged, &report, NULL, NULL), TAPER_ERR_CORRUPT);
        assert_true(report.chunks_bad == 0);
        formats_front_free(&front);
    }
    formats_buffer_free(&file), formats_buffer_free(&strange);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_and_their_model_arrive),
        cmocka_unit_test(other_containers_have_them),
        cmocka_unit_test(all_readers_agree_on_broken_models),
        cmocka_unit_test(models_above_the_limits_are_passed_on),
        cmocka_unit_test(only_their_own_model_is_taken),
        cmocka_unit_test(a_strange_model_is_found),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

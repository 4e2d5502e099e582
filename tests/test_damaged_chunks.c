/* test_damaged_chunks.c -- containers of photographs, alpha and drawings with a wrong byte, and cut
 * ones: a source, pushed bytes, supplied ranges and what they plan tell the same. */
#include "cmocka_all.h"
#include "codec/chunks/checked_blocks.h"
#include "model_zoo.h"

enum { N = 9, LAYOUTS = 3, SIDE = 24 };

typedef struct fixture {
    taper_model *model;
    taper_image image[N];
    formats_buffer file[LAYOUTS];
} fixture;

/* Photographs, pictures with soft alpha, and drawings. */
static taper_image picture(int i) {
    const int alpha = i % 3 == 1, drawing = i % 3 == 2;
    taper_image out = dct_picture(SIDE, SIDE - 4, alpha ? 4 : 3, (uint64_t)i);
    uint8_t *p = out.pixels;
    for (int k = 0; k < SIDE * (SIDE - 4); k++) {
        if (alpha) p[4 * k + 3] = (uint8_t)(40 + (k * 7 + k / SIDE * 3) % 200);
        if (drawing) memset(p + 3 * k, k / SIDE % 5 == i % 5 || k % 7 == 0 ? 200 : 30, 3);
    }
    return out;
}

static int make(void **state) {
    static fixture f;
    f.model = zoo_builtin("tiny");
    for (int i = 0; i < N; i++) f.image[i] = picture(i);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        const taper_encode_options options = {.layout = (taper_layout)layout,
                                              .group_images = layout ? 0 : 2,
                                              .drawings = TAPER_DRAWINGS_EXACT};
        f.file[layout] = dct_encode(f.model, f.image, N, &options, 0);
    }
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    taper_model_free(f->model);
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    for (int layout = 0; layout < LAYOUTS; layout++) formats_buffer_free(&f->file[layout]);
    return 0;
}

static void assert_same(const zoo_rendered *a, const zoo_rendered *b) {
    assert_int_equal(a->status, b->status);
    assert_memory_equal(a->pixels, b->pixels, a->bytes);
    assert_int_equal(a->done.passes, b->done.passes);
    assert_int_equal(a->done.bytes, b->done.bytes);
}

/* Decoders of the same bytes, each fed in its way. */
typedef struct three {
    formats_memory memory;
    taper_source source;
    taper_decoder *opened, *pushed, *supplied;
} three;

static void open_three(three *t, const taper_model *model, const formats_buffer *file, size_t n) {
    t->memory = (formats_memory){file->data, n};
    t->opened = zoo_open(model, &t->memory, &t->source);
    t->pushed = zoo_new(model), t->supplied = zoo_new(model);
    assert_int_equal(taper_decoder_push(t->pushed, file->data, n, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_supply(t->supplied, 0, file->data, n, NULL), TAPER_OK);
}

static void close_three(three *t) {
    close_decoder(t->opened), close_decoder(t->pushed), close_decoder(t->supplied);
}

/* Compare image i, at a cut of n bytes; returns its status. */
static taper_status compare(three *t, uint64_t i, size_t n, taper_completeness *done) {
    taper_range range[8];
    size_t count;
    const zoo_rendered opened = zoo_render(t->opened, i);
    const zoo_rendered pushed = zoo_render(t->pushed, i);
    const taper_status planned = taper_decoder_plan(t->supplied, i, n, range, 8, &count, NULL);
    const zoo_rendered supplied = zoo_render(t->supplied, i);
    assert_same(&opened, &pushed);
    assert_same(&opened, &supplied);
    assert_int_equal(opened.done.complete, pushed.done.complete);
    uint8_t pixels[4 * 4 * 4];
    const taper_crop crop = {3, 5, 4, 4};
    taper_image part = {.pixels = pixels};
    assert_int_equal(taper_decoder_render_crop(t->supplied, i, 1, &crop, &part, done, NULL),
                     opened.status);
    assert_memory_equal(pixels, opened.pixels + (5 * SIDE + 3) * part.channels, part.channels);
    assert_int_equal(opened.status, planned);
    assert_int_equal(count > 0, planned != TAPER_OK);
    *done = opened.done;
    return opened.status;
}

/* Has the group of image i a byte in the checksum block of this byte? */
static int is_touched(const formats_front *f, uint32_t i, uint64_t at) {
    const uint32_t g = formats_front_group(f, i);
    for (uint32_t l = 0; l < f->layers; l++) {
        const codec_file_range block = codec_block_range(f, l, g),
                               chunk = codec_chunk_range(f, l, g);
        if (chunk.size && at >= block.at && at - block.at < block.size) return 1;
    }
    return 0;
}

/* A wrong byte is told of the images whose group has bytes in its checksum block, by all ways. */
static void every_way_tells_the_same_damage(void **state) {
    fixture *f = *state;
    int good = 0, bad = 0;
    for (int layout = 0; layout < LAYOUTS; layout++) {
        formats_buffer *file = &f->file[layout];
        formats_front front;
        assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
        for (size_t at = front.front_size; at < file->size; at += 1 + at % 97) {
            three t;
            taper_completeness done;
            taper_verify_report report = {.size = sizeof report};
            file->data[at] ^= 16;
            open_three(&t, f->model, file, file->size);
            assert_int_equal(taper_verify(&t.source, &report, NULL, NULL), TAPER_ERR_CORRUPT);
            for (uint32_t i = 0; i < N; i++) {
                const taper_status status = compare(&t, i, file->size, &done);
                assert_int_equal(status, is_touched(&front, i, at) ? TAPER_ERR_CORRUPT : TAPER_OK);
                if (status == TAPER_OK) assert_true(done.complete);
                if (front.geometry[i].indexed) *(status == TAPER_OK ? &good : &bad) += 1;
            }
            close_three(&t);
            file->data[at] ^= 16;
        }
        formats_front_free(&front);
    }
    assert_true(good > 0 && bad > 0);
}

/* A drawing is complete at a cut behind its own bytes. */
static void every_way_cuts_the_same(void **state) {
    fixture *f = *state;
    int early = 0;
    for (int layout = 0; layout < LAYOUTS; layout++) {
        formats_buffer *file = &f->file[layout];
        const size_t front = (size_t)dct_info(file, f->model).front_bytes;
        for (size_t n = front; n <= file->size; n += 1 + n % 61) {
            three t;
            taper_completeness done;
            open_three(&t, f->model, file, n);
            for (uint32_t i = 0; i < N; i++) {
                assert_int_equal(compare(&t, i, n, &done), TAPER_OK);
                early += i % 3 == 2 && done.complete && n < file->size;
            }
            close_three(&t);
        }
    }
    assert_true(early > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_tells_the_same_damage),
        cmocka_unit_test(every_way_cuts_the_same),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

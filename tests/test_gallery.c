/* test_gallery.c -- layout gallery: one range is all images coarsely, one more completes any. */
#include "cmocka_all.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"

enum { N = 6 };

typedef struct fixture {
    taper_model *model;
    taper_image image[N];
    formats_buffer file;
    formats_front front;
} fixture;

static int make(void **state) {
    static fixture f;
    assert_int_equal(taper_model_builtin(&f.model, "tiny", NULL), TAPER_OK);
    for (int i = 0; i < N; i++)
        f.image[i] = dct_picture(64 + 16 * (i % 3), 48, i % 4 ? 3 : 1, (uint64_t)i);
    taper_encode_options options = {.layout = TAPER_LAYOUT_GALLERY};
    f.file = dct_encode(f.model, f.image, N, &options, 1);
    assert_int_equal(formats_front_read(f.file.data, f.file.size, NULL, &f.front, NULL), TAPER_OK);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    formats_front_free(&f->front);
    formats_buffer_free(&f->file);
    taper_model_free(f->model);
    return 0;
}

static uint64_t layer_begin(const formats_front *f, uint32_t layer) {
    return f->chunk_at[(uint64_t)layer * f->groups];
}

/* Small layers, then one that has most of the bytes. */
static void small_layers_come_first(void **state) {
    const fixture *f = *state;
    const formats_front *front = &f->front;
    assert_int_equal(front->layout, TAPER_LAYOUT_GALLERY);
    assert_int_equal(front->groups, N);
    assert_in_range(front->layers, 3, 7);
    assert_int_equal(front->rate_classes, 1); /* small images */
    uint64_t all = layer_begin(front, front->layers), last = layer_begin(front, front->layers - 1);
    assert_true(last < all / 2);
    for (uint32_t l = 1; l + 1 < front->layers; l++) /* sizes are estimates by the model */
        assert_true(2 * layer_begin(front, l + 1) > 3 * layer_begin(front, l));
}

/* A set of several groups begins with small layers, too; one group does not need them. */
static void sets_begin_with_small_layers(void **state) {
    const fixture *f = *state;
    for (uint32_t groups = 1; groups <= N / 2; groups += 2) {
        taper_encode_options options = {.group_images = N / groups};
        formats_buffer set = dct_encode(f->model, f->image, N, &options, 0);
        formats_front front;
        assert_int_equal(formats_front_read(set.data, set.size, NULL, &front, NULL), TAPER_OK);
        assert_int_equal(front.groups, groups);
        assert_true((layer_begin(&front, 1) < 100 * groups) == (groups > 1));
        formats_front_free(&front);
        formats_buffer_free(&set);
    }
}

/* A prefix up to the end of a layer has the layer of every image. */
static void a_prefix_has_something_of_each(void **state) {
    const fixture *f = *state;
    for (uint32_t l = 1; l <= f->front.layers; l++) {
        taper_completeness done[N];
        formats_buffer pixels = formats_buffer_make(1 << 24);
        size_t cut = f->front.front_size + layer_begin(&f->front, l);
        assert_int_equal(dct_pull(f->file.data, cut, f->model, &pixels, done), TAPER_OK);
        for (uint32_t i = 0; i < N; i++)
            assert_true(done[i].passes >= formats_front_layer_end(&f->front, l - 1, i));
        formats_buffer_free(&pixels);
    }
}

/* The first range, with the front matter, renders all images; one more completes any of them. */
static void two_ranges_are_an_image(void **state) {
    const fixture *f = *state;
    uint64_t coarse = f->front.front_size + layer_begin(&f->front, f->front.layers - 1);
    for (uint32_t i = 0; i < N; i++) {
        taper_decoder *d;
        taper_range range[2];
        size_t missing;
        taper_completeness done;
        taper_image image = {.pixels = malloc(formats_image_bytes(&f->image[i]))};
        assert_int_equal(stream_decoder(&d, f->model, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_supply(d, 0, f->file.data, (size_t)coarse, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_plan(d, i, coarse, range, 2, &missing, NULL), TAPER_OK);
        assert_int_equal(missing, 0);
        assert_int_equal(taper_decoder_render(d, i, &image, &done, NULL), TAPER_OK);
        assert_true(done.passes >= formats_front_layer_end(&f->front, f->front.layers - 2, i));
        assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, range, 2, &missing, NULL), TAPER_OK);
        assert_int_equal(missing, 1);
        assert_int_equal(taper_decoder_supply(d, range[0].offset, f->file.data + range[0].offset,
                                              (size_t)range[0].size, NULL),
                         TAPER_OK);
        assert_int_equal(taper_decoder_render(d, i, &image, &done, NULL), TAPER_OK);
        assert_int_equal(done.complete, 1);
        free(image.pixels);
        close_decoder(d);
    }
}

static taper_status truncate_to(const formats_buffer *file, uint64_t most, formats_buffer *out) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    taper_sink sink = dct_sink(out);
    *out = formats_buffer_make(1 << 24);
    return taper_truncate(&source, most, &sink, NULL, NULL);
}

/* Of the last layer every image keeps the same part, the layers before it are whole. */
static void check_parts(const formats_front *was, const formats_front *now) {
    uint32_t last = now->layers - 1;
    assert_int_equal(layer_begin(now, last), layer_begin(was, last));
    double part = (double)(layer_begin(now, last + 1) - layer_begin(now, last)) /
                  (double)(layer_begin(was, last + 1) - layer_begin(was, last));
    for (uint32_t g = 0; g < N; g++) {
        uint64_t c = (uint64_t)last * N + g;
        double kept = (double)(now->chunk_at[c + 1] - now->chunk_at[c]),
               all = (double)(was->chunk_at[c + 1] - was->chunk_at[c]);
        assert_true(kept <= all * part + N && kept + 1 >= all * part);
    }
}

/* At every size: at most that size, little less, and no image is preferred. */
static void all_images_are_cut_alike(void **state) {
    const fixture *f = *state;
    formats_buffer out, again;
    assert_int_equal(truncate_to(&f->file, 10, &out), TAPER_ERR_LIMIT);
    formats_buffer_free(&out);
    uint64_t first = f->front.front_size + layer_begin(&f->front, 1);
    for (uint64_t most = first; most < f->file.size; most += 1 + most / 100) {
        formats_front front;
        assert_int_equal(truncate_to(&f->file, most, &out), TAPER_OK);
        assert_in_range(out.size, most - most / 100 - 3 * N, most);
        assert_int_equal(formats_front_read(out.data, out.size, NULL, &front, NULL), TAPER_OK);
        check_parts(&f->front, &front);
        /* what was cut can be cut again */
        uint64_t less = most - most / 7;
        assert_int_equal(truncate_to(&out, less, &again), TAPER_OK);
        assert_in_range(again.size, less - less / 50 - 6 * N, less);
        formats_buffer pixels = formats_buffer_make(1 << 24);
        assert_int_equal(dct_pull(again.data, again.size, f->model, &pixels, NULL), TAPER_OK);
        formats_buffer_free(&pixels), formats_buffer_free(&out), formats_buffer_free(&again);
        formats_front_free(&front);
    }
}

/* Images of one length: a cut is no multiple of their number. */
static void equal_images_are_cut_at_any_size(void **state) {
    enum { IMAGES = 200, EDGE = 8 };
    const fixture *f = *state;
    taper_image image[IMAGES];
    for (int i = 0; i < IMAGES; i++) image[i] = dct_picture(EDGE, EDGE, 3, 1);
    taper_encode_options options = {.layout = TAPER_LAYOUT_GALLERY};
    formats_buffer file = dct_encode(f->model, image, IMAGES, &options, 0), out;
    formats_front front;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    uint64_t first = front.front_size + layer_begin(&front, 1);
    for (uint64_t most = first; most < file.size; most += 1 + (file.size - first) / 40) {
        assert_int_equal(truncate_to(&file, most, &out), TAPER_OK);
        assert_in_range(out.size, most - most / 50, most);
        formats_buffer_free(&out);
    }
    formats_front_free(&front);
    formats_buffer_free(&file);
    for (int i = 0; i < IMAGES; i++) formats_image_free(&image[i]);
}

/* The first image does not decide alone what a small layer is. */
static void an_icon_may_come_first(void **state) {
    const fixture *f = *state;
    taper_image image[N + 1];
    image[0] = dct_picture(2, 2, 3, 1);
    memcpy(image + 1, f->image, sizeof f->image);
    taper_encode_options options = {.layout = TAPER_LAYOUT_GALLERY};
    formats_buffer file = dct_encode(f->model, image, N + 1, &options, 0);
    assert_in_range(dct_info(&file, f->model).layers, 3, 7);
    formats_buffer_free(&file);
    formats_image_free(&image[0]);
}

/* --- the first bytes of larger images ----------------------------------------------------- */

enum { SIDE = 256, MANY = 18 /* more than wait for their mean */ };

/* Pictures of which each second one is noise. */
static void make_unlike(taper_image *image, size_t n) {
    for (size_t i = 0; i < n; i++)
        image[i] =
            i % 2 ? picture_noise(SIDE, SIDE, 3, 8, i + 1) : dct_picture(SIDE, SIDE, 3, i + 1);
}

/* The front of a gallery of n such pictures, and its bytes. */
static formats_buffer encode_unlike(const fixture *f, size_t n, taper_encode_options options,
                                    formats_front *front) {
    taper_image image[MANY];
    make_unlike(image, n);
    options.layout = TAPER_LAYOUT_GALLERY;
    formats_buffer file = dct_encode(f->model, image, n, &options, 0);
    assert_int_equal(formats_front_read(file.data, file.size, NULL, front, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++) formats_image_free(&image[i]);
    return file;
}

/* Plain images are ahead in the small layers but the first. Images and groups have one order, so
 * that front matter in pages has small pages. */
static void plain_images_are_ahead_at_first(void **state) {
    const taper_encode_options options = {.target_bytes_per_megapixel = 40000};
    formats_front front;
    formats_buffer file = encode_unlike(*state, MANY, options, &front);
    assert_in_range(front.rate_classes, 2, 7);
    assert_in_range(front.layers, 3, 7);
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t plain = i / 2 * 2, last = front.layers - 1;
        assert_int_equal(formats_front_group(&front, i), i);
        assert_int_equal(formats_front_layer_end(&front, 0, i),
                         formats_front_layer_end(&front, 0, 0));
        assert_int_equal(formats_front_layer_end(&front, last, i),
                         formats_front_layer_end(&front, last, 0));
        if (i % 2)
            assert_true(formats_front_layer_end(&front, 1, i) <
                        formats_front_layer_end(&front, 1, plain));
    }
    formats_front_free(&front);
    formats_buffer_free(&file);
}

/* An allocation that was asked for is that of all layers; aims have rate classes of their own. */
static void other_allocations_stay(void **state) {
    const taper_encode_options options = {.allocation = TAPER_ALLOCATION_EQUAL,
                                          .target_bytes_per_megapixel = 40000};
    formats_front front;
    formats_buffer file = encode_unlike(*state, 2, options, &front);
    assert_int_equal(front.rate_classes, 2);
    assert_true(formats_front_layer_end(&front, 1, 1) > formats_front_layer_end(&front, 1, 0));
    formats_front_free(&front);
    formats_buffer_free(&file);
}

/* In another layout these rate classes are gone, the layers are those of that layout, and the
 * pixels are what they were. */
static void other_layouts_have_one_rate_class(void **state) {
    const fixture *f = *state;
    formats_front front;
    const taper_encode_options options = {.drawings = TAPER_DRAWINGS_LOSSY};
    formats_buffer file = encode_unlike(f, 2, options, &front);
    formats_memory memory = {file.data, file.size};
    const taper_source from = formats_memory_source(&memory);
    formats_buffer was = formats_buffer_make(1 << 24);
    assert_int_equal(front.rate_classes, 2);
    assert_int_equal(dct_pull(file.data, file.size, f->model, &was, NULL), TAPER_OK);
    for (int layout = TAPER_LAYOUT_SET; layout <= TAPER_LAYOUT_GALLERY; layout++) {
        formats_buffer out = formats_buffer_make(1 << 24), now = formats_buffer_make(1 << 24);
        const taper_sink sink = dct_sink(&out);
        assert_int_equal(taper_repack(&from, f->model, (taper_layout)layout, 0, &sink, NULL, NULL),
                         TAPER_OK);
        const taper_container_info info = dct_info(&out, f->model);
        assert_int_equal(info.rate_classes, layout == TAPER_LAYOUT_GALLERY ? 2 : 1);
        assert_true(layout != TAPER_LAYOUT_SET || info.layers > front.layers);
        assert_int_equal(dct_pull(out.data, out.size, f->model, &now, NULL), TAPER_OK);
        assert_int_equal(now.size, was.size);
        assert_memory_equal(now.data, was.data, was.size);
        formats_buffer_free(&out), formats_buffer_free(&now);
    }
    formats_front_free(&front);
    formats_buffer_free(&was), formats_buffer_free(&file);
}

/* Two galleries are one, and each image is what it was. */
static void galleries_are_joined(void **state) {
    const fixture *f = *state;
    formats_memory memory = {f->file.data, f->file.size};
    taper_source two[2] = {formats_memory_source(&memory), formats_memory_source(&memory)};
    formats_buffer joined = formats_buffer_make(1 << 24), one = formats_buffer_make(1 << 24),
                   both = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&joined);
    assert_int_equal(taper_merge(two, 2, &sink, NULL, NULL), TAPER_OK);
    taper_container_info info = dct_info(&joined, f->model);
    assert_int_equal(info.layout, TAPER_LAYOUT_GALLERY);
    assert_int_equal(info.layers, f->front.layers);
    assert_int_equal(dct_pull(f->file.data, f->file.size, f->model, &one, NULL), TAPER_OK);
    assert_int_equal(dct_pull(joined.data, joined.size, f->model, &both, NULL), TAPER_OK);
    assert_int_equal(both.size, 2 * one.size);
    assert_memory_equal(both.data, one.data, one.size);
    assert_memory_equal(both.data + one.size, one.data, one.size);
    formats_buffer_free(&joined), formats_buffer_free(&one), formats_buffer_free(&both);
}

/* A group of two images, and a layout that does not exist. */
static void other_groups_are_corrupt(void **state) {
    const fixture *f = *state;
    taper_encode_options options = {.group_images = 2};
    formats_buffer set = dct_encode(f->model, f->image, N, &options, 0);
    for (uint8_t layout = 1; layout <= 3; layout++) {
        formats_front front;
        uint8_t *h = set.data;
        uint32_t sections = formats_get_u32le(h + 48);
        h[10] = layout;
        formats_set_u32le(h + 20, 0);
        formats_set_u32le(h + 20, formats_crc32c(0, h, FORMATS_HEADER_SIZE + 24 * sections));
        assert_int_equal(formats_front_read(h, set.size, NULL, &front, NULL), TAPER_ERR_CORRUPT);
    }
    formats_buffer_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_layers_come_first),
                                       cmocka_unit_test(sets_begin_with_small_layers),
                                       cmocka_unit_test(a_prefix_has_something_of_each),
                                       cmocka_unit_test(two_ranges_are_an_image),
                                       cmocka_unit_test(all_images_are_cut_alike),
                                       cmocka_unit_test(equal_images_are_cut_at_any_size),
                                       cmocka_unit_test(an_icon_may_come_first),
                                       cmocka_unit_test(plain_images_are_ahead_at_first),
                                       cmocka_unit_test(other_allocations_stay),
                                       cmocka_unit_test(other_layouts_have_one_rate_class),
                                       cmocka_unit_test(galleries_are_joined),
                                       cmocka_unit_test(other_groups_are_corrupt)};
    return cmocka_run_group_tests(tests, make, drop);
}

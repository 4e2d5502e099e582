/* test_further_names.c -- images with further names (section `also`): each name has its own label
 * and time, and shows the pixels of its image; all that changes containers carries them. */
#include "cmocka_all.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"
#include "formats/image.h"

enum { IMAGES = 3, NAMES = 4, MANY = 2100 };

typedef struct fixture {
    taper_model *model;
    formats_buffer model_file;
} fixture;

static int make(void **state) {
    static fixture f;
    f = (fixture){.model_file = formats_buffer_make(1 << 24)};
    f.model = dct_model_make((codec_window){4, 4, 3, NULL}, 20, 6, &f.model_file);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    formats_buffer_free(&f->model_file);
    taper_model_free(f->model);
    return 0;
}

static const int64_t later = 1500000000000000000, odd = -1234567891;

/* Images a0, a1 ... with classes 0, 1, 0 ...; further names of 2, 0, 2 and 1. */
static formats_buffer make_with(const fixture *f, uint32_t images, taper_layout layout,
                                int lossless) {
    static const char *const classes[] = {"cat", "dog", "owl"};
    const taper_encode_options how = {.size = sizeof how,
                                      .layout = layout,
                                      .lossless = lossless,
                                      .group_images = images > IMAGES ? 500 : 0};
    formats_buffer file = formats_buffer_make(1 << 26);
    const taper_sink sink = dct_sink(&file);
    taper_encoder *e;
    char name[32];
    assert_int_equal(taper_encoder_new(&e, f->model, &how, NULL), TAPER_OK);
    for (uint32_t i = 0; i < images; i++) {
        taper_image image = dct_picture(6 + i % 3, 5, 3, i);
        const taper_metadata m = {
            .size = sizeof m, .gamma = 7, .has_modified = 1, .modified_ns = 10 + i};
        snprintf(name, sizeof name, "a%u", i);
        assert_int_equal(taper_encoder_add(e, &image, name, (int32_t)i % 2, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_set_metadata(e, &m, NULL), TAPER_OK);
        formats_image_free(&image);
    }
    assert_int_equal(taper_encoder_set_classes(e, classes, 3, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add_name(e, 2, "x/one", 2, &later, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add_name(e, 0, "x/two", -1, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add_name(e, 2, "x/three", 0, &odd, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add_name(e, 1, "x/four", 9, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(e);
    return file;
}

static formats_buffer make_file(const fixture *f, uint32_t images, taper_layout layout) {
    return make_with(f, images, layout, 0);
}

/* "NAME=IMAGE:CLASS@TIME " of each number. */
static void describe(const fixture *f, const formats_buffer *file, char *to, size_t room) {
    const taper_open_options how = {.size = sizeof how, .model = f->model};
    taper_container_info info = {.size = sizeof info};
    taper_metadata_reader *r;
    taper_container *c;
    assert_int_equal(taper_container_open_memory(&c, file->data, file->size, &how, NULL), TAPER_OK);
    assert_int_equal(taper_container_get_info(c, &info, NULL), TAPER_OK);
    assert_int_equal(taper_metadata_open(&r, c, NULL), TAPER_OK);
    *to = 0;
    for (uint64_t i = 0; i < info.images + info.further_names; i++) {
        taper_image_info of = {.size = sizeof of};
        taper_metadata m = {.size = sizeof m};
        char time[32] = "-";
        assert_int_equal(taper_container_get_image(c, i, &of, NULL), TAPER_OK);
        assert_int_equal(taper_metadata_get(r, i, &m, NULL), TAPER_OK);
        assert_int_equal(m.gamma, 7);
        if (m.has_modified) snprintf(time, sizeof time, "%lld", (long long)m.modified_ns);
        const char *class = of.label < 0 ? "-" : taper_container_class_name(c, (uint32_t)of.label);
        const size_t used = strlen(to);
        snprintf(to + used, room - used, "%s=%u:%s@%s ", of.name, (unsigned)of.same_as, class,
                 time);
        assert_int_equal(of.same_as == i, i < info.images);
    }
    taper_metadata_close(r);
    taper_container_close(c);
}

#define IMAGES_ARE "a0=0:cat@10 a1=1:dog@11 a2=2:cat@12 "
#define NAMES_ARE \
    "x/one=2:owl@1500000000000000000 x/two=0:-@- x/three=2:cat@-1234567891 x/four=1:-@- "

static void assert_described(const fixture *f, const formats_buffer *file, const char *want) {
    char text[1024];
    describe(f, file, text, sizeof text);
    assert_string_equal(text, want);
}

/* The pixels of number i, whole and at half the size. */
static taper_image render(taper_decoder *d, uint64_t i, uint32_t scale) {
    taper_image_info info = {.size = sizeof info};
    taper_image image = {.pixels = calloc(1, 1 << 12)};
    assert_int_equal(taper_container_get_image(taper_decoder_container(d), i, &info, NULL),
                     TAPER_OK);
    assert_in_range(info.bytes, 1, 1 << 12);
    assert_int_equal(taper_decoder_render_scaled(d, i, scale, &image, NULL, NULL), TAPER_OK);
    return image;
}

static void assert_same(taper_decoder *d, uint64_t i, uint64_t of) {
    for (uint32_t scale = 1; scale <= 2; scale++) {
        taper_image a = render(d, i, scale), b = render(d, of, scale);
        assert_int_equal(a.width, b.width);
        assert_memory_equal(a.pixels, b.pixels, (size_t)a.width * a.height * a.channels);
        formats_image_free(&a), formats_image_free(&b);
    }
}

static void names_show_their_image(void **state) {
    const fixture *f = *state;
    static const uint64_t of[NAMES] = {2, 0, 2, 1};
    for (int way = 0; way < 6; way++) { /* with an exact layer, too */
        formats_buffer file = make_with(f, IMAGES, (taper_layout)(way % 3), way / 3);
        const taper_open_options how = {.size = sizeof how, .model = f->model};
        taper_container *c;
        taper_decoder *d;
        taper_image_info info = {.size = sizeof info};
        uint64_t here, all, again;
        assert_described(f, &file, IMAGES_ARE NAMES_ARE);
        assert_int_equal(taper_container_open_memory(&c, file.data, file.size, &how, NULL),
                         TAPER_OK);
        assert_int_equal(taper_decoder_new(&d, c, NULL, NULL), TAPER_OK);
        for (uint64_t k = 0; k < NAMES; k++) {
            assert_same(d, IMAGES + k, of[k]);
            taper_container_image_bytes(c, IMAGES + k, file.size, &here, &all, NULL);
            taper_container_image_bytes(c, of[k], file.size, &here, &again, NULL);
            assert_int_equal(all, again);
        }
        assert_int_equal(taper_container_get_image(c, IMAGES + NAMES, &info, NULL), TAPER_ERR_ARG);
        taper_decoder_free(d);
        taper_container_close(c);
        formats_buffer_free(&file);
    }
}

/* --- changes -------------------------------------------------------------------------------- */

static taper_source source_of(formats_memory *memory, const formats_buffer *file) {
    *memory = (formats_memory){file->data, file->size};
    return formats_memory_source(memory);
}

static taper_status remove_of(const fixture *f, const formats_buffer *file, const uint64_t *image,
                              size_t n, formats_buffer *out) {
    formats_memory memory;
    const taper_source source = source_of(&memory, file);
    const taper_remove_options how = {.size = sizeof how, .model = f->model};
    const taper_sink sink = dct_sink(out);
    formats_buffer_clear(out);
    return taper_remove(&source, image, n, &sink, &how, NULL);
}

static void removing(void **state) {
    const fixture *f = *state;
    formats_buffer file = make_file(f, IMAGES, TAPER_LAYOUT_SET);
    formats_buffer out = formats_buffer_make(1 << 20);
    static const uint64_t name = 4, first = 2, whole[] = {2, 3, 5}, all[] = {0, 1, 2, 3, 4, 5, 6},
                          beyond = 7;
    assert_int_equal(remove_of(f, &file, &name, 1, &out), TAPER_OK);
    assert_described(f, &out,
                     IMAGES_ARE "x/one=2:owl@1500000000000000000 x/three=2:cat@-1234567891 "
                                "x/four=1:-@- ");
    /* the first of its further names takes the place of an image */
    assert_int_equal(remove_of(f, &file, &first, 1, &out), TAPER_OK);
    assert_described(f, &out,
                     "a0=0:cat@10 a1=1:dog@11 x/one=2:owl@1500000000000000000 x/two=0:-@- "
                     "x/three=2:cat@-1234567891 x/four=1:-@- ");
    formats_front front;
    assert_int_equal(formats_front_read(out.data, out.size, NULL, &front, NULL), TAPER_OK);
    assert_int_equal(front.alsos, 3);
    formats_front_free(&front);
    /* with all its names it is gone, and numbers change */
    assert_int_equal(remove_of(f, &file, whole, 3, &out), TAPER_OK);
    assert_described(f, &out, "a0=0:cat@10 a1=1:dog@11 x/two=0:-@- x/four=1:-@- ");
    assert_int_equal(remove_of(f, &file, all, 7, &out), TAPER_ERR_ARG);
    assert_int_equal(remove_of(f, &file, all, 6, &out), TAPER_OK);
    assert_described(f, &out, "x/four=0:-@- ");
    assert_int_equal(remove_of(f, &file, &beyond, 1, &out), TAPER_ERR_ARG);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

static void renaming(void **state) {
    const fixture *f = *state;
    formats_buffer file = make_file(f, IMAGES, TAPER_LAYOUT_SET);
    formats_buffer out = formats_buffer_make(1 << 20);
    formats_memory memory;
    const taper_source source = source_of(&memory, &file);
    const taper_sink sink = dct_sink(&out);
    const taper_name names[] = {{6, "new"}, {0, "b"}}, beyond = {7, "c"};
    assert_int_equal(taper_rename(&source, names, 2, &sink, NULL, NULL), TAPER_OK);
    assert_described(f, &out,
                     "b=0:cat@10 a1=1:dog@11 a2=2:cat@12 x/one=2:owl@1500000000000000000 "
                     "x/two=0:-@- x/three=2:cat@-1234567891 new=1:-@- ");
    assert_int_equal(taper_rename(&source, &beyond, 1, &sink, NULL, NULL), TAPER_ERR_ARG);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

static void carrying(void **state) {
    const fixture *f = *state;
    formats_buffer file = make_file(f, IMAGES, TAPER_LAYOUT_SET);
    formats_buffer out = formats_buffer_make(1 << 20);
    formats_memory memory;
    const taper_source source = source_of(&memory, &file), both[] = {source, source};
    const taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_repack(&source, f->model, TAPER_LAYOUT_IMAGE, 0, &sink, NULL, NULL),
                     TAPER_OK);
    assert_described(f, &out, IMAGES_ARE NAMES_ARE);
    formats_buffer_clear(&out);
    assert_int_equal(taper_truncate(&source, file.size - 20, &sink, NULL, NULL), TAPER_OK);
    assert_described(f, &out, IMAGES_ARE NAMES_ARE);
    formats_buffer_clear(&out);
    assert_int_equal(taper_merge(both, 2, &sink, NULL, NULL), TAPER_OK);
    assert_described(f, &out,
                     IMAGES_ARE
                     "shard-2/a0=3:cat@10 shard-2/a1=4:dog@11 shard-2/a2=5:cat@12 " NAMES_ARE
                     "shard-2/x/one=5:owl@1500000000000000000 shard-2/x/two=3:-@- "
                     "shard-2/x/three=5:cat@-1234567891 shard-2/x/four=4:-@- ");
    formats_buffer_free(&file), formats_buffer_free(&out);
}

/* A part of a set says so, in pages too; what is made of it does not. */
static void parts(void **state) {
    const fixture *f = *state;
    formats_buffer out = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 20);
    const taper_sink sink = dct_sink(&file), to = dct_sink(&out);
    for (uint32_t images = 3; images <= MANY; images += MANY - 3) {
        taper_part part = {sizeof part, 4, 2, 4 * (uint64_t)images + 8, 1, 5, 6, 7}, is = part;
        taper_encoder *e;
        formats_front front;
        formats_memory memory;
        formats_buffer_clear(&file);
        assert_int_equal(taper_encoder_new(&e, f->model, NULL, NULL), TAPER_OK);
        for (uint32_t i = 0; i < images; i++) {
            taper_image image = dct_picture(6, 5, 3, i);
            assert_int_equal(taper_encoder_add(e, &image, "x", -1, NULL), TAPER_OK);
            formats_image_free(&image);
        }
        assert_int_equal(taper_encoder_add_name(e, 0, "y", -1, NULL, NULL), TAPER_OK);
        part.left_out = 2;
        assert_int_equal(taper_encoder_set_part(e, &part, NULL), TAPER_ERR_ARG);
        part.left_out = 1;
        assert_int_equal(taper_encoder_set_part(e, &part, NULL), TAPER_OK);
        assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
        taper_encoder_free(e);
        const taper_open_options how = {.size = sizeof how, .model = f->model};
        taper_container *c;
        assert_int_equal(taper_container_open_memory(&c, file.data, file.size, &how, NULL),
                         TAPER_OK);
        assert_int_equal(taper_container_get_part(c, &is, NULL), TAPER_OK);
        assert_memory_equal(&is, &part, sizeof is);
        taper_container_close(c);
        const taper_source source = source_of(&memory, &file);
        const taper_name name = {0, "z"};
        for (int way = 0; way < 5; way++) {
            static const uint64_t first = 1;
            const taper_remove_options removes = {.size = sizeof removes, .model = f->model};
            formats_buffer_clear(&out);
            taper_status made[5] = {0};
            if (way == 0) made[0] = taper_truncate(&source, UINT64_MAX, &to, NULL, NULL);
            if (way == 1) made[1] = taper_rename(&source, &name, 1, &to, NULL, NULL);
            if (way == 2) made[2] = taper_strip(&source, &to, NULL, NULL);
            if (way == 3) made[3] = taper_merge(&source, 1, &to, NULL, NULL);
            if (way == 4) made[4] = taper_remove(&source, &first, 1, &to, &removes, NULL);
            assert_int_equal(made[way], TAPER_OK);
            assert_int_equal(formats_front_read(out.data, out.size, NULL, &front, NULL), TAPER_OK);
            assert_false(front.has_part);
            formats_front_free(&front);
        }
    }
    formats_buffer_free(&file), formats_buffer_free(&out);
}

/* Behind the leaves of a front matter in pages; a reader by ranges does without. */
static void pages(void **state) {
    const fixture *f = *state;
    formats_buffer file = make_file(f, MANY, TAPER_LAYOUT_SET);
    const taper_open_options how = {.size = sizeof how, .model = f->model};
    taper_container_info info = {.size = sizeof info};
    taper_image_info of = {.size = sizeof of};
    taper_container *c;
    taper_decoder *d;
    taper_range range[64];
    size_t count;
    assert_int_equal(taper_container_open_memory(&c, file.data, file.size, &how, NULL), TAPER_OK);
    assert_int_equal(taper_container_get_info(c, &info, NULL), TAPER_OK);
    assert_int_equal(info.further_names, NAMES);
    assert_int_equal(taper_container_get_image(c, MANY + 1, &of, NULL), TAPER_OK);
    assert_string_equal(of.name, "x/two");
    assert_int_equal(of.same_as, 0);
    taper_container_close(c);
    assert_int_equal(taper_decoder_new_streaming(&d, &how, NULL), TAPER_OK);
    for (int k = 0; k < 8; k++) {
        assert_int_equal(taper_decoder_plan(d, 0, UINT64_MAX, range, 64, &count, NULL), TAPER_OK);
        for (size_t r = 0; r < count && r < 64 && range[r].offset < file.size; r++)
            assert_int_equal(taper_decoder_supply(d, range[r].offset, file.data + range[r].offset,
                                                  formats_smaller((size_t)range[r].size,
                                                                  file.size - range[r].offset),
                                                  NULL),
                             TAPER_OK);
    }
    assert_int_equal(taper_container_get_info(taper_decoder_container(d), &info, NULL), TAPER_OK);
    assert_int_equal(info.further_names, 0);
    assert_int_equal(taper_container_get_image(taper_decoder_container(d), MANY, &of, NULL),
                     TAPER_ERR_ARG);
    taper_decoder_free(d);
    formats_buffer_free(&file);
}

/* A container without names may have further ones; the images get numbers only when one is renamed
 * or takes a place. */
static void without_names(void **state) {
    const fixture *f = *state;
    formats_buffer file = formats_buffer_make(1 << 20), out = formats_buffer_make(1 << 20);
    const taper_sink sink = dct_sink(&file);
    taper_encoder *e;
    static const uint64_t first = 0;
    assert_int_equal(taper_encoder_new(&e, f->model, NULL, NULL), TAPER_OK);
    for (uint32_t i = 0; i < 2; i++) {
        taper_image image = dct_picture(6, 5, 3, i);
        assert_int_equal(taper_encoder_add(e, &image, NULL, -1, NULL), TAPER_OK);
        formats_image_free(&image);
    }
    assert_int_equal(taper_encoder_add_name(e, 2, "x", -1, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_add_name(e, 0, "../x", -1, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_add_name(e, 0, "x", -2, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_encoder_add_name(e, 0, "x", -1, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_finish(e, 0, &sink, NULL), TAPER_OK);
    assert_int_equal(taper_encoder_add_name(e, 0, "y", -1, NULL, NULL), TAPER_ERR_ARG);
    taper_encoder_free(e);
    formats_front front;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    assert_null(front.names);
    assert_int_equal(front.alsos, 1);
    formats_front_free(&front);
    assert_int_equal(remove_of(f, &file, &first, 1, &out), TAPER_OK);
    assert_int_equal(formats_front_read(out.data, out.size, NULL, &front, NULL), TAPER_OK);
    assert_int_equal(front.images, 2);
    assert_string_equal(formats_front_name(&front, 0), "x");
    assert_string_equal(formats_front_name(&front, 1), "000002.png");
    assert_int_equal(front.alsos, 0);
    formats_front_free(&front);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_show_their_image, make, drop),
        cmocka_unit_test_setup_teardown(removing, make, drop),
        cmocka_unit_test_setup_teardown(renaming, make, drop),
        cmocka_unit_test_setup_teardown(carrying, make, drop),
        cmocka_unit_test_setup_teardown(pages, make, drop),
        cmocka_unit_test_setup_teardown(parts, make, drop),
        cmocka_unit_test_setup_teardown(without_names, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_remove.c -- taper_remove and taper_rename: what stays is as before, what was removed is not
 * in the file. */
#include "cmocka_all.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"

enum { N = 12 };

typedef struct fixture {
    taper_model *model;
    formats_buffer model_file;
    taper_image image[N];
} fixture;

static int make_of(void **state, uint32_t parts) {
    static fixture f;
    f = (fixture){.model_file = formats_buffer_make(1 << 24)};
    f.model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, 20, 6, parts, &f.model_file);
    for (int i = 0; i < N; i++) /* the image 7 is large enough for strips when it is alone */
        f.image[i] = dct_picture(i == 7  ? 200
                                 : i % 3 ? 12
                                         : 4,
                                 i == 7      ? 160
                                 : i / 2 % 2 ? 8
                                             : 4,
                                 i % 4 ? 3 : 1, (uint64_t)i);
    *state = &f;
    return 0;
}
static int make(void **state) { return make_of(state, 1); }
static int make_in_parts(void **state) { return make_of(state, 3); }

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    formats_buffer_free(&f->model_file);
    taper_model_free(f->model);
    return 0;
}

static taper_source source_of(formats_memory *memory, const formats_buffer *file) {
    *memory = (formats_memory){file->data, file->size};
    return formats_memory_source(memory);
}

static taper_status remove_of(const fixture *f, const formats_buffer *file, const uint64_t *image,
                              size_t n, formats_buffer *out) {
    formats_memory memory;
    const taper_source source = source_of(&memory, file);
    const taper_remove_options options = {.size = sizeof options, .model = f->model};
    const taper_sink sink = dct_sink(out);
    taper_error error = {0};
    const taper_status status = taper_remove(&source, image, n, &sink, &options, &error);
    assert_int_equal(status, error.status);
    if (status != TAPER_OK) assert_int_equal(out->size, 0);
    return status;
}

/* The pixels of each image, and its info. */
typedef struct shown {
    taper_image image[N];
    taper_container_info info;
    taper_image_info of[N];
    taper_completeness done[N];
    char name[N][64];
} shown;

static shown show(const fixture *f, const formats_buffer *file) {
    shown s = {.info = {.size = sizeof s.info}};
    const taper_open_options how = {.size = sizeof how, .model = f->model};
    taper_container *c;
    taper_decoder *d;
    assert_int_equal(taper_container_open_memory(&c, file->data, file->size, &how, NULL), TAPER_OK);
    assert_int_equal(taper_container_get_info(c, &s.info, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_new(&d, c, NULL, NULL), TAPER_OK);
    for (uint64_t i = 0; i < s.info.images; i++) {
        s.of[i].size = sizeof s.of[i];
        assert_int_equal(taper_container_get_image(c, i, &s.of[i], NULL), TAPER_OK);
        snprintf(s.name[i], sizeof s.name[i], "%s", s.of[i].name ? s.of[i].name : "");
        s.image[i].pixels = malloc((size_t)s.of[i].bytes);
        assert_int_equal(taper_decoder_render(d, i, &s.image[i], &s.done[i], NULL), TAPER_OK);
    }
    taper_decoder_free(d);
    taper_container_close(c);
    return s;
}

static void forget(shown *s) {
    for (uint64_t i = 0; i < s->info.images; i++) free(s->image[i].pixels);
}

static double difference(const taper_image *a, const taper_image *b) {
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    const size_t n = (size_t)a->width * a->height * a->channels;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (double)((uint8_t *)a->pixels)[i] - ((uint8_t *)b->pixels)[i];
        sum += d * d;
    }
    return sum / (double)n;
}

static void assert_whole(const formats_buffer *file) {
    formats_memory memory;
    const taper_source source = source_of(&memory, file);
    taper_verify_report report = {.size = sizeof report};
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
    assert_int_equal(report.chunks_whole, report.chunks);
}

/* Remove the images of a set of bits, and compare what stays. may_differ: mean squared difference.
 */
static void try_to_remove(const fixture *f, const formats_buffer *file, uint32_t bits,
                          double may_differ) {
    uint64_t image[N];
    size_t n = 0;
    for (uint64_t i = 0; i < N; i++)
        if (bits >> i & 1) image[n++] = i;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(remove_of(f, file, image, n, &out), TAPER_OK);
    assert_whole(&out);
    shown before = show(f, file), after = show(f, &out);
    assert_int_equal(after.info.images, N - n);
    assert_int_equal(after.info.layout, before.info.layout);
    for (uint64_t i = 0, k = 0; i < N; i++) {
        if (bits >> i & 1) continue;
        assert_string_equal(before.name[i], after.name[k]);
        assert_int_equal(before.of[i].label, after.of[k].label);
        const double differs = difference(&before.image[i], &after.image[k]);
        if (differs > may_differ)
            fail_msg("without %x: image %d differs by %g", bits, (int)i, differs);
        k++;
    }
    if (out.size >= file->size + 300)
        fail_msg("without %x: %zu bytes after %zu", bits, out.size, file->size);
    forget(&before), forget(&after);
    formats_buffer_free(&out);
}

static const uint32_t subsets[] = {0x001, 0x800, 0x00f, 0x00e, 0x555, 0xaaa, 0x7ff, 0xf7f, 0x060};
enum { SUBSETS = sizeof subsets / sizeof subsets[0] };

static void what_stays_is_as_before(void **state) {
    fixture *f = *state;
    for (int layout = 0; layout <= TAPER_LAYOUT_GALLERY; layout++)
        for (int allocation = 0; allocation < 3; allocation++)
            for (uint32_t together = 2; together <= 12; together += 5) {
                taper_encode_options options = {.layout = (taper_layout)layout,
                                                .group_images = together,
                                                .allocation = (taper_allocation)allocation};
                if (layout && together > 2) continue;
                if (layout) options.group_images = 0;
                formats_buffer file = dct_encode(f->model, f->image, N, &options, 1);
                for (int k = 0; k < SUBSETS; k++) try_to_remove(f, &file, subsets[k], 0);
                formats_buffer_free(&file);
            }
}

/* Photographs, pictures with soft alpha, and drawings of a few colours. */
static void mix(fixture *f) {
    for (int i = 0; i < N; i++) {
        if (i % 3 == 0) continue;
        formats_image_free(&f->image[i]);
        f->image[i] = dct_picture(24, 20, i % 3 == 1 ? 4 : 3, (uint64_t)i);
        uint8_t *p = f->image[i].pixels;
        for (int k = 0; k < 24 * 20 && i % 3 == 1; k++) p[4 * k + 3] = (uint8_t)(40 + k % 200);
        for (int k = 0; k < 24 * 20 && i % 3 == 2; k++)
            memset(p + 3 * k, k / 24 % 5 == i % 5 || k % 7 == 0 ? 200 : 30, 3);
    }
}

static void pixel_layers_stay(void **state) {
    fixture *f = *state;
    mix(f);
    for (int layout = 0; layout <= TAPER_LAYOUT_GALLERY; layout++)
        for (uint32_t together = 2; together <= 12; together += 5) {
            const taper_encode_options options = {.layout = (taper_layout)layout,
                                                  .group_images = layout ? 0 : together,
                                                  .drawings = TAPER_DRAWINGS_EXACT};
            formats_buffer file = dct_encode(f->model, f->image, N, &options, 1);
            formats_front front;
            assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL),
                             TAPER_OK);
            assert_true(front.has_pixels);
            assert_true(front.geometry[2].indexed && front.geometry[1].alpha);
            formats_front_free(&front);
            for (int k = 0; k < SUBSETS; k++) try_to_remove(f, &file, subsets[k], 0);
            try_to_remove(f, &file, 0xdb6, 0); /* of photographs alone nothing has pixel layers */
            try_to_remove(f, &file, 0x6db, 0); /* drawings alone */
            formats_buffer_free(&file);
        }
}

static formats_buffer truncated(const fixture *f, const formats_buffer *file, double fraction) {
    formats_memory memory;
    const taper_source source = source_of(&memory, file);
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    const uint64_t front = dct_info(file, f->model).front_bytes;
    const uint64_t most = front + (uint64_t)(fraction * (double)(file->size - front));
    assert_int_equal(taper_truncate(&source, most, &sink, NULL, NULL), TAPER_OK);
    return out;
}

/* Of a truncated container the images of a group that is coded again may lose the last bits. */
static void truncated_containers_lose_little(void **state) {
    fixture *f = *state;
    const taper_encode_options options = {.group_images = 5};
    formats_buffer file = dct_encode(f->model, f->image, N, &options, 1);
    for (int cut = 1; cut < 10; cut++) {
        formats_buffer part = truncated(f, &file, 0.1 * cut);
        for (int k = 0; k < SUBSETS; k++) try_to_remove(f, &part, subsets[k], 40);
        formats_buffer_free(&part);
    }
    formats_buffer_free(&file);
}

/* The images of `file`, of which a prefix comes before them: their chunks are complete, but count
 * as cut. */
static formats_buffer behind_a_cut(const fixture *f, const formats_buffer *file) {
    formats_buffer part = truncated(f, file, 0.9), out = formats_buffer_make(1 << 24);
    formats_memory memory[2];
    const taper_source both[] = {source_of(&memory[0], &part), source_of(&memory[1], file)};
    const taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_merge(both, 2, &sink, NULL, NULL), TAPER_OK);
    formats_buffer_free(&part);
    return out;
}

/* Remove the first N images and those of a set of bits: what is left is as in `before`. */
static void assert_stays(const fixture *f, const formats_buffer *joined, uint32_t bits,
                         const shown *before) {
    uint64_t image[2 * N];
    size_t n = 0;
    for (; n < N; n++) image[n] = n;
    for (uint64_t i = 0; i < N; i++)
        if (bits >> i & 1) image[n++] = N + i;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(remove_of(f, joined, image, n, &out), TAPER_OK);
    shown after = show(f, &out);
    for (uint64_t i = 0, at = 0; i < N; i++) {
        if (bits >> i & 1) continue;
        const double differs = difference(&before->image[i], &after.image[at]);
        assert_int_equal(before->done[i].passes, after.done[at++].passes);
        if (differs > 0) fail_msg("without %x: image %d differs by %g", bits, (int)i, differs);
    }
    forget(&after);
    formats_buffer_free(&out);
}

/* All that is known of such groups is known of what stays of them: of the large image alone, too,
 * which then is of several strips. */
static void complete_chunks_behind_a_cut(void **state) {
    fixture *f = *state;
    formats_image_free(&f->image[7]);
    f->image[7] = picture_scene(256, 256, 3, 3); /* its last bits are not decoded without padding */
    for (uint32_t together = 2; together <= 12; together += 5) {
        const taper_encode_options options = {.group_images = together,
                                              .embed_model = 1,
                                              .model_bytes = f->model_file.data,
                                              .model_size = f->model_file.size};
        formats_buffer file = dct_encode(f->model, f->image, N, &options, 0);
        formats_buffer joined = behind_a_cut(f, &file);
        shown before = show(f, &file);
        for (int k = 0; k < SUBSETS; k++) assert_stays(f, &joined, subsets[k], &before);
        forget(&before);
        formats_buffer_free(&file), formats_buffer_free(&joined);
    }
}

static void truncated_pixel_layers(void **state) {
    fixture *f = *state;
    const taper_encode_options options = {.group_images = 5, .drawings = TAPER_DRAWINGS_EXACT};
    mix(f);
    formats_buffer file = dct_encode(f->model, f->image, N, &options, 1);
    for (int cut = 1; cut < 10; cut++) {
        formats_buffer part = truncated(f, &file, 0.1 * cut);
        for (int k = 0; k < SUBSETS; k++) try_to_remove(f, &part, subsets[k], 60);
        formats_buffer_free(&part);
    }
    formats_buffer_free(&file);
}

static void refusals(void **state) {
    fixture *f = *state;
    const taper_encode_options options = {.group_images = 5};
    formats_buffer file = dct_encode(f->model, f->image, N, &options, 1);
    formats_buffer out = formats_buffer_make(1 << 24);
    uint64_t image[N] = {N};
    assert_int_equal(remove_of(f, &file, image, 1, &out), TAPER_ERR_ARG); /* no such image */
    for (uint64_t i = 0; i < N; i++) image[i] = i;
    assert_int_equal(remove_of(f, &file, image, N, &out), TAPER_ERR_ARG); /* none would be left */
    formats_buffer cut = file;
    cut.size--;
    assert_int_equal(remove_of(f, &cut, image, 1, &out), TAPER_ERR_ARG);
    file.data[file.size - 3] ^= 1;
    assert_int_equal(remove_of(f, &file, image, 1, &out), TAPER_ERR_CORRUPT);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

/* With layout `image` the chunk of the removed image is a string of bytes: none eight of them stay,
 * zeros aside. */
static void removed_bytes_are_not_in_the_file(void **state) {
    fixture *f = *state;
    const taper_encode_options options = {.layout = TAPER_LAYOUT_IMAGE};
    formats_buffer file = dct_encode(f->model, f->image, N, &options, 1);
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_front front;
    const uint64_t image[] = {7};
    static const uint8_t zeros[8] = {0};
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    assert_int_equal(remove_of(f, &file, image, 1, &out), TAPER_OK);
    const uint8_t *chunk = file.data + front.front_size + front.chunk_at[7];
    const size_t length = (size_t)(front.chunk_at[8] - front.chunk_at[7]);
    assert_true(length > 100);
    for (size_t at = 0; at + 8 <= length; at += 8)
        for (size_t i = 0; i + 8 <= out.size && memcmp(chunk + at, zeros, 8) != 0; i++)
            if (!memcmp(chunk + at, out.data + i, 8)) fail_msg("bytes %zu of the image stay", at);
    formats_front_free(&front);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

static taper_status rename_of(const formats_buffer *file, const taper_name *name, size_t n,
                              formats_buffer *out) {
    formats_memory memory;
    const taper_source source = source_of(&memory, file);
    const taper_sink sink = dct_sink(out);
    taper_error error = {0};
    const taper_status status = taper_rename(&source, name, n, &sink, NULL, &error);
    assert_int_equal(status, error.status);
    return status;
}

static void names_change_and_data_do_not(void **state) {
    fixture *f = *state;
    const taper_encode_options options = {.group_images = 5};
    for (int named = 0; named < 2; named++) {
        formats_buffer file = dct_encode(f->model, f->image, N, &options, named);
        formats_buffer out = formats_buffer_make(1 << 24);
        const taper_name names[] = {{3, "old"}, {3, "new/name.png"}, {11, "b"}};
        assert_int_equal(rename_of(&file, names, 3, &out), TAPER_OK);
        assert_whole(&out);
        shown before = show(f, &file), after = show(f, &out);
        assert_string_equal(after.name[3], "new/name.png");
        assert_string_equal(after.name[11], "b");
        assert_string_equal(after.name[0], named ? before.name[0] : "000001.png");
        const size_t data = file.size - (size_t)before.info.front_bytes;
        assert_int_equal(out.size - after.info.front_bytes, data);
        assert_memory_equal(file.data + before.info.front_bytes, out.data + after.info.front_bytes,
                            data);
        const formats_buffer cut = {.data = file.data, .size = file.size - data / 2};
        formats_buffer of_cut = formats_buffer_make(1 << 24);
        assert_int_equal(rename_of(&cut, names, 3, &of_cut), TAPER_OK);
        assert_int_equal(of_cut.size, out.size - data / 2);
        assert_memory_equal(of_cut.data, out.data, of_cut.size);
        forget(&before), forget(&after);
        formats_buffer_free(&file), formats_buffer_free(&out), formats_buffer_free(&of_cut);
    }
}

static void illegal_names(void **state) {
    fixture *f = *state;
    formats_buffer file = dct_encode(f->model, f->image, N, NULL, 1);
    formats_buffer out = formats_buffer_make(1 << 24);
    static const char *const bad[] = {"", "../a", "/a", "a//b", "a\\b", "a\nb"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rename_of(&file, &(taper_name){0, bad[i]}, 1, &out), TAPER_ERR_ARG);
    assert_int_equal(rename_of(&file, &(taper_name){N, "a"}, 1, &out), TAPER_ERR_ARG);
    assert_int_equal(rename_of(&file, &(taper_name){0, NULL}, 1, &out), TAPER_ERR_ARG);
    assert_int_equal(out.size, 0);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_stays_is_as_before, make, drop),
        cmocka_unit_test_setup_teardown(truncated_containers_lose_little, make, drop),
        cmocka_unit_test_setup_teardown(truncated_containers_lose_little, make_in_parts, drop),
        cmocka_unit_test_setup_teardown(complete_chunks_behind_a_cut, make, drop),
        cmocka_unit_test_setup_teardown(complete_chunks_behind_a_cut, make_in_parts, drop),
        cmocka_unit_test_setup_teardown(pixel_layers_stay, make, drop),
        cmocka_unit_test_setup_teardown(pixel_layers_stay, make_in_parts, drop),
        cmocka_unit_test_setup_teardown(truncated_pixel_layers, make, drop),
        cmocka_unit_test_setup_teardown(refusals, make, drop),
        cmocka_unit_test_setup_teardown(removed_bytes_are_not_in_the_file, make, drop),
        cmocka_unit_test_setup_teardown(names_change_and_data_do_not, make, drop),
        cmocka_unit_test_setup_teardown(illegal_names, make, drop),
        cmocka_unit_test_setup_teardown(what_stays_is_as_before, make_in_parts, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

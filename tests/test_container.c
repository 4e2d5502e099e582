/* test_container.c -- front matter there and back; truncation and bit flips. */
#include "formats/container.h"
#include "formats/directory.h"
#include "front.h"
#include "pictures.h"
#include <stdio.h>
#include <string.h>

enum {
    IMAGES = FRONT_IMAGES,
    GROUPS = FRONT_GROUPS,
    LAYERS = FRONT_LAYERS,
    HEADER = FORMATS_HEADER_SIZE,
    SEED = 71
};

static void what_is_written_is_read(void **unused) {
    (void)unused;
    formats_front f = front_sample(), g;
    formats_buffer out = front_write(&f);
    assert_int_equal(formats_front_read(out.data, out.size, NULL, &g, NULL), TAPER_OK);
    assert_int_equal(g.front_size, out.size);
    assert_true(g.model_id == f.model_id && g.layout == f.layout && g.tail == 1 &&
                g.first_cut == 2);
    assert_true(g.images == IMAGES && g.groups == GROUPS && g.layers == LAYERS && g.classes == 2);
    for (int i = 0; i < IMAGES; i++) {
        assert_int_equal(g.geometry[i].width, f.geometry[i].width);
        assert_int_equal(g.geometry[i].height, f.geometry[i].height);
        assert_int_equal(g.geometry[i].channels, f.geometry[i].channels);
        assert_int_equal(g.geometry[i].depth, f.geometry[i].depth);
        assert_string_equal(formats_front_name(&g, (uint32_t)i),
                            formats_front_name(&f, (uint32_t)i));
        assert_int_equal(g.label[i], f.label[i]);
    }
    assert_memory_equal(g.group_first, f.group_first, (GROUPS + 1) * sizeof *f.group_first);
    assert_memory_equal(g.layer_end, f.layer_end, LAYERS * sizeof *f.layer_end);
    assert_memory_equal(g.chunk_at, f.chunk_at, (LAYERS * GROUPS + 1) * sizeof *f.chunk_at);
    assert_int_equal(g.chunks_per_checksum, 2);
    assert_int_equal(formats_front_checksums(&g), 4);
    assert_memory_equal(g.checksum, f.checksum, 4 * sizeof *f.checksum);
    assert_string_equal(formats_front_class_name(&g, 1), "dog");
    assert_null(formats_front_class_name(&g, 2));
    assert_null(formats_front_name(&g, IMAGES));
    assert_int_equal(g.model_size, 5);
    assert_memory_equal(g.model, "model", 5);
    formats_front_free(&f), formats_front_free(&g);
    formats_buffer_free(&out);
}

static void optional_sections_may_be_absent(void **unused) {
    (void)unused;
    formats_front f = front_sample(), g;
    free(f.names), free(f.name_at), free(f.label), free(f.class_names), free(f.class_name_at),
        free(f.model);
    f.names = NULL, f.name_at = NULL, f.label = NULL, f.model = NULL;
    f.class_names = NULL, f.class_name_at = NULL, f.classes = 0;
    f.tail = 0, f.first_cut = 0;
    formats_buffer out = front_write(&f);
    assert_int_equal(formats_front_read(out.data, out.size, NULL, &g, NULL), TAPER_OK);
    assert_true(!g.names && !g.label && !g.class_names && !g.model && g.tail == 0);
    assert_null(formats_front_name(&g, 0));
    assert_null(formats_front_class_name(&g, 0));
    formats_front_free(&f), formats_front_free(&g);
    formats_buffer_free(&out);
}

/* Every prefix says how much more it needs, and that leads to the end without a detour. */
static void prefixes_say_what_they_need(void **unused) {
    (void)unused;
    formats_front f = front_sample();
    formats_buffer out = front_write(&f);
    uint64_t known = HEADER;
    for (size_t size = 0; size <= out.size; size++) {
        uint8_t *exact = front_copy(out.data, size);
        uint64_t need;
        taper_error error = {0};
        assert_int_equal(formats_front_need(exact, size, &need, NULL), TAPER_OK);
        assert_true(need >= known && need <= out.size);
        known = need;
        taper_status status = front_read(exact, size, NULL, &error);
        char text[80];
        snprintf(text, sizeof text, "incomplete header, need %llu more byte%s",
                 (unsigned long long)(need - size), formats_plural(need - size, "s"));
        assert_int_equal(status, size < out.size ? TAPER_ERR_TRUNCATED : TAPER_OK);
        if (size < out.size) assert_non_null(strstr(error.text, text));
        free(exact);
    }
    assert_int_equal(known, out.size);
    formats_front_free(&f);
    formats_buffer_free(&out);
}

static void every_bit_flip_is_noticed(void **unused) {
    (void)unused;
    formats_front f = front_sample();
    formats_buffer out = front_write(&f);
    for (size_t bit = 0; bit < out.size * 8; bit++) {
        out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        taper_status status = front_read(out.data, out.size, NULL, NULL);
        assert_true(status == TAPER_ERR_CORRUPT || status == TAPER_ERR_TRUNCATED ||
                    status == TAPER_ERR_VERSION);
        out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    formats_front_free(&f);
    formats_buffer_free(&out);
}

static void limits_hold_before_memory_is_taken(void **unused) {
    (void)unused;
    formats_front f = front_sample();
    formats_buffer out = front_write(&f);
    taper_limits images = {.size = sizeof(taper_limits), .max_images = IMAGES - 1},
                 pixels = {.size = sizeof(taper_limits), .max_pixels = 640 * 480},
                 memory = {.size = sizeof(taper_limits), .max_memory = 300};
    assert_int_equal(front_read(out.data, out.size, &images, NULL), TAPER_ERR_LIMIT);
    assert_int_equal(front_read(out.data, out.size, &pixels, NULL), TAPER_ERR_LIMIT);
    assert_int_equal(front_read(out.data, out.size, &memory, NULL), TAPER_ERR_LIMIT);
    formats_front_free(&f);
    formats_buffer_free(&out);
}

/* What text-mode transfers do to the magic bytes is told from other files. */
static void text_mode_damage_is_named(void **unused) {
    (void)unused;
    uint8_t bytes[64] = "\x89TPR\n\x1a\n";
    taper_error error = {0};
    assert_int_equal(front_read(bytes, sizeof bytes, NULL, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "text mode"));
    assert_int_equal(front_read("\x89PNG\r\n\x1a\n", 8, NULL, &error), TAPER_ERR_CORRUPT);
    assert_null(strstr(error.text, "text mode"));
    assert_int_equal(front_read("", 0, NULL, &error), TAPER_ERR_TRUNCATED);
    assert_int_equal(front_read("P", 1, NULL, &error), TAPER_ERR_CORRUPT);
}

/* Directories of many shapes, drawn at random, there and back. */
static void random_directories_round_trip(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    for (int round = 0; round < 100; round++) {
        uint32_t images = 1 + (uint32_t)picture_random(&state) % 300, groups = 0,
                 layers = 1 + (uint32_t)(state >> 7) % 9;
        formats_front f = {.images = images,
                           .layers = layers,
                           .layout = 0,
                           .chunks_per_checksum = 1 + (uint32_t)(state >> 20) % 8},
                      g;
        f.geometry = calloc(images, sizeof *f.geometry);
        f.group_first = calloc(images + 1, sizeof *f.group_first);
        for (uint32_t i = 0; i < images; i++) {
            uint64_t r = picture_random(&state) % 5;
            f.geometry[i] =
                (formats_geometry){1 + (uint32_t)r * 1000, 7, r & 1 ? 1 : 3, r & 2 ? 8 : 16, 0, 0};
        }
        for (uint32_t i = 0; i < images;
             i += 1 + (uint32_t)picture_random(&state) % (round % 3 ? 9 : 2))
            f.group_first[groups++] = i;
        f.group_first[groups] = images, f.groups = groups, f.rate_classes = 1;
        f.layer_end = calloc(layers, sizeof *f.layer_end);
        f.chunk_at = calloc(layers * groups + 1, sizeof *f.chunk_at);
        for (uint32_t l = 0; l < layers; l++)
            f.layer_end[l] =
                (l ? f.layer_end[l - 1] : 0) + 1 + (uint32_t)picture_random(&state) % 300;
        for (uint32_t c = 0; c < layers * groups; c++)
            f.chunk_at[c + 1] =
                f.chunk_at[c] + (picture_random(&state) >> (24 + picture_random(&state) % 40));
        uint64_t sums = formats_front_checksums(&f);
        assert_int_equal(sums, (uint64_t)layers *
                                   ((groups + f.chunks_per_checksum - 1) / f.chunks_per_checksum));
        f.checksum = calloc(sums, sizeof *f.checksum);
        for (uint64_t i = 0; i < sums; i++) f.checksum[i] = (uint32_t)picture_random(&state);
        formats_buffer out = front_write(&f);
        assert_int_equal(formats_front_read(out.data, out.size, NULL, &g, NULL), TAPER_OK);
        for (uint32_t i = 0; i < images; i++)
            assert_int_equal(g.geometry[i].width, f.geometry[i].width);
        assert_memory_equal(g.group_first, f.group_first, (groups + 1) * sizeof *f.group_first);
        assert_memory_equal(g.layer_end, f.layer_end, layers * sizeof *f.layer_end);
        assert_memory_equal(g.chunk_at, f.chunk_at, (layers * groups + 1) * sizeof *f.chunk_at);
        assert_memory_equal(g.checksum, f.checksum, sums * sizeof *f.checksum);
        formats_front_free(&f), formats_front_free(&g);
        formats_buffer_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(optional_sections_may_be_absent),
        cmocka_unit_test(prefixes_say_what_they_need),
        cmocka_unit_test(every_bit_flip_is_noticed),
        cmocka_unit_test(limits_hold_before_memory_is_taken),
        cmocka_unit_test(text_mode_damage_is_named),
        cmocka_unit_test(random_directories_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

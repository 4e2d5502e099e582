/* test_planned_images.c -- the ranges that many images need: the union of those of each, gaps,
 * budgets, damage, containers in pages. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "model_zoo.h"
#include "paged.h"

enum { SEED = 31, ROOM = 512 };

static int make(void **state) {
    static model_zoo zoo;
    zoo_make_drawings(&zoo, TAPER_DRAWINGS_LOSSY);
    *state = &zoo;
    return 0;
}

static int drop(void **state) {
    zoo_free(*state);
    return 0;
}

static void supply(taper_decoder *d, const formats_buffer *file, uint64_t at, uint64_t n) {
    assert_int_equal(taper_decoder_supply(d, at, file->data + at, (size_t)n, NULL), TAPER_OK);
}

/* Mark the bytes of ranges, which ascend and are more than `gap` apart. */
static uint64_t mark(const taper_range *range, size_t n, uint64_t gap, uint8_t *wanted,
                     size_t size) {
    uint64_t bytes = 0;
    for (size_t r = 0; r < n; r++) {
        assert_true(range[r].size > 0 && range[r].offset + range[r].size <= size);
        if (r) assert_true(range[r].offset > range[r - 1].offset + range[r - 1].size + gap);
        memset(wanted + range[r].offset, 1, (size_t)range[r].size);
        bytes += range[r].size;
    }
    return bytes;
}

static size_t plan(taper_decoder *d, taper_plan_options o, taper_range *range, size_t room) {
    size_t count, again;
    o.size = sizeof o;
    assert_int_equal(taper_decoder_plan_images(d, &o, range, room, &count, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_plan_images(d, &o, NULL, 0, &again, NULL), TAPER_OK);
    assert_int_equal(count, again);
    assert_true(count <= room);
    return count;
}

/* Some images, of which one may occur twice, and some bytes that are there. */
static void ranges_are_the_union(void **state) {
    model_zoo *z = *state;
    uint64_t random = SEED;
    printf("seed %d\n", SEED);
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++) {
            const formats_buffer *file = &z->file[m][k];
            const size_t front = (size_t)dct_info(file, z->model[m]).front_bytes;
            uint8_t *each = malloc(file->size), *all = malloc(file->size);
            assert_true(each && all);
            for (int round = 0; round < 6; round++) {
                taper_decoder *d = zoo_new(z->model[m]);
                taper_range range[ROOM];
                uint64_t image[4], cut = front + picture_random(&random) % (2 * file->size),
                                   gap = round % 2 ? picture_random(&random) % 90 : 0;
                supply(d, file, 0, front);
                for (int p = 0; p < 9; p++) {
                    size_t at = front + picture_random(&random) % (file->size - front);
                    size_t n = 1 + picture_random(&random) % (file->size - at);
                    supply(d, file, at, n < 50 ? n : 50);
                }
                memset(each, 0, file->size), memset(all, 0, file->size);
                const size_t n = round < 2 ? 0 : 4;
                for (size_t i = 0; i < (n ? n : ZOO_IMAGES); i++) {
                    const uint64_t one = n ? (image[i] = picture_random(&random) % ZOO_IMAGES) : i;
                    size_t count;
                    assert_int_equal(taper_decoder_plan(d, one, cut, range, ROOM, &count, NULL),
                                     TAPER_OK);
                    mark(range, count, 0, each, file->size);
                }
                const size_t count =
                    plan(d,
                         (taper_plan_options){
                             .image = n ? image : NULL, .n = n, .cut = cut, .max_gap = gap},
                         range, ROOM);
                mark(range, count, gap, all, file->size);
                if (!gap) assert_memory_equal(each, all, file->size);
                for (size_t b = 0; b < file->size; b++) assert_true(all[b] >= each[b]);
                for (size_t r = 0; r < count; r++)
                    assert_true(each[range[r].offset] && each[range[r].offset + range[r].size - 1]);
                close_decoder(d);
            }
            free(each), free(all);
        }
}

/* Within the budget, call after call, to the end. Without gaps that are joined all images have the
 * same layers, but for the one that is on its way. */
static void budgets_refine_all_alike(void **state) {
    model_zoo *z = *state;
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++)
            for (uint64_t gap = 0; gap < 200; gap += 100) {
                const formats_buffer *file = &z->file[m][k];
                const taper_container_info info = dct_info(file, z->model[m]);
                const uint64_t budget = 60 + (file->size - info.front_bytes) / 9;
                taper_decoder *d = zoo_new(z->model[m]);
                taper_range range[ROOM];
                size_t count;
                int steps = 0;
                uint8_t *unused = malloc(file->size);
                assert_non_null(unused);
                supply(d, file, 0, info.front_bytes);
                for (;; steps++) {
                    const taper_plan_options o = {.max_bytes = budget, .max_gap = gap};
                    if (!(count = plan(d, o, range, ROOM))) break;
                    assert_true(mark(range, count, gap, unused, file->size) <= budget);
                    for (size_t r = 0; r < count; r++) {
                        supply(d, file, range[r].offset, range[r].size);
                    }
                }
                assert_true(steps >= 2 && steps < 12);
                for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
                    size_t missing;
                    assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, NULL, 0, &missing, NULL),
                                     TAPER_OK);
                    assert_int_equal(missing, 0);
                    assert_true(zoo_render(d, i).done.complete);
                }
                free(unused);
                close_decoder(d);
            }
}

/* With layout image the budget is shared: every image has the same part of its bytes. */
static void images_share_the_budget(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[2][3];
    const taper_container_info info = dct_info(file, z->model[2]);
    const uint64_t budget = (file->size - info.front_bytes) / 2;
    taper_decoder *d = zoo_new(z->model[2]);
    taper_range range[ROOM];
    supply(d, file, 0, info.front_bytes);
    size_t count = plan(d, (taper_plan_options){.max_bytes = budget}, range, ROOM);
    assert_int_equal(count, ZOO_IMAGES);
    for (size_t r = 0; r < count; r++) supply(d, file, range[r].offset, range[r].size);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
        uint64_t here, all;
        assert_int_equal(taper_container_image_bytes(taper_decoder_container(d), i, UINT64_MAX,
                                                     &here, &all, NULL),
                         TAPER_OK);
        taper_completeness done = zoo_render(d, i).done;
        assert_in_range(done.bytes, all / 2 - 2, all / 2 + 1);
    }
    close_decoder(d);
}

/* Layouts set and gallery: the first layers are one range, of which all images have something. */
static void first_layers_are_one_range(void **state) {
    model_zoo *z = *state;
    for (int k = 1; k < ZOO_FILES; k += 3) {
        const formats_buffer *file = &z->file[2][k];
        taper_decoder *d = zoo_new(z->model[2]);
        taper_range range[ROOM];
        uint64_t cut;
        uint32_t passes;
        supply(d, file, 0, dct_info(file, z->model[2]).front_bytes);
        assert_int_equal(
            taper_container_layer(taper_decoder_container(d), 0, 1, &cut, &passes, NULL), TAPER_OK);
        taper_plan_options o = {.max_bytes = cut - dct_info(file, z->model[2]).front_bytes,
                                .max_gap = 400};
        assert_int_equal(plan(d, o, range, ROOM), 1);
        assert_int_equal(range[0].offset, dct_info(file, z->model[2]).front_bytes);
        assert_in_range(range[0].size, o.max_bytes, o.max_bytes);
        supply(d, file, range[0].offset, range[0].size);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
            taper_completeness done = zoo_render(d, i).done;
            assert_true(done.passes >= passes);
        }
        o.max_bytes = 0, o.passes = passes; /* these layers are there */
        assert_int_equal(plan(d, o, range, ROOM), 0);
        o.passes++;
        assert_int_not_equal(plan(d, o, range, ROOM), 0);
        close_decoder(d);
    }
}

/* A budget that is less than a joined range, down to a byte. */
static void small_budgets_go_on(void **state) {
    model_zoo *z = *state;
    for (int k = 0; k < ZOO_FILES; k++) {
        const formats_buffer *file = &z->file[0][k];
        const taper_container_info info = dct_info(file, z->model[0]);
        taper_decoder *d = zoo_new(z->model[0]);
        taper_range range[ROOM];
        uint64_t sum = 0, image = ZOO_IMAGES - 1;
        supply(d, file, 0, info.front_bytes);
        for (uint64_t budget = 1; budget < file->size; budget += 1 + budget / 3) {
            const taper_plan_options o = {
                .image = &image, .n = 1, .max_bytes = budget, .max_gap = 1000};
            size_t count = plan(d, o, range, ROOM);
            if (!count) break;
            for (size_t r = 0; r < count; r++)
                supply(d, file, range[r].offset, range[r].size), sum += range[r].size;
        }
        assert_true(sum > 0 && zoo_render(d, image).done.complete);
        close_decoder(d);
    }
}

/* Damaged blocks are listed and told, once for all of their images. */
static void damage_is_listed(void **state) {
    model_zoo *z = *state;
    for (int k = 0; k < ZOO_FILES; k++) {
        const formats_buffer *file = &z->file[0][k];
        taper_decoder *d = zoo_new(z->model[0]);
        taper_range range[ROOM];
        taper_plan_options o = {.size = sizeof o};
        size_t count;
        supply(d, file, 0, file->size);
        assert_int_equal(plan(d, o, range, ROOM), 0);
        const uint64_t at = file->size - 1;
        const uint8_t wrong = (uint8_t)(file->data[at] ^ 1);
        assert_int_equal(taper_decoder_supply(d, at, &wrong, 1, NULL), TAPER_OK);
        for (o.max_bytes = 0; o.max_bytes < 2; o.max_bytes++) {
            assert_int_equal(taper_decoder_plan_images(d, &o, range, ROOM, &count, NULL),
                             TAPER_ERR_CORRUPT);
            assert_int_equal(count, 1);
            if (!o.max_bytes) assert_int_equal(range[0].offset + range[0].size, file->size);
        }
        close_decoder(d);
    }
}

/* Root, leaves, chunks; and images that do not exist. */
static void containers_in_pages(void **state) {
    model_zoo *z = *state;
    for (int k = 1; k < ZOO_FILES; k += 2) {
        formats_buffer file = paged_from(&z->file[0][k], 2, 1);
        for (int some = 0; some < 2; some++) {
            const uint64_t image[2] = {6, 0}, none = ZOO_IMAGES;
            taper_decoder *d = zoo_new(z->model[0]);
            taper_range range[ROOM];
            size_t count;
            int steps = 0;
            taper_plan_options o = {.size = sizeof o, .max_bytes = 100000, .max_gap = 16};
            if (some) o.image = image, o.n = 2;
            for (; (count = plan(d, o, range, ROOM)); steps++)
                for (size_t r = 0; r < count; r++) supply(d, &file, range[r].offset, range[r].size);
            assert_in_range(steps, 3, 5); /* header, table, root, leaves, chunks */
            for (uint64_t i = 0; i < ZOO_IMAGES; i += some ? 6 : 1)
                assert_true(zoo_render(d, i).done.complete);
            if (some) assert_int_equal(zoo_render(d, 3).status, TAPER_ERR_TRUNCATED);
            o.image = &none, o.n = 1;
            assert_int_equal(taper_decoder_plan_images(d, &o, range, ROOM, &count, NULL),
                             TAPER_ERR_ARG);
            close_decoder(d);
        }
        formats_buffer_free(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_the_union),    cmocka_unit_test(budgets_refine_all_alike),
        cmocka_unit_test(images_share_the_budget), cmocka_unit_test(first_layers_are_one_range),
        cmocka_unit_test(small_budgets_go_on),     cmocka_unit_test(damage_is_listed),
        cmocka_unit_test(containers_in_pages)};
    return cmocka_run_group_tests(tests, make, drop);
}

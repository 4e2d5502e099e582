/* test_paged_supply.c -- one image of a container in pages, by number and by name: the bytes that
 * are read, pixels, damage, limits. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/decoder/decoder.h"
#include "infos.h"
#include "model_zoo.h"
#include "paged.h"

enum { SEED = 29, KINDS = 4 };

/* Of each kind, leaves of images 0 .. 2, 3 .. 5, 6 at most. */
typedef struct paged_files {
    model_zoo zoo;
    formats_buffer file[KINDS]; /* groups of 3, sorted and not; layouts image and gallery */
} paged_files;

static int make(void **state) {
    static paged_files f;
    static const int from[KINDS] = {1, 1, 3, 4}, sorted[KINDS] = {1, 0, 1, 0};
    zoo_make(&f.zoo);
    for (int k = 0; k < KINDS; k++) f.file[k] = paged_from(&f.zoo.file[0][from[k]], 2, sorted[k]);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    paged_files *f = *state;
    for (int k = 0; k < KINDS; k++) formats_buffer_free(&f->file[k]);
    zoo_free(&f->zoo);
    return 0;
}

static void supply(taper_decoder *d, const formats_buffer *file, uint64_t at, uint64_t n) {
    assert_int_equal(taper_decoder_supply(d, at, file->data + at, (size_t)n, NULL), TAPER_OK);
}

/* Render image i of a decoder of the whole file, and of this one. */
static void assert_renders(paged_files *f, int k, taper_decoder *d, uint64_t i, uint64_t size) {
    formats_memory memory = {f->file[k].data, (size_t)size};
    taper_source source;
    taper_decoder *open = zoo_open(f->zoo.model[0], &memory, &source);
    taper_image_info a = {.size = sizeof a}, b = {.size = sizeof b};
    zoo_rendered want = zoo_render(open, i), got = zoo_render(d, i);
    assert_int_equal(want.status, TAPER_OK);
    assert_int_equal(got.status, TAPER_OK);
    assert_int_equal(want.bytes, got.bytes);
    assert_memory_equal(want.pixels, got.pixels, want.bytes);
    assert_memory_equal(&want.done, &got.done, sizeof want.done);
    assert_int_equal(taper_container_get_image(taper_decoder_container(open), i, &a, NULL),
                     TAPER_OK);
    assert_int_equal(taper_container_get_image(taper_decoder_container(d), i, &b, NULL), TAPER_OK);
    assert_string_equal(a.name, b.name);
    assert_true(a.group == b.group && a.label == b.label && a.width == b.width);
    close_decoder(open);
}

/* The root of a file; the caller frees both. */
static formats_root root_of(const formats_buffer *file, formats_front *shared) {
    formats_root root;
    assert_int_equal(formats_head_read(file->data, file->size, NULL, shared, &root, NULL),
                     TAPER_OK);
    return root;
}

/* Follow plans until nothing is missing. *front: the bytes of the front matter that were asked for.
 * name: NULL: by number. */
static taper_status follow(taper_decoder *d, const formats_buffer *file, const char *name,
                           uint64_t *i, uint64_t *front, uint64_t end) {
    taper_range range[3];
    size_t count;
    taper_status status;
    for (*front = 0;;) {
        status = name ? taper_decoder_plan_name(d, name, UINT64_MAX, range, 3, &count, i, NULL)
                      : taper_decoder_plan(d, *i, UINT64_MAX, range, 3, &count, NULL);
        if (status != TAPER_OK || !count) return status;
        for (size_t r = 0; r < count && r < 3; r++) {
            if (range[r].offset < end) *front += range[r].size;
            supply(d, file, range[r].offset, range[r].size);
        }
    }
}

/* The page of hashes that tells of a name. */
static taper_range page_of(const formats_root *r, const char *name) {
    const uint32_t p = formats_root_page(r, formats_root_hash(r, name));
    return (taper_range){r->pages_at + r->page_at[p], r->page_at[p + 1] - r->page_at[p]};
}

/* What is read before the data: header, table and root, one leaf, and one page of names if they do
 * not ascend. */
static void one_image_reads_one_leaf(void **state) {
    paged_files *f = *state;
    for (int k = 0; k < KINDS; k++) {
        const formats_buffer *file = &f->file[k];
        formats_front shared;
        formats_root root = root_of(file, &shared);
        const uint64_t head = root.leaves_at;
        assert_true(root.leaves >= 2);
        for (uint32_t i = 0; i < ZOO_IMAGES; i++)
            for (int by_name = 0; by_name < 2; by_name++) {
                const uint32_t own = formats_root_leaf_of_image(&root, i);
                uint64_t want = head + root.leaf[own + 1].at - root.leaf[own].at, read, number = i;
                taper_decoder *d = zoo_new(f->zoo.model[0]);
                char name[32];
                snprintf(name, sizeof name, "n/%02u.png",
                         root.find == FORMATS_FIND_ASCENDING ? i : (i * 5 + 3) % ZOO_IMAGES);
                if (by_name && root.find == FORMATS_FIND_HASHED) want += page_of(&root, name).size;
                assert_int_equal(
                    follow(d, file, by_name ? name : NULL, &number, &read, shared.front_size),
                    TAPER_OK);
                assert_int_equal(number, i);
                assert_int_equal(read, want);
                assert_renders(f, k, d, i, file->size);
                close_decoder(d);
            }
        formats_front_free(&shared), formats_root_free(&root);
    }
}

/* Only the container as a whole is known, and images whose leaf is here. */
static void other_leaves_are_not_known(void **state) {
    paged_files *f = *state;
    for (int k = 0; k < KINDS; k++) {
        const formats_buffer *file = &f->file[k];
        taper_decoder *d = zoo_new(f->zoo.model[0]);
        const taper_container_info whole = dct_info(file, f->zoo.model[0]);
        taper_container_info info = {.size = sizeof info};
        taper_image_info image = {.size = sizeof image};
        taper_error error = {0};
        uint64_t first, count, cut, read, i = 0;
        uint32_t passes;
        assert_int_equal(follow(d, file, NULL, &i, &read, UINT64_MAX), TAPER_OK);
        assert_int_equal(taper_decoder_bytes_needed(d), 0);
        assert_int_equal(taper_container_get_info(taper_decoder_container(d), &info, NULL),
                         TAPER_OK);
        assert_true(info.images == whole.images && info.pixels == whole.pixels &&
                    info.groups == whole.groups && info.layers == whole.layers &&
                    info.passes == whole.passes && info.front_bytes == whole.front_bytes &&
                    info.file_bytes == whole.file_bytes && info.has_names == whole.has_names &&
                    info.has_labels == whole.has_labels && info.classes == whole.classes);
        assert_int_equal(taper_container_get_image(taper_decoder_container(d), 0, &image, NULL),
                         TAPER_OK);
        assert_int_equal(taper_container_layer(taper_decoder_container(d), 0, info.layers - 1, &cut,
                                               &passes, NULL),
                         TAPER_OK);
        assert_int_equal(cut, file->size);
        assert_int_equal(taper_container_group(taper_decoder_container(d), 0, &first, &count, NULL),
                         TAPER_OK);
        assert_int_equal(taper_container_get_image(taper_decoder_container(d), 6, &image, NULL),
                         TAPER_ERR_TRUNCATED);
        assert_int_equal(
            taper_container_layer(taper_decoder_container(d), 6, 0, &cut, &passes, NULL),
            TAPER_ERR_TRUNCATED);
        assert_int_equal(taper_container_group(taper_decoder_container(d), info.groups - 1, &first,
                                               &count, NULL),
                         TAPER_ERR_TRUNCATED);
        assert_int_equal(taper_container_get_image(taper_decoder_container(d), 7, &image, NULL),
                         TAPER_ERR_ARG);
        taper_image out = {.pixels = &image};
        assert_int_equal(taper_decoder_render(d, 6, &out, NULL, &error), TAPER_ERR_TRUNCATED);
        assert_non_null(strstr(error.text, "taper_decoder_plan"));
        uint64_t code;
        assert_int_equal(taper_container_search_code(taper_decoder_container(d), 0, &code, &error),
                         TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "by ranges"));
        assert_renders(f, k, d, 0, file->size); /* none of this did harm */
        close_decoder(d);
    }
}

/* Groups of all leaves are where a whole reader sees them. */
static void groups_are_numbered_in_the_container(void **state) {
    paged_files *f = *state;
    for (int k = 0; k < KINDS; k++) {
        const formats_buffer *file = &f->file[k];
        formats_memory memory = {file->data, file->size};
        taper_source source;
        taper_decoder *d = zoo_new(f->zoo.model[0]),
                      *open = zoo_open(f->zoo.model[0], &memory, &source);
        supply(d, file, 0, file->size);
        for (uint32_t g = 0; g < dct_info(file, f->zoo.model[0]).groups; g++) {
            uint64_t first, count, other, many;
            assert_int_equal(
                taper_container_group(taper_decoder_container(d), g, &first, &count, NULL),
                TAPER_OK);
            assert_int_equal(
                taper_container_group(taper_decoder_container(open), g, &other, &many, NULL),
                TAPER_OK);
            assert_true(first == other && count == many);
            assert_int_equal(taper_container_image_at(taper_decoder_container(d), first),
                             taper_container_image_at(taper_decoder_container(open), first));
        }
        for (uint64_t i = 0; i < ZOO_IMAGES; i++)
            for (uint32_t l = 0; l < dct_info(file, f->zoo.model[0]).layers; l++) {
                uint64_t cut, want;
                uint32_t passes, most;
                assert_int_equal(
                    taper_container_layer(taper_decoder_container(d), i, l, &cut, &passes, NULL),
                    TAPER_OK);
                assert_int_equal(
                    taper_container_layer(taper_decoder_container(open), i, l, &want, &most, NULL),
                    TAPER_OK);
                assert_true(cut == want && passes == most);
            }
        close_decoder(d), close_decoder(open);
    }
}

/* One decoder, images in any order, at any cut; bytes in pieces that come in any order. */
static void orders_and_cuts(void **state) {
    paged_files *f = *state;
    uint64_t random = SEED;
    printf("seed %d\n", SEED);
    for (int round = 0; round < 6 * KINDS; round++) {
        const int k = round % KINDS;
        const formats_buffer *file = &f->file[k];
        const uint64_t front = dct_info(file, f->zoo.model[0]).front_bytes;
        taper_decoder *d = zoo_new(f->zoo.model[0]);
        uint64_t data;
        if (round >= 3 * KINDS) { /* pieces; each leaf is read when its last byte comes */
            const size_t step = 5 + round, pieces = file->size / step + 1;
            for (size_t n = 0; n < pieces; n++) {
                const size_t at = (n * 7919 + 3) % pieces * step;
                if (at < file->size)
                    supply(d, file, at, file->size - at < step ? file->size - at : step);
            }
        }
        for (int j = 0; j < 8; j++) {
            const uint64_t i = picture_random(&random) % ZOO_IMAGES,
                           cut = front + picture_random(&random) % (file->size - front + 1);
            assert_int_equal(zoo_supply_planned(d, file, i, cut, 1 + j % 4u, &data), TAPER_OK);
            assert_renders(f, k, d, i, cut);
        }
        close_decoder(d);
    }
}

/* Where images of a leaf are in groups of several rate classes: in any order. */
static void rate_classes_are_those_of_the_leaf(void **state) {
    enum { IMAGES = 12 };
    (void)state;
    formats_buffer unused = formats_buffer_make(1 << 20);
    taper_model *model = dct_model_make((codec_window){4, 4, 3, NULL}, 12, 8, &unused);
    const taper_encode_options options = {.group_images = 2, .allocation = TAPER_ALLOCATION_MEAN};
    taper_image image[IMAGES];
    taper_source source;
    uint64_t data, random = SEED + 2;
    for (uint32_t i = 0; i < IMAGES; i++)
        image[i] = dct_picture(3 + i % 5, 4 + i % 3, i % 3 ? 3 : 1, i);
    formats_buffer whole = dct_encode(model, image, IMAGES, &options, 0),
                   file = paged_from(&whole, 4, 1);
    formats_front shared;
    formats_root root = root_of(&file, &shared);
    assert_true(shared.rate_classes > 1 && root.leaves > 1);
    formats_memory memory = {file.data, file.size};
    taper_decoder *d = zoo_new(model), *open = zoo_open(model, &memory, &source);
    for (int step = 0; step < 60; step++) {
        const uint64_t i = picture_random(&random) % IMAGES;
        assert_int_equal(zoo_supply_planned(d, &file, i, UINT64_MAX, 3, &data), TAPER_OK);
        zoo_rendered want = zoo_render(open, i), got = zoo_render(d, i);
        assert_true(got.status == TAPER_OK && got.done.complete && got.bytes == want.bytes);
        assert_memory_equal(want.pixels, got.pixels, want.bytes);
        assert_memory_equal(&want.done, &got.done, sizeof want.done);
    }
    for (uint64_t p = 0; p < IMAGES; p++)
        assert_int_equal(taper_container_image_at(taper_decoder_container(d), p),
                         taper_container_image_at(taper_decoder_container(open), p));
    close_decoder(d), close_decoder(open);
    formats_front_free(&shared), formats_root_free(&root);
    formats_buffer_free(&whole), formats_buffer_free(&file);
    for (uint32_t i = 0; i < IMAGES; i++) formats_image_free(&image[i]);
    taper_model_free(model);
    formats_buffer_free(&unused);
}

/* Pushed, pulled, and supplied as a whole: the same. */
static void all_ways_agree(void **state) {
    paged_files *f = *state;
    for (int k = 0; k < KINDS; k++) {
        const formats_buffer *file = &f->file[k];
        taper_decoder *pushed = zoo_new(f->zoo.model[0]), *supplied = zoo_new(f->zoo.model[0]);
        for (size_t at = 0; at < file->size; at += 100) {
            const size_t n = file->size - at < 100 ? file->size - at : 100;
            assert_int_equal(taper_decoder_push(pushed, file->data + at, n, NULL), TAPER_OK);
        }
        supply(supplied, file, 0, file->size);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
            assert_renders(f, k, pushed, i, file->size);
            assert_renders(f, k, supplied, i, file->size);
        }
        close_decoder(pushed), close_decoder(supplied);
    }
}

/* --- names ------------------------------------------------------------------------------- */

static void unknown_names_are_told(void **state) {
    paged_files *f = *state;
    taper_range range[4];
    size_t count;
    uint64_t i, read;
    for (int k = -1; k < KINDS; k++) { /* -1: in one piece */
        const formats_buffer *file = k < 0 ? &f->zoo.file[0][1] : &f->file[k];
        for (int known = 0; known < 2; known++) {
            taper_decoder *d = zoo_new(f->zoo.model[0]);
            taper_error error = {0};
            if (known) supply(d, file, 0, file->size);
            assert_int_equal(follow(d, file, "n/99.png", &i, &read, UINT64_MAX), TAPER_ERR_ARG);
            assert_int_equal(i, UINT64_MAX);
            assert_int_equal(
                taper_decoder_plan_name(d, "n/99.png", 0, range, 4, &count, &i, &error),
                TAPER_ERR_ARG);
            assert_non_null(strstr(error.text, "n/99.png"));
            assert_int_equal(count, 0);
            if (known) assert_int_equal(zoo_render(d, 1).done.passes, 0); /* the cut is set */
            close_decoder(d);
        }
    }
    taper_decoder *d = zoo_new(f->zoo.model[0]);
    assert_int_equal(taper_decoder_plan_name(d, NULL, 0, range, 4, &count, &i, NULL),
                     TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_plan_name(d, "a", 0, range, 4, &count, NULL, NULL),
                     TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_plan_name(NULL, "a", 0, range, 4, &count, &i, NULL),
                     TAPER_ERR_ARG);
    close_decoder(d);
}

/* In one piece, names are found in what is read anyway. */
static void names_in_one_piece_are_found(void **state) {
    paged_files *f = *state;
    const formats_buffer *file = &f->zoo.file[0][1];
    formats_memory memory = {file->data, file->size};
    taper_source source;
    taper_decoder *open = zoo_open(f->zoo.model[0], &memory, &source);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
        taper_decoder *d = zoo_new(f->zoo.model[0]);
        taper_image_info info = {.size = sizeof info};
        uint64_t found, read;
        assert_int_equal(taper_container_get_image(taper_decoder_container(open), i, &info, NULL),
                         TAPER_OK);
        assert_int_equal(follow(d, file, info.name, &found, &read, UINT64_MAX), TAPER_OK);
        assert_int_equal(found, i);
        assert_int_equal(zoo_render(d, i).status, TAPER_OK);
        close_decoder(d);
    }
    close_decoder(open);
}

/* --- damage ------------------------------------------------------------------------------ */

/* A damaged leaf is told and asked for again; images of others are rendered meanwhile. */
static void a_damaged_leaf_harms_no_other(void **state) {
    paged_files *f = *state;
    for (int k = 0; k < KINDS; k++) {
        const formats_buffer *file = &f->file[k];
        formats_front shared;
        formats_root root = root_of(file, &shared);
        for (uint32_t bad = 0; bad < root.leaves; bad++) {
            const uint64_t at = root.leaves_at + root.leaf[bad].at,
                           size = root.leaf[bad + 1].at - root.leaf[bad].at;
            const uint8_t wrong = file->data[at + size / 2] ^ 4;
            taper_decoder *d = zoo_new(f->zoo.model[0]);
            taper_range range[4];
            taper_error error = {0};
            size_t count;
            supply(d, file, 0, root.leaves_at);
            assert_int_equal(taper_decoder_supply(d, at + size / 2, &wrong, 1, NULL), TAPER_OK);
            supply(d, file, root.leaves_at, at + size / 2 - root.leaves_at);
            supply(d, file, at + size / 2 + 1, file->size - (at + size / 2 + 1));
            for (uint32_t i = 0; i < ZOO_IMAGES; i++) {
                const int in =
                    i >= root.leaf[bad].first_image && i < root.leaf[bad + 1].first_image;
                const taper_status status =
                    taper_decoder_plan(d, i, UINT64_MAX, range, 4, &count, &error);
                assert_int_equal(status, in ? TAPER_ERR_CORRUPT : TAPER_OK);
                if (!in) assert_renders(f, k, d, i, file->size);
                if (!in) continue;
                assert_true(count == 1 && range[0].offset == at && range[0].size == size);
                assert_non_null(strstr(error.text, "leaf"));
                assert_int_equal(zoo_render(d, i).status, TAPER_ERR_TRUNCATED);
            }
            const uint64_t used = d->account.used - d->own.leaves_used, leaves = d->own.leaves_used;
            supply(d, file, at, size);
            assert_true(d->own.leaves_used > leaves); /* it is charged */
            assert_int_equal(d->account.used - d->own.leaves_used, used);
            for (uint32_t i = 0; i < ZOO_IMAGES; i++) assert_renders(f, k, d, i, file->size);
            close_decoder(d);
        }
        formats_front_free(&shared), formats_root_free(&root);
    }
}

static void a_damaged_page_of_names_is_told_and_mended(void **state) {
    paged_files *f = *state;
    const formats_buffer *file = &f->file[1];
    formats_front shared;
    formats_root root = root_of(file, &shared);
    taper_decoder *d = zoo_new(f->zoo.model[0]);
    taper_range range[4];
    taper_error error = {0};
    size_t count;
    uint64_t i;
    const taper_range page = page_of(&root, "n/03.png");
    const uint8_t wrong = file->data[page.offset + 2] ^ 1;
    supply(d, file, 0, file->size);
    assert_int_equal(taper_decoder_supply(d, page.offset + 2, &wrong, 1, NULL), TAPER_OK);
    assert_int_equal(
        taper_decoder_plan_name(d, "n/03.png", UINT64_MAX, range, 4, &count, &i, &error),
        TAPER_ERR_CORRUPT);
    assert_true(count == 1 && range[0].offset == page.offset && range[0].size == page.size);
    assert_non_null(strstr(error.text, "of the names is damaged"));
    assert_renders(f, 1, d, 0, file->size); /* by number it is not needed */
    supply(d, file, range[0].offset, range[0].size);
    assert_int_equal(
        taper_decoder_plan_name(d, "n/03.png", UINT64_MAX, range, 4, &count, &i, &error), TAPER_OK);
    assert_int_equal(i, 0);
    close_decoder(d);
    formats_front_free(&shared), formats_root_free(&root);
}

/* Wrong bytes of the data are told of a group in any leaf, and mended. */
static void wrong_data_is_told_and_mended(void **state) {
    paged_files *f = *state;
    uint64_t random = SEED + 1;
    for (int round = 0; round < 10 * KINDS; round++) {
        const int k = round % KINDS;
        const formats_buffer *file = &f->file[k];
        const uint64_t front = dct_info(file, f->zoo.model[0]).front_bytes,
                       at = front + picture_random(&random) % (file->size - front);
        const uint8_t wrong = file->data[at] ^ 1;
        taper_decoder *d = zoo_new(f->zoo.model[0]);
        taper_range range[20];
        size_t count;
        uint32_t bad = 0;
        supply(d, file, 0, file->size);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) assert_renders(f, k, d, i, file->size);
        assert_int_equal(taper_decoder_supply(d, at, &wrong, 1, NULL), TAPER_OK);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
            const taper_status status =
                taper_decoder_plan(d, i, UINT64_MAX, range, 20, &count, NULL);
            assert_int_equal(zoo_render(d, i).status, status);
            if (status == TAPER_OK) continue;
            bad++;
            assert_true(range[0].offset <= at && at - range[0].offset < range[0].size);
        }
        assert_true(bad > 0 && bad <= 3);
        supply(d, file, at, 1);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) assert_renders(f, k, d, i, file->size);
        close_decoder(d);
    }
}

/* Where a checksum is not all there, wrong bytes may be rendered; right ones in their place are,
 * too. */
static void unseen_damage_is_mended(void **state) {
    enum { KIND = 2, IMAGE = 5 }; /* the second of its leaf */
    paged_files *f = *state;
    const formats_buffer *file = &f->file[KIND];
    taper_decoder *d = zoo_new(f->zoo.model[0]);
    taper_range range;
    size_t count;
    int differ = 0;
    supply(d, file, 0, dct_info(file, f->zoo.model[0]).front_bytes);
    assert_int_equal(taper_decoder_plan(d, IMAGE, UINT64_MAX, &range, 1, &count, NULL), TAPER_OK);
    assert_int_equal(count, 1);
    supply(d, file, range.offset, range.size - 1);
    const zoo_rendered want = zoo_render(d, IMAGE);
    for (uint64_t bit = 0; bit < 8 * (range.size - 1); bit++) {
        const uint64_t at = range.offset + bit / 8;
        const uint8_t wrong = file->data[at] ^ (uint8_t)(1 << bit % 8);
        assert_int_equal(taper_decoder_supply(d, at, &wrong, 1, NULL), TAPER_OK);
        zoo_rendered got = zoo_render(d, IMAGE);
        differ += memcmp(got.pixels, want.pixels, want.bytes) != 0;
        supply(d, file, at, 1);
        got = zoo_render(d, IMAGE);
        assert_memory_equal(got.pixels, want.pixels, want.bytes);
    }
    assert_true(differ > 0);
    close_decoder(d);
}

/* What a model cannot decode is seen when the leaf is. */
static void leaves_must_fit_the_model(void **state) {
    paged_files *f = *state;
    formats_buffer unused = formats_buffer_make(1 << 20), file = formats_buffer_make(1 << 20);
    taper_model *grey = dct_model_make((codec_window){4, 4, 1, NULL}, 0, 6, &unused);
    formats_front front;
    taper_range range[4];
    size_t count;
    taper_error error = {0};
    assert_int_equal(formats_front_read(f->file[2].data, f->file[2].size, NULL, &front, NULL),
                     TAPER_OK);
    front.model_id = info_of_model(grey).id;
    front.layer_end[0] = 1;
    assert_int_equal(formats_front_write_paged(&front, 1, &file, NULL), TAPER_OK);
    taper_decoder *d = zoo_new(grey);
    supply(d, &file, 0, file.size);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) { /* images 0 and 4 are grey */
        const taper_status status = taper_decoder_plan(d, i, UINT64_MAX, range, 4, &count, &error);
        assert_int_equal(status, i % 4 ? TAPER_ERR_CORRUPT : TAPER_OK);
        const char *why = i == 5 ? "group 5 raises planes" : "in colour but the model is grey";
        if (i % 4) assert_non_null(strstr(error.text, why));
    }
    assert_non_null(strstr(error.text, "image 7"));
    close_decoder(d);
    formats_front_free(&front);
    taper_model_free(grey);
    formats_buffer_free(&unused), formats_buffer_free(&file);
}

/* Leaves are charged: each limit ends in a status. */
static void limits_hold(void **state) {
    paged_files *f = *state;
    const formats_buffer *file = &f->file[1];
    int ended[3] = {0};
    for (uint64_t most = 1; most < 1 << 20; most += 1 + most / 8) {
        const taper_limits limits = {.size = sizeof(taper_limits), .max_memory = most};
        taper_decoder *d;
        uint64_t data, used = 0;
        assert_int_equal(stream_decoder(&d, f->zoo.model[0], &limits, NULL), TAPER_OK);
        taper_status status = TAPER_OK;
        for (uint64_t i = 0; i < ZOO_IMAGES && status == TAPER_OK; i += 3) {
            status = zoo_supply_planned(d, file, i, UINT64_MAX, 2, &data);
            if (status != TAPER_OK) break;
            assert_true(d->own.leaves_used > used);
            assert_true(d->account.used >= d->own.front.account.used + d->own.leaves_used);
            used = d->own.leaves_used;
            status = zoo_render(d, i).status;
        }
        assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT);
        assert_true(d->account.used <= most);
        ended[status != TAPER_OK ? (taper_decoder_bytes_needed(d) == 0) : 2]++;
        close_decoder(d);
    }
    assert_true(ended[0] && ended[1] && ended[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_image_reads_one_leaf),
        cmocka_unit_test(other_leaves_are_not_known),
        cmocka_unit_test(groups_are_numbered_in_the_container),
        cmocka_unit_test(orders_and_cuts),
        cmocka_unit_test(rate_classes_are_those_of_the_leaf),
        cmocka_unit_test(all_ways_agree),
        cmocka_unit_test(unknown_names_are_told),
        cmocka_unit_test(names_in_one_piece_are_found),
        cmocka_unit_test(a_damaged_leaf_harms_no_other),
        cmocka_unit_test(a_damaged_page_of_names_is_told_and_mended),
        cmocka_unit_test(wrong_data_is_told_and_mended),
        cmocka_unit_test(unseen_damage_is_mended),
        cmocka_unit_test(leaves_must_fit_the_model),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

/* test_supplied.c -- decoders that are told which bytes they want, and get them in any order:
 * what is planned, pixels, damage, limits. */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/decoder/decoder.h"
#include "formats/container.h"
#include "model_zoo.h"

enum { SEED = 17 };

static int make(void **state) {
    static model_zoo zoo;
    zoo_make(&zoo);
    *state = &zoo;
    return 0;
}

static int drop(void **state) {
    zoo_free(*state);
    return 0;
}

static void assert_same(const zoo_rendered *a, const zoo_rendered *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->pixels, b->pixels, a->bytes);
    assert_int_equal(a->done.passes, b->done.passes);
    assert_int_equal(a->done.bytes, b->done.bytes);
    assert_int_equal(a->done.complete, b->done.complete);
}

static void supply(taper_decoder *decoder, const formats_buffer *file, size_t at, size_t n) {
    assert_int_equal(taper_decoder_supply(decoder, at, file->data + at, n, NULL), TAPER_OK);
}

/* Bytes of image i's group up to a cut. */
static uint64_t chunk_bytes(const formats_buffer *file, uint32_t i, uint64_t cut) {
    formats_front f;
    uint64_t sum = 0;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &f, NULL), TAPER_OK);
    uint32_t g = formats_front_group(&f, i);
    for (uint32_t layer = 0; layer < f.layers; layer++) {
        uint64_t *at = f.chunk_at + (uint64_t)layer * f.groups + g, end = f.front_size + at[1];
        uint64_t begin = f.front_size + at[0];
        if (begin < cut) sum += (end < cut ? end : cut) - begin;
    }
    formats_front_free(&f);
    return sum;
}

/* What is planned is enough, and no more than the image's group has. */
static void planned_bytes_give_what_a_source_gives(void **state) {
    model_zoo *z = *state;
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++) {
            const formats_buffer *file = &z->file[m][k];
            size_t front = (size_t)dct_info(file, z->model[m]).front_bytes;
            for (size_t part = 0; part <= 4; part++) {
                formats_memory memory = {file->data, front + (file->size - front) * part / 4};
                taper_source source;
                taper_decoder *open = zoo_open(z->model[m], &memory, &source);
                for (uint32_t i = 0; i < ZOO_IMAGES; i += 1 + part % 2) {
                    taper_decoder *d = zoo_new(z->model[m]);
                    uint64_t data;
                    assert_int_equal(zoo_supply_planned(d, file, i, memory.size, 1 + i % 3, &data),
                                     TAPER_OK);
                    uint64_t all = chunk_bytes(file, i, memory.size);
                    assert_true(data <= all); /* fewer where the cut is rendered as a shorter one */
                    if (k) assert_int_equal(data, all);
                    zoo_rendered want = zoo_render(open, i), got = zoo_render(d, i);
                    assert_same(&want, &got);
                    if (part == 4) assert_true(got.done.complete);
                    close_decoder(d);
                }
                close_decoder(open);
            }
        }
}

/* One decoder, image after image and cut after cut, forth and back: nothing of another cut shows,
 * and nothing is wanted twice. */
static void cuts_and_images_in_any_order(void **state) {
    model_zoo *z = *state;
    uint64_t random = SEED, data;
    printf("seed %d\n", SEED);
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int k = 0; k < ZOO_FILES; k++) {
            const formats_buffer *file = &z->file[m][k];
            size_t front = (size_t)dct_info(file, z->model[m]).front_bytes;
            taper_decoder *d = zoo_new(z->model[m]);
            for (int step = 0; step < 8; step++) {
                uint64_t i = picture_random(&random) % ZOO_IMAGES;
                formats_memory memory = {file->data, front + picture_random(&random) %
                                                                 (file->size - front + 1)};
                taper_source source;
                taper_decoder *open = zoo_open(z->model[m], &memory, &source);
                assert_int_equal(zoo_supply_planned(d, file, i, memory.size, 8, &data), TAPER_OK);
                zoo_rendered want = zoo_render(open, i), got = zoo_render(d, i);
                assert_same(&want, &got);
                assert_int_equal(zoo_supply_planned(d, file, i, memory.size, 8, &data), TAPER_OK);
                assert_int_equal(data, 0);
                close_decoder(open);
            }
            close_decoder(d);
        }
}

/* The ranges of a plan: rising, apart, and the same whatever room there is for them. */
static void ranges_are_in_order_and_apart(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    size_t front = (size_t)dct_info(file, z->model[0]).front_bytes, count, few;
    taper_decoder *d = zoo_new(z->model[0]);
    taper_range range[200], one;
    assert_int_equal(taper_decoder_plan(d, 0, UINT64_MAX, &one, 1, &count, NULL), TAPER_OK);
    assert_true(count == 1 && one.offset == 0 && one.size == FORMATS_HEADER_SIZE);
    supply(d, file, 1, front - 2);
    assert_int_equal(taper_decoder_plan(d, 0, UINT64_MAX, &one, 1, &count, NULL), TAPER_OK);
    assert_true(count == 1 && one.offset == 0 && one.size == 1);
    supply(d, file, 0, 1);
    assert_int_equal(taper_decoder_plan(d, 99, UINT64_MAX, &one, 1, &count, NULL), TAPER_OK);
    assert_true(count == 1 && one.offset == front - 1 && one.size == 1);
    supply(d, file, front - 1, 1);
    assert_int_equal(taper_decoder_plan(d, 99, UINT64_MAX, &one, 1, &count, NULL), TAPER_ERR_ARG);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
        assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, range, 200, &count, NULL), TAPER_OK);
        assert_true(count > 1 && count < 200);
        for (size_t r = 0; r < count; r++) {
            assert_true(range[r].size > 0 && range[r].offset >= front);
            if (r) assert_true(range[r].offset > range[r - 1].offset + range[r - 1].size);
        }
        assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, &one, 1, &few, NULL), TAPER_OK);
        assert_true(few == count && one.offset == range[0].offset && one.size == range[0].size);
        assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, NULL, 0, &few, NULL), TAPER_OK);
        assert_int_equal(few, count);
        size_t middle = (size_t)(range[1].offset + range[1].size / 2); /* a hole in the second */
        uint64_t size = range[1].size;
        supply(d, file, middle, 1);
        assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, range, 200, &few, NULL), TAPER_OK);
        assert_int_equal(few, count + (size > 2) - (size == 1));
    }
    close_decoder(d);
}

/* Chunks that follow each other are one range. */
static void neighbours_are_one_range(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][0];
    size_t front = (size_t)dct_info(file, z->model[0]).front_bytes, count;
    taper_decoder *d = zoo_new(z->model[0]);
    taper_range range[2];
    supply(d, file, 0, front);
    assert_int_equal(taper_decoder_plan(d, 1, UINT64_MAX, range, 2, &count, NULL), TAPER_OK);
    assert_true(dct_info(file, z->model[0]).layers > 1 && count == 1);
    assert_true(range[0].offset == front && range[0].size == file->size - front);
    close_decoder(d);
}

/* --- orders ----------------------------------------------------------------------------- */

typedef struct piece {
    size_t at, n;
} piece;

/* The file in pieces of at most `most` bytes, and some once more, which reach into others;
 * shuffled. */
static size_t cut_up(size_t size, size_t most, piece *to, uint64_t *random) {
    size_t count = 0;
    for (size_t at = 0, n; at < size; at += n) {
        n = 1 + picture_random(random) % most;
        if (n > size - at) n = size - at;
        to[count++] = (piece){at, n};
        if (picture_random(random) % 4) continue;
        size_t again = picture_random(random) % size;
        to[count++] = (piece){again, 1 + picture_random(random) % (size - again)};
        if (to[count - 1].n > 2 * most) to[count - 1].n = 2 * most;
    }
    for (size_t i = count; i > 1; i--) {
        size_t j = picture_random(random) % i;
        piece swap = to[i - 1];
        to[i - 1] = to[j], to[j] = swap;
    }
    return count;
}

static void assert_all_there(model_zoo *z, int m, int k, taper_decoder *d) {
    const formats_buffer *file = &z->file[m][k];
    formats_memory memory = {file->data, file->size};
    taper_source source;
    taper_decoder *open = zoo_open(z->model[m], &memory, &source);
    for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
        zoo_rendered want = zoo_render(open, i), got = zoo_render(d, i);
        size_t count;
        assert_same(&want, &got);
        assert_int_equal(got.status, TAPER_OK);
        assert_int_equal(taper_decoder_plan(d, i, UINT64_MAX, NULL, 0, &count, NULL), TAPER_OK);
        assert_int_equal(count, 0);
    }
    close_decoder(open);
}

static void every_order_gives_the_same(void **state) {
    model_zoo *z = *state;
    uint64_t random = SEED + 1;
    printf("seed %d\n", SEED + 1);
    for (int m = 0; m < ZOO_MODELS; m++)
        for (int round = 0; round < 8; round++) {
            int k = round % ZOO_FILES;
            const formats_buffer *file = &z->file[m][k];
            piece *pieces = malloc(2 * file->size * sizeof *pieces);
            assert_non_null(pieces);
            size_t n = cut_up(file->size, round < 4 ? 300 : 17, pieces, &random);
            taper_decoder *d = zoo_new(z->model[m]);
            for (size_t i = 0; i < n; i++) {
                supply(d, file, pieces[i].at, pieces[i].n);
                if (!taper_decoder_bytes_needed(d) && picture_random(&random) % 16 == 0)
                    (void)zoo_render(d, picture_random(&random) % ZOO_IMAGES);
            }
            assert_all_there(z, m, k, d);
            close_decoder(d);
            free(pieces);
        }
}

static void byte_by_byte(void **state) {
    model_zoo *z = *state;
    uint64_t random = SEED + 2;
    for (int way = 0; way < 4; way++) {
        const formats_buffer *file = &z->file[0][way % 2 ? 3 : 1];
        taper_decoder *d = zoo_new(z->model[0]);
        size_t *order = malloc(file->size * sizeof *order);
        assert_non_null(order);
        for (size_t i = 0; i < file->size; i++) order[i] = way == 1 ? file->size - 1 - i : i;
        for (size_t i = file->size; way > 1 && i > 1; i--) {
            size_t j = picture_random(&random) % i, swap = order[i - 1];
            order[i - 1] = order[j], order[j] = swap;
        }
        for (size_t i = 0; i < file->size; i++) supply(d, file, order[i], 1);
        for (size_t i = 0; way == 3 && i < file->size; i++) supply(d, file, order[i], 1);
        assert_all_there(z, 0, way % 2 ? 3 : 1, d);
        close_decoder(d);
        free(order);
    }
}

/* A prefix of a range refines as pushed bytes do. */
static void a_beginning_of_a_range_is_used(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][3];
    size_t front = (size_t)dct_info(file, z->model[0]).front_bytes, count;
    taper_decoder *d = zoo_new(z->model[0]);
    taper_range range;
    uint32_t passes = 0;
    supply(d, file, 0, front);
    assert_int_equal(taper_decoder_plan(d, 4, UINT64_MAX, &range, 1, &count, NULL), TAPER_OK);
    assert_int_equal(count, 1);
    for (size_t n = 0; n <= range.size; n++) {
        if (n) supply(d, file, (size_t)range.offset + n - 1, 1);
        zoo_rendered got = zoo_render(d, 4);
        assert_int_equal(got.status, TAPER_OK);
        assert_true(got.done.passes >= passes && got.done.bytes == n);
        assert_int_equal(got.done.complete, n == range.size);
        passes = got.done.passes;
    }
    assert_int_equal(passes, dct_info(file, z->model[0]).passes);
    close_decoder(d);
}

/* --- damage ----------------------------------------------------------------------------- */

static int lies_in(uint64_t at, const taper_range *range, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (at >= range[i].offset && at - range[i].offset < range[i].size) return 1;
    return 0;
}

/* Bytes of the data that are wrong are told, wanted again, and mended. */
static void wrong_bytes_are_told_and_mended(void **state) {
    model_zoo *z = *state;
    uint64_t random = SEED + 3;
    for (int round = 0; round < 2 * ZOO_MODELS * ZOO_FILES; round++) {
        int m = round % ZOO_MODELS, k = round / ZOO_MODELS % ZOO_FILES;
        const formats_buffer *file = &z->file[m][k];
        size_t front = (size_t)dct_info(file, z->model[m]).front_bytes, count;
        size_t at = front + picture_random(&random) % (file->size - front);
        uint8_t wrong = file->data[at] ^ (uint8_t)(1 << picture_random(&random) % 8);
        taper_decoder *d = zoo_new(z->model[m]);
        taper_range range[100];
        supply(d, file, 0, file->size);
        if (round % 3 == 0) assert_all_there(z, m, k, d);
        assert_int_equal(taper_decoder_supply(d, at, &wrong, 1, NULL), TAPER_OK);
        uint32_t bad = 0;
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
            taper_error error = {0};
            taper_status status = taper_decoder_plan(d, i, UINT64_MAX, range, 100, &count, &error);
            assert_int_equal(zoo_render(d, i).status, status);
            if (status == TAPER_OK) assert_int_equal(count, 0);
            if (status == TAPER_OK) continue;
            assert_int_equal(status, TAPER_ERR_CORRUPT);
            assert_non_null(strstr(error.text, "fetch them again"));
            assert_true(lies_in(at, range, count));
            bad++;
        }
        assert_true(bad > 0);
        if (round % 2) {
            for (size_t r = 0; r < ZOO_IMAGES; r++) supply(d, file, at, 1);
        } else { /* all that is wanted */
            for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
                (void)taper_decoder_plan(d, i, UINT64_MAX, range, 100, &count, NULL);
                for (size_t r = 0; r < count; r++)
                    supply(d, file, (size_t)range[r].offset, (size_t)range[r].size);
            }
        }
        assert_all_there(z, m, k, d);
        close_decoder(d);
    }
}

/* Where a checksum is not all there, wrong bytes may be rendered; right ones in their place are,
 * too.
 */
static void unseen_damage_is_mended(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][3];
    size_t front = (size_t)dct_info(file, z->model[0]).front_bytes, count;
    formats_memory memory = {file->data, file->size};
    taper_source source;
    taper_decoder *d = zoo_new(z->model[0]), *open = zoo_open(z->model[0], &memory, &source);
    zoo_rendered want = zoo_render(open, 1);
    taper_range range;
    int differ = 0;
    supply(d, file, 0, front);
    assert_int_equal(taper_decoder_plan(d, 1, UINT64_MAX, &range, 1, &count, NULL), TAPER_OK);
    for (size_t k = 0; k < range.size; k++) {
        uint8_t wrong = file->data[range.offset + k] ^ 16;
        supply(d, file, (size_t)range.offset, (size_t)range.size);
        assert_int_equal(taper_decoder_supply(d, range.offset + k, &wrong, 1, NULL), TAPER_OK);
        zoo_rendered got = zoo_render(d, 1);
        differ += got.status == TAPER_OK && memcmp(got.pixels, want.pixels, want.bytes) != 0;
        supply(d, file, (size_t)range.offset + k, 1);
        got = zoo_render(d, 1);
        assert_same(&want, &got);
    }
    assert_true(differ > 0);
    close_decoder(d), close_decoder(open);
}

/* So are those of the front matter, each bit of it. */
static void a_wrong_front_is_told_and_mended(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    size_t front = (size_t)dct_info(file, z->model[0]).front_bytes, count;
    for (size_t bit = 0; bit < 8 * front; bit += 1 + bit % 3) {
        uint8_t wrong = file->data[bit / 8] ^ (uint8_t)(1 << bit % 8);
        taper_decoder *d = zoo_new(z->model[0]);
        taper_error error = {0}, again = {0};
        taper_range range[4];
        (void)taper_decoder_supply(d, bit / 8, &wrong, 1, NULL); /* it may be told at once */
        (void)taper_decoder_supply(d, 0, file->data, bit / 8, NULL);
        taper_status status = taper_decoder_supply(d, bit / 8 + 1, file->data + bit / 8 + 1,
                                                   front - bit / 8 - 1, &error);
        if (status == TAPER_OK) { /* it claims more than there is */
            assert_true(taper_decoder_bytes_needed(d) > 0);
        } else {
            assert_true(error.text[0] && error.status == status);
            assert_int_equal(taper_decoder_plan(d, 0, UINT64_MAX, range, 4, &count, &again),
                             status);
            assert_string_equal(error.text, again.text);
            assert_true(taper_decoder_bytes_needed(d) > 0);
            if (status == TAPER_ERR_CORRUPT) assert_true(lies_in(bit / 8, range, count));
            if (status != TAPER_ERR_CORRUPT) assert_int_equal(count, 0);
            assert_int_equal(zoo_render(d, 0).status, TAPER_ERR_TRUNCATED);
        }
        supply(d, file, bit / 8, 1);
        assert_int_equal(taper_decoder_bytes_needed(d), 0);
        supply(d, file, front, file->size - front);
        if (bit % 50 == 0) assert_all_there(z, 0, 1, d);
        close_decoder(d);
    }
}

/* --- misuse, and nothing ---------------------------------------------------------------- */

static void nothing_is_harmless(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[2][1];
    taper_decoder *d = zoo_new(z->model[2]);
    size_t front = (size_t)dct_info(file, z->model[2]).front_bytes, count;
    assert_int_equal(taper_decoder_supply(d, 0, NULL, 0, NULL), TAPER_OK);
    assert_int_equal(zoo_render(d, 0).status, TAPER_ERR_TRUNCATED);
    assert_int_equal(taper_decoder_bytes_needed(d), FORMATS_HEADER_SIZE);
    supply(d, file, 0, 60);
    assert_int_equal(zoo_render(d, 0).status, TAPER_ERR_TRUNCATED);
    supply(d, file, 60, front - 60);
    zoo_rendered empty = zoo_render(d, 0); /* a mean image */
    assert_true(empty.status == TAPER_OK && !empty.done.passes && !empty.done.complete);
    assert_int_equal(taper_decoder_plan(d, 0, front - 1, NULL, 0, &count, NULL), TAPER_OK);
    assert_int_equal(count, 0); /* a cut within the front matter */
    zoo_rendered none = zoo_render(d, 0);
    assert_true(none.status == TAPER_OK && !none.done.passes);
    close_decoder(d);
}

static void bytes_beyond_the_end_are_refused(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    size_t end = file->size;
    taper_error error = {0};
    for (int early = 0; early < 2; early++) {
        taper_decoder *d = zoo_new(z->model[0]);
        if (early) {
            assert_int_equal(taper_decoder_supply(d, end - 1, "xy", 2, NULL), TAPER_OK);
            assert_int_equal(taper_decoder_supply(d, end + 9, "x", 1, NULL), TAPER_OK);
            assert_int_equal(taper_decoder_supply(d, 0, file->data, end, &error),
                             TAPER_ERR_CORRUPT);
            assert_non_null(strstr(error.text, "10 bytes follow"));
        } else
            supply(d, file, 0, end);
        assert_int_equal(taper_decoder_bytes_needed(d), 0);
        assert_int_equal(d->supplying.held.n, 1); /* neither these nor the front matter is held */
        assert_int_equal(d->supplying.held.root->at, dct_info(file, z->model[0]).front_bytes);
        assert_int_equal(codec_byte_store_end(&d->supplying.held), end);
        assert_int_equal(taper_decoder_supply(d, end, "x", 1, &error), TAPER_ERR_CORRUPT);
        assert_non_null(strstr(error.text, "1 byte follows"));
        assert_int_equal(taper_decoder_supply(d, end - 1, "xy", 2, NULL), TAPER_ERR_CORRUPT);
        assert_int_equal(taper_decoder_supply(d, UINT64_MAX, "xy", 2, NULL), TAPER_ERR_ARG);
        assert_int_equal(taper_decoder_supply(d, 0, NULL, 2, NULL), TAPER_ERR_ARG);
        assert_all_there(z, 0, 1, d);
        close_decoder(d);
    }
}

static void ways_do_not_mix(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    formats_memory memory = {file->data, file->size};
    taper_source source;
    size_t count;
    taper_decoder *open = zoo_open(z->model[0], &memory, &source), *pushed = zoo_new(z->model[0]),
                  *supplied = zoo_new(z->model[0]);
    assert_int_equal(taper_decoder_push(pushed, file->data, 10, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_supply(supplied, 0, file->data, 10, NULL), TAPER_OK);
    for (int i = 0; i < 2; i++) {
        taper_decoder *d = i ? open : pushed;
        assert_int_equal(taper_decoder_supply(d, 10, file->data + 10, 1, NULL), TAPER_ERR_ARG);
        assert_int_equal(taper_decoder_plan(d, 0, 9, NULL, 0, &count, NULL), TAPER_ERR_ARG);
        assert_int_equal(count, 0);
    }
    assert_int_equal(taper_decoder_push(supplied, file->data + 10, 1, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_push(pushed, file->data + 10, file->size - 10, NULL), TAPER_OK);
    supply(supplied, file, 10, file->size - 10);
    assert_all_there(z, 0, 1, supplied);
    assert_int_equal(zoo_render(pushed, 0).status, TAPER_OK);
    close_decoder(open), close_decoder(pushed), close_decoder(supplied);
}

/* Every limit ends in a status, and what fits goes on. */
static void limits_hold(void **state) {
    model_zoo *z = *state;
    const formats_buffer *file = &z->file[0][1];
    uint64_t front = dct_info(file, z->model[0]).front_bytes;
    int ended[4] = {0};
    for (uint64_t most = 1; most < 1 << 20; most += 1 + most / 6) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = most};
        taper_decoder *d;
        uint64_t data;
        assert_int_equal(stream_decoder(&d, z->model[0], &limits, NULL), TAPER_OK);
        taper_status status = zoo_supply_planned(d, file, 3, UINT64_MAX, 2, &data);
        assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT);
        if (most < front) assert_int_equal(status, TAPER_ERR_LIMIT);
        zoo_rendered got = {.status = TAPER_ERR_LIMIT};
        if (status == TAPER_OK) got = zoo_render(d, 3);
        assert_true(got.status == TAPER_OK || got.status == TAPER_ERR_LIMIT);
        ended[(status == TAPER_OK) + (status == TAPER_OK && got.status == TAPER_OK)]++;
        if (status != TAPER_OK && taper_decoder_bytes_needed(d)) ended[3]++;
        close_decoder(d);
    }
    assert_true(ended[0] > ended[3] && ended[1] && ended[2] && ended[3]);
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 400000};
    taper_decoder *d; /* too much at once leaves room for what is wanted */
    uint64_t data;
    uint8_t *much = calloc(1, 500000);
    assert_non_null(much);
    assert_int_equal(stream_decoder(&d, z->model[0], &limits, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_supply(d, 1000000, much, 500000, NULL), TAPER_ERR_LIMIT);
    assert_int_equal(zoo_supply_planned(d, file, 3, front + 200, 2, &data), TAPER_OK);
    assert_int_equal(zoo_render(d, 3).status, TAPER_OK);
    close_decoder(d);
    free(much);
}

/* A container that carries its model, and one whose model is not given. */
static void models_come_with_the_front(void **state) {
    model_zoo *z = *state;
    size_t size;
    const void *bytes = taper_model_builtin_bytes("tiny", &size);
    taper_encode_options options = {.embed_model = 1, .model_bytes = bytes, .model_size = size};
    formats_buffer file = dct_encode(z->model[3], z->image, 2, &options, 0);
    uint64_t data;
    for (int wrong = 0; wrong < 2; wrong++) {
        taper_decoder *d = zoo_new(wrong ? z->model[0] : NULL);
        assert_int_equal(zoo_supply_planned(d, &file, 1, UINT64_MAX, 1, &data),
                         wrong ? TAPER_ERR_MODEL : TAPER_OK);
        assert_int_equal(zoo_render(d, 1).status, wrong ? TAPER_ERR_TRUNCATED : TAPER_OK);
        close_decoder(d);
    }
    const void *others = taper_model_builtin_bytes("photo", &size);
    formats_buffer carrier = dct_carry(&file, others, size, NULL, 0); /* another's */
    taper_decoder *d = zoo_new(NULL);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(taper_decoder_supply(d, 0, carrier.data, carrier.size, NULL),
                         TAPER_ERR_CORRUPT);
        assert_int_equal(taper_decoder_supply(d, 8, "\xFF", 1, NULL), TAPER_ERR_VERSION);
    }
    close_decoder(d);
    formats_buffer_free(&file), formats_buffer_free(&carrier);
}

/* The state of a group goes on with further bytes, also while others are asked for; replaced bytes
 * begin it again. */
static void groups_go_on(void **state) {
    model_zoo *z = *state;
    for (int m = 0; m < ZOO_MODELS; m++) {
        const formats_buffer *file = &z->file[m][4];
        const size_t front = (size_t)dct_info(file, z->model[m]).front_bytes;
        taper_decoder *d = zoo_new(z->model[m]);
        const codec_chunk_coder *before[ZOO_IMAGES];
        static zoo_rendered was[ZOO_IMAGES];
        const codec_kept_groups *kept = &d->supplying.groups;
        supply(d, file, 0, front);
        for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
            (void)zoo_render(d, i);
            before[i] = kept->current->reader.strips.coder;
        }
        for (size_t at = front, n = (file->size - front) / 9; at < file->size; at += n) {
            supply(d, file, at, n < file->size - at ? n : file->size - at);
            for (uint64_t i = 0; i < ZOO_IMAGES; i++) {
                taper_completeness done;
                const taper_status status = taper_decoder_decode(d, i, &done, NULL);
                const zoo_rendered now = zoo_render(d, i);
                assert_int_equal(status, now.status);
                assert_memory_equal(&done, &now.done, sizeof done);
                if (at > front && done.bytes == was[i].done.bytes)
                    assert_memory_equal(now.pixels, was[i].pixels, now.bytes);
                was[i] = now;
                assert_ptr_equal(kept->current->reader.strips.coder, before[i]);
            }
        }
        assert_int_equal(kept->n, ZOO_IMAGES);
        assert_all_there(z, m, 4, d);
        const uint8_t wrong = (uint8_t)~file->data[front];
        assert_int_equal(taper_decoder_supply(d, front, &wrong, 1, NULL), TAPER_OK);
        assert_true(kept->n < ZOO_IMAGES);
        supply(d, file, front, 1);
        assert_all_there(z, m, 4, d);
        codec_decoder_drop_others(d, 0);
        assert_int_equal(kept->n, 1);
        assert_all_there(z, m, 4, d);
        close_decoder(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_bytes_give_what_a_source_gives),
        cmocka_unit_test(cuts_and_images_in_any_order),
        cmocka_unit_test(ranges_are_in_order_and_apart),
        cmocka_unit_test(neighbours_are_one_range),
        cmocka_unit_test(every_order_gives_the_same),
        cmocka_unit_test(groups_go_on),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(a_beginning_of_a_range_is_used),
        cmocka_unit_test(wrong_bytes_are_told_and_mended),
        cmocka_unit_test(unseen_damage_is_mended),
        cmocka_unit_test(a_wrong_front_is_told_and_mended),
        cmocka_unit_test(nothing_is_harmless),
        cmocka_unit_test(bytes_beyond_the_end_are_refused),
        cmocka_unit_test(ways_do_not_mix),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(models_come_with_the_front),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

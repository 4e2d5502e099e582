/* test_decoder.c -- pushed and pulled decoding, any order of asking, completeness, damage, limits.
 */
#include "tests/open_decoder.h"
#include "cmocka_all.h"
#include "codec/container/encoder.h"
#include "codec/container/encoder_layers.h"
#include "counting_source.h"
#include "dct_model.h"
#include "formats/container.h"
#include "infos.h"

enum { N = 12, SEED = 91 };

typedef struct fixture {
    taper_model *model, *other;
    formats_buffer model_file;
    taper_image image[N];
    formats_buffer file[3]; /* one group; groups of 4; one image after the other */
} fixture;

static int make(void **state) {
    static fixture f;
    f = (fixture){.model_file = formats_buffer_make(1 << 24)};
    formats_buffer unused = formats_buffer_make(1 << 24);
    f.other = dct_model_make((codec_window){4, 4, 3, NULL}, 9, 2, &unused);
    formats_buffer_free(&unused);
    f.model = dct_model_make((codec_window){4, 4, 3, NULL}, 0, 6, &f.model_file);
    for (int i = 0; i < N; i++) {
        f.image[i] = dct_picture(i % 3 ? 8 : 4, i % 5 ? 8 : 4, i % 4 ? 3 : 1, (uint64_t)i);
        if (i == 3) formats_image_free(&f.image[3]), f.image[3] = dct_picture(1, 1, 3, 3);
    }
    for (int kind = 0; kind < 3; kind++) {
        taper_encode_options options = {.layout = kind == 2 ? TAPER_LAYOUT_IMAGE : TAPER_LAYOUT_SET,
                                        .group_images = kind ? 4 : 0};
        f.file[kind] = dct_encode(f.model, f.image, N, &options, kind == 1);
    }
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    for (int k = 0; k < 3; k++) formats_buffer_free(&f->file[k]);
    taper_model_free(f->model), taper_model_free(f->other);
    formats_buffer_free(&f->model_file);
    return 0;
}

static taper_decoder *open_bytes(formats_memory *memory, taper_source *source,
                                 const taper_model *model) {
    *source = formats_memory_source(memory);
    taper_decoder *decoder;
    assert_int_equal(open_decoder(&decoder, source, model, NULL, NULL), TAPER_OK);
    return decoder;
}

/* Byte by byte: what pushing gives is what pulling the same prefix gives, how complete included. */
static void pushing_equals_pulling(void **state) {
    fixture *f = *state;
    for (int kind = 0; kind < 3; kind++) {
        const formats_buffer *file = &f->file[kind];
        taper_decoder *pushed;
        assert_int_equal(stream_decoder(&pushed, f->model, NULL, NULL), TAPER_OK);
        for (size_t size = 0; size <= file->size; size++) {
            if (size)
                assert_int_equal(taper_decoder_push(pushed, file->data + size - 1, 1, NULL),
                                 TAPER_OK);
            formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
            taper_completeness done[2][N];
            memset(done, 0, sizeof done);
            taper_status pull = dct_pull(file->data, size, f->model, &a, done[0]);
            taper_status push = dct_render_all(pushed, &b, done[1]);
            assert_int_equal(pull, push);
            assert_int_equal(a.size, b.size);
            if (a.size) assert_memory_equal(a.data, b.data, a.size);
            for (int i = 0; i < N && pull == TAPER_OK; i++) {
                assert_int_equal(done[0][i].passes, done[1][i].passes);
                assert_int_equal(done[0][i].bytes, done[1][i].bytes);
                assert_int_equal(done[0][i].complete, done[1][i].complete);
                assert_int_equal(done[0][i].complete,
                                 size == file->size ||
                                     done[0][i].passes == done[0][i].passes_in_file);
            }
            formats_buffer_free(&a), formats_buffer_free(&b);
        }
        assert_int_equal(taper_decoder_push(pushed, "", 0, NULL), TAPER_OK);
        taper_error error = {0};
        assert_int_equal(taper_decoder_push(pushed, "x", 1, &error), TAPER_ERR_CORRUPT);
        assert_int_equal(taper_decoder_push(pushed, "", 0, &error),
                         TAPER_ERR_CORRUPT); /* a failure is final */
        assert_int_equal(error.status, TAPER_ERR_CORRUPT);
        formats_buffer after =
            formats_buffer_make(1 << 24); /* but what was decoded is still there */
        assert_int_equal(dct_render_all(pushed, &after, NULL), TAPER_OK);
        assert_true(dct_mean_psnr(f->image, N, after.data) > 35);
        formats_buffer_free(&after);
        close_decoder(pushed);
    }
}

/* Pieces of any size, rendering in between or not: the same at the end. */
static void pieces_do_not_matter(void **state) {
    fixture *f = *state;
    uint64_t random = SEED;
    printf("seed %d\n", SEED);
    formats_buffer want = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(f->file[1].data, f->file[1].size, f->model, &want, NULL), TAPER_OK);
    for (int round = 0; round < 20; round++) {
        taper_decoder *pushed;
        assert_int_equal(stream_decoder(&pushed, f->model, NULL, NULL), TAPER_OK);
        for (size_t at = 0, n; at < f->file[1].size; at += n) {
            n = picture_random(&random) % (round < 10 ? 40 : 4000);
            if (n > f->file[1].size - at) n = f->file[1].size - at;
            assert_int_equal(taper_decoder_push(pushed, f->file[1].data + at, n, NULL), TAPER_OK);
            formats_buffer scrap = formats_buffer_make(1 << 24);
            if (round % 2) (void)dct_render_all(pushed, &scrap, NULL);
            formats_buffer_free(&scrap);
        }
        formats_buffer got = formats_buffer_make(1 << 24);
        assert_int_equal(dct_render_all(pushed, &got, NULL), TAPER_OK);
        assert_int_equal(got.size, want.size);
        assert_memory_equal(got.data, want.data, want.size);
        formats_buffer_free(&got);
        close_decoder(pushed);
    }
    formats_buffer_free(&want);
}

/* Images asked for in any order, at any cut, are the images asked for in rising order. */
static void any_order_gives_the_same(void **state) {
    fixture *f = *state;
    uint64_t random = SEED + 1;
    for (int round = 0; round < 60; round++) {
        const formats_buffer *file = &f->file[round % 3];
        size_t front = dct_info(file, f->model).front_bytes;
        formats_memory memory = {file->data,
                                 front + picture_random(&random) % (file->size - front + 1)};
        formats_buffer all = formats_buffer_make(1 << 24);
        assert_int_equal(dct_pull(memory.bytes, memory.size, f->model, &all, NULL), TAPER_OK);
        taper_source source;
        taper_decoder *decoder = open_bytes(&memory, &source, f->model);
        for (int k = 0; k < 20; k++) {
            uint64_t i = picture_random(&random) % N;
            uint8_t pixels[3 * 64], *want = all.data;
            for (uint64_t j = 0; j < i; j++) want += formats_image_bytes(&f->image[j]);
            taper_image out = {.pixels = pixels};
            assert_int_equal(taper_decoder_render(decoder, i, &out, NULL, NULL), TAPER_OK);
            assert_true(out.width == f->image[i].width && out.height == f->image[i].height);
            assert_true(out.channels == f->image[i].channels && out.depth == 8);
            assert_memory_equal(pixels, want, formats_image_bytes(&f->image[i]));
        }
        close_decoder(decoder);
        formats_buffer_free(&all);
    }
}

/* More windows than are rendered at once, in one image and over many. */
static void many_windows_are_rendered(void **state) {
    fixture *f = *state;
    taper_image image[3] = {dct_picture(150, 140, 3, 1), dct_picture(90, 91, 1, 2),
                            dct_picture(5, 5, 3, 3)};
    formats_buffer file = dct_encode(f->model, image, 3, NULL, 0);
    for (size_t cut = file.size; cut > 2000; cut = cut * 2 / 3) {
        formats_memory memory = {file.data, cut};
        formats_buffer all = formats_buffer_make(1 << 24);
        assert_int_equal(dct_pull(file.data, cut, f->model, &all, NULL), TAPER_OK);
        if (cut == file.size) assert_true(dct_mean_psnr(image, 3, all.data) > 35);
        taper_source source;
        taper_decoder *decoder = open_bytes(&memory, &source, f->model);
        uint8_t *at = all.data + all.size;
        for (int i = 2; i >= 0; i--) {
            at -= formats_image_bytes(&image[i]);
            taper_image out = {.pixels = malloc(formats_image_bytes(&image[i]))};
            assert_int_equal(taper_decoder_render(decoder, (uint64_t)i, &out, NULL, NULL),
                             TAPER_OK);
            assert_memory_equal(out.pixels, at, formats_image_bytes(&image[i]));
            free(out.pixels);
        }
        close_decoder(decoder);
        formats_buffer_free(&all);
    }
    for (int i = 0; i < 3; i++) formats_image_free(&image[i]);
    formats_buffer_free(&file);
}

/* Several threads on one image: the same pixels after every piece, whichever number drew before. */
static void threads_render_the_same(void **state) {
    (void)state;
    for (uint32_t parts = 1; parts <= 3; parts += 2) {
        formats_buffer model_file = formats_buffer_make(1 << 24);
        taper_model *model =
            dct_model_in_parts((codec_window){4, 4, 3, NULL}, 0, 6, parts, &model_file);
        taper_image picture = dct_picture(203, 150, 3, 9); /* 1,938 windows */
        formats_buffer file = dct_encode(model, &picture, 1, NULL, 0);
        taper_decoder *alone, *several;
        assert_int_equal(stream_decoder(&alone, model, NULL, NULL), TAPER_OK);
        assert_int_equal(stream_decoder(&several, model, NULL, NULL), TAPER_OK);
        size_t step = file.size / 9 + 1, rendered = 0;
        for (size_t at = 0; at < file.size; at += step) {
            size_t n = file.size - at < step ? file.size - at : step;
            assert_int_equal(taper_decoder_push(alone, file.data + at, n, NULL), TAPER_OK);
            assert_int_equal(
                taper_decoder_set_threads(several, 1 + (unsigned)(at / step + 2) % 4, NULL),
                TAPER_OK);
            assert_int_equal(taper_decoder_push(several, file.data + at, n, NULL), TAPER_OK);
            if (taper_decoder_bytes_needed(alone)) continue;
            formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
            rendered++;
            assert_int_equal(dct_render_all(alone, &a, NULL), TAPER_OK);
            assert_int_equal(dct_render_all(several, &b, NULL), TAPER_OK);
            assert_int_equal(a.size, b.size);
            assert_memory_equal(a.data, b.data, a.size);
            formats_buffer_free(&a), formats_buffer_free(&b);
        }
        assert_true(rendered >= 4);
        close_decoder(alone), close_decoder(several);
        formats_buffer_free(&file), formats_buffer_free(&model_file);
        formats_image_free(&picture);
        taper_model_free(model);
    }
}

static void the_directory_is_told(void **state) {
    fixture *f = *state;
    formats_memory memory = {f->file[1].data, f->file[1].size};
    taper_source source;
    taper_decoder *decoder = open_bytes(&memory, &source, f->model);
    taper_container_info info = {.size = sizeof info};
    assert_int_equal(taper_container_get_info(taper_decoder_container(decoder), &info, NULL),
                     TAPER_OK);
    assert_true(info.images == N && info.groups == 3 && info.layout == TAPER_LAYOUT_SET &&
                !info.model_bytes);
    assert_true(info.has_names && info.has_labels && info.classes == 2);
    assert_int_equal(info.file_bytes, f->file[1].size);
    assert_int_equal(info.passes, info_of_model(f->model).passes);
    uint64_t pixels = 0, first, count;
    for (uint64_t i = 0; i < N; i++) {
        taper_image_info image = {.size = sizeof image};
        char name[32];
        snprintf(name, sizeof name, "f/%d.png", (int)i);
        assert_int_equal(
            taper_container_get_image(taper_decoder_container(decoder), i, &image, NULL), TAPER_OK);
        assert_string_equal(image.name, name);
        assert_int_equal(image.label, (int)(i % 3) - 1);
        assert_int_equal(image.group, i / 4);
        assert_int_equal(image.bytes, formats_image_bytes(&f->image[i]));
        pixels += (uint64_t)image.width * image.height;
    }
    assert_int_equal(info.pixels, pixels);
    taper_image_info none = {.size = sizeof none};
    assert_int_equal(taper_container_get_image(taper_decoder_container(decoder), N, &none, NULL),
                     TAPER_ERR_ARG);
    assert_int_equal(
        taper_container_group(taper_decoder_container(decoder), 1, &first, &count, NULL), TAPER_OK);
    assert_true(first == 4 && count == 4);
    assert_int_equal(
        taper_container_group(taper_decoder_container(decoder), 3, &first, &count, NULL),
        TAPER_ERR_ARG);
    assert_string_equal(taper_container_class_name(taper_decoder_container(decoder), 1), "dog");
    assert_null(taper_container_class_name(taper_decoder_container(decoder), 2));
    uint8_t pixel[192];
    taper_image out = {.pixels = pixel}, nowhere = {0};
    assert_int_equal(taper_decoder_render(decoder, N, &out, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_render(decoder, 0, &nowhere, NULL, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_decoder_push(decoder, "", 0, NULL), TAPER_ERR_ARG); /* it has a source */
    assert_int_equal(taper_decoder_bytes_needed(decoder), 0);
    close_decoder(decoder);
    close_decoder(NULL);
}

/* Before the front matter is whole: what is missing, and nothing else. */
static void nothing_before_the_front(void **state) {
    fixture *f = *state;
    uint64_t front = dct_info(&f->file[0], f->model).front_bytes;
    taper_decoder *decoder;
    assert_int_equal(stream_decoder(&decoder, f->model, NULL, NULL), TAPER_OK);
    for (uint64_t size = 0; size < front; size++) {
        taper_error error = {0};
        uint8_t pixels[192];
        taper_image out = {.pixels = pixels};
        const uint64_t need = taper_decoder_bytes_needed(decoder);
        assert_true(need > 0 && need <= front - size);
        assert_null(taper_decoder_container(decoder));
        assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, &error), TAPER_ERR_TRUNCATED);
        assert_non_null(strstr(error.text, "incomplete header, need "));
        assert_int_equal(taper_decoder_push(decoder, f->file[0].data + size, 1, NULL), TAPER_OK);
    }
    assert_int_equal(taper_decoder_bytes_needed(decoder), 0);
    close_decoder(decoder);
}

static void models_must_match(void **state) {
    fixture *f = *state;
    formats_memory memory = {f->file[0].data, f->file[0].size};
    taper_source source = formats_memory_source(&memory);
    for (int wrong = 0; wrong < 2; wrong++) {
        const taper_model *model = wrong ? f->other : NULL;
        taper_decoder *decoder = (taper_decoder *)f;
        taper_error error = {0};
        assert_int_equal(open_decoder(&decoder, &source, model, NULL, &error), TAPER_ERR_MODEL);
        assert_null(decoder);
        assert_true(error.fact == TAPER_FACT_MODEL && error.needed == info_of_model(f->model).id);
        assert_int_equal(stream_decoder(&decoder, model, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_push(decoder, memory.bytes, memory.size, NULL),
                         TAPER_ERR_MODEL);
        close_decoder(decoder);
    }
}

/* A container that claims more than its model has: passes, colour. */
static void claims_beyond_the_model_are_refused(void **state) {
    fixture *f = *state;
    for (int kind = 0; kind < 2; kind++) {
        formats_front front;
        formats_buffer out = formats_buffer_make(1 << 24), unused = formats_buffer_make(1 << 24);
        taper_model *grey = dct_model_make((codec_window){4, 4, 1, NULL}, 0, 6, &unused);
        assert_int_equal(formats_front_read(f->file[0].data, f->file[0].size, NULL, &front, NULL),
                         TAPER_OK);
        if (kind) front.model_id = info_of_model(grey).id;
        if (kind)
            front.layers = 1, front.layer_end[0] = 1;
        else
            front.layer_end[front.layers - 1]++;
        assert_int_equal(formats_front_write(&front, &out, NULL), TAPER_OK);
        formats_memory memory = {out.data, out.size};
        taper_source source = formats_memory_source(&memory);
        taper_decoder *decoder;
        assert_int_equal(open_decoder(&decoder, &source, kind ? grey : f->model, NULL, NULL),
                         TAPER_ERR_CORRUPT);
        formats_front_free(&front);
        formats_buffer_free(&out), formats_buffer_free(&unused);
        taper_model_free(grey);
    }
}

/* A limit of passes gives the pixels of the cut that ends with them. */
static void passes_are_limited(void **state) {
    fixture *f = *state;
    formats_memory memory = {f->file[0].data, f->file[0].size};
    taper_source source;
    taper_decoder *whole = open_bytes(&memory, &source, f->model);
    const taper_container *c = taper_decoder_container(whole);
    static uint8_t pixels[2][1 << 16];
    taper_container_info info = {.size = sizeof info};
    int compared = 0;
    assert_int_equal(taper_container_get_info(c, &info, NULL), TAPER_OK);
    for (uint32_t layer = 0; layer < info.layers; layer++)
        for (uint64_t i = 0; i < N; i += 3) {
            taper_decode_options options = {.size = sizeof options}, limit = options;
            taper_completeness done[2];
            taper_image_info image = {.size = sizeof image};
            assert_int_equal(taper_container_get_image(c, i, &image, NULL), TAPER_OK);
            assert_true(image.bytes <= sizeof pixels[0]);
            assert_int_equal(taper_container_layer(c, i, layer, &options.cut, &limit.passes, NULL),
                             TAPER_OK);
            for (int k = 0; k < 2; k++) {
                taper_decoder *d;
                taper_image out = {.pixels = pixels[k]};
                assert_int_equal(taper_decoder_new(&d, c, k ? &limit : &options, NULL), TAPER_OK);
                assert_int_equal(taper_decoder_render(d, i, &out, &done[k], NULL), TAPER_OK);
                taper_decoder_free(d);
            }
            assert_int_equal(done[1].passes, limit.passes);
            assert_true(done[1].complete);
            if (done[0].passes < limit.passes) continue; /* the cut is drawn as a shorter one */
            assert_memory_equal(pixels[0], pixels[1], image.bytes);
            compared++;
        }
    assert_true(compared > N / 3);
    close_decoder(whole);
}

/* One damaged chunk: its group says so and keeps what lies before; other groups are whole. */
static void damage_stays_in_its_group(void **state) {
    fixture *f = *state;
    const formats_buffer *file = &f->file[1];
    formats_front front;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    formats_buffer whole = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(file->data, file->size, f->model, &whole, NULL), TAPER_OK);
    for (uint32_t layer = 0; layer < front.layers; layer++) {
        uint32_t chunk = layer * 3 + 1; /* of group 1: images 4 to 7 */
        if (front.chunk_at[chunk + 1] == front.chunk_at[chunk]) continue;
        uint64_t at = front.front_size + front.chunk_at[chunk];
        uint8_t *bytes = malloc(file->size);
        assert_non_null(bytes);
        memcpy(bytes, file->data, file->size);
        bytes[at] ^= 0x10;
        for (int push = 0; push < 2; push++) {
            formats_memory memory = {bytes, file->size};
            taper_source source = formats_memory_source(&memory);
            taper_decoder *decoder;
            if (push) {
                assert_int_equal(stream_decoder(&decoder, f->model, NULL, NULL), TAPER_OK);
                assert_int_equal(taper_decoder_push(decoder, bytes, file->size, NULL), TAPER_OK);
            } else {
                assert_int_equal(open_decoder(&decoder, &source, f->model, NULL, NULL), TAPER_OK);
            }
            uint8_t *want = whole.data;
            for (uint64_t i = 0; i < N; want += formats_image_bytes(&f->image[i++])) {
                uint8_t pixels[192];
                taper_image out = {.pixels = pixels};
                taper_completeness done;
                taper_error error = {0};
                taper_status status = taper_decoder_render(decoder, i, &out, &done, &error);
                if (i / 4 == 1) {
                    assert_int_equal(status, TAPER_ERR_CORRUPT);
                    assert_non_null(strstr(error.text, "checksum"));
                    assert_int_equal(done.passes, layer ? front.layer_end[layer - 1] : 0);
                    assert_int_equal(done.complete, 1); /* no byte mends it */
                } else {
                    assert_int_equal(status, TAPER_OK);
                    assert_memory_equal(pixels, want, formats_image_bytes(&f->image[i]));
                }
            }
            close_decoder(decoder);
        }
        free(bytes);
    }
    formats_front_free(&front);
    formats_buffer_free(&whole);
}

/* Checksums over several images: which images are damaged does not depend on how the bytes came. */
static void shared_checksums_fail_together(void **state) {
    fixture *f = *state;
    const formats_buffer *file = &f->file[2];
    size_t front = dct_info(file, f->model).front_bytes;
    uint8_t *bytes = malloc(file->size);
    assert_non_null(bytes);
    for (size_t at = front; at < file->size; at += 7) {
        memcpy(bytes, file->data, file->size);
        bytes[at] ^= 1;
        formats_memory memory = {bytes, file->size};
        taper_source source;
        taper_decoder *pulled = open_bytes(&memory, &source, f->model), *pushed;
        assert_int_equal(stream_decoder(&pushed, f->model, NULL, NULL), TAPER_OK);
        assert_int_equal(taper_decoder_push(pushed, bytes, file->size, NULL), TAPER_OK);
        int damaged = 0;
        for (uint64_t i = 0; i < N; i++) {
            uint8_t pixels[192];
            taper_image out = {.pixels = pixels};
            taper_status status = taper_decoder_render(pulled, i, &out, NULL, NULL);
            assert_int_equal(taper_decoder_render(pushed, i, &out, NULL, NULL), status);
            assert_true(status == TAPER_OK || status == TAPER_ERR_CORRUPT);
            damaged += status != TAPER_OK;
        }
        assert_true(damaged > 0);
        close_decoder(pulled), close_decoder(pushed);
    }
    free(bytes);
}

/* The same container with a checksum for every `span` chunks. */
static formats_buffer with_checksum_span(const formats_buffer *file, uint32_t span) {
    formats_front front;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    const uint8_t *data = file->data + front.front_size;
    front.chunks_per_checksum = span;
    free(front.checksum);
    front.checksum = calloc(formats_front_checksums(&front) + 1, sizeof *front.checksum);
    uint32_t *sum = front.checksum;
    for (uint64_t layer = 0; layer < front.layers; layer++)
        for (uint32_t g = 0; g < front.groups; g += span, sum++) {
            uint32_t last = g + span < front.groups ? g + span : front.groups;
            const uint64_t *at = front.chunk_at + layer * front.groups;
            *sum = formats_crc32c(0, data + at[g], (size_t)(at[last] - at[g]));
        }
    assert_int_equal(formats_front_write(&front, &out, NULL), TAPER_OK);
    formats_write_bytes(&out, data, (size_t)front.chunk_at[front.layers * front.groups]);
    assert_int_equal(out.status, TAPER_OK);
    formats_front_free(&front);
    return out;
}

/* What a source says of these bytes, image by image, is what a decoder says that they are pushed
 * to, in pieces after which images are rendered or not. */
static void assert_pushed_as_pulled(const taper_model *model, const uint8_t *bytes, size_t size,
                                    int images, uint64_t *random) {
    formats_memory memory = {bytes, size};
    taper_source source;
    taper_decoder *pulled = open_bytes(&memory, &source, model), *pushed;
    assert_int_equal(stream_decoder(&pushed, model, NULL, NULL), TAPER_OK);
    static uint8_t pixels[2][1 << 21];
    taper_image out[2] = {{.pixels = pixels[0]}, {.pixels = pixels[1]}};
    for (size_t at = 0, n; at < size; at += n) {
        n = 1 + picture_random(random) % (size - at < 40 ? 4 : 300);
        n = n < size - at ? n : size - at;
        assert_int_equal(taper_decoder_push(pushed, bytes + at, n, NULL), TAPER_OK);
        for (int i = 0; i < images && !taper_decoder_bytes_needed(pushed); i++)
            if (picture_random(random) % 3 == 0)
                (void)taper_decoder_render(pushed, (uint64_t)i, &out[1], NULL, NULL);
    }
    for (int i = 0; i < images; i++) {
        taper_completeness done[2] = {{0}, {0}};
        taper_image_info info = {.size = sizeof info};
        taper_status status = taper_decoder_render(pulled, (uint64_t)i, &out[0], &done[0], NULL);
        assert_int_equal(taper_decoder_render(pushed, (uint64_t)i, &out[1], &done[1], NULL),
                         status);
        assert_true(status == TAPER_OK || status == TAPER_ERR_CORRUPT);
        assert_int_equal(
            taper_container_get_image(taper_decoder_container(pulled), (uint64_t)i, &info, NULL),
            TAPER_OK);
        assert_memory_equal(pixels[0], pixels[1], info.bytes);
        assert_int_equal(done[0].passes, done[1].passes);
        assert_int_equal(done[0].bytes, done[1].bytes);
        assert_int_equal(done[0].complete, done[1].complete);
    }
    close_decoder(pulled), close_decoder(pushed);
}

/* Flipped bytes, and cuts after them, with checksums over one chunk and over several: nothing of a
 * damaged block is rendered, however its bytes came and whatever was rendered of it before it was
 * whole.
 */
static void nothing_is_rendered_from_a_damaged_block(void **state) {
    fixture *f = *state;
    uint64_t random = SEED + 2;
    for (uint32_t round = 0; round < 8; round++) {
        static const uint32_t spans[] = {1, 2, 3, 5};
        uint32_t kind = round % 4 < 3 ? 1 + round % 2 : 0, span = spans[round / 2];
        formats_buffer file = with_checksum_span(&f->file[kind], span);
        size_t front = dct_info(&file, f->model).front_bytes;
        for (size_t at = front; at < file.size; at += 1 + picture_random(&random) % 60) {
            size_t after = file.size - at, cut = at + 1 + picture_random(&random) % after;
            file.data[at] ^= (uint8_t)(1 + picture_random(&random) % 255);
            uint8_t was = file.data[at];
            assert_pushed_as_pulled(f->model, file.data, file.size, N, &random);
            assert_pushed_as_pulled(f->model, file.data, cut, N, &random);
            assert_int_equal(file.data[at], was);
            memcpy(file.data + front, f->file[kind].data + f->file[kind].size - (file.size - front),
                   file.size - front);
        }
        formats_buffer_free(&file);
    }
}

/* The same with a model that predicts, corrects and restores: all of its state begins again. */
static void nothing_is_rendered_from_a_damaged_block_by_the_built_in_model(void **unused) {
    (void)unused;
    enum { IMAGES = 2 };
    uint64_t random = SEED + 4;
    taper_model *model;
    assert_int_equal(taper_model_builtin(&model, "photo", NULL), TAPER_OK);
    taper_image image[IMAGES] = {dct_picture(90, 70, 3, 1), dct_picture(60, 90, 3, 2)};
    taper_encode_options options = {.group_images = 1};
    formats_buffer file = dct_encode(model, image, IMAGES, &options, 0);
    formats_buffer shared = with_checksum_span(&file, IMAGES);
    size_t front = dct_info(&shared, model).front_bytes;
    for (int round = 0; round < 10; round++) {
        size_t at = front + picture_random(&random) % (shared.size - front);
        shared.data[at] ^= 1;
        assert_pushed_as_pulled(model, shared.data, shared.size, IMAGES, &random);
        shared.data[at] ^= 1;
    }
    for (int i = 0; i < IMAGES; i++) formats_image_free(&image[i]);
    formats_buffer_free(&file), formats_buffer_free(&shared);
    taper_model_free(model);
}

/* A whole chunk that claims more than its bytes can hold is not rendered, nor is a piece of it that
 * was rendered before. */
static void nothing_is_rendered_from_an_implausible_chunk(void **state) {
    fixture *f = *state;
    uint64_t random = SEED + 3;
    taper_image picture = dct_picture(12448, 28, 3, 5); /* 21,784 windows in one strip */
    taper_encode_options options = {.layout = TAPER_LAYOUT_IMAGE};
    formats_buffer file = dct_encode(f->model, &picture, 1, &options, 0), short_file;
    formats_front front;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    uint64_t was = front.front_size;
    front.chunk_at[1] = 9;
    short_file = formats_buffer_make(1 << 20);
    front.checksum[0] = formats_crc32c(0, file.data + was, 9);
    assert_int_equal(formats_front_write(&front, &short_file, NULL), TAPER_OK);
    formats_write_bytes(&short_file, file.data + was, 9);
    formats_memory memory = {short_file.data, short_file.size};
    taper_source source;
    taper_decoder *decoder = open_bytes(&memory, &source, f->model);
    taper_image out = {.pixels = malloc(formats_image_bytes(&picture))};
    assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, NULL), TAPER_ERR_CORRUPT);
    close_decoder(decoder);
    for (int round = 0; round < 10; round++)
        assert_pushed_as_pulled(f->model, short_file.data, short_file.size, 1, &random);
    free(out.pixels);
    formats_front_free(&front);
    formats_buffer_free(&file), formats_buffer_free(&short_file);
    formats_image_free(&picture);
}

/* Groups whose every bit is the likeliest take no bytes. Beyond a cut they are not there either. */
static void empty_chunks_wait_for_their_turn(void **state) {
    fixture *f = *state;
    const codec_code_tables *t = &f->model->tables;
    int16_t code[2][48];
    for (int u = 0; u < 48; u++) { /* all ones, all positive: a string of no bytes; and others */
        code[0][u] = (int16_t)((1 << t->planes[u]) - 1);
        code[1][u] = (int16_t)(u % 2 ? 5 : -9);
    }
    taper_encode_options options = {.size = sizeof options, .group_images = 1};
    taper_encoder *encoder;
    formats_buffer file = formats_buffer_make(1 << 20);
    taper_sink sink = dct_sink(&file);
    assert_int_equal(taper_encoder_new(&encoder, f->model, &options, NULL), TAPER_OK);
    codec_encoder_limit_passes(encoder, 3); /* a string of more than 32 bits has bytes */
    static const int kind[N] = {0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0};
    for (int i = 0; i < N; i++) {
        taper_image image = {4, 4, 3, 8, NULL};
        int16_t *codes = malloc(sizeof code[0]);
        assert_non_null(codes);
        memcpy(codes, code[kind[i]], sizeof code[0]);
        assert_int_equal(codec_encoder_add_codes(encoder, &image, codes, NULL, -1, 0, NULL), 0);
    }
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    formats_front front;
    assert_int_equal(formats_front_read(file.data, file.size, NULL, &front, NULL), TAPER_OK);
    assert_int_equal(front.chunk_at[1], 0);
    assert_true(front.chunk_at[2] > 0);
    taper_decoder *pushed;
    assert_int_equal(stream_decoder(&pushed, f->model, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(pushed, file.data, front.front_size, NULL), TAPER_OK);
    for (size_t size = front.front_size; size <= file.size; size++) {
        formats_buffer a = formats_buffer_make(1 << 20), b = formats_buffer_make(1 << 20);
        taper_completeness done[2][N];
        assert_int_equal(dct_pull(file.data, size, f->model, &a, done[0]), TAPER_OK);
        assert_int_equal(dct_render_all(pushed, &b, done[1]), TAPER_OK);
        assert_memory_equal(a.data, b.data, a.size);
        for (int i = 0; i < N; i++) assert_int_equal(done[0][i].passes, done[1][i].passes);
        formats_buffer_free(&a), formats_buffer_free(&b);
        if (size < file.size)
            assert_int_equal(taper_decoder_push(pushed, file.data + size, 1, NULL), TAPER_OK);
    }
    close_decoder(pushed);
    formats_front_free(&front);
    formats_buffer_free(&file);
}

static void limits_hold(void **state) {
    fixture *f = *state;
    formats_memory memory = {f->file[0].data, f->file[0].size};
    taper_source source = formats_memory_source(&memory);
    const taper_limits limits[] = {{.size = sizeof(taper_limits), .max_images = N - 1},
                                   {.size = sizeof(taper_limits), .max_pixels = 63},
                                   {.size = sizeof(taper_limits), .max_memory = 100}};
    for (int i = 0; i < 3; i++) {
        taper_decoder *decoder;
        assert_int_equal(open_decoder(&decoder, &source, f->model, &limits[i], NULL),
                         TAPER_ERR_LIMIT);
        assert_int_equal(stream_decoder(&decoder, f->model, &limits[i], NULL), TAPER_OK);
        assert_int_equal(taper_decoder_push(decoder, memory.bytes, memory.size, NULL),
                         TAPER_ERR_LIMIT);
        close_decoder(decoder);
    }
    taper_limits group = {.size = sizeof(taper_limits),
                          .max_memory = 20000}; /* the directory fits, the group does not */
    taper_decoder *decoder;
    uint8_t pixels[192];
    taper_image out = {.pixels = pixels};
    taper_error error = {0};
    assert_int_equal(open_decoder(&decoder, &source, f->model, &group, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    close_decoder(decoder);
    taper_encode_options options = {
        .embed_model = 1, .model_bytes = f->model_file.data, .model_size = f->model_file.size};
    formats_buffer embedded = dct_encode(f->model, f->image, 1, &options, 0);
    taper_limits small = {.size = sizeof(taper_limits), .max_model_bytes = 1000};
    memory = (formats_memory){embedded.data, embedded.size};
    source = formats_memory_source(&memory);
    assert_int_equal(open_decoder(&decoder, &source, NULL, &small, NULL), TAPER_ERR_LIMIT);
    formats_buffer cut = /* whole, but what it holds is not: no bytes that follow can mend that */
        dct_carry(&embedded, f->model_file.data, f->model_file.size - 1, NULL, 0);
    formats_buffer_free(&embedded);
    embedded = cut;
    memory = (formats_memory){embedded.data, embedded.size};
    source = formats_memory_source(&memory);
    assert_int_equal(open_decoder(&decoder, &source, NULL, NULL, &error), TAPER_ERR_CORRUPT);
    assert_int_equal(error.status, TAPER_ERR_CORRUPT);
    assert_int_equal(stream_decoder(&decoder, NULL, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_decoder_push(decoder, embedded.data, embedded.size, NULL),
                     TAPER_ERR_CORRUPT);
    close_decoder(decoder);
    formats_buffer_free(&embedded);
}

/* A source that fails beyond some byte: the error comes out as it is, other groups are not
 * affected. */
typedef struct failing_source {
    const formats_buffer *file;
    uint64_t works;
} failing_source;

static taper_status failing_read(void *user, uint64_t offset, void *to, size_t n) {
    const failing_source *s = user;
    if (offset + n > s->works) return TAPER_ERR_IO;
    if (n) memcpy(to, s->file->data + offset, n);
    return TAPER_OK;
}

static void a_failing_source_is_reported(void **state) {
    fixture *f = *state;
    failing_source own = {&f->file[1], dct_info(&f->file[1], f->model).front_bytes};
    taper_source source = {&own, f->file[1].size, failing_read};
    taper_decoder *decoder;
    assert_int_equal(open_decoder(&decoder, &source, f->model, NULL, NULL), TAPER_OK);
    uint8_t pixels[192];
    taper_image out = {.pixels = pixels};
    taper_error error = {0};
    assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, &error), TAPER_ERR_IO);
    assert_int_equal(error.status, TAPER_ERR_IO);
    own.works = f->file[1].size; /* and when it works again, so does the decoder */
    assert_int_equal(taper_decoder_render(decoder, 0, &out, NULL, NULL), TAPER_OK);
    close_decoder(decoder);
    own.works = 40;
    assert_int_equal(open_decoder(&decoder, &source, f->model, NULL, NULL), TAPER_ERR_IO);
}

/* All images in their order: no byte is read twice; in layout `image`, whatever shares a checksum.
 */
static void each_byte_is_read_once(void **state) {
    fixture *f = *state;
    for (uint32_t span = 1; span <= 5; span += 2)
        for (int kind = 0; kind < 3; kind++) {
            formats_buffer file = with_checksum_span(&f->file[kind], span);
            counting_source own = {&file, 0};
            taper_source source = counting_source_of(&own, file.size);
            taper_decoder *decoder;
            formats_buffer pixels = formats_buffer_make(1 << 24);
            assert_int_equal(open_decoder(&decoder, &source, f->model, NULL, NULL), TAPER_OK);
            assert_int_equal(dct_render_all(decoder, &pixels, NULL), TAPER_OK);
            if (kind == 1 && span > 1) /* a group goes through blocks of all layers */
                assert_in_range(own.bytes, file.size + 1, file.size * span - 1);
            else
                assert_int_equal(own.bytes, file.size);
            formats_buffer_free(&pixels), formats_buffer_free(&file);
            close_decoder(decoder);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing_equals_pulling),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(any_order_gives_the_same),
        cmocka_unit_test(many_windows_are_rendered),
        cmocka_unit_test(threads_render_the_same),
        cmocka_unit_test(the_directory_is_told),
        cmocka_unit_test(nothing_before_the_front),
        cmocka_unit_test(models_must_match),
        cmocka_unit_test(claims_beyond_the_model_are_refused),
        cmocka_unit_test(passes_are_limited),
        cmocka_unit_test(damage_stays_in_its_group),
        cmocka_unit_test(shared_checksums_fail_together),
        cmocka_unit_test(nothing_is_rendered_from_a_damaged_block),
        cmocka_unit_test(nothing_is_rendered_from_a_damaged_block_by_the_built_in_model),
        cmocka_unit_test(nothing_is_rendered_from_an_implausible_chunk),
        cmocka_unit_test(empty_chunks_wait_for_their_turn),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_failing_source_is_reported),
        cmocka_unit_test(each_byte_is_read_once),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

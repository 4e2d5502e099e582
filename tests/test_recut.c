/* test_recut.c -- truncate, repack, merge, verify. */
#include "cmocka_all.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "counting_source.h"
#include "dct_model.h"
#include "formats/container.h"

enum { N = 10 };

typedef struct fixture {
    taper_model *model;
    formats_buffer model_file;
    taper_image image[N];
    formats_buffer set, images; /* three groups; one image after the other, with its model inside */
    int on_rate_classes;        /* the set is, in more groups */
} fixture;

/* Some images are a single window: alone they have no neighbours, in a group others have. */
static int make_of(void **state, uint32_t parts, taper_allocation allocation) {
    static fixture f;
    f = (fixture){.model_file = formats_buffer_make(1 << 24),
                  .on_rate_classes = allocation != TAPER_ALLOCATION_EVEN};
    f.model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, 20, 6, parts, &f.model_file);
    for (int i = 0; i < N; i++)
        f.image[i] = dct_picture(i % 3 ? 12 : 4, i / 2 % 2 ? 8 : 4, i % 4 ? 3 : 1, (uint64_t)i);
    taper_encode_options options = {.group_images = 4, .allocation = allocation},
                         alone = {.layout = TAPER_LAYOUT_IMAGE,
                                  .embed_model = 1,
                                  .model_bytes = f.model_file.data,
                                  .model_size = f.model_file.size};
    f.set = dct_encode(f.model, f.image, N, &options, 1);
    f.images = dct_encode(f.model, f.image, N, &alone, 0);
    *state = &f;
    return 0;
}

static int make(void **state) { return make_of(state, 1, TAPER_ALLOCATION_EVEN); }
static int make_in_parts(void **state) { return make_of(state, 3, TAPER_ALLOCATION_EVEN); }
static int make_on_rate_classes(void **state) { return make_of(state, 1, TAPER_ALLOCATION_MEAN); }

static int drop(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N; i++) formats_image_free(&f->image[i]);
    formats_buffer_free(&f->set), formats_buffer_free(&f->images),
        formats_buffer_free(&f->model_file);
    taper_model_free(f->model);
    return 0;
}

/* Passes of image i up to the end of a layer. */
static uint32_t layer_end(const formats_front *front, uint32_t layer, uint32_t i) {
    return formats_front_layer_end(front, layer, formats_front_group(front, i));
}

static formats_buffer decode(const uint8_t *bytes, size_t size, const taper_model *model) {
    formats_buffer pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(bytes, size, model, &pixels, NULL), TAPER_OK);
    return pixels;
}

static void assert_whole(const formats_buffer *file) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    taper_verify_report report = {.size = sizeof report};
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
    assert_int_equal(report.chunks_whole, report.chunks);
    assert_int_equal(report.bytes_missing, 0);
}

static taper_status truncate_to(const uint8_t *bytes, size_t size, uint64_t most,
                                formats_buffer *out) {
    formats_memory memory = {bytes, size};
    taper_source source = formats_memory_source(&memory);
    taper_sink sink = dct_sink(out);
    taper_error error = {0};
    taper_status status = taper_truncate(&source, most, &sink, NULL, &error);
    assert_int_equal(status, error.status);
    return status;
}

/* At every size: a whole container of at most that size, no worse than a cut of the same size; or
 * the plain answer that the front matter does not fit. */
static void truncate_fits_and_loses_nothing(void **state) {
    fixture *f = *state;
    int fitted = 0;
    for (size_t most = 0; most <= f->set.size + 3; most += most < 300 ? 7 : 1) {
        formats_buffer out = formats_buffer_make(1 << 24);
        taper_status status = truncate_to(f->set.data, f->set.size, most, &out);
        if (status != TAPER_OK) {
            assert_int_equal(status, TAPER_ERR_LIMIT);
            assert_false(fitted);
            assert_int_equal(out.size, 0);
            formats_buffer_free(&out);
            continue;
        }
        fitted = 1;
        if (out.size > most) fail_msg("%zu bytes where %zu were allowed", out.size, most);
        assert_true(out.size + (f->on_rate_classes ? 80 : 40) >= most || most >= f->set.size);
        assert_whole(&out);
        formats_buffer pixels = decode(out.data, out.size, f->model);
        double psnr = dct_mean_psnr(f->image, N, pixels.data);
        if (most % 5 == 0 && most > dct_info(&f->set, f->model).front_bytes + 3 &&
            most < f->set.size) {
            formats_buffer cut =
                decode(f->set.data, most - 3, f->model); /* the directory may grow */
            assert_true(psnr >= dct_mean_psnr(f->image, N, cut.data) - 0.05);
            formats_buffer_free(&cut);
        }
        if (most >= f->set.size) {
            assert_int_equal(out.size, f->set.size);
            assert_memory_equal(out.data, f->set.data, out.size);
        }
        formats_buffer_free(&out), formats_buffer_free(&pixels);
    }
    assert_true(fitted);
}

/* Checksums of what is left may pack into more bytes than those of the whole: it fits all the same.
 * (Of these pictures two sizes are such.) */
static void truncate_fits_with_other_checksums(void **state) {
    fixture *f = *state;
    taper_image image[N];
    for (int i = 0; i < N; i++)
        image[i] = dct_picture(i % 3 ? 12 : 4, i % 2 ? 8 : 4, i % 4 ? 3 : 1, (uint64_t)i);
    taper_encode_options options = {.group_images = 4};
    formats_buffer set = dct_encode(f->model, image, N, &options, 1);
    for (size_t most = 300; most < set.size; most++) {
        formats_buffer out = formats_buffer_make(1 << 24);
        if (truncate_to(set.data, set.size, most, &out) == TAPER_OK && out.size > most)
            fail_msg("%zu bytes where %zu were allowed", out.size, most);
        formats_buffer_free(&out);
    }
    for (int i = 0; i < N; i++) formats_image_free(&image[i]);
    formats_buffer_free(&set);
}

/* What a truncated container decodes to is what the same data decodes to as a prefix. */
static void truncate_decodes_like_the_prefix(void **state) {
    fixture *f = *state;
    uint64_t front = dct_info(&f->set, f->model).front_bytes;
    for (size_t most = front + 10; most < f->set.size; most += 83) {
        formats_buffer out = formats_buffer_make(1 << 24);
        assert_int_equal(truncate_to(f->set.data, f->set.size, most, &out), TAPER_OK);
        taper_container_info info = dct_info(&out, f->model);
        uint64_t data = info.file_bytes - info.front_bytes;
        formats_buffer a = decode(out.data, out.size, f->model),
                       b = decode(f->set.data, front + data, f->model);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        taper_container_info whole = dct_info(&f->set, f->model);
        assert_true(info.images == whole.images && info.groups == whole.groups &&
                    info.classes == 2);
        assert_true(info.layers <= whole.layers && info.has_names && info.has_labels);
        formats_buffer_free(&a), formats_buffer_free(&b);
        formats_buffer_free(&out);
    }
}

/* A cut between two layers leaves layers that are whole. */
static void truncate_between_layers(void **state) {
    fixture *f = *state;
    formats_front front;
    assert_int_equal(formats_front_read(f->set.data, f->set.size, NULL, &front, NULL), TAPER_OK);
    assert_true(front.layers > 5);
    for (uint32_t l = 1; l < front.layers; l++) {
        formats_buffer out = formats_buffer_make(1 << 24), pixels = formats_buffer_make(1 << 24);
        taper_completeness done[N];
        size_t cut = front.front_size + front.chunk_at[l * front.groups];
        assert_int_equal(truncate_to(f->set.data, cut, UINT64_MAX, &out), TAPER_OK);
        assert_int_equal(dct_pull(out.data, out.size, f->model, &pixels, done), TAPER_OK);
        for (int i = 0; i < N; i++) {
            uint32_t end = layer_end(&front, l - 1, (uint32_t)i); /* chunks may have 0 bytes */
            assert_true(f->on_rate_classes ? done[i].passes >= end : done[i].passes == end);
            assert_true(done[i].passes_in_file >= end);
            assert_int_equal(done[i].complete, 1);
        }
        formats_buffer_free(&out), formats_buffer_free(&pixels);
    }
    formats_front_free(&front);
}

/* Cut, truncated, cut again and truncated again: each step is a container, and no worse than what
 * its data allow. In both layouts. */
static void truncate_what_is_cut(void **state) {
    fixture *f = *state;
    const formats_buffer *files[] = {&f->set, &f->images};
    for (int kind = 0; kind < 2; kind++) {
        const formats_buffer *file = files[kind];
        uint64_t front = dct_info(file, f->model).front_bytes, data = file->size - front;
        for (int part = 1; part < 20; part++) {
            formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
            size_t cut = front + data * (uint64_t)part / 20;
            assert_int_equal(truncate_to(file->data, cut, UINT64_MAX, &a),
                             TAPER_OK); /* repairs a cut file */
            assert_whole(&a);
            formats_buffer x = decode(file->data, cut, f->model),
                           y = decode(a.data, a.size, f->model);
            assert_memory_equal(x.data, y.data, x.size);
            formats_buffer_free(&y);
            a.size = 0;
            assert_int_equal(truncate_to(file->data, file->size, cut, &a), TAPER_OK);
            assert_whole(&a);
            taper_container_info info = dct_info(&a, f->model);
            size_t again = info.front_bytes + (a.size - info.front_bytes) * 2 / 3;
            assert_int_equal(truncate_to(a.data, again, UINT64_MAX, &b), TAPER_OK);
            assert_whole(&b);
            y = decode(a.data, again, f->model);
            formats_buffer z = decode(b.data, b.size, f->model);
            assert_memory_equal(y.data, z.data, y.size);
            assert_true(dct_mean_psnr(f->image, N, y.data) > 9);
            formats_buffer_free(&x), formats_buffer_free(&y), formats_buffer_free(&z);
            formats_buffer_free(&a), formats_buffer_free(&b);
        }
    }
}

/* One image after the other: all images lose the same share. */
static void truncate_is_fair_to_images(void **state) {
    fixture *f = *state;
    taper_container_info whole = dct_info(&f->images, f->model);
    uint64_t data = f->images.size - whole.front_bytes;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(
        truncate_to(f->images.data, f->images.size, whole.front_bytes + data / 2, &out), TAPER_OK);
    taper_completeness full[N], half[N];
    formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(f->images.data, f->images.size, NULL, &a, full), TAPER_OK);
    assert_int_equal(dct_pull(out.data, out.size, NULL, &b, half), TAPER_OK);
    for (int i = 0; i < N; i++) {
        assert_true(half[i].bytes * 2 <= full[i].bytes + 4 &&
                    half[i].bytes * 2 + 4 >= full[i].bytes);
        assert_int_equal(half[i].complete, 1);
        assert_true(half[i].passes < full[i].passes);
    }
    formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&out);
}

static taper_status repack(const uint8_t *bytes, size_t size, const taper_model *model,
                           taper_layout layout, uint32_t group_images, formats_buffer *out) {
    formats_memory memory = {bytes, size};
    taper_source source = formats_memory_source(&memory);
    taper_sink sink = dct_sink(out);
    taper_error error = {0};
    taper_status status = taper_repack(&source, model, layout, group_images, &sink, NULL, &error);
    assert_int_equal(status, error.status);
    return status;
}

/* There and back: the same pixels, names, labels, model. */
static void repack_keeps_every_pixel(void **state) {
    fixture *f = *state;
    formats_buffer want = decode(f->set.data, f->set.size, f->model);
    static const uint32_t group_images[] = {0, 1, 3, 100};
    for (int i = 0; i < 4; i++) {
        formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
        taper_layout layout = i % 2 ? TAPER_LAYOUT_GALLERY : TAPER_LAYOUT_IMAGE;
        assert_int_equal(repack(f->set.data, f->set.size, f->model, layout, group_images[i], &a),
                         TAPER_OK);
        assert_whole(&a);
        assert_int_equal(dct_info(&a, f->model).layout, layout);
        assert_int_equal(dct_info(&a, f->model).groups, N);
        formats_buffer pixels = decode(a.data, a.size, f->model);
        assert_memory_equal(pixels.data, want.data, want.size);
        formats_buffer_free(&pixels);
        assert_int_equal(repack(a.data, a.size, f->model, TAPER_LAYOUT_SET, group_images[i], &b),
                         TAPER_OK);
        taper_container_info info = dct_info(&b, f->model);
        assert_true(info.has_names && info.has_labels && info.classes == 2 && !info.model_bytes);
        if (!f->on_rate_classes)
            assert_int_equal(info.groups, group_images[i] == 1 ? N : group_images[i] == 3 ? 4 : 1);
        pixels = decode(b.data, b.size, f->model);
        assert_memory_equal(pixels.data, want.data, want.size);
        formats_buffer_free(&pixels);
        formats_buffer_free(&a), formats_buffer_free(&b);
    }
    formats_buffer a =
        formats_buffer_make(1 << 24); /* with its own model; as the encoder itself would write it */
    assert_int_equal(repack(f->images.data, f->images.size, NULL, TAPER_LAYOUT_SET, 4, &a),
                     TAPER_OK);
    taper_encode_options options = {.group_images = 4,
                                    .embed_model = 1,
                                    .model_bytes = f->model_file.data,
                                    .model_size = f->model_file.size};
    formats_buffer direct = dct_encode(f->model, f->image, N, &options, 0);
    assert_int_equal(a.size, direct.size);
    assert_memory_equal(a.data, direct.data, a.size);
    formats_buffer_free(&a), formats_buffer_free(&direct);
    formats_buffer_free(&want);
}

/* After so many layers, repacked to images alone: the same pixels. (What goes in a part of a plane
 * is not another thing for an image alone.) */
static void repack_after_layers_keeps_pixels(void **state) {
    fixture *f = *state;
    formats_front front;
    assert_int_equal(formats_front_read(f->set.data, f->set.size, NULL, &front, NULL), TAPER_OK);
    for (uint32_t l = 1; l < front.layers; l++) {
        formats_buffer a = formats_buffer_make(1 << 24);
        size_t cut = front.front_size + front.chunk_at[l * front.groups];
        assert_int_equal(repack(f->set.data, cut, f->model, TAPER_LAYOUT_IMAGE, 0, &a), TAPER_OK);
        formats_buffer x = decode(a.data, a.size, f->model), y = decode(f->set.data, cut, f->model);
        assert_int_equal(x.size, y.size);
        assert_memory_equal(x.data, y.data, x.size);
        formats_buffer_free(&a), formats_buffer_free(&x), formats_buffer_free(&y);
    }
    formats_front_free(&front);
}

/* Of the images of image i's rate class. */
static uint32_t fewest_beside(const formats_front *front, const taper_completeness *done, int i) {
    uint32_t fewest = done[i].passes;
    for (int k = 0; k < N; k++) {
        int beside =
            front->rate_classes == 1 || front->image_rate_class[k] == front->image_rate_class[i];
        if (beside && done[k].passes < fewest) fewest = done[k].passes;
    }
    return fewest;
}

/* A cut source yields the passes that all of it, or of a rate class of it, has. */
static void repack_what_is_cut(void **state) {
    fixture *f = *state;
    uint64_t front = dct_info(&f->set, f->model).front_bytes;
    double before = 0;
    formats_front parsed;
    assert_int_equal(formats_front_read(f->set.data, f->set.size, NULL, &parsed, NULL), TAPER_OK);
    assert_int_equal(parsed.rate_classes > 2, f->on_rate_classes);
    for (size_t cut = front; cut < f->set.size; cut += 1 + (f->set.size - front) / 15) {
        formats_buffer a = formats_buffer_make(1 << 24);
        taper_status status = repack(f->set.data, cut, f->model, TAPER_LAYOUT_IMAGE, 0, &a);
        if (status != TAPER_OK) {
            taper_completeness own[N];
            formats_buffer y = formats_buffer_make(1 << 24);
            assert_int_equal(status, TAPER_ERR_TRUNCATED);
            assert_int_equal(dct_pull(f->set.data, cut, f->model, &y, own), TAPER_OK);
            for (int i = 0; i < N; i++) assert_int_equal(fewest_beside(&parsed, own, i), 0);
            formats_buffer_free(&y);
        } else {
            taper_completeness done[N], own[N];
            formats_buffer x = formats_buffer_make(1 << 24), y = formats_buffer_make(1 << 24);
            assert_int_equal(dct_pull(a.data, a.size, f->model, &x, done), TAPER_OK);
            assert_int_equal(dct_pull(f->set.data, cut, f->model, &y, own), TAPER_OK);
            for (int i = 0; i < N; i++)
                assert_true(done[i].passes == fewest_beside(&parsed, own, i) && done[i].complete);
            double psnr = dct_mean_psnr(f->image, N, x.data);
            assert_true(psnr >= before - 0.05);
            before = psnr;
            formats_buffer_free(&x), formats_buffer_free(&y);
        }
        formats_buffer_free(&a);
    }
    formats_front_free(&parsed);
    formats_buffer a = formats_buffer_make(1 << 24);
    assert_int_equal(repack(f->set.data, front - 1, f->model, TAPER_LAYOUT_IMAGE, 0, &a),
                     TAPER_ERR_TRUNCATED);
    assert_int_equal(repack(f->set.data, f->set.size, NULL, TAPER_LAYOUT_IMAGE, 0, &a),
                     TAPER_ERR_MODEL);
    assert_int_equal(repack(f->set.data, f->set.size, f->model, (taper_layout)7, 0, &a),
                     TAPER_ERR_ARG);
    formats_buffer_free(&a);
}

/* Whole or cut, every byte is read once, and so decoded once; also where images were shortened each
 * by itself, and how far all of them go has to be found first. */
static void repack_reads_every_byte_once(void **state) {
    fixture *f = *state;
    uint64_t front = dct_info(&f->set, f->model).front_bytes;
    formats_buffer shorter = formats_buffer_make(1 << 24);
    size_t data = f->images.size - dct_info(&f->images, f->model).front_bytes;
    size_t most = f->images.size - data / 3;
    assert_int_equal(truncate_to(f->images.data, f->images.size, most, &shorter), TAPER_OK);
    for (size_t cut = f->set.size; cut > front + 30; cut -= (f->set.size - front) / 30) {
        counting_source own = {&f->set, 0};
        taper_source source = counting_source_of(&own, cut);
        formats_buffer out = formats_buffer_make(1 << 24);
        taper_sink sink = dct_sink(&out);
        taper_status status =
            taper_repack(&source, f->model, TAPER_LAYOUT_IMAGE, 0, &sink, NULL, NULL);
        assert_true(status == TAPER_OK || status == TAPER_ERR_TRUNCATED);
        assert_true(own.bytes <= cut);
        formats_buffer_free(&out);
    }
    const formats_buffer *file[] = {&f->images, &shorter};
    for (int i = 0; i < 2; i++) {
        counting_source own = {file[i], 0};
        taper_source source = counting_source_of(&own, file[i]->size);
        formats_buffer out = formats_buffer_make(1 << 24);
        taper_sink sink = dct_sink(&out);
        assert_int_equal(taper_repack(&source, NULL, TAPER_LAYOUT_SET, 0, &sink, NULL, NULL),
                         TAPER_OK);
        assert_true(own.bytes <= file[i]->size);
        formats_buffer_free(&out);
    }
    formats_buffer_free(&shorter);
}

/* A model that cannot encode, as its rows have no inverse, can carry codes over. */
static void repack_needs_no_inverse(void **state) {
    fixture *f = *state;
    formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
    assert_int_equal(repack(f->set.data, f->set.size, f->model, TAPER_LAYOUT_IMAGE, 0, &a), 0);
    for (uint32_t i = 0; i < f->model->network.inputs; i++) f->model->network.synthesis[i] *= 100;
    taper_encoder *encoder;
    assert_int_equal(taper_encoder_new(&encoder, f->model, NULL, NULL), TAPER_ERR_CORRUPT);
    taper_status status = repack(f->set.data, f->set.size, f->model, TAPER_LAYOUT_IMAGE, 0, &b);
    for (uint32_t i = 0; i < f->model->network.inputs; i++) f->model->network.synthesis[i] /= 100;
    assert_int_equal(status, TAPER_OK);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    formats_buffer_free(&a), formats_buffer_free(&b);
}

/* --- merge ------------------------------------------------------------------------------- */

static taper_status merge(const formats_buffer *file, size_t n, formats_buffer *out) {
    formats_memory memory[8];
    taper_source source[8] = {{0}};
    for (size_t i = 0; i < n; i++) {
        memory[i] = (formats_memory){file[i].data, file[i].size};
        source[i] = formats_memory_source(&memory[i]);
    }
    taper_sink sink = dct_sink(out);
    taper_error error = {0};
    taper_status status = taper_merge(source, n, &sink, NULL, &error);
    assert_int_equal(status, error.status);
    return status;
}

static void merge_joins_shards(void **state) {
    fixture *f = *state;
    for (int layout = 0; layout < 2; layout++) {
        taper_encode_options options = {.layout = (taper_layout)layout, .group_images = 2};
        formats_buffer shard[3], joined = formats_buffer_make(1 << 24),
                                 want = formats_buffer_make(1 << 24);
        static const int first[] = {0, 4, 8}, count[] = {4, 4, 2};
        for (int i = 0; i < 3; i++) {
            shard[i] = dct_encode(f->model, f->image + first[i], (size_t)count[i], &options, 1);
            assert_int_equal(dct_pull(shard[i].data, shard[i].size, f->model, &want, NULL),
                             TAPER_OK);
        }
        assert_int_equal(merge(shard, 3, &joined), TAPER_OK);
        assert_whole(&joined);
        formats_buffer pixels = decode(joined.data, joined.size, f->model);
        assert_int_equal(pixels.size, want.size);
        assert_memory_equal(pixels.data, want.data, want.size);
        taper_container_info info = dct_info(&joined, f->model);
        assert_int_equal(info.images, N);
        assert_int_equal(info.groups, layout ? N : 5);
        formats_front front;
        assert_int_equal(formats_front_read(joined.data, joined.size, NULL, &front, NULL),
                         TAPER_OK);
        assert_string_equal(formats_front_name(&front, 1), "f/1.png");
        assert_string_equal(formats_front_name(&front, 9), "shard-3/f/1.png");
        for (int i = 0; i < N; i++)
            assert_int_equal(front.label[i], (i < 4 ? i : i < 8 ? i - 4 : i - 8) % 3 - 1);
        formats_front_free(&front);
        for (int i = 0; i < 3; i++) formats_buffer_free(&shard[i]);
        formats_buffer_free(&joined), formats_buffer_free(&want), formats_buffer_free(&pixels);
    }
}

static void merge_of_one_is_the_same(void **state) {
    fixture *f = *state;
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(merge(&f->images, 1, &out), TAPER_OK);
    assert_int_equal(out.size, f->images.size);
    assert_memory_equal(out.data, f->images.data, out.size);
    assert_int_equal(merge(NULL, 0, &out), TAPER_ERR_ARG);
    formats_buffer_free(&out);
}

static void merge_refuses_what_does_not_fit(void **state) {
    fixture *f = *state;
    formats_buffer unused = formats_buffer_make(1 << 24), out = formats_buffer_make(1 << 24);
    taper_model *other = dct_model_make((codec_window){4, 4, 3, NULL}, 19, 6, &unused);
    formats_buffer pair[2] = {
        f->set, dct_encode(other, f->image, N, &(taper_encode_options){.group_images = 4}, 1)};
    assert_int_equal(merge(pair, 2, &out), TAPER_ERR_MODEL);
    formats_buffer_free(&pair[1]);
    pair[1] = f->images;
    assert_int_equal(merge(pair, 2, &out), TAPER_ERR_ARG); /* another layout */
    pair[1] = f->set;
    pair[1].size--;
    assert_int_equal(merge(pair, 2, &out), TAPER_ERR_ARG); /* cut by hand */
    pair[1].size = 30;
    assert_int_equal(merge(pair, 2, &out), TAPER_ERR_TRUNCATED);
    assert_int_equal(out.size, 0);
    taper_model_free(other);
    formats_buffer_free(&unused), formats_buffer_free(&out);
}

/* --- verify ------------------------------------------------------------------------------ */

static void verify_counts_what_a_cut_leaves(void **state) {
    fixture *f = *state;
    formats_front front;
    assert_int_equal(formats_front_read(f->set.data, f->set.size, NULL, &front, NULL), TAPER_OK);
    uint64_t chunks = (uint64_t)front.layers * front.groups;
    for (size_t size = front.front_size; size <= f->set.size; size++) {
        formats_memory memory = {f->set.data, size};
        taper_source source = formats_memory_source(&memory);
        taper_verify_report report = {.size = sizeof report};
        assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
        assert_int_equal(report.chunks, chunks);
        assert_int_equal(report.chunks_whole + report.chunks_cut + report.chunks_missing, chunks);
        assert_true(report.chunks_cut <= 1 && report.chunks_bad == 0);
        assert_int_equal(report.bytes_missing, f->set.size - size);
        uint32_t layers = 0;
        while (layers < front.layers &&
               front.front_size + front.chunk_at[(layers + 1) * front.groups] <= size)
            layers++;
        assert_int_equal(report.layers_whole, layers);
    }
    formats_front_free(&front);
}

static void verify_finds_every_flip(void **state) {
    fixture *f = *state;
    const formats_buffer *files[] = {&f->set, &f->images};
    for (int kind = 0; kind < 2; kind++)
        for (size_t at = 0; at < files[kind]->size; at += kind ? 13 : 1) {
            uint64_t front = dct_info(files[kind], f->model).front_bytes;
            files[kind]->data[at] ^= (uint8_t)(1u << at % 8);
            formats_memory memory = {files[kind]->data, files[kind]->size};
            taper_source source = formats_memory_source(&memory);
            taper_verify_report report = {.size = sizeof report};
            taper_error error = {0};
            taper_status status = taper_verify(&source, &report, NULL, &error);
            assert_true(status == TAPER_ERR_CORRUPT || (at < front && status != TAPER_OK));
            assert_int_equal(error.status, status);
            if (at >= front) {
                assert_true(report.chunks_bad >= 1);
                assert_true(report.first_bad_offset >= front && report.first_bad_offset <= at);
            }
            files[kind]->data[at] ^= (uint8_t)(1u << at % 8);
        }
    formats_buffer longer = formats_buffer_make(1 << 24);
    formats_write_bytes(&longer, f->set.data, f->set.size);
    formats_write_u8(&longer, 0);
    formats_memory memory = {longer.data, longer.size};
    taper_source source = formats_memory_source(&memory);
    taper_verify_report report = {.size = sizeof report};
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_ERR_CORRUPT);
    formats_buffer_free(&longer);
}

static taper_status verify_within(const formats_buffer *file, const taper_limits *limits,
                                  taper_error *error) {
    formats_memory memory = {file->data, file->size};
    taper_source source = formats_memory_source(&memory);
    taper_verify_report report = {.size = sizeof report};
    return taper_verify(&source, &report, limits, error);
}

/* A model inside that is whole by its section's checksum, and yet none, or another's, or above the
 * limits: what opening the container to decode says, verify says. */
static void verify_loads_the_model_inside(void **state) {
    fixture *f = *state;
    formats_buffer other = formats_buffer_make(1 << 24);
    taper_model *fewer = dct_model_make((codec_window){4, 4, 3, NULL}, 19, 6, &other);
    uint8_t *flipped = malloc(f->model_file.size);
    memcpy(flipped, f->model_file.data, f->model_file.size);
    flipped[f->model_file.size / 2] ^= 1;
    const struct {
        const void *model;
        size_t size;
        taper_limits limits;
        taper_status want;
    } cases[] = {
        {f->model_file.data, f->model_file.size, {.size = sizeof(taper_limits)}, TAPER_OK},
        {f->model_file.data,
         f->model_file.size - 1,
         {.size = sizeof(taper_limits)},
         TAPER_ERR_CORRUPT},
        {flipped, f->model_file.size, {.size = sizeof(taper_limits)}, TAPER_ERR_CORRUPT},
        {"no model", 8, {.size = sizeof(taper_limits)}, TAPER_ERR_CORRUPT},
        {other.data, other.size, {.size = sizeof(taper_limits)}, TAPER_ERR_CORRUPT},
        {f->model_file.data,
         f->model_file.size,
         {.size = sizeof(taper_limits), .max_model_bytes = 1000},
         TAPER_ERR_LIMIT},
        {f->model_file.data,
         f->model_file.size,
         {.size = sizeof(taper_limits), .max_work = 1},
         TAPER_ERR_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        formats_buffer file = dct_carry(&f->set, cases[i].model, cases[i].size, NULL, 0);
        formats_memory memory = {file.data, file.size};
        taper_source source = formats_memory_source(&memory);
        taper_decoder *decoder;
        taper_error error = {0}, of_decoder = {0};
        taper_status status = verify_within(&file, &cases[i].limits, &error);
        assert_int_equal(status, cases[i].want);
        assert_int_equal(open_decoder(&decoder, &source, NULL, &cases[i].limits, &of_decoder),
                         status);
        assert_string_equal(error.text, of_decoder.text);
        close_decoder(decoder);
        formats_buffer_free(&file);
    }
    free(flipped);
    taper_model_free(fewer);
    formats_buffer_free(&other);
}

/* Damage is not given a fresh checksum: what would carry it on refuses. */
static void damage_is_not_passed_on(void **state) {
    fixture *f = *state;
    formats_buffer out = formats_buffer_make(1 << 24);
    uint64_t front = dct_info(&f->set, f->model).front_bytes;
    for (int where = 0; where < 2; where++) {
        size_t at = where ? f->set.size - 2 : front + 1;
        f->set.data[at] ^= 4;
        assert_int_equal(merge(&f->set, 1, &out), TAPER_ERR_CORRUPT);
        assert_int_equal(repack(f->set.data, f->set.size, f->model, TAPER_LAYOUT_IMAGE, 0, &out),
                         TAPER_ERR_CORRUPT);
        assert_int_equal(truncate_to(f->set.data, f->set.size, UINT64_MAX, &out),
                         TAPER_ERR_CORRUPT);
        assert_int_equal(out.size, 0);
        taper_status status =
            truncate_to(f->set.data, f->set.size, front + (f->set.size - front) / 2, &out);
        assert_int_equal(status, where ? TAPER_OK
                                       : TAPER_ERR_CORRUPT); /* damage behind the cut goes away */
        out.size = 0;
        f->set.data[at] ^= 4;
    }
    formats_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncate_fits_and_loses_nothing),
        cmocka_unit_test(truncate_fits_with_other_checksums),
        cmocka_unit_test(truncate_decodes_like_the_prefix),
        cmocka_unit_test(truncate_between_layers),
        cmocka_unit_test(truncate_what_is_cut),
        cmocka_unit_test(truncate_is_fair_to_images),
        cmocka_unit_test(repack_keeps_every_pixel),
        cmocka_unit_test(repack_after_layers_keeps_pixels),
        cmocka_unit_test(repack_what_is_cut),
        cmocka_unit_test(repack_reads_every_byte_once),
        cmocka_unit_test(repack_needs_no_inverse),
        cmocka_unit_test(merge_joins_shards),
        cmocka_unit_test(merge_of_one_is_the_same),
        cmocka_unit_test(merge_refuses_what_does_not_fit),
        cmocka_unit_test(verify_counts_what_a_cut_leaves),
        cmocka_unit_test(verify_finds_every_flip),
        cmocka_unit_test(verify_loads_the_model_inside),
        cmocka_unit_test(damage_is_not_passed_on),
    };
    int whole = cmocka_run_group_tests(tests, make, drop);
    int parts = cmocka_run_group_tests(tests, make_in_parts, drop);
    return whole + parts + cmocka_run_group_tests(tests, make_on_rate_classes, drop);
}

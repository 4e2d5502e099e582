/* test_merge.c -- taper_merge: what was cut, other layers, names, classes. */
#include "cmocka_all.h"
#include "codec/groups/assemble.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"

enum { N = 12, SHARDS = 20 };

typedef struct fixture {
    taper_model *model;
    formats_buffer model_file;
    taper_image image[N];
} fixture;

static int make_of(void **state, uint32_t parts) {
    static fixture f;
    f = (fixture){.model_file = formats_buffer_make(1 << 24)};
    f.model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, 20, 6, parts, &f.model_file);
    for (int i = 0; i < N; i++)
        f.image[i] = dct_picture(i % 3 ? 12 : 4, i / 2 % 2 ? 8 : 4, i % 4 ? 3 : 1, (uint64_t)i);
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

/* model: NULL: it is not given. */
static taper_status merge_by(const taper_model *model, const formats_buffer *file, size_t n,
                             formats_buffer *out, taper_error *error) {
    const taper_merge_options how = {.size = sizeof how, .model = model};
    formats_memory memory[SHARDS];
    taper_source source[SHARDS];
    for (size_t i = 0; i < n; i++) source[i] = source_of(&memory[i], &file[i]);
    *out = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(out);
    *error = (taper_error){0};
    taper_status status = taper_merge(source, n, &sink, model ? &how : NULL, error);
    assert_int_equal(status, error->status);
    if (status != TAPER_OK) assert_int_equal(out->size, 0);
    return status;
}
static taper_status merge(const formats_buffer *file, size_t n, formats_buffer *out,
                          taper_error *error) {
    return merge_by(NULL, file, n, out, error);
}

/* Empty where that does not hold the front matter. */
static formats_buffer truncated(const formats_buffer *file, uint64_t most) {
    formats_memory memory;
    taper_source source = source_of(&memory, file);
    formats_buffer out = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&out);
    taper_status status = taper_truncate(&source, most, &sink, NULL, NULL);
    assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT);
    return out;
}

/* Images from `first` on, of the fixture's. */
static formats_buffer encoded(const fixture *f, size_t first, size_t n,
                              taper_encode_options options) {
    return dct_encode(f->model, f->image + first, n, &options, 1);
}

static taper_decoder *pushed(const formats_buffer *file, const taper_model *model) {
    taper_decoder *decoder;
    assert_int_equal(stream_decoder(&decoder, model, NULL, NULL), TAPER_OK);
    for (size_t at = 0; at < file->size; at += 7)
        assert_int_equal(taper_decoder_push(decoder, file->data + at,
                                            file->size - at < 7 ? file->size - at : 7, NULL),
                         TAPER_OK);
    return decoder;
}

/* Joined, the shards are one whole container, and every image of it has the pixels and the passes
 * that it has in its shard, from a source and pushed. Returns the result. */
static formats_buffer assert_joins_by(const taper_model *model, const fixture *f,
                                      const formats_buffer *shard, size_t n) {
    formats_buffer out, want = formats_buffer_make(1 << 24), pixels = formats_buffer_make(1 << 24),
                        again = formats_buffer_make(1 << 24);
    taper_error error;
    taper_completeness own[SHARDS * N], done[SHARDS * N];
    size_t images = 0;
    for (size_t s = 0; s < n; s++) {
        assert_int_equal(dct_pull(shard[s].data, shard[s].size, f->model, &want, own + images),
                         TAPER_OK);
        images += (size_t)dct_info(&shard[s], f->model).images;
    }
    if (merge_by(model, shard, n, &out, &error) != TAPER_OK) fail_msg("%s", error.text);
    formats_memory memory;
    taper_source source = source_of(&memory, &out);
    taper_verify_report report = {.size = sizeof report};
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
    assert_true(report.chunks_whole == report.chunks && report.bytes_missing == 0);
    assert_int_equal(dct_info(&out, f->model).images, images);
    assert_int_equal(dct_pull(out.data, out.size, f->model, &pixels, done), TAPER_OK);
    assert_int_equal(pixels.size, want.size);
    assert_memory_equal(pixels.data, want.data, want.size);
    for (size_t i = 0; i < images; i++) {
        assert_int_equal(done[i].passes, own[i].passes);
        assert_true(done[i].complete && own[i].complete);
    }
    taper_decoder *decoder = pushed(&out, f->model);
    assert_int_equal(dct_render_all(decoder, &again, NULL), TAPER_OK);
    assert_memory_equal(again.data, want.data, want.size);
    close_decoder(decoder);
    formats_buffer_free(&want), formats_buffer_free(&pixels), formats_buffer_free(&again);
    return out;
}

static formats_buffer assert_joins(const fixture *f, const formats_buffer *shard, size_t n) {
    return assert_joins_by(NULL, f, shard, n);
}

static formats_front front_of(const formats_buffer *file) {
    formats_front front;
    assert_int_equal(formats_front_read(file->data, file->size, NULL, &front, NULL), TAPER_OK);
    return front;
}

static void free_all(formats_buffer *file, size_t n) {
    for (size_t i = 0; i < n; i++) formats_buffer_free(&file[i]);
}

/* The same of containers that are open, which are closed. */
static void assert_opens(const formats_buffer *file, size_t n, const formats_buffer *want) {
    formats_memory memory[SHARDS];
    taper_source source[SHARDS];
    taper_container *open[SHARDS];
    const taper_open_options without = {.size = sizeof without, .without_model = 1};
    const taper_merge_options how = {.size = sizeof how, .open = open};
    formats_buffer out = formats_buffer_make(1 << 24);
    const taper_sink sink = dct_sink(&out);
    for (size_t i = 0; i < n; i++) {
        source[i] = source_of(&memory[i], &file[i]);
        assert_int_equal(taper_container_open(&open[i], &source[i], &without, NULL), TAPER_OK);
    }
    assert_int_equal(taper_merge(source, n, &sink, &how, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++) assert_null(open[i]);
    assert_int_equal(out.size, want->size);
    assert_memory_equal(out.data, want->data, want->size);
    formats_buffer_free(&out);
}

/* One byte of the data of the middle one of three shards is wrong, at any place. The shards have
 * other numbers of chunks in a block than the result, blocks that end at other chunks, or one. */
static void damage_is_found_anywhere(void **state) {
    fixture *f = *state;
    for (int layout = 0; layout < 3; layout++) {
        const taper_encode_options options = {.layout = (taper_layout)layout, .group_images = 1};
        formats_buffer out, shard[3] = {encoded(f, 0, 5, options), encoded(f, 5, 4, options),
                                        encoded(f, 9, 3, options)};
        formats_front front = front_of(&shard[1]);
        taper_error error;
        assert_true(layout == 0 || front.chunks_per_checksum > 1);
        for (uint64_t at = front.front_size; at < shard[1].size; at += 5) {
            shard[1].data[at] ^= 64;
            assert_int_equal(merge(shard, 3, &out, &error), TAPER_ERR_CORRUPT);
            assert_int_equal(error.item, 2);
            assert_non_null(strstr(error.text, "container 2: "));
            assert_non_null(strstr(error.text, "damaged, the first at byte"));
            formats_buffer_free(&out);
            shard[1].data[at] ^= 64;
        }
        out = assert_joins(f, shard, 3);
        assert_opens(shard, 3, &out);
        formats_buffer_free(&out);
        formats_front_free(&front);
        free_all(shard, 3);
    }
}

/* A shard cut anywhere, between two others, one of them whole; all of them in several groups, so
 * that whole chunks stand behind cut ones. */
static void merge_takes_truncated_files(void **state) {
    fixture *f = *state;
    for (int layout = 0; layout < 2; layout++) {
        taper_encode_options options = {.layout = (taper_layout)layout, .group_images = 2};
        formats_buffer a = encoded(f, 0, 5, options), b = encoded(f, 5, 4, options),
                       c = encoded(f, 9, 3, options);
        int joined = 0;
        for (uint64_t most = 0; most < b.size + 9; most += layout ? 3 : 7) {
            formats_buffer shard[3] = {truncated(&a, a.size - 60), truncated(&b, most), c};
            if (!shard[1].size) {
                formats_buffer_free(&shard[0]);
                continue;
            }
            joined++;
            formats_buffer out = assert_joins(f, shard, 3);
            formats_buffer reversed[3] = {c, shard[1], shard[0]},
                           out2 = assert_joins(f, reversed, 3);
            formats_buffer twice[2] = {out2, out}, out3 = assert_joins(f, twice, 2);
            formats_buffer_free(&out), formats_buffer_free(&out2), formats_buffer_free(&out3);
            free_all(shard, 2);
        }
        assert_true(joined > 15);
        formats_buffer_free(&a), formats_buffer_free(&b), formats_buffer_free(&c);
    }
}

/* Whole images of several strips stand behind cut ones, and among images of one strip. The model is
 * carried, or given to merge. */
static void merge_keeps_whole_strips(void **state) {
    fixture *f = *state;
    static const uint32_t side[] = {160, 200, 4,
                                    256}; /* of pixels, 4 a window: 2, 2, 1, 3 strips */
    taper_image image[4];
    for (unsigned i = 0; i < 4; i++) image[i] = picture_scene(side[i], side[i], 3, i);
    for (unsigned k = 0; k < 6; k++) {
        const int carries = k & 1;
        const taper_encode_options options = {.layout = (taper_layout)(k / 2),
                                              .group_images = 1,
                                              .embed_model = carries,
                                              .model_bytes = f->model_file.data,
                                              .model_size = f->model_file.size};
        const taper_model *given = carries ? NULL : f->model;
        formats_buffer first = encoded(f, 0, 4, options);
        formats_buffer shard[2] = {truncated(&first, first.size - 9),
                                   dct_encode(f->model, image, 4, &options, 1)};
        formats_buffer out = assert_joins_by(given, f, shard, 2), twice[2] = {out, shard[1]},
                       again = assert_joins_by(given, f, twice, 2);
        formats_buffer_free(&first), formats_buffer_free(&out), formats_buffer_free(&again);
        free_all(shard, 2);
    }
    for (int i = 0; i < 4; i++) formats_image_free(&image[i]);
}

/* Of a model that is not known merge takes every image for one strip: what it writes is legal, and
 * of the same images. Another model is refused. */
static void merge_without_the_model(void **state) {
    fixture *f = *state;
    const taper_encode_options options = {.layout = TAPER_LAYOUT_IMAGE};
    taper_image image = picture_scene(256, 256, 3, 3);
    formats_buffer first = encoded(f, 0, 4, options), out, pixels = formats_buffer_make(1 << 24);
    formats_buffer shard[2] = {truncated(&first, first.size - 9),
                               dct_encode(f->model, &image, 1, &options, 1)};
    formats_memory memory;
    taper_model *other;
    taper_error error;
    taper_completeness done[5];
    assert_int_equal(merge(shard, 2, &out, &error), TAPER_OK);
    const taper_source source = source_of(&memory, &out);
    taper_verify_report report = {.size = sizeof report};
    assert_int_equal(taper_verify(&source, &report, NULL, NULL), TAPER_OK);
    assert_int_equal(dct_pull(out.data, out.size, f->model, &pixels, done), TAPER_OK);
    assert_true(done[4].passes + 8 > done[4].passes_in_file);
    formats_buffer_free(&out);
    assert_int_equal(taper_model_builtin(&other, "tiny", NULL), TAPER_OK);
    assert_int_equal(merge_by(other, shard, 2, &out, &error), TAPER_ERR_MODEL);
    formats_buffer_free(&out), formats_buffer_free(&first), formats_buffer_free(&pixels);
    free_all(shard, 2);
    formats_image_free(&image);
    taper_model_free(other);
}

/* A target of the encoder cuts, too; where it does so, its layers end elsewhere. */
static void merge_takes_what_encode_cut(void **state) {
    fixture *f = *state;
    static const uint64_t target[] = {20000, 300000, 1000000, 2200000};
    formats_buffer shard[4];
    for (int i = 0; i < 4; i++)
        shard[i] = encoded(
            f, (size_t)i * 3, 3,
            (taper_encode_options){.group_images = 2, .target_bytes_per_megapixel = target[i]});
    formats_buffer out = assert_joins(f, shard, 4), one = assert_joins(f, shard, 1);
    assert_int_equal(one.size, shard[0].size); /* of one nothing changes */
    assert_memory_equal(one.data, shard[0].data, one.size);
    formats_buffer_free(&out), formats_buffer_free(&one);
    free_all(shard, 4);
}

/* Sets of other sizes have other layers; an image alone has others still. */
static void merge_joins_other_layers(void **state) {
    fixture *f = *state;
    taper_image big = dct_picture(90, 70, 3, 5);
    formats_buffer shard[4] = {
        encoded(f, 0, 10, (taper_encode_options){.group_images = 0}),
        encoded(f, 10, 1, (taper_encode_options){.group_images = 0}),
        dct_encode(f->model, &big, 1, NULL, 1),
        encoded(f, 3, 9, (taper_encode_options){.group_images = 300}),
    };
    formats_front a = front_of(&shard[0]), b = front_of(&shard[1]), c = front_of(&shard[3]);
    assert_true(a.layers != b.layers && a.layers != c.layers);
    formats_buffer out = assert_joins(f, shard, 4);
    formats_front joined = front_of(&out);
    assert_true(joined.rate_classes > 2);
    /* A prefix of the whole holds something of every shard. */
    taper_completeness done[N + 9];
    formats_buffer pixels = formats_buffer_make(1 << 24);
    assert_int_equal(dct_pull(out.data, joined.front_size + (out.size - joined.front_size) / 4,
                              f->model, &pixels, done),
                     TAPER_OK);
    for (int i = 0; i < N + 9; i++) assert_true(done[i].passes > 0);
    formats_buffer_free(&pixels);
    formats_front_free(&a), formats_front_free(&b), formats_front_free(&c);
    formats_front_free(&joined);
    formats_buffer_free(&out);
    free_all(shard, 4);
    formats_image_free(&big);
}

/* Shards in rate classes, the rate classes of which depend on the images; cut or not. */
static void merge_joins_rate_classes(void **state) {
    fixture *f = *state;
    taper_encode_options mean = {.group_images = 2, .allocation = TAPER_ALLOCATION_MEAN};
    formats_buffer shard[3] = {encoded(f, 0, 5, mean), encoded(f, 4, 8, mean), {0}};
    formats_front a = front_of(&shard[0]), b = front_of(&shard[1]);
    assert_true(a.rate_classes > 1 && b.rate_classes > 1 &&
                a.rate_classes + b.rate_classes <= FORMATS_MAX_RATE_CLASSES);
    formats_buffer out = assert_joins(f, shard, 2);
    formats_front joined = front_of(&out);
    assert_true(joined.rate_classes < a.rate_classes + b.rate_classes); /* they share some */
    shard[2] = truncated(&shard[0], shard[0].size - 40);
    formats_buffer cut = assert_joins(f, shard + 1, 2);
    formats_front_free(&a), formats_front_free(&b), formats_front_free(&joined);
    formats_buffer_free(&out), formats_buffer_free(&cut);
    free_all(shard, 3);
}

/* As many ways to end as there are rate classes, and one more. */
static void merge_says_when_rate_classes_run_out(void **state) {
    fixture *f = *state;
    formats_buffer whole = encoded(f, 0, 2, (taper_encode_options){.group_images = 50000});
    formats_front front = front_of(&whole);
    formats_buffer shard[SHARDS], out;
    taper_error error;
    uint32_t n = 0;
    for (uint32_t l = 0; n < 17; l++) { /* each ends with another layer, whole */
        assert_true(l < front.layers);
        if (front.chunk_at[l + 1] == front.chunk_at[l]) continue;
        formats_buffer cut = whole;
        cut.size = (size_t)(front.front_size + front.chunk_at[l + 1]);
        shard[n++] = truncated(&cut, UINT64_MAX);
    }
    out = assert_joins(f, shard, 16);
    formats_buffer_free(&out);
    assert_int_equal(merge(shard, 17, &out, &error), TAPER_ERR_LIMIT);
    assert_non_null(strstr(error.text, "container 17"));
    formats_buffer_free(&out);
    formats_front_free(&front);
    free_all(shard, 17);
    formats_buffer_free(&whole);
}

/* --- names and classes --------------------------------------------------------------------- */

/* Small images with these names (NULL: none), labels i % classes. */
static formats_buffer named(const fixture *f, const char *const *name, size_t n,
                            const char *const *class, size_t classes) {
    formats_buffer out = formats_buffer_make(1 << 24);
    taper_encoder *encoder;
    taper_sink sink = dct_sink(&out);
    assert_int_equal(taper_encoder_new(&encoder, f->model, NULL, NULL), TAPER_OK);
    if (classes)
        assert_int_equal(taper_encoder_set_classes(encoder, class, classes, NULL), TAPER_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taper_encoder_add(encoder, &f->image[0], name[i],
                                           classes ? (int32_t)(i % classes) : -1, NULL),
                         TAPER_OK);
    assert_int_equal(taper_encoder_finish(encoder, 0, &sink, NULL), TAPER_OK);
    taper_encoder_free(encoder);
    return out;
}

static formats_front merged_front(formats_buffer *shard, size_t n) {
    formats_buffer out;
    taper_error error;
    if (merge(shard, n, &out, &error) != TAPER_OK) fail_msg("%s", error.text);
    formats_front front = front_of(&out);
    formats_buffer_free(&out);
    free_all(shard, n);
    return front;
}

static void merge_renames_what_clashes(void **state) {
    fixture *f = *state;
    static const char *const a[] = {"x.png", "y.png", "shard-3/z.png", "x.png"},
                             *const b[] = {"x.png", "z.png", "x.png"},
                             *const c[] = {"z.png", "y.png", "q"}, *const none[] = {NULL, NULL};
    formats_buffer shard[] = {named(f, a, 4, NULL, 0), named(f, b, 3, NULL, 0),
                              named(f, c, 3, NULL, 0), named(f, none, 2, NULL, 0)};
    static const char *const want[] = {"x.png",         "y.png", "shard-3/z.png", "x.png",
                                       "shard-2/x.png", "z.png", "shard-2/x.png", "shard-4/z.png",
                                       "shard-4/y.png", "q",     "000011.png",    "000012.png"};
    formats_front front = merged_front(shard, 4);
    assert_int_equal(front.images, 12);
    for (uint32_t i = 0; i < 12; i++) assert_string_equal(formats_front_name(&front, i), want[i]);
    formats_front_free(&front);
}

/* Names of the greatest length have no room for a folder before them. */
static void merge_keeps_names_legal(void **state) {
    fixture *f = *state;
    for (int length = 4080; length <= 4095; length++) {
        char name[4096];
        for (int i = 0; i < length; i++) name[i] = i % 20 == 19 && i + 1 < length ? '/' : 'n';
        name[length] = 0;
        const char *const names[] = {name};
        formats_buffer shard[] = {named(f, names, 1, NULL, 0), named(f, names, 1, NULL, 0)};
        formats_front front = merged_front(shard, 2);
        const char *second = formats_front_name(&front, 1);
        assert_string_equal(formats_front_name(&front, 0), name);
        assert_int_equal(strncmp(second, "shard-2/", 8), 0);
        assert_string_equal(second + 8, length + 8 <= 4095 ? name : "000002.png");
        formats_front_free(&front);
    }
}

static void merge_joins_classes_by_name(void **state) {
    fixture *f = *state;
    static const char *const names[] = {NULL, NULL, NULL, NULL}, *const a[] = {"cat", "dog", "cat"},
                             *const b[] = {"emu", "dog"}, *const c[] = {"cat", "ant", "cat", "cat"};
    formats_buffer shard[] = {named(f, names, 3, a, 3), named(f, names, 2, NULL, 0),
                              named(f, names, 2, b, 2), named(f, names, 4, c, 4)};
    static const char *const want[] = {"cat", "dog", "cat", "emu", "ant", "cat"};
    static const int32_t label[] = {0, 1, 2, -1, -1, 3, 1, 0, 4, 2, 5};
    formats_front front = merged_front(shard, 4);
    assert_int_equal(front.classes, 6);
    for (uint32_t k = 0; k < 6; k++)
        assert_string_equal(formats_front_class_name(&front, k), want[k]);
    for (int i = 0; i < 11; i++) assert_int_equal(front.label[i], label[i]);
    assert_null(front.names);
    formats_front_free(&front);
}

/* A model that any shard carries goes along. */
static void merge_keeps_the_model(void **state) {
    fixture *f = *state;
    formats_buffer shard[] = {encoded(f, 0, 2, (taper_encode_options){.group_images = 2}),
                              encoded(f, 2, 2,
                                      (taper_encode_options){.group_images = 2,
                                                             .embed_model = 1,
                                                             .model_bytes = f->model_file.data,
                                                             .model_size = f->model_file.size})};
    formats_front front = merged_front(shard, 2);
    assert_int_equal(front.model_size, f->model_file.size);
    formats_front_free(&front);
}

/* --- what is written is read before -------------------------------------------------------- */

/* The chunks of a file with this front. */
typedef struct of_file {
    const formats_buffer *file;
    const formats_front *front;
} of_file;

static taper_status read_chunk(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    const of_file *of = user;
    uint64_t chunk = (uint64_t)layer * of->front->groups + group;
    memcpy(to, of->file->data + of->front->front_size + of->front->chunk_at[chunk] + from, n);
    return TAPER_OK;
}

static taper_status assemble(const formats_buffer *file, formats_front *front,
                             const taper_limits *limits, formats_buffer *out, taper_error *error) {
    of_file of = {file, front};
    codec_chunks chunks = {.user = &of, .read = read_chunk};
    taper_sink sink = dct_sink(out);
    *error = (taper_error){0};
    return codec_assemble(front, &chunks, UINT64_MAX, limits, &sink, error);
}

/* Whatever the writers of containers have put together wrongly: no reader would take it, so not a
 * byte of it goes out. */
static void what_cannot_be_read_is_not_written(void **state) {
    fixture *f = *state;
    formats_buffer file = encoded(f, 0, 4, (taper_encode_options){.group_images = 2}),
                   out = formats_buffer_make(1 << 24);
    formats_front front = front_of(&file);
    taper_error error;
    assert_int_equal(assemble(&file, &front, NULL, &out, &error), TAPER_OK);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.data, file.data, file.size);
    out.size = 0;
    taper_limits few = {.size = sizeof(taper_limits), .max_images = 3};
    assert_int_equal(assemble(&file, &front, &few, &out, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_IMAGES);
    front.names[1] = '\n'; /* of f/0.png */
    assert_int_equal(assemble(&file, &front, NULL, &out, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "cannot be read again"));
    front.names[1] = '/';
    front.label[2] = 7;
    assert_int_equal(assemble(&file, &front, NULL, &out, &error), TAPER_ERR_CORRUPT);
    assert_int_equal(error.status, TAPER_ERR_CORRUPT);
    assert_int_equal(out.size, 0);
    formats_front_free(&front);
    formats_buffer_free(&file), formats_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_found_anywhere),
        cmocka_unit_test(merge_takes_truncated_files),
        cmocka_unit_test(merge_keeps_whole_strips),
        cmocka_unit_test(merge_without_the_model),
        cmocka_unit_test(merge_takes_what_encode_cut),
        cmocka_unit_test(merge_joins_other_layers),
        cmocka_unit_test(merge_joins_rate_classes),
        cmocka_unit_test(merge_says_when_rate_classes_run_out),
        cmocka_unit_test(merge_renames_what_clashes),
        cmocka_unit_test(merge_keeps_names_legal),
        cmocka_unit_test(merge_joins_classes_by_name),
        cmocka_unit_test(merge_keeps_the_model),
        cmocka_unit_test(what_cannot_be_read_is_not_written),
    };
    int whole = cmocka_run_group_tests(tests, make, drop);
    return whole + cmocka_run_group_tests(tests, make_in_parts, drop);
}

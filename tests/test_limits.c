/* test_limits.c -- what the process takes, measured, against what a handle may take: containers of
 * a few bytes that ask for gigabytes. */
#define _DEFAULT_SOURCE /* fork, wait, getrusage */
#include "cmocka_all.h"
#include "tests/open_decoder.h"
#include "codec/taper.h"
#include "dct_model.h"
#include "formats/container.h"
#include "infos.h"
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    SLACK = 24 * MIB, /* the allocator's, stacks, and what zstd takes */
    CLOSE = 4 * MIB   /* the same where zstd unpacks next to nothing */
};

#if defined(__SANITIZE_ADDRESS__)
/* What was freed is not kept to be watched; a block that grows still moves, for which the limit is
 * counted twice. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}
enum { TIMES = 2 };
#else
enum { TIMES = 1 };
#endif

static uint64_t most_of(const taper_limits *limits) { return TIMES * limits->max_memory + SLACK; }

/* A front's bytes, and zeros after them. */
typedef struct zeros_after {
    formats_buffer front;
    uint64_t reads;
} zeros_after;

static taper_status read_zeros(void *user, uint64_t offset, void *to, size_t n) {
    zeros_after *s = user;
    memset(to, 0, n);
    if (offset < s->front.size) {
        size_t left = s->front.size - (size_t)offset;
        memcpy(to, s->front.data + offset, n < left ? n : left);
    }
    return TAPER_OK;
}

/* What a container of `images` images of side x side says in front of its chunks, each of so many
 * bytes of one layer. Each image is a group, in a rate class of its own where there are several
 * rate classes. passes: 0: of one pass, with wrong checksums; or of all passes of the model, with
 * right ones. */
static zeros_after container_of(const taper_model *model, uint32_t images, uint32_t side,
                                uint32_t rate_classes, uint64_t chunk, uint32_t passes) {
    zeros_after s = {formats_buffer_make(1 << 28), 0};
    formats_front f = {.model_id = info_of_model(model).id,
                       .images = images,
                       .groups = images,
                       .layers = 1,
                       .rate_classes = rate_classes,
                       .tail = !passes, /* nothing is said of where the passes end */
                       .chunks_per_checksum = 1};
    f.geometry = calloc(images, sizeof *f.geometry);
    f.group_first = calloc((size_t)images + 1, sizeof *f.group_first);
    f.chunk_at = calloc((size_t)images + 1, sizeof *f.chunk_at);
    f.checksum = calloc(images, sizeof *f.checksum);
    f.layer_end = calloc(rate_classes, sizeof *f.layer_end);
    f.group_rate_class = rate_classes > 1 ? calloc(images, 1) : NULL;
    f.image_rate_class = rate_classes > 1 ? calloc(images, 1) : NULL;
    assert_true(f.geometry && f.group_first && f.chunk_at && f.checksum && f.layer_end);
    for (uint32_t i = 0; i < images; i++) {
        f.geometry[i] = (formats_geometry){side, side, 3, 8, 0, 0};
        f.group_first[i + 1] = i + 1;
        f.chunk_at[i + 1] = f.chunk_at[i] + chunk;
        if (i % 400 == 0) f.checksum[i] = i * 2654435761u; /* packed a thousandfold it is refused */
        if (rate_classes > 1)
            f.group_rate_class[i] = f.image_rate_class[i] = (uint8_t)(i % rate_classes);
    }
    uint8_t *zeros = calloc(1, (size_t)chunk + 1);
    assert_non_null(zeros);
    for (uint32_t i = 0; i < images && passes; i++)
        f.checksum[i] = formats_crc32c(0, zeros, (size_t)chunk);
    free(zeros);
    for (uint32_t t = 0; t < rate_classes; t++) f.layer_end[t] = passes ? passes : 1;
    assert_int_equal(formats_front_write(&f, &s.front, NULL), TAPER_OK);
    formats_front_free(&f);
    return s;
}

static zeros_after container(const taper_model *model, uint32_t images, uint32_t side,
                             uint32_t rate_classes, uint64_t chunk) {
    return container_of(model, images, side, rate_classes, chunk, 0);
}

static uint64_t peak_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* What a process of its own takes beyond what it begins with. */
typedef taper_status work(const taper_source *source, const taper_model *model,
                          const taper_limits *limits);

static uint64_t measure(work *run, const taper_source *source, const taper_model *model,
                        const taper_limits *limits, taper_status *status) {
    int ends[2];
    struct {
        uint64_t bytes;
        taper_status status;
    } result = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        uint64_t before = peak_bytes();
        result.status = run(source, model, limits);
        result.bytes = peak_bytes() - before;
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &result, sizeof result), sizeof result);
    close(ends[0]);
    waitpid(child, NULL, 0);
    *status = result.status;
    return result.bytes;
}

static taper_status render_all(taper_decoder *decoder) {
    taper_container_info info = {.size = sizeof info};
    taper_status worst = taper_container_get_info(taper_decoder_container(decoder), &info, NULL);
    for (uint64_t i = 0; i < info.images && worst == TAPER_OK; i++) {
        taper_image_info image = {.size = sizeof image};
        taper_container_get_image(taper_decoder_container(decoder), i, &image, NULL);
        taper_image out = {.pixels = malloc((size_t)image.bytes)};
        worst = taper_decoder_render(decoder, i, &out, NULL, NULL);
        free(out.pixels);
    }
    return worst;
}

static taper_status decode(const taper_source *source, const taper_model *model,
                           const taper_limits *limits) {
    taper_decoder *decoder;
    taper_status status = open_decoder(&decoder, source, model, limits, NULL);
    if (status == TAPER_OK) status = render_all(decoder);
    close_decoder(decoder);
    return status;
}

static taper_status push(const taper_source *source, const taper_model *model,
                         const taper_limits *limits) {
    static uint8_t piece[1 << 16];
    taper_decoder *decoder;
    taper_status status = stream_decoder(&decoder, model, limits, NULL);
    for (uint64_t at = 0; at < source->size && status == TAPER_OK; at += sizeof piece) {
        uint64_t left = source->size - at;
        size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
        read_zeros(source->user, at, piece, n);
        status = taper_decoder_push(decoder, piece, n, NULL);
    }
    if (status == TAPER_OK) status = render_all(decoder);
    close_decoder(decoder);
    return status;
}

static taper_status verify(const taper_source *source, const taper_model *model,
                           const taper_limits *limits) {
    taper_verify_report report = {.size = sizeof report};
    (void)model;
    return taper_verify(source, &report, limits, NULL);
}

static taper_status discard(void *user, const void *bytes, size_t n) {
    (void)user, (void)bytes, (void)n;
    return TAPER_OK;
}

static taper_status cut(const taper_source *source, const taper_model *model,
                        const taper_limits *limits) {
    taper_sink sink = {NULL, discard};
    (void)model;
    return taper_truncate(source, source->size - 1, &sink, limits, NULL);
}

/* Into one with itself, several times. */
static taper_status join(const taper_source *source, const taper_model *model,
                         const taper_limits *limits) {
    taper_sink sink = {NULL, discard};
    taper_source all[8] = {*source, *source, *source, *source, *source, *source, *source, *source};
    (void)model;
    return taper_merge(
        all, 8, &sink,
        &(taper_merge_options){.size = sizeof(taper_merge_options), .limits = limits}, NULL);
}

static int make(void **state) {
    formats_buffer file = formats_buffer_make(1 << 24);
    *state = dct_model_make((codec_window){4, 4, 3, NULL}, 0, 6, &file);
    formats_buffer_free(&file);
    return 0;
}

static int drop(void **state) {
    taper_model_free(*state);
    return 0;
}

/* Each of 8 rate classes may hold an image that was rendered and the state of its group: together
 * they stay within the limit, and the images are rendered all the same. */
static void rate_classes_share_one_limit(void **state) {
    enum { IMAGES = 8, SIDE = 800, PIXELS = SIDE * SIDE * 3 /* the caller's */ };
    taper_model *model = *state;
    const uint64_t one = dct_state_bytes(model, SIDE / 4, SIDE / 4), chunk = SIDE * SIDE / 8;
    zeros_after s = container_of(model, IMAGES, SIDE, IMAGES, chunk, info_of_model(model).passes);
    taper_source source = {&s, s.front.size + IMAGES * chunk, read_zeros};
    taper_limits limits = {.size = sizeof limits, .max_memory = 3 * IMAGES * one};
    taper_status status;
    const uint64_t all = measure(decode, &source, model, &limits, &status); /* groups are kept */
    assert_int_equal(status, TAPER_OK);
    limits.max_memory = 2 * one + one / 4; /* one group is kept, or a little more */
    const uint64_t few = measure(decode, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_OK);
    assert_in_range(few, one / 2, TIMES * limits.max_memory + PIXELS + CLOSE);
    assert_true(all > few + one);
    limits.max_memory = one; /* strip by strip */
    const uint64_t strips = measure(decode, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_OK);
    assert_in_range(strips, PIXELS, TIMES * one / 4 + PIXELS + CLOSE);
    formats_buffer_free(&s.front);
}

/* Render image 0; the memory that the refusal asks for, or 0 after TAPER_OK. */
static uint64_t memory_asked_for(const taper_source *source, const taper_model *model,
                                 const taper_limits *limits) {
    taper_decoder *decoder;
    taper_error error = {0};
    taper_status status = open_decoder(&decoder, source, model, limits, &error);
    taper_image_info image = {.size = sizeof image};
    if (status == TAPER_OK) {
        taper_container_get_image(taper_decoder_container(decoder), 0, &image, NULL);
        taper_image out = {.pixels = malloc((size_t)image.bytes)};
        status = taper_decoder_render(decoder, 0, &out, NULL, &error);
        free(out.pixels);
    }
    close_decoder(decoder);
    if (status == TAPER_OK) return 0;
    assert_int_equal(status, TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    return error.needed;
}

/* A large image is decoded strip by strip in a small part of what its group takes. A refusal names
 * a limit that leads there; what is taken then stays within it. */
static void refusals_name_the_memory_of_strips(void **state) {
    enum { SIDE = 1600, PIXELS = SIDE * SIDE * 3 /* the caller's */ };
    taper_model *model = *state;
    const uint64_t one = dct_state_bytes(model, SIDE / 4, SIDE / 4), chunk = SIDE * SIDE / 8;
    zeros_after s = container_of(model, 1, SIDE, 1, chunk, info_of_model(model).passes);
    taper_source source = {&s, s.front.size + chunk, read_zeros};
    taper_limits limits = {.size = sizeof limits, .max_memory = 1000};
    for (uint64_t asked; (asked = memory_asked_for(&source, model, &limits)) > 0;) {
        assert_true(asked > limits.max_memory);
        limits.max_memory = asked;
    }
    assert_in_range(limits.max_memory, MIB, one / 8);
    taper_status status;
    uint64_t bytes = measure(decode, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_OK);
    assert_in_range(bytes, PIXELS, TIMES * limits.max_memory + PIXELS + CLOSE);
    limits.max_memory = limits.max_memory * 3 / 4; /* whole MiB are asked for */
    bytes = measure(decode, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_ERR_LIMIT);
    assert_in_range(bytes, 0, TIMES * limits.max_memory + CLOSE);
    formats_buffer_free(&s.front);
}

/* A chunk of a gigabyte, read or pushed. */
static void chunks_count_against_the_limit(void **state) {
    taper_model *model = *state;
    zeros_after s = container(model, 1, 8, 1, (uint64_t)1 << 30);
    taper_source source = {&s, s.front.size + (1 << 30), read_zeros};
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 64 * MIB};
    taper_status status;
    uint64_t bytes = measure(decode, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_ERR_LIMIT);
    assert_in_range(bytes, 0, most_of(&limits));
    bytes = measure(push, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_ERR_LIMIT);
    assert_in_range(bytes, 0, most_of(&limits));
    formats_buffer_free(&s.front);
}

/* A directory of few bytes that unpacks to many. */
static void front_matter_counts_against_the_limit(void **state) {
    taper_model *model = *state;
    zeros_after s = container(model, 3000000, 1, 1, 0);
    assert_in_range(s.front.size, 1, MIB / 8);
    taper_source source = {&s, s.front.size, read_zeros};
    static work *const works[] = {verify, decode, push};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 60 * MIB};
        taper_status status;
        uint64_t bytes = measure(works[i], &source, model, &limits, &status);
        assert_int_equal(status, TAPER_ERR_LIMIT);
        assert_in_range(bytes, 0, most_of(&limits));
    }
    taper_limits enough = {.size = sizeof(taper_limits), .max_memory = 200 * MIB};
    taper_status status;
    uint64_t bytes = measure(verify, &source, model, &enough, &status);
    assert_int_equal(status, TAPER_ERR_CORRUPT); /* checksums of nothing that are not 0 */
    assert_in_range(bytes, 60 * MIB, enough.max_memory + SLACK);
    formats_buffer_free(&s.front);
}

/* Containers that are joined or cut: the front matter of all, of the result, and what it takes to
 * write it and to read it again. */
static void joining_and_cutting_count_against_the_limit(void **state) {
    taper_model *model = *state;
    zeros_after s = container(model, 500000, 1, 1, 0);
    formats_memory memory = {s.front.data, s.front.size};
    formats_front f;
    assert_int_equal(formats_front_read(memory.bytes, memory.size, NULL, &f, NULL), TAPER_OK);
    memset(f.checksum, 0, (size_t)formats_front_checksums(&f) * sizeof *f.checksum);
    uint64_t seed = 1; /* packed a thousandfold it would be refused */
    for (uint32_t i = 0; i < f.images; i += 100) f.geometry[i].width += picture_random(&seed) % 250;
    s.front.size = 0;
    assert_int_equal(formats_front_write(&f, &s.front, NULL), TAPER_OK);
    formats_front_free(&f);
    taper_source source = {&s, s.front.size, read_zeros};
    assert_in_range(s.front.size, 1, MIB / 8);
    static work *const works[] = {join, cut};
    for (size_t i = 0; i < 2; i++) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 30 * MIB};
        taper_status status;
        uint64_t bytes = measure(works[i], &source, model, &limits, &status);
        assert_int_equal(status, TAPER_ERR_LIMIT);
        assert_in_range(bytes, 0, most_of(&limits));
    }
    taper_limits limits = {.size = sizeof(taper_limits),
                           .max_memory = 100 * MIB}; /* enough for each of the eight */
    taper_status status;
    uint64_t bytes = measure(join, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_ERR_LIMIT);
    assert_in_range(bytes, 0, most_of(&limits));
    limits.max_memory = 600 * MIB;
    bytes = measure(join, &source, model, &limits, &status);
    assert_int_equal(status, TAPER_OK);
    assert_in_range(bytes, 100 * MIB, most_of(&limits));
    formats_buffer_free(&s.front);
}

/* --- encoding and repack ----------------------------------------------------------------- */

enum { PICTURES = 10, SIDE = 600 };

static taper_encode_options encoding; /* of the process that is measured */

static taper_status encode(const taper_source *source, const taper_model *model,
                           const taper_limits *limits) {
    const taper_image *picture = source->user;
    taper_sink sink = {NULL, discard};
    taper_encode_options options = encoding;
    taper_encoder *encoder;
    options.size = sizeof options, options.limits = limits;
    TAPER_TRY(taper_encoder_new(&encoder, model, &options, NULL));
    taper_status status = TAPER_OK;
    for (int i = 0; i < PICTURES && status == TAPER_OK; i++)
        status = taper_encoder_add(encoder, picture, NULL, -1, NULL);
    if (status == TAPER_OK) status = taper_encoder_finish(encoder, 0, &sink, NULL);
    taper_encoder_free(encoder);
    return status;
}

static taper_status repack(const taper_source *source, const taper_model *model,
                           const taper_limits *limits) {
    taper_sink sink = {NULL, discard};
    return taper_repack(source, model, TAPER_LAYOUT_SET, PICTURES, &sink, limits, NULL);
}

/* With more and more memory it is refused at first and then done, and takes no more than it may. */
static void climb(work *run, const taper_source *source, const taper_model *model, int refused_at,
                  int done_at) {
    int refused = 0, done = 0;
    for (int mib = refused_at; !done && mib <= done_at; mib += (done_at - refused_at) / 4) {
        taper_limits limits = {.size = sizeof(taper_limits), .max_memory = (uint64_t)mib * MIB};
        taper_status status;
        uint64_t bytes = measure(run, source, model, &limits, &status);
        assert_in_range(bytes, 0, most_of(&limits));
        assert_true(status == TAPER_OK || status == TAPER_ERR_LIMIT);
        refused += status != TAPER_OK, done += status == TAPER_OK;
    }
    assert_true(refused && done);
}

/* Groups that are written at a time wait for each other's memory; images that are gathered, rate
 * classes that fill, and what is kept until the mean is known count, too. */
static void encoding_counts_against_the_limit(void **state) {
    taper_image picture = dct_picture(SIDE, SIDE, 3, 1);
    taper_source source = {&picture, 1, read_zeros};
    static const struct {
        taper_encode_options options;
        int refused_at, done_at; /* MiB */
    } tries[] = {{{.threads = 1}, 8, 48},
                 {{.threads = 6}, 8, 48},
                 {{.threads = 6, .measure = 1, .layout = TAPER_LAYOUT_IMAGE}, 8, 32},
                 {{.group_images = PICTURES}, 60, 220},
                 {{.allocation = TAPER_ALLOCATION_MEAN, .threads = 2}, 8, 120}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        encoding = tries[i].options;
        encoding.target_bytes_per_megapixel = 30000; /* to be done sooner */
        climb(encode, &source, *state, tries[i].refused_at, tries[i].done_at);
    }
    formats_image_free(&picture);
}

static void repacking_counts_against_the_limit(void **state) {
    enum { FEW = 4 };
    taper_image picture[FEW];
    for (int i = 0; i < FEW; i++) picture[i] = dct_picture(SIDE, SIDE, 3, 1);
    taper_encode_options options = {.layout = TAPER_LAYOUT_IMAGE};
    formats_buffer file = dct_encode(*state, picture, FEW, &options, 0),
                   cut = formats_buffer_make(1 << 24);
    formats_memory memory = {file.data, file.size}, shorter;
    taper_source source = formats_memory_source(&memory);
    taper_sink sink = dct_sink(&cut);
    climb(repack, &source, *state, 24, 96);
    assert_int_equal(taper_truncate(&source, file.size * 3 / 4, &sink, NULL, NULL), TAPER_OK);
    shorter = (formats_memory){cut.data, cut.size}; /* codes of a first decoding are kept, too */
    source = formats_memory_source(&shorter);
    climb(repack, &source, *state, 24, 96);
    formats_buffer_free(&cut);
    for (int i = 0; i < FEW; i++) formats_image_free(&picture[i]);
    formats_buffer_free(&file);
}

int main(void) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 17); /* else each thread's arena keeps what was freed */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_classes_share_one_limit),
        cmocka_unit_test(refusals_name_the_memory_of_strips),
        cmocka_unit_test(chunks_count_against_the_limit),
        cmocka_unit_test(front_matter_counts_against_the_limit),
        cmocka_unit_test(joining_and_cutting_count_against_the_limit),
        cmocka_unit_test(encoding_counts_against_the_limit),
        cmocka_unit_test(repacking_counts_against_the_limit),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

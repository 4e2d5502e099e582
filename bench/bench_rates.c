/* bench_rates.c -- a model on a set of equal images: bytes at given PSNRs in both accountings,
 * container overhead, speed of encoding and decoding.
 *
 *     bench_rates TRAIN... -- TEST [--window W] [--units K] [--allocation even|mean|equal]
 *                                                               (IDX, CIFAR binary, folders)
 *
 * Trains on TRAIN, reports on TEST. Two threads unless BENCH_THREADS says otherwise;
 * no speeds when BENCH_RATES_ONLY is set. */
#include "bench/bench.h"
#include "codec/taper.h"
#include "formats/file.h"
#include "formats/image.h"
#include "train/processor/processor.h"
#include "train/train.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct settings {
    train_options train;
    const char *window, *model;
    double quality[8];
    int qualities;
} settings;

typedef struct test_set {
    taper_image *image;
    size_t n;
    uint64_t pixels;
} test_set;

static taper_allocation allocation;

static void die(const char *what, const taper_error *error) {
    fprintf(stderr, "bench_rates: %s: %s\n", what, error->text);
    exit(1);
}

static unsigned threads(void) {
    const char *text = getenv("BENCH_THREADS");
    return text ? (unsigned)strtoul(text, NULL, 10) : 2;
}

static formats_imageset *open_set(char **path, int n) {
    taper_error error = {0};
    formats_imageset *set;
    if (formats_imageset_open(&set, (const char *const *)path, (size_t)n,
                              &(formats_imageset_options){0}, NULL, NULL, &error))
        die(path[0], &error);
    return set;
}

static test_set load_test(char *path) {
    formats_imageset *set = open_set(&path, 1);
    taper_error error = {0};
    test_set t = {.n = formats_imageset_count(set)};
    t.image = calloc(t.n, sizeof *t.image);
    for (size_t i = 0; i < t.n; i++) {
        if (formats_imageset_read(set, i, &t.image[i], NULL, &error)) die(path, &error);
        t.pixels += (uint64_t)t.image[i].width * t.image[i].height;
    }
    formats_imageset_close(set);
    return t;
}

static taper_status collect(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

static formats_buffer encode(const taper_model *model, const test_set *t, double bytes_per_image,
                             double *seconds) {
    taper_error error = {0};
    taper_encode_options o = {.size = sizeof o, .threads = threads(), .allocation = allocation};
    o.target_bytes_per_megapixel =
        (uint64_t)(bytes_per_image * (double)t->n * 1e6 / (double)t->pixels);
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    taper_encoder *e;
    double start = bench_now();
    if (taper_encoder_new(&e, model, &o, &error)) die("encode", &error);
    for (size_t i = 0; i < t->n; i++)
        if (taper_encoder_add(e, &t->image[i], NULL, -1, &error)) die("encode", &error);
    taper_sink sink = {&out, collect};
    if (taper_encoder_finish(e, 0, &sink, &error)) die("encode", &error);
    taper_encoder_free(e);
    *seconds = bench_now() - start;
    return out;
}

/* --- decoding -------------------------------------------------------------------------- */

typedef struct decode_job {
    const taper_model *model;
    const test_set *test;
    taper_source source;
    unsigned part, parts; /* groups part, part + parts, ... */
    int measure;
    double psnr;
} decode_job;

static double psnr_of(const taper_image *a, const uint8_t *b) {
    const uint8_t *x = a->pixels;
    size_t n = formats_image_samples(a);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((x[i] - b[i]) * (x[i] - b[i]));
    return sum ? 10 * log10(65025.0 * (double)n / (double)sum) : 100;
}

static void *decode_part(void *user) {
    decode_job *job = user;
    taper_error error = {0};
    const taper_open_options options = {.size = sizeof options, .model = job->model};
    taper_container *c;
    taper_decoder *d;
    taper_container_info info = {.size = sizeof info};
    if (taper_container_open(&c, &job->source, &options, &error) ||
        taper_decoder_new(&d, c, NULL, &error) || taper_container_get_info(c, &info, &error))
        die("decode", &error);
    uint8_t *pixels = malloc(1 << 24);
    for (uint32_t g = job->part; g < info.groups; g += job->parts) {
        uint64_t first, count;
        taper_container_group(c, g, &first, &count, NULL);
        for (uint64_t place = first; place < first + count; place++) {
            uint64_t i = taper_container_image_at(c, place);
            taper_image out = {.pixels = pixels};
            if (taper_decoder_render(d, i, &out, NULL, &error)) die("decode", &error);
            if (job->measure) job->psnr += psnr_of(&job->test->image[i], pixels);
        }
    }
    free(pixels);
    taper_decoder_free(d);
    taper_container_close(c);
    return NULL;
}

/* Mean PSNR of a prefix; seconds where not NULL gets the time without measuring. */
static double decode(const taper_model *model, const test_set *t, const uint8_t *bytes, size_t size,
                     double *seconds) {
    enum { MOST = 64 };
    formats_memory memory = {bytes, size};
    decode_job job[MOST];
    pthread_t thread[MOST];
    unsigned n = threads() < MOST ? threads() : MOST;
    double start = bench_now(), sum = 0;
    for (unsigned i = 0; i < n; i++) {
        job[i] = (decode_job){model, t, formats_memory_source(&memory), i, n, seconds == NULL, 0};
        pthread_create(&thread[i], NULL, decode_part, &job[i]);
    }
    for (unsigned i = 0; i < n; i++) pthread_join(thread[i], NULL), sum += job[i].psnr;
    if (seconds) *seconds = bench_now() - start;
    return sum / (double)t->n;
}

/* The shortest prefix that reaches a PSNR, by bisection over the cut. */
static double bytes_for(const taper_model *model, const test_set *t, const formats_buffer *file,
                        uint64_t front, double psnr) {
    size_t low = (size_t)front, high = file->size;
    if (decode(model, t, file->data, high, NULL) < psnr) return NAN;
    while (high - low > file->size / 2000 + 1) {
        size_t middle = low + (high - low) / 2;
        if (decode(model, t, file->data, middle, NULL) >= psnr)
            high = middle;
        else
            low = middle;
    }
    return (double)high / (double)t->n;
}

/* --- the figures ----------------------------------------------------------------------- */

static void report_rates(const settings *s, const taper_model *model, const test_set *t,
                         const char *config) {
    double seconds;
    formats_buffer file = encode(model, t, 0, &seconds);
    formats_memory memory = {file.data, file.size};
    taper_source source = formats_memory_source(&memory);
    const taper_open_options options = {.size = sizeof options, .model = model};
    taper_container *c;
    taper_error error = {0};
    taper_container_info info = {.size = sizeof info};
    if (taper_container_open(&c, &source, &options, &error) ||
        taper_container_get_info(c, &info, &error))
        die("open", &error);
    taper_container_close(c);
    taper_model_info of_model = {.size = sizeof of_model};
    taper_model_get_info(model, &of_model, NULL);
    double model_share = (double)of_model.file_bytes / (double)t->n;
    for (int i = 0; i < s->qualities; i++) {
        char name[64];
        double bytes = bytes_for(model, t, &file, info.front_bytes, s->quality[i]);
        snprintf(name, sizeof name, "bytes_per_image at %.1f dB, file", s->quality[i]);
        bench_print("rates", name, bytes, "B", config);
        snprintf(name, sizeof name, "bytes_per_image at %.1f dB, file+model", s->quality[i]);
        bench_print("rates", name, bytes + model_share, "B", config);
    }
    bench_print("rates", "container overhead, front matter",
                (double)info.front_bytes / (double)t->n, "B per image", config);
    bench_print("rates", "ceiling, mean PSNR of the whole file",
                decode(model, t, file.data, file.size, NULL), "dB", config);
    formats_buffer_free(&file);
}

static void report_speed(const taper_model *model, const test_set *t, const char *config) {
    double best_encode = 1e9, best_decode = 1e9, seconds;
    for (int i = 0; i < 3; i++) {
        formats_buffer file = encode(model, t, 200, &seconds);
        if (seconds < best_encode) best_encode = seconds;
        decode(model, t, file.data, file.size, &seconds);
        if (seconds < best_decode) best_decode = seconds;
        formats_buffer_free(&file);
    }
    bench_print("rates", "encode to 200 B an image", (double)t->n / best_encode, "images/s",
                config);
    bench_print("rates", "decode from 200 B an image", (double)t->n / best_decode, "images/s",
                config);
}

static taper_allocation allocation_of(const char *name) {
    return !strcmp(name, "mean")    ? TAPER_ALLOCATION_MEAN
           : !strcmp(name, "equal") ? TAPER_ALLOCATION_EQUAL
                                    : TAPER_ALLOCATION_EVEN;
}

static void parse_settings(settings *s, int argc, char **argv, int first) {
    static const double usual[] = {25, 27.5, 30, 32.5};
    *s = (settings){.train = {.family = TAPER_FAMILY_PCA}, .window = "auto", .qualities = 4};
    memcpy(s->quality, usual, sizeof usual);
    for (int i = first; i + 1 < argc; i += 2) {
        char *text = argv[i + 1];
        if (!strcmp(argv[i], "--window")) s->window = text;
        if (!strcmp(argv[i], "--units")) s->train.units = (uint32_t)strtoul(text, NULL, 10);
        if (!strcmp(argv[i], "--model")) s->model = text;
        if (!strcmp(argv[i], "--allocation")) allocation = allocation_of(text);
        if (strcmp(argv[i], "--qualities")) continue;
        for (s->qualities = 0; *text && s->qualities < 8; text += strspn(text, ","))
            s->quality[s->qualities++] = strtod(text, &text);
    }
    s->train.window =
        !strcmp(s->window, "whole") ? TRAIN_WINDOW_WHOLE : (uint32_t)strtoul(s->window, NULL, 10);
}

/* The model's file: read, or learned from the training images. */
static formats_buffer get_model(const settings *s, char **path, int n, double *seconds) {
    taper_error error = {0};
    formats_buffer file = formats_buffer_make(SIZE_MAX / 4);
    *seconds = NAN;
    if (s->model) {
        uint8_t *bytes;
        size_t size;
        if (formats_file_read(s->model, (uint64_t)1 << 31, &bytes, &size, &error))
            die(s->model, &error);
        formats_write_bytes(&file, bytes, size);
        free(bytes);
        return file;
    }
    formats_imageset *set = open_set(path, n);
    train_dataset data;
    if (train_dataset_load(&data, set, &(train_loading){.max_bytes = (uint64_t)1 << 31}, &error))
        die(path[0], &error);
    formats_imageset_close(set);
    codec_backend be;
    codec_backend_cpu(&be);
    codec_backend_set_threads(&be, threads());
    train_device device;
    train_report report;
    if (train_processor_open(&device, &be, TRAIN_PROCESSOR)) die("train", &error);
    double start = bench_now();
    if (train_model(&s->train, &data, &be, &device, NULL, &file, &report, &error))
        die("train", &error);
    *seconds = bench_now() - start;
    train_processor_close(&device);
    codec_backend_close(&be);
    train_dataset_free(&data);
    return file;
}

static const char *base_name(const char *path) {
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    int split = 1;
    while (split < argc && strcmp(argv[split], "--")) split++;
    settings s;
    parse_settings(&s, argc, argv, split + 2);
    if ((split < 2 && !s.model) || split + 1 >= argc) {
        fprintf(stderr,
                "usage: bench_rates TRAIN... -- TEST [--window W|whole] [--units K] [--model FILE] "
                "[--qualities DB,DB]\n");
        return 2;
    }
    double seconds;
    taper_error error = {0};
    formats_buffer file = get_model(&s, argv + 1, split - 1, &seconds);
    taper_model *model;
    if (taper_model_load(&model, file.data, file.size, NULL, &error)) die("model", &error);
    taper_model_info info = {.size = sizeof info};
    taper_model_get_info(model, &info, NULL);
    char config[320];
    snprintf(config, sizeof config,
             "{\"family\":\"%s\",\"window\":%u,\"units\":%u,\"threads\":%u,\"train\":\"%s\","
             "\"test\":\"%s\"}",
             taper_family_name(info.family), info.window_width, info.units, threads(),
             s.model ? base_name(s.model) : base_name(argv[1]), base_name(argv[split + 1]));
    if (!s.model) bench_print("rates", "training time", seconds, "s", config);
    bench_print("rates", "model size", (double)file.size, "B", config);
    test_set test = load_test(argv[split + 1]);
    if (!getenv("BENCH_RATES_ONLY")) report_speed(model, &test, config);
    report_rates(&s, model, &test, config);
    formats_buffer_free(&file);
    taper_model_free(model);
    return 0;
}

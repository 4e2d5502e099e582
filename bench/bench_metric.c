/* bench_metric.c -- linear MCML (bench/paper-embedding/metric_learning.h) on labelled images: the
 * error of 5-NN under maps of its metric, beside pixels, principal components and discriminants,
 * and the time that it takes.
 *
 *     bench_metric IMAGES LABELS [SEED [THREADS [STEPS [TOLERANCE]]]]       ... 1 2 200 1e-4
 *
 * IMAGES, LABELS: IDX files, packed or not, such as USPS. SEED decides which 7,291 of 9,298 images
 * are learned from (in proportion for other sets), the rest are tested. Prints JSON lines, bench
 * embedding/usps: test_error_percent of methods mcml, pca, lda by dims, with its 95 % interval in
 * the config; mcml's loss, steps and seconds. Words on its way go to standard error. */
#include "bench/bench.h"
#include "bench/paper-embedding/metric_learning.h"
#include "codec/backend/backend.h"
#include "codec/taper.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "formats/images/idx.h"
#include "train/embedding/linear_start.h"
#include "train/processor/processor.h"
#include "train/sampling/philox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 5, CLASSES = 256, HEADER = 16 };

typedef struct set {
    uint8_t *pixels;   /* [n][inputs], those to learn from first */
    uint32_t *label;   /* [n] */
    size_t n, learned; /* learned from; the others are tested */
    uint32_t inputs;
} set;

static void need(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_metric: %s\n",
            error && error->text[0] ? error->text : taper_status_name(status));
    exit(1);
}

static void *room(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    need(memory ? TAPER_OK : TAPER_ERR_NOMEM, NULL);
    return memory;
}

/* --- images ----------------------------------------------------------------------------- */

static set load(const char *images, const char *labels) {
    uint8_t *packed, *idx, *of_bytes;
    size_t size, unpacked, n_labels;
    taper_error error = {0};
    need(formats_file_read(images, FORMATS_MOST_BYTES, &packed, &size, &error), &error);
    need(formats_idx_unpack(packed, size, NULL, &idx, &unpacked, &error), &error);
    set s = {.n = formats_get_u32be(idx + 4)};
    s.inputs = formats_get_u32be(idx + 8) * formats_get_u32be(idx + 12);
    s.pixels = room(s.n, s.inputs);
    memcpy(s.pixels, idx + HEADER, s.n * s.inputs);
    free(packed), free(idx);
    need(formats_file_read(labels, FORMATS_MOST_BYTES, &packed, &size, &error), &error);
    need(formats_idx_labels_decode(packed, size, NULL, &of_bytes, &n_labels, &error), &error);
    need(n_labels == s.n ? TAPER_OK : TAPER_ERR_ARG, NULL);
    s.label = room(s.n, sizeof *s.label);
    for (size_t i = 0; i < s.n; i++) s.label[i] = of_bytes[i];
    free(packed), free(of_bytes);
    return s;
}

/* A random order (Fisher and Yates). */
static void shuffle(set *s, uint64_t seed) {
    uint8_t *kept = room(1, s->inputs);
    for (size_t i = s->n; i-- > 1;) {
        uint32_t word[4], label = s->label[i];
        train_philox(seed, i, TRAIN_STREAM_SPLIT, word);
        const size_t j = train_philox_below(word[0], (uint32_t)i + 1);
        uint8_t *a = s->pixels + i * s->inputs, *b = s->pixels + j * s->inputs;
        memcpy(kept, a, s->inputs), memmove(a, b, s->inputs), memcpy(b, kept, s->inputs);
        s->label[i] = s->label[j], s->label[j] = label;
    }
    s->learned = s->n * 7291 / 9298;
    free(kept);
}

/* --- error ------------------------------------------------------------------------------ */

static float *codes_of(const set *s, const codec_layer *layer) {
    float *codes = room(s->n * layer->outputs, sizeof *codes);
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t u = 0; u < layer->outputs; u++) {
            const float *w = layer->weight + (size_t)u * s->inputs;
            double sum = 0;
            for (uint32_t j = 0; j < s->inputs; j++)
                sum += (double)w[j] * s->pixels[i * s->inputs + j];
            codes[i * layer->outputs + u] = (float)(sum / 255.0);
        }
    return codes;
}

static void report(const set *s, const char *method, const codec_layer *layer, uint64_t seed,
                   unsigned threads) {
    const size_t tests = s->n - s->learned, width = layer->outputs;
    float *codes = codes_of(s, layer);
    uint32_t *neighbours = room(tests * K, sizeof *neighbours);
    double *distances = room(tests * K, sizeof *distances);
    int32_t *labels = room(s->n, sizeof *labels), *voted = room(tests, sizeof *voted);
    taper_error error = {0};
    taper_error_rate rate = {.size = sizeof(taper_error_rate)};
    char config[256];
    for (size_t i = 0; i < s->n; i++) labels[i] = (int32_t)s->label[i];
    const taper_search search = {sizeof(taper_search),
                                 codes,
                                 s->learned,
                                 codes + s->learned * width,
                                 tests,
                                 0,
                                 width,
                                 K,
                                 threads};
    need(taper_nearest(&search, neighbours, distances, &error), &error);
    const taper_votes votes = {sizeof(taper_votes), neighbours, tests, K, K, labels,
                               s->learned,          CLASSES,    NULL};
    need(taper_vote(&votes, voted, &error), &error);
    need(taper_count_errors(voted, labels + s->learned, tests, CLASSES, NULL, &rate, &error),
         &error);
    snprintf(config, sizeof config,
             "{\"method\":\"%s\",\"dims\":%zu,\"k\":%d,\"labels_percent\":100,\"seed\":%llu,"
             "\"low\":%.2f,\"high\":%.2f}",
             method, width, K, (unsigned long long)seed, 100 * rate.low, 100 * rate.high);
    bench_print("embedding/usps", "test_error_percent", 100 * rate.rate, "%", config);
    free(codes), free(neighbours), free(distances), free(labels), free(voted);
}

/* --- methods ---------------------------------------------------------------------------- */

static const uint32_t dims[] = {2, 9, 30};
enum { DIMS = sizeof dims / sizeof *dims };

static codec_layer layer_of(uint32_t inputs, uint32_t units) {
    return (codec_layer){inputs, units, room((size_t)inputs * units, sizeof(float)),
                         room(units, sizeof(float))};
}

static void try_starts(const set *s, const train_labelled_rows *rows, train_device *device,
                       uint64_t seed, unsigned threads) {
    static const struct {
        const char *name;
        train_linear_kind kind;
    } starts[] = {{"pca", TRAIN_START_PCA}, {"lda", TRAIN_START_LDA}};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < DIMS; i++) {
            codec_layer layer = layer_of(s->inputs, dims[i]);
            taper_error error = {0};
            const train_linear_options options = {.kind = starts[k].kind};
            need(train_linear_layer(&options, rows, device, &layer, &error), &error);
            report(s, starts[k].name, &layer, seed, threads);
            free(layer.weight), free(layer.bias);
        }
}

static int tell(void *user, const embedding_metric_step *step) {
    const double *begin = user;
    fprintf(stderr, "step %u  loss %.6f  rank %u  length %.3g  halved %u  %.1f s\n", step->step,
            step->loss, step->rank, step->length, step->halved, bench_now() - *begin);
    return 0;
}

static void try_mcml(const set *s, const train_labelled_rows *rows, train_device *device,
                     embedding_metric_options options, uint64_t seed, unsigned threads) {
    double begin = bench_now();
    embedding_metric metric;
    taper_error error = {0};
    char config[256];
    options.step = tell, options.user = &begin;
    need(embedding_metric_learn(&options, rows, device, &metric, &error), &error);
    const double seconds = bench_now() - begin;
    snprintf(config, sizeof config,
             "{\"method\":\"mcml\",\"rows\":%zu,\"inputs\":%u,\"steps\":%u,\"tolerance\":%g,"
             "\"seed\":%llu,\"threads\":%u}",
             rows->n, rows->inputs, metric.steps, options.tolerance, (unsigned long long)seed,
             threads);
    bench_print("embedding/usps", "train_loss", metric.loss, "nats", config);
    bench_print("embedding/usps", "train_seconds", seconds, "s", config);
    for (int i = 0; i <= DIMS; i++) {
        codec_layer layer = layer_of(s->inputs, i < DIMS ? dims[i] : s->inputs);
        need(embedding_metric_map(&metric, &layer, &error), &error);
        report(s, "mcml", &layer, seed, threads);
        free(layer.weight), free(layer.bias);
    }
    embedding_metric_free(&metric);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    if (argc < 3 || argc > 7) {
        fprintf(stderr, "usage: bench_metric IMAGES LABELS [SEED [THREADS [STEPS [TOLERANCE]]]]\n");
        return 2;
    }
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    const unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 2;
    embedding_metric_options options = embedding_metric_defaults();
    if (argc > 5) options.steps = (uint32_t)strtoul(argv[5], NULL, 10);
    if (argc > 6) options.tolerance = strtod(argv[6], NULL);
    set s = load(argv[1], argv[2]);
    shuffle(&s, seed);
    codec_backend be;
    train_device device;
    codec_backend_cpu(&be);
    need(codec_backend_set_threads(&be, threads), NULL);
    need(train_processor_open(&device, &be, TRAIN_PROCESSOR), NULL);
    const train_labelled_rows rows = {
        .bytes = s.pixels, .n = s.learned, .inputs = s.inputs, .label = s.label};
    codec_layer same = layer_of(s.inputs, s.inputs);
    for (uint32_t i = 0; i < s.inputs; i++) same.weight[i * (s.inputs + 1u)] = 1.0f;
    report(&s, "pixels", &same, seed, threads);
    free(same.weight), free(same.bias);
    try_starts(&s, &rows, &device, seed, threads);
    try_mcml(&s, &rows, &device, options, seed, threads);
    free(s.pixels), free(s.label);
    train_processor_close(&device);
    codec_backend_close(&be);
    return 0;
}

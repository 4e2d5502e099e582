/* bench_linear_nca.c -- linear NCA by rows with the Gaussian kernel (Goldberger et al. 2004), all
 * rows in one batch: what it takes to which objective, and the memory of its gradient.
 *
 *     bench_linear_nca learn FOLDER [ROWS [DIMS [THREADS [STEPS [RATE]]]]]    ... 5000 32 2 60 0.01
 *     bench_linear_nca gradient [ROWS [DIMS [THREADS]]]                       100000 32 2
 *
 * Prints JSON lines, bench embedding/speed.
 *   learn      the first ROWS images of MNIST's train part, from principal components of unit
 *              length by STEPS steps of Adam at RATE, or, where that is 0, of conjugate gradients:
 *              `objective`, the sum over rows of p_i, after each, the start being iteration 0.
 *              Its config has the seconds since the images were there, principal components and
 *              all, and how often loss and gradient were evaluated until then: as
 *              embedding_sklearn.py has it
 *   gradient   made-up rows of 784 bytes from a random start: `seconds` of loss and gradient, and
 *              `peak_mib`, what the process held at its most beyond what it held before, which were
 *              the bytes, their labels and the program */
#include "bench/bench.h"
#include "codec/backend/backend.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "formats/images/idx.h"
#include "train/embedding/embedder.h"
#include "train/embedding/linear_start.h"
#include "train/optimise/adam.h"
#include "train/optimise/conjugate_gradient.h"
#include "train/processor/processor.h"
#include "train/sampling/philox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { HEADER = 16, INPUTS = 784, CLASSES = 10 };

typedef struct bench {
    codec_backend be;
    train_device device;
    train_pixels data; /* its arrays are this bench's */
    uint32_t *label;
    uint32_t dims;
    unsigned threads;
    codec_network net;
    train_embedder embedder;
    double *losses; /* on the device [2] */
    double begin;
    uint32_t evaluations;
} bench;

static void need(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_linear_nca: %s\n",
            error && error->text[0] ? error->text : formats_status_name(status));
    exit(1);
}

static void *room(size_t n, size_t size) {
    void *memory = malloc(n * size + 1);
    need(memory ? TAPER_OK : TAPER_ERR_NOMEM, NULL);
    return memory;
}

/* --- rows ------------------------------------------------------------------------------- */

static uint8_t *read_file(const char *folder, const char *name, size_t *size) {
    char path[1024];
    uint8_t *bytes;
    taper_error error = {0};
    snprintf(path, sizeof path, "%s/%s-ubyte.gz", folder, name);
    need(formats_file_read(path, FORMATS_MOST_BYTES, &bytes, size, &error), &error);
    return bytes;
}

static void load_images(bench *b, const char *folder) {
    size_t size, n_labels, unpacked;
    uint8_t *idx, *of_bytes, *pixels = room(b->data.n, INPUTS);
    uint8_t *packed = read_file(folder, "train-images-idx3", &size);
    taper_error error = {0};
    need(formats_idx_unpack(packed, size, NULL, &idx, &unpacked, &error), &error);
    free(packed);
    packed = read_file(folder, "train-labels-idx1", &size);
    need(formats_idx_labels_decode(packed, size, NULL, &of_bytes, &n_labels, &error), &error);
    if (unpacked < HEADER + b->data.n * INPUTS || n_labels < b->data.n)
        need(formats_fail(&error, TAPER_ERR_ARG, "no %zu images of 784 pixels and their labels",
                          b->data.n),
             &error);
    memcpy(pixels, idx + HEADER, b->data.n * INPUTS);
    for (size_t i = 0; i < b->data.n; i++) b->label[i] = of_bytes[i];
    b->data.pixels = pixels;
    free(packed), free(idx), free(of_bytes);
}

/* Ten kinds of rows: each a row of its own, and noise. */
static void make_rows(bench *b) {
    uint8_t *pixels = room(b->data.n, INPUTS);
    for (size_t i = 0; i < b->data.n; i++) {
        b->label[i] = (uint32_t)(i % CLASSES);
        for (size_t j = 0; j < INPUTS; j += 4) {
            uint32_t kind[4], noise[4];
            train_philox(1, b->label[i], j, kind);
            train_philox(2, i, j, noise);
            for (size_t l = 0; l < 4; l++)
                pixels[i * INPUTS + j + l] = (uint8_t)((kind[l] >> 25) + (noise[l] >> 25));
        }
    }
    b->data.pixels = pixels;
}

/* --- the encoder ------------------------------------------------------------------------ */

static void start(bench *b, train_linear_kind kind) {
    const train_linear_options how = {.kind = kind, .spread = kind == TRAIN_START_PCA ? 0.0 : 10.0};
    const train_embedder_options options = {
        .batch = b->data.n, .objective = {.loss = TRAIN_NCA}, .use = TRAIN_WEIGHTS_TRAIN};
    taper_error error = {0};
    need(codec_network_alloc(&b->net, INPUTS, b->dims, CODEC_ENCODER, NULL, 0, NULL, 0), NULL);
    need(train_linear_start(&how, &b->data, &b->device, &b->net, &error), &error);
    need(train_embedder_create(&b->embedder, &b->net, &b->device, &options), NULL);
    b->losses = room(2, sizeof *b->losses); /* a processor's memory is the host's */
    need(train_embedder_load(&b->embedder, b->data.pixels, NULL, b->label, NULL, b->data.n), NULL);
}

static taper_status evaluate(void *user, double *value) {
    bench *b = user;
    b->evaluations++;
    TAPER_TRY(train_embedder_compute(&b->embedder, b->losses));
    *value = b->losses[0];
    return TAPER_OK;
}

/* --- learn ------------------------------------------------------------------------------ */

static void tell(const bench *b, const char *optimiser, uint32_t iteration, double loss) {
    char config[256];
    snprintf(config, sizeof config,
             "{\"method\":\"nca\",\"optimiser\":\"%s\",\"rows\":%zu,\"dims\":%u,\"start\":\"pca\","
             "\"iteration\":%u,\"seconds\":%.4f,\"evaluations\":%u,\"threads\":%u}",
             optimiser, b->data.n, b->dims, iteration, bench_now() - b->begin, b->evaluations,
             b->threads);
    bench_print("embedding/speed", "objective", -loss * (double)b->data.n, "rows", config);
}

static void learn_by_cg(bench *b, uint32_t steps) {
    train_cg cg;
    train_cg_result result;
    train_cg_options options = train_cg_defaults();
    need(train_cg_create(&cg, &b->embedder.stream, &b->embedder.weights), NULL);
    for (uint32_t i = 1; i <= steps; i++) {
        need(train_cg_step(&cg, evaluate, b, &options, &result), NULL);
        if (i == 1) tell(b, "cg", 0, result.value_before);
        tell(b, "cg", i, result.value);
        if (!(result.alpha > 0.0)) break;
        options.same_objective = 1;
    }
    train_cg_free(&cg);
}

static void learn_by_adam(bench *b, uint32_t steps, float rate) {
    train_weights *w = &b->embedder.weights;
    const train_range all = {0, w->n};
    train_verdict verdict = {0};
    char name[32];
    double loss, squares = 0.0;
    train_adam_ranges of = {&all,     1,       rate, 0, 0.0f, b->losses, (double)b->data.n,
                            &squares, &verdict};
    snprintf(name, sizeof name, "adam:%g", (double)rate);
    for (uint32_t i = 0; i <= steps; i++) {
        need(evaluate(b, &loss), NULL);
        tell(b, name, i, loss);
        of.t = i + 1;
        need(train_adam_take(&b->embedder.stream, w, &of), NULL);
    }
}

static void learn(bench *b, uint32_t steps, double rate) {
    b->begin = bench_now();
    start(b, TRAIN_START_PCA);
    if (rate > 0.0)
        learn_by_adam(b, steps, (float)rate);
    else
        learn_by_cg(b, steps);
}

/* --- gradient --------------------------------------------------------------------------- */

static double peak_mib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

static void measure_gradient(bench *b) {
    char config[256];
    double loss;
    const double before = peak_mib();
    start(b, TRAIN_START_RANDOM);
    const double begin = bench_now();
    need(evaluate(b, &loss), NULL);
    const double seconds = bench_now() - begin, peak = peak_mib() - before;
    snprintf(config, sizeof config,
             "{\"method\":\"nca\",\"inputs\":%d,\"dims\":%u,\"rows\":%zu,\"data_mib\":%.1f,"
             "\"objective\":%.4f,\"threads\":%u}",
             INPUTS, b->dims, b->data.n, (double)b->data.n * INPUTS / 1048576.0,
             -loss * (double)b->data.n, b->threads);
    bench_print("embedding/speed", "seconds", seconds, "s", config);
    bench_print("embedding/speed", "peak_mib", peak, "MiB", config);
}

/* --- either ----------------------------------------------------------------------------- */

static size_t number(int argc, char **argv, int i, size_t otherwise) {
    const size_t n = i < argc ? (size_t)strtoull(argv[i], NULL, 10) : otherwise;
    if (n >= 1 && n <= 1 << 20) return n;
    fprintf(stderr, "bench_linear_nca: numbers are 1 to %d\n", 1 << 20);
    exit(2);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    const int learns = argc > 2 && !strcmp(argv[1], "learn"), at = learns ? 3 : 2;
    if (argc < 2 || (!learns && strcmp(argv[1], "gradient")) || argc > (learns ? 8 : 5)) {
        fprintf(stderr,
                "usage: bench_linear_nca learn FOLDER [ROWS [DIMS [THREADS [STEPS [RATE]]]]]\n"
                "       bench_linear_nca gradient [ROWS [DIMS [THREADS]]]\n");
        return 2;
    }
    bench b = {.data = {.n = number(argc, argv, at, learns ? 5000 : 100000), .inputs = INPUTS}};
    b.dims = (uint32_t)number(argc, argv, at + 1, 32);
    b.threads = (unsigned)number(argc, argv, at + 2, 2);
    b.data.label = b.label = room(b.data.n, sizeof *b.label);
    codec_backend_cpu(&b.be);
    need(codec_backend_set_threads(&b.be, b.threads), NULL);
    need(train_processor_open(&b.device, &b.be, TRAIN_PROCESSOR), NULL);
    if (learns) {
        load_images(&b, argv[2]);
        learn(&b, (uint32_t)number(argc, argv, 6, 60), argc > 7 ? strtod(argv[7], NULL) : 0.01);
    } else {
        make_rows(&b);
        measure_gradient(&b);
    }
    free((void *)(uintptr_t)b.data.pixels), free(b.label), free(b.losses);
    train_embedder_free(&b.embedder);
    codec_network_free(&b.net);
    train_processor_close(&b.device);
    codec_backend_close(&b.be);
    return 0;
}

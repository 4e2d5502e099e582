/* bench_lengths.c -- squared error of a binary model's codes by their length in bits.
 *
 *     bench_lengths MODEL IMAGES BITS...
 *
 * Encodes images of one window each (IDX, CIFAR binary, a folder), keeps the first BITS units, and
 * decodes: the mean squared error per pixel component, on the 8-bit scale, not rounded, as JSON
 * lines. BENCH_DEVICE is what config.device says. */
#include "bench/bench.h"
#include "codec/backend/backend.h"
#include "codec/model/model.h"
#include "codec/taper.h"
#include "formats/file.h"
#include "train/sampling/dataset.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct codes {
    const taper_model *model;
    codec_backend be;
    size_t n;
    float *pixels, *code, *cut, *decoded; /* [n][D], [n][K], [n][K], [n][D] */
} codes;

static void need(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_lengths: %s\n",
            error && error->text[0] ? error->text : formats_status_name(status));
    exit(1);
}

static float *floats(size_t rows, size_t columns) {
    float *memory = calloc(rows * columns + 1, sizeof *memory);
    need(memory ? TAPER_OK : TAPER_ERR_NOMEM, NULL);
    return memory;
}

static taper_model *load(const char *path) {
    uint8_t *file;
    size_t size;
    taper_model *model;
    taper_error error = {0};
    need(formats_file_read(path, FORMATS_MOST_BYTES, &file, &size, &error), &error);
    need(taper_model_load(&model, file, size, NULL, &error), &error);
    free(file);
    if (model->network.encoder.depth && model->info.binary) return model;
    fprintf(stderr, "bench_lengths: %s: not a binary model\n", path);
    exit(2);
}

/* All windows, as numbers. */
static void read_images(codes *c, const char *path) {
    const codec_network *net = &c->model->network;
    formats_imageset *set;
    train_dataset data;
    train_selection all;
    taper_error error = {0};
    need(formats_imageset_open(&set, &path, 1, &(formats_imageset_options){0}, NULL, NULL, &error),
         &error);
    need(train_dataset_load(&data, set, &(train_loading){.max_bytes = SIZE_MAX}, &error), &error);
    formats_imageset_close(set);
    need(train_select(&all, &data, c->model->window, TRAIN_PART_ALL, SIZE_MAX), NULL);
    c->n = all.windows;
    c->pixels = floats(c->n, net->inputs), c->decoded = floats(c->n, net->inputs);
    c->code = floats(c->n, net->units), c->cut = floats(c->n, net->units);
    train_read_windows(&data, &all, c->model->window, 0, all.n, c->pixels);
    train_selection_free(&all);
    train_dataset_free(&data);
}

/* Of the first `bits` units. */
static double error_at(codes *c, uint32_t bits) {
    const codec_network *net = &c->model->network;
    const float centre = c->model->tables.centre;
    const size_t n = c->n * net->inputs;
    double sum = 0.0;
    for (size_t i = 0; i < c->n * net->units; i++)
        c->cut[i] = i % net->units >= bits ? 0.0f : (c->code[i] > 0.0f ? 1.0f : 0.0f) - centre;
    need(codec_network_decode_units(net, &c->be, c->cut, c->n, bits, c->decoded), NULL);
    for (size_t i = 0; i < n; i++) {
        const double e = (double)c->decoded[i] - (double)c->pixels[i];
        sum += e * e;
    }
    return sum / (double)n;
}

int main(int argc, char **argv) {
    const char *device = getenv("BENCH_DEVICE");
    codes c = {0};
    bench_begin(argc, argv);
    if (argc < 4) {
        fprintf(stderr, "usage: bench_lengths MODEL IMAGES BITS...\n");
        return 2;
    }
    taper_model *model = load(argv[1]);
    c.model = model;
    codec_backend_cpu(&c.be);
    need(codec_backend_set_threads(&c.be, 0), NULL);
    read_images(&c, argv[2]);
    need(codec_network_encode(&model->network, &c.be, c.pixels, c.n, c.code), NULL);
    for (int i = 3; i < argc; i++) {
        const uint32_t bits = (uint32_t)strtoul(argv[i], NULL, 10);
        char config[160];
        if (bits > model->network.units) continue;
        snprintf(config, sizeof config, "{\"device\":\"%s\",\"bits\":%u,\"images\":%zu}",
                 device ? device : "cpu", (unsigned)bits, c.n);
        bench_print("speed/time-to-quality", "mse", error_at(&c, bits), "1", config);
    }
    free(c.pixels), free(c.decoded), free(c.code), free(c.cut);
    codec_backend_close(&c.be);
    taper_model_free(model);
    return 0;
}

/* bench_web.c -- time to decode a container on one thread, as bench/web/speed.mjs measures it in
 * WebAssembly.
 *
 *     bench_web CONTAINER MODEL REPEATS
 *
 * The container's bytes are pushed in one piece and all images are rendered. Prints processor
 * seconds, the least of the repeats, and the checksum of all pixels: a JSON object. */
#include "bench/bench.h"
#include "codec/taper.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void need(int good, const taper_error *error) {
    if (good) return;
    fprintf(stderr, "bench_web: %s\n", error->text);
    exit(1);
}

/* Returns the checksum of the pixels. */
static uint32_t decode(const taper_model *model, const uint8_t *bytes, size_t size) {
    taper_error error = {0};
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    const taper_open_options options = {.size = sizeof options, .model = model};
    uint32_t sum = 0;
    need(!taper_decoder_new_streaming(&decoder, &options, &error), &error);
    need(!taper_decoder_set_threads(decoder, 1, &error), &error);
    need(!taper_decoder_push(decoder, bytes, size, &error), &error);
    need(!taper_container_get_info(taper_decoder_container(decoder), &info, &error), &error);
    for (uint64_t i = 0; i < info.images; i++) {
        taper_image_info image = {.size = sizeof image};
        need(!taper_container_get_image(taper_decoder_container(decoder), i, &image, &error),
             &error);
        taper_image out = {.pixels = malloc((size_t)image.bytes)};
        need(out.pixels && !taper_decoder_render(decoder, i, &out, NULL, &error), &error);
        sum = formats_crc32c(sum, out.pixels, (size_t)image.bytes);
        free(out.pixels);
    }
    taper_decoder_free(decoder);
    return sum;
}

int main(int argc, char **argv) {
    uint8_t *container, *file;
    size_t size, model_size;
    taper_error error = {0};
    taper_model *model;
    if (argc != 4) return 2;
    need(!formats_file_read(argv[1], FORMATS_MOST_BYTES, &container, &size, &error), &error);
    need(!formats_file_read(argv[2], FORMATS_MOST_BYTES, &file, &model_size, &error), &error);
    need(!taper_model_load(&model, file, model_size, NULL, &error), &error);
    double least = 1e9;
    uint32_t sum = 0;
    for (long k = strtol(argv[3], NULL, 10); k > 0; k--) {
        const clock_t begin = clock();
        sum = decode(model, container, size);
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        least = seconds < least ? seconds : least;
    }
    printf("{\"seconds\":%.4f,\"pixels\":\"%08x\"}\n", least, sum);
    taper_model_free(model);
    free(container);
    free(file);
    return 0;
}

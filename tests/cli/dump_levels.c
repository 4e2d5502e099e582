/* dump_levels.c -- what a decoder makes of a container, for comparing builds of it.
 *
 *   dump_levels MODEL CONTAINER LEVELS PIXELS
 *
 * decodes whole and at three cuts: the symbols as text, the pixels (8 bits) as they are. */
#include "codec/decoder/levels.h"
#include "codec/taper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bytes read_all(const char *path) {
    bytes b = {malloc(1 << 26), 0};
    FILE *file = fopen(path, "rb");
    if (!file || !b.data) exit(1);
    b.size = fread(b.data, 1, 1 << 26, file);
    fclose(file);
    return b;
}

static taper_status read_memory(void *user, uint64_t offset, void *to, size_t n) {
    const bytes *b = user;
    if (offset > b->size || n > b->size - offset) return TAPER_ERR_TRUNCATED;
    memcpy(to, b->data + offset, n);
    return TAPER_OK;
}

static taper_status write_text(void *user, const void *text, size_t n) {
    return fwrite(text, 1, n, user) == n ? TAPER_OK : TAPER_ERR_IO;
}

static void dump_pixels(const taper_container *container, uint64_t cut, FILE *to) {
    const taper_decode_options options = {.size = sizeof options, .cut = cut};
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    if (taper_decoder_new(&decoder, container, &options, NULL)) exit(1);
    if (taper_container_get_info(container, &info, NULL)) exit(1);
    for (uint64_t i = 0; i < info.images; i++) {
        taper_image_info image = {.size = sizeof image};
        if (taper_container_get_image(container, i, &image, NULL)) exit(1);
        taper_image out = {.pixels = malloc((size_t)image.bytes)};
        if (!out.pixels || taper_decoder_render(decoder, i, &out, NULL, NULL)) exit(1);
        if (fwrite(out.pixels, 1, (size_t)image.bytes, to) != image.bytes) exit(1);
        free(out.pixels);
    }
    taper_decoder_free(decoder);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    bytes file = read_all(argv[1]), bytes_of = read_all(argv[2]);
    FILE *levels = fopen(argv[3], "w"), *pixels = fopen(argv[4], "wb");
    taper_model *model;
    if (!levels || !pixels || taper_model_load(&model, file.data, file.size, NULL, NULL)) return 1;
    const taper_source source = {&bytes_of, bytes_of.size, read_memory};
    const taper_open_options options = {.size = sizeof options, .model = model};
    const taper_sink sink = {levels, write_text};
    taper_container_info info = {.size = sizeof info};
    taper_container *container;
    if (taper_container_open(&container, &source, &options, NULL)) return 1;
    if (taper_container_get_info(container, &info, NULL)) return 1;
    for (uint64_t part = 0; part < 4; part++) {
        const uint64_t cut = bytes_of.size - (bytes_of.size - info.front_bytes) * part / 4;
        if (codec_levels_write(container, cut, &sink, NULL)) return 1;
        dump_pixels(container, cut, pixels);
    }
    taper_container_close(container);
    taper_model_free(model);
    free(file.data), free(bytes_of.data);
    return fclose(levels) || fclose(pixels);
}

/* dump_levels.c -- what a decoder makes of a container, for comparing builds of it.
 *
 *   dump_levels MODEL CONTAINER LEVELS PIXELS
 *
 * decodes whole and at three cuts: the symbols as text, the pixels (8 bits) as they are. */
#include "codec/decoder/front_load.h"
#include "codec/decoder/levels.h"
#include "tests/open_decoder.h"
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

static void dump_symbols(const taper_source *source, const taper_model *model, FILE *to) {
    formats_front front;
    taper_sink sink = {to, write_text};
    if (codec_front_load(source, NULL, &front, NULL)) exit(1);
    if (codec_levels_write(&front, model, source, UINT64_MAX, &sink, NULL)) exit(1);
    formats_front_free(&front);
}

static void dump_pixels(const taper_source *source, const taper_model *model, FILE *to) {
    taper_decoder *decoder;
    taper_container_info info = {.size = sizeof info};
    if (open_decoder(&decoder, source, model, NULL, NULL)) exit(1);
    if (taper_container_get_info(taper_decoder_container(decoder), &info, NULL)) exit(1);
    for (uint64_t i = 0; i < info.images; i++) {
        taper_image_info image = {.size = sizeof image};
        if (taper_container_get_image(taper_decoder_container(decoder), i, &image, NULL)) exit(1);
        taper_image out = {.pixels = malloc((size_t)image.bytes)};
        if (!out.pixels || taper_decoder_render(decoder, i, &out, NULL, NULL)) exit(1);
        if (fwrite(out.pixels, 1, (size_t)image.bytes, to) != image.bytes) exit(1);
        free(out.pixels);
    }
    close_decoder(decoder);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    bytes file = read_all(argv[1]), container = read_all(argv[2]);
    FILE *levels = fopen(argv[3], "w"), *pixels = fopen(argv[4], "wb");
    taper_model *model;
    if (!levels || !pixels || taper_model_load(&model, file.data, file.size, NULL, NULL)) return 1;
    formats_front front;
    taper_source source = {&container, container.size, read_memory};
    if (codec_front_load(&source, NULL, &front, NULL)) return 1;
    size_t whole = container.size, data = whole - (size_t)front.front_size;
    formats_front_free(&front);
    for (size_t part = 0; part < 4; part++) {
        source.size = container.size = whole - data * part / 4;
        dump_symbols(&source, model, levels);
        dump_pixels(&source, model, pixels);
    }
    taper_model_free(model);
    free(file.data), free(container.data);
    return fclose(levels) || fclose(pixels);
}

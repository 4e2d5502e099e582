/* example.c -- libtaper's decoding in one page: `example CONTAINER [MODEL]`. Bytes are pushed in
 * pieces, as if they came over a network, and the first image is rendered at three moments: each
 * time better, never starting again. Outside this tree: #include <taper.h>, cc example.c -ltaper */
#include "codec/taper.h"
#include <stdio.h>
#include <stdlib.h>

static unsigned char *read_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) return NULL;
    *n = (size_t)ftell(f), rewind(f);
    unsigned char *bytes = malloc(*n + 1);
    if (bytes && fread(bytes, 1, *n, f) != *n) *n = 0;
    fclose(f);
    return bytes;
}

static taper_status render(taper_decoder *decoder, size_t pushed, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    taper_completeness done;
    if (taper_container_get_image(taper_decoder_container(decoder), 0, &info, NULL) != TAPER_OK) {
        printf("%zu bytes: need %d more\n", pushed, (int)taper_decoder_bytes_needed(decoder));
        return TAPER_OK;
    }
    taper_image image = {.pixels = malloc((size_t)info.bytes)};
    if (!image.pixels) return TAPER_ERR_NOMEM;
    taper_status status = taper_decoder_render(decoder, 0, &image, &done, error);
    if (status == TAPER_OK)
        printf("%zu bytes: %s, %u x %u, pass %u of %u%s\n", pushed, info.name ? info.name : "one",
               info.width, info.height, done.passes, done.passes_in_file,
               done.complete ? ", complete" : "");
    free(image.pixels);
    return status;
}

int main(int argc, char **argv) {
    size_t size = 0, model_size = 0, at = 0;
    unsigned char *bytes = argc > 1 ? read_file(argv[1], &size) : NULL;
    unsigned char *model_bytes = argc > 2 ? read_file(argv[2], &model_size) : NULL;
    taper_model *model = NULL; /* NULL: the container carries its own, or it ships */
    taper_decoder *decoder = NULL;
    taper_error error = {.status = TAPER_ERR_IO, .text = "usage: example CONTAINER [MODEL]"};
    taper_status status = bytes && (argc < 3 || model_bytes) ? TAPER_OK : TAPER_ERR_IO;
    if (!status && model_bytes)
        status = taper_model_load(&model, model_bytes, model_size, NULL, &error);
    const taper_open_options options = {.size = sizeof options, .model = model};
    if (!status) status = taper_decoder_new_streaming(&decoder, &options, &error);
    for (size_t part = 1; part <= 3 && !status; part++) { /* 1/9, 4/9, then all of the file */
        for (size_t end = size * part * part / 9; at < end && !status; at += 1000)
            status = taper_decoder_push(decoder, bytes + at, size - at < 1000 ? size - at : 1000,
                                        &error);
        if (!status) status = render(decoder, at < size ? at : size, &error);
    }
    if (status) fprintf(stderr, "example: %s\n", error.text);
    taper_decoder_free(decoder);
    taper_model_free(model);
    free(bytes);
    free(model_bytes);
    return status ? 1 : 0;
}

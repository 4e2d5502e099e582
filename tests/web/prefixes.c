/* prefixes.c -- what the C decoder makes of each prefix of a container: a line of its bytes, the
 * outcome, and the checksum of each image's pixels; see tests/conformance/README.md. For
 * tests/cli/wasm-conformance.sh: `prefixes CONTAINER MODEL`, MODEL -: the container's own. */
#include "tests/conformance/decode_prefix.h"

int main(int argc, char **argv) {
    uint8_t *bytes, *file;
    size_t size, model_size;
    taper_model *model = NULL;
    if (argc != 3 || formats_file_read(argv[1], 1 << 24, &bytes, &size, NULL)) return 2;
    if (strcmp(argv[2], "-")) {
        if (formats_file_read(argv[2], 1 << 24, &file, &model_size, NULL)) return 2;
        if (taper_model_load(&model, file, model_size, NULL, NULL)) return 2;
        free(file);
    }
    for (size_t n = 0; n <= size; n++) {
        prefix_result r = push_prefix(bytes, n, n ? n : 1, model);
        printf("%zu %s", n, r.outcome);
        for (uint32_t i = 0; i < r.pictures; i++) printf(" %08x", r.pixels[i]);
        printf("\n");
        formats_buffer_free(&r.samples);
    }
    taper_model_free(model);
    free(bytes);
    return 0;
}

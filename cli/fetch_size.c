/* fetch_size.c -- see fetch_size.h. */
#include "cli/fetch_size.h"
#include "cli/truncate_psnr.h"

/* For --scale: bits for each pixel of the small version. On photographs the small version of such a
 * cut has 39, 34 and 32 dB, at 1/2, 1/4 and 1/8, against that of the whole file. */
static const double bits_of_small_pixel = 3;

static uint64_t end_of_layer(const cli_container *c, uint32_t layer) {
    uint64_t cut = 0;
    uint32_t passes;
    (void)taper_container_layer(c->open, TAPER_ALL_IMAGES, layer, &cut, &passes, NULL);
    return cut;
}

/* What is a small version of a container of layout gallery: the layers that all images have before
 * any of them goes on; 0: it has none. */
static uint64_t small_layers_end(const cli_container *c) {
    uint32_t before = c->info.layers - 1; /* the last layer */
    while (before && taper_container_layer_stage(c->open, before - 1)) before--;
    return c->info.layout == TAPER_LAYOUT_GALLERY && before ? end_of_layer(c, before - 1) : 0;
}

/* The same bytes, and the stages of the model that lie among them. */
static double with_stages(const cli_container *c, double bytes) {
    uint64_t begin = c->info.front_bytes;
    for (uint32_t l = 0; l < c->info.layers && (double)begin < bytes; l++) {
        const uint64_t end = end_of_layer(c, l);
        if (taper_container_layer_stage(c->open, l)) bytes += (double)(end - begin);
        begin = end;
    }
    return bytes;
}

/* Bytes of the beginning that small versions need. */
static uint64_t bytes_of_scale(const cli_container *c, uint32_t scale) {
    const double small = (double)c->info.pixels / ((double)scale * scale),
                 need =
                     with_stages(c, (double)c->info.front_bytes + small * bits_of_small_pixel / 8);
    const uint64_t all = c->source.size, end = small_layers_end(c),
                   bytes = need < (double)all ? (uint64_t)need : all;
    if (c->info.layout == TAPER_LAYOUT_SET || c->info.groups == 1) return bytes;
    return !end || scale == 2 ? all : bytes < end ? bytes : end;
}

static int find_psnr(const cli_fetch_wish *wish, const char *url, const cli_container *c,
                     const cli_common *common, uint64_t *bytes) {
    const cli_truncate_psnr wanted = {
        .path = url, .model = wish->model, .target_db = wish->psnr_db};
    if (c->info.layout == TAPER_LAYOUT_SET)
        return cli_truncate_find_psnr(&wanted, c, common, bytes);
    cli_error("fetch", url,
              "--psnr is for the layout set, and this container has the layout %s; give --budget "
              "or --scale",
              cli_layouts[c->info.layout]);
    return CLI_USAGE;
}

int cli_fetch_size_find(uint64_t *size, const cli_fetch_wish *wish, const char *url,
                        const cli_container *c, const cli_common *common) {
    const uint64_t all = c->source.size, front = c->info.front_bytes;
    uint64_t bytes = all, psnr_bytes = all;
    if (wish->budget && wish->budget < bytes) bytes = wish->budget;
    if (wish->scale && bytes_of_scale(c, wish->scale) < bytes)
        bytes = bytes_of_scale(c, wish->scale);
    if (bytes < front) {
        cli_error("fetch", url,
                  "its front matter alone has %llu bytes, and nothing is seen without; give "
                  "--budget %llu at least",
                  (unsigned long long)front, (unsigned long long)front + 1);
        return CLI_USAGE;
    }
    const int code =
        wish->psnr_db > 0 ? find_psnr(wish, url, c, common, &psnr_bytes) : (int)CLI_DONE;
    if (psnr_bytes < bytes) bytes = psnr_bytes;
    *size = bytes;
    return code;
}

/* reach.c -- see reach.h. */
#include "cli/reach.h"

bool cli_reach_matters(const taper_container *c, uint64_t bytes) {
    taper_container_info info = {.size = sizeof info};
    return taper_container_get_info(c, &info, NULL) == TAPER_OK &&
           info.layout == TAPER_LAYOUT_IMAGE && bytes < info.file_bytes;
}

cli_reach_kind cli_reach_of(const taper_container *c, uint64_t bytes, uint64_t image) {
    uint64_t here = 0, all = 0;
    taper_container_image_bytes(c, image, bytes, &here, &all, NULL);
    return here == all ? CLI_REACH_WHOLE : here ? CLI_REACH_PART : CLI_REACH_MISSING;
}

static uint64_t count_images(const taper_container *c) {
    taper_container_info info = {.size = sizeof info};
    return taper_container_get_info(c, &info, NULL) == TAPER_OK ? info.images : 0;
}

/* Find the next run of images of this kind, from *first on; false: there is none. */
static bool next_run(const taper_container *c, uint64_t bytes, cli_reach_kind kind, uint64_t *first,
                     uint64_t *last) {
    const uint64_t images = count_images(c);
    while (*first < images && cli_reach_of(c, bytes, *first) != kind) ++*first;
    if (*first == images) return false;
    *last = *first;
    while (*last + 1 < images && cli_reach_of(c, bytes, *last + 1) == kind) ++*last;
    return true;
}

/* Write " 1-3, 5" and so on; *images: number of images. */
static void put_runs(const taper_container *c, uint64_t bytes, cli_reach_kind kind, char *to,
                     size_t room, uint64_t *images) {
    enum { SHOWN = 3 };
    size_t used = 0;
    int runs = 0;
    *images = 0;
    for (uint64_t first = 0, last; next_run(c, bytes, kind, &first, &last); first = last + 1) {
        *images += last - first + 1;
        if (runs++ >= SHOWN) continue;
        used += (size_t)snprintf(to + used, room - used, "%s %llu", runs > 1 ? "," : "",
                                 (unsigned long long)first + 1);
        if (last > first)
            used += (size_t)snprintf(to + used, room - used, "-%llu", (unsigned long long)last + 1);
    }
    if (runs > SHOWN) snprintf(to + used, room - used, ", ... (%llu)", (unsigned long long)*images);
}

void cli_reach_sentence(const taper_container *c, uint64_t bytes, char to[256]) {
    static const char *const words[] = {"whole", "in part", "missing"};
    size_t used = (size_t)snprintf(to, 256, "images");
    bool any = false;
    for (int kind = CLI_REACH_WHOLE; kind <= CLI_REACH_MISSING; kind++) {
        char runs[96]; /* 3 runs of at most 24 letters, and a count */
        uint64_t images;
        put_runs(c, bytes, (cli_reach_kind)kind, runs, sizeof runs, &images);
        if (!images) continue;
        used +=
            (size_t)snprintf(to + used, 256 - used, "%s%s %s", any ? "," : "", runs, words[kind]);
        any = true;
    }
}

void cli_reach_report(const cli_common *common, const taper_container *c, uint64_t bytes) {
    char reach[256];
    if (!cli_reach_matters(c, bytes)) return;
    cli_reach_sentence(c, bytes, reach);
    cli_note(common, "decode", "the layout is `image`, and the file is cut: %s", reach);
}

void cli_reach_json(cli_json *j, const taper_container *c, uint64_t bytes) {
    static const char *const keys[] = {"images_whole", "images_in_part", "images_missing"};
    for (int kind = CLI_REACH_WHOLE; kind <= CLI_REACH_MISSING; kind++) {
        cli_json_open(j, keys[kind], '[');
        for (uint64_t first = 0, last; next_run(c, bytes, (cli_reach_kind)kind, &first, &last);
             first = last + 1) {
            cli_json_open(j, NULL, '[');
            cli_json_uint(j, NULL, first + 1);
            cli_json_uint(j, NULL, last + 1);
            cli_json_close(j);
        }
        cli_json_close(j);
    }
}

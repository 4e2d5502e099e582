/* reach.c -- see reach.h. */
#include "cli/reach.h"

bool cli_reach_matters(const formats_front *f, uint64_t bytes) {
    return f->layout == 1 && bytes < f->front_size + f->chunk_at[(uint64_t)f->layers * f->groups];
}

cli_reach_kind cli_reach_of(const formats_front *f, uint64_t bytes, uint32_t image) {
    uint64_t place = formats_front_place(f, image); /* each image is a group, in one layer */
    if (f->front_size + f->chunk_at[place + 1] <= bytes) return CLI_REACH_WHOLE;
    return f->front_size + f->chunk_at[place] < bytes ? CLI_REACH_PART : CLI_REACH_MISSING;
}

/* Find the next run of images of this kind, from *first on; false: there is none. */
static bool next_run(const formats_front *f, uint64_t bytes, cli_reach_kind kind, uint32_t *first,
                     uint32_t *last) {
    while (*first < f->images && cli_reach_of(f, bytes, *first) != kind) ++*first;
    if (*first == f->images) return false;
    *last = *first;
    while (*last + 1 < f->images && cli_reach_of(f, bytes, *last + 1) == kind) ++*last;
    return true;
}

/* Write " 1-3, 5" and so on; *images: number of images. */
static void put_runs(const formats_front *f, uint64_t bytes, cli_reach_kind kind, char *to,
                     size_t room, uint64_t *images) {
    enum { SHOWN = 3 };
    size_t used = 0;
    int runs = 0;
    *images = 0;
    for (uint32_t first = 0, last; next_run(f, bytes, kind, &first, &last); first = last + 1) {
        *images += last - first + 1;
        if (runs++ >= SHOWN) continue;
        used += (size_t)snprintf(to + used, room - used, "%s %u", runs > 1 ? "," : "", first + 1);
        if (last > first) used += (size_t)snprintf(to + used, room - used, "-%u", last + 1);
    }
    if (runs > SHOWN) snprintf(to + used, room - used, ", ... (%llu)", (unsigned long long)*images);
}

void cli_reach_sentence(const formats_front *f, uint64_t bytes, char to[256]) {
    static const char *const words[] = {"whole", "in part", "missing"};
    size_t used = (size_t)snprintf(to, 256, "images");
    bool any = false;
    for (int kind = CLI_REACH_WHOLE; kind <= CLI_REACH_MISSING; kind++) {
        char runs[96]; /* 3 runs of at most 24 letters, and a count */
        uint64_t images;
        put_runs(f, bytes, (cli_reach_kind)kind, runs, sizeof runs, &images);
        if (!images) continue;
        used +=
            (size_t)snprintf(to + used, 256 - used, "%s%s %s", any ? "," : "", runs, words[kind]);
        any = true;
    }
}

void cli_reach_report(const cli_common *common, const formats_front *f, uint64_t bytes) {
    char reach[256];
    if (!cli_reach_matters(f, bytes)) return;
    cli_reach_sentence(f, bytes, reach);
    cli_note(common, "decode", "the layout is `image`, and the file is cut: %s", reach);
}

void cli_reach_json(cli_json *j, const formats_front *f, uint64_t bytes) {
    static const char *const keys[] = {"images_whole", "images_in_part", "images_missing"};
    for (int kind = CLI_REACH_WHOLE; kind <= CLI_REACH_MISSING; kind++) {
        cli_json_open(j, keys[kind], '[');
        for (uint32_t first = 0, last; next_run(f, bytes, (cli_reach_kind)kind, &first, &last);
             first = last + 1) {
            cli_json_open(j, NULL, '[');
            cli_json_uint(j, NULL, first + 1);
            cli_json_uint(j, NULL, last + 1);
            cli_json_close(j);
        }
        cli_json_close(j);
    }
}

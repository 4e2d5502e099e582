/* image_lines.c -- see image_lines.h. */
#define _POSIX_C_SOURCE 200809L /* localtime_r */
#include "cli/image_lines.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t pixels_of(const taper_image_info *info) {
    return (uint64_t)info->width * info->height;
}

taper_status cli_image_lines_open(cli_image_lines *lines, const cli_container *c) {
    taper_image_info info = {.size = sizeof info};
    *lines = (cli_image_lines){.container = c,
                               .pixels = calloc((size_t)c->info.groups + 1, sizeof *lines->pixels)};
    if (!lines->pixels) return TAPER_ERR_NOMEM;
    for (uint64_t i = 0; i < c->info.images; i++) {
        if (taper_container_get_image(c->open, i, &info, NULL) != TAPER_OK) continue;
        lines->pixels[info.group] += pixels_of(&info);
        lines->any_exact |= info.is_exact || info.is_indexed;
    }
    taper_metadata_info of = {.size = sizeof of};
    if (!c->info.metadata_bytes || taper_metadata_open(&lines->metadata, c->open, NULL) != TAPER_OK)
        lines->metadata = NULL;
    else if (taper_metadata_get_info(lines->metadata, &of, NULL) != TAPER_OK || !of.modified) {
        taper_metadata_close(lines->metadata);
        lines->metadata = NULL;
    }
    return TAPER_OK;
}

static void read_time(const cli_image_lines *lines, uint64_t i, cli_image_line *line) {
    taper_metadata m = {.size = sizeof m};
    if (!lines->metadata || taper_metadata_get(lines->metadata, i, &m, NULL) != TAPER_OK) return;
    line->has_modified = m.has_modified;
    line->modified = m.modified_ns / 1000000000 - (m.modified_ns % 1000000000 < 0);
}

/* "" without a time; is_utc: for programs, else for people. */
static void time_text(const cli_image_line *line, bool is_utc, char text[32]) {
    const time_t at = (time_t)line->modified;
    struct tm parts;
    *text = 0;
    if (!line->has_modified || !(is_utc ? gmtime_r : localtime_r)(&at, &parts)) return;
    if (!strftime(text, 32, is_utc ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M", &parts)) *text = 0;
}

void cli_image_lines_close(cli_image_lines *lines) {
    free(lines->pixels);
    taper_metadata_close(lines->metadata);
    *lines = (cli_image_lines){0};
}

static uint64_t share(uint64_t bytes, double part) {
    return (uint64_t)((double)bytes * part + 0.5);
}

cli_image_line cli_image_line_of(const cli_image_lines *lines, uint64_t i) {
    const taper_container *open = lines->container->open;
    cli_image_line line = {.number = i + 1, .info = {.size = sizeof line.info, .label = -1}};
    uint64_t first;
    taper_container_get_image(open, i, &line.info, NULL);
    line.same_as = line.info.same_as + 1;
    taper_container_group(open, line.info.group, &first, &line.together, NULL);
    taper_container_image_bytes(open, i, lines->container->source.size, &line.here, &line.bytes,
                                NULL);
    line.is_exact = (line.info.is_exact || line.info.is_indexed) && line.here == line.bytes;
    if (line.together > 1) {
        const double all = (double)lines->pixels[line.info.group];
        const double part = (double)pixels_of(&line.info) / all;
        line.bytes = share(line.bytes, part), line.here = share(line.here, part);
    }
    if (line.same_as != line.number) line.bytes = line.here = 0;
    read_time(lines, i, &line);
    if (line.info.label >= 0)
        line.class = taper_container_class_name(open, (uint32_t)line.info.label);
    return line;
}

/* "RGB", "grey 16" */
static const char *kind_of(const taper_image_info *info) {
    static const char *const kinds[2][4] = {{"grey", "greyA", "RGB", "RGBA"},
                                            {"grey16", "greyA16", "RGB16", "RGBA16"}};
    return kinds[info->depth == 16][info->channels - 1];
}

/* Containers of IDX and CIFAR files have no names: the files of `extract` are numbered. */
static void put_name(const cli_image_line *line) {
    if (line->info.name)
        cli_put_plain(stdout, line->info.name);
    else
        printf("%06llu", (unsigned long long)line->number);
}

void cli_image_lines_names(const cli_image_lines *lines, const cli_chosen *chosen) {
    for (uint64_t k = 0; k < chosen->count; k++) {
        const cli_image_line line = cli_image_line_of(lines, cli_chosen_image(chosen, k));
        put_name(&line);
        putchar('\n');
    }
}

/* --- the table --- */

/* Widths of columns. */
typedef struct widths {
    int number, size, kind, bytes, class;
} widths;

static int larger(int a, size_t b) { return (size_t)a < b ? (int)b : a; }

static size_t size_text(const cli_image_line *line, char text[32]) {
    return (size_t)snprintf(text, 32, "%ux%u", line->info.width, line->info.height);
}

/* "~" stands before a share, "=" before the number of the image that it is stored as; of a cut file
 * "here/all". */
static size_t bytes_text(const cli_image_line *line, char text[64]) {
    const char *about = line->together > 1 ? "~" : "";
    if (line->same_as != line->number)
        return (size_t)snprintf(text, 64, "=%llu", (unsigned long long)line->same_as);
    if (line->here < line->bytes)
        return (size_t)snprintf(text, 64, "%s%llu/%llu", about, (unsigned long long)line->here,
                                (unsigned long long)line->bytes);
    return (size_t)snprintf(text, 64, "%s%llu", about, (unsigned long long)line->bytes);
}

/* A class as it is printed: at most so many bytes, of whole characters. */
static size_t class_text(const cli_image_line *line, char text[41]) {
    return line->class ? cli_plain_text(text, 41, line->class) : cli_plain_text(text, 41, "-");
}

static widths measure(const cli_image_lines *lines, const cli_chosen *chosen) {
    widths w = {.number = 6, .size = 4, .kind = 4, .bytes = 5, .class = 5};
    for (uint64_t k = 0; k < chosen->count; k++) {
        const cli_image_line line = cli_image_line_of(lines, cli_chosen_image(chosen, k));
        char text[64];
        w.size = larger(w.size, size_text(&line, text));
        w.bytes = larger(w.bytes, bytes_text(&line, text));
        w.class = larger(w.class, class_text(&line, text));
        w.kind = larger(w.kind, strlen(kind_of(&line.info)));
    }
    return w;
}

void cli_image_lines_table(const cli_image_lines *lines, const cli_chosen *chosen) {
    const widths w = measure(lines, chosen);
    const int has_classes = lines->container->info.has_labels;
    printf("%*s  %*s  %-*s  %*s  ", w.number, "number", w.size, "size", w.kind, "kind", w.bytes,
           "bytes");
    if (lines->any_exact) printf("%-7s  ", "quality");
    if (has_classes) printf("%-*s  ", w.class, "class");
    if (lines->metadata) printf("%-16s  ", "time");
    printf("name\n");
    for (uint64_t k = 0; k < chosen->count; k++) {
        const cli_image_line line = cli_image_line_of(lines, cli_chosen_image(chosen, k));
        char size[32], bytes[64], class[41];
        size_text(&line, size), bytes_text(&line, bytes), class_text(&line, class);
        printf("%*llu  %*s  %-*s  %*s  ", w.number, (unsigned long long)line.number, w.size, size,
               w.kind, kind_of(&line.info), w.bytes, bytes);
        if (lines->any_exact) printf("%-7s  ", line.is_exact ? "exact" : "-");
        if (has_classes) printf("%-*s  ", w.class, class);
        if (lines->metadata) {
            char time[32];
            time_text(&line, false, time);
            printf("%-16s  ", *time ? time : "-");
        }
        put_name(&line);
        putchar('\n');
    }
}

/* --- JSON --- */

void cli_image_lines_json(const cli_image_lines *lines, const cli_chosen *chosen,
                          const char *path) {
    for (uint64_t k = 0; k < chosen->count; k++) {
        const cli_image_line line = cli_image_line_of(lines, cli_chosen_image(chosen, k));
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_string(&j, "kind", "image");
        cli_json_string(&j, "file", path);
        cli_json_uint(&j, "image", line.number);
        cli_json_string(&j, "name", line.info.name);
        cli_json_uint(&j, "width", line.info.width);
        cli_json_uint(&j, "height", line.info.height);
        cli_json_uint(&j, "channels", line.info.channels);
        cli_json_uint(&j, "depth", line.info.depth);
        cli_json_string(&j, "class", line.class);
        cli_json_uint(&j, "bytes", line.bytes);
        cli_json_uint(&j, "bytes_here", line.here);
        cli_json_bool(&j, "exact", line.is_exact);
        cli_json_uint(&j, "coded_together", line.together);
        if (line.same_as == line.number)
            cli_json_string(&j, "same_as", NULL);
        else
            cli_json_uint(&j, "same_as", line.same_as);
        char time[32];
        time_text(&line, true, time);
        cli_json_string(&j, "modified", *time ? time : NULL);
        cli_json_end(&j);
    }
}

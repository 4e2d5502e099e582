/* cmd_info.c -- prints the contents of containers, models and indexes. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "cli/model_report.h"
#include "cli/reach.h"
#include "cli/index/index_info.h"
#include "codec/taper_model.h"
#include <math.h>
#include <stdlib.h>

typedef struct settings {
    cli_common common;
} settings;

static const cli_option options[] = {
    CLI_MESSAGE_OPTIONS(settings), CLI_JSON_OPTION(settings), CLI_LIMIT_OPTIONS(settings), {0}};

const cli_verb cli_verb_info = {
    .name = "info",
    .run = cmd_info,
    .what = "print what a container, a model or an index contains",
    .synopsis = "[options] FILE...",
    .options = options,
    .about =
        "Of a container, complete or truncated, prints how many images it has, of which sizes, "
        "with which names and labels. Also prints the model that it needs, its layers and their "
        "sizes, the stages of a model that it carries between them, and how much of the file is "
        "present. -v lists every image, -vv also every "
        "group. Of a model (a file, or the built-in photo, tiny or search) prints its structure; "
        "of an "
        "embedding model also its objective. -v lists its layers, -vv also its units. Nothing "
        "is decoded and no model is needed; `verify` checks the data.",
    .examples = "taper info set.taper\ntaper info --json set.taper model.tpm\n"
                "taper info -v photo\n"};

/* --- what is asked of a front --- */

typedef struct extent {
    uint32_t min_width, min_height, max_width, max_height;
    bool same_size, any_grey, any_colour, any_deep;
    uint64_t alphas, drawings, exact;
} extent;

static taper_image_info image_of(const cli_container *c, uint64_t i) {
    taper_image_info info = {.size = sizeof info, .label = -1};
    taper_container_get_image(c->open, i, &info, NULL);
    return info;
}

static extent extent_of(const cli_container *c) {
    extent e = {.min_width = UINT32_MAX, .min_height = UINT32_MAX, .same_size = true};
    for (uint64_t i = 0; i < c->info.images; i++) {
        const taper_image_info g = image_of(c, i);
        if (g.width < e.min_width) e.min_width = g.width;
        if (g.height < e.min_height) e.min_height = g.height;
        if (g.width > e.max_width) e.max_width = g.width;
        if (g.height > e.max_height) e.max_height = g.height;
        e.alphas += !(g.channels & 1);
        e.drawings += g.is_indexed != 0;
        e.exact += g.is_exact != 0;
        if (g.channels < 3)
            e.any_grey = true;
        else
            e.any_colour = true;
        if (g.depth == 16) e.any_deep = true;
    }
    e.same_size = e.min_width == e.max_width && e.min_height == e.max_height;
    return e;
}

/* Bytes of the file up to the end of layer l; *passes: the most passes of an image there. */
static uint64_t layer_reach(const cli_container *c, uint32_t l, uint32_t *passes) {
    uint64_t cut = 0;
    taper_container_layer(c->open, TAPER_ALL_IMAGES, l, &cut, passes, NULL);
    return cut;
}

/* Number of layers that are complete for all images. With the layout `image` it is 0 unless the
 * file is complete, because layers are not prefixes of the file. */
static uint32_t layers_here(const cli_container *c) {
    uint32_t n = 0, passes;
    while (n < c->info.layers && layer_reach(c, n, &passes) <= c->source.size) n++;
    return n;
}

/* Images of each class, [classes]; the caller's to free, NULL without memory. */
static uint32_t *class_sizes(const cli_container *c) {
    uint32_t *n = calloc((size_t)c->info.classes + 1, sizeof *n);
    for (uint64_t i = 0; n && i < c->info.images; i++) {
        const int32_t label = image_of(c, i).label;
        if (label >= 0) n[label]++;
    }
    return n;
}

/* Of which images there are which metadata; false: there are none, or they are damaged. */
static bool metadata_of(const cli_container *c, taper_metadata_info *info) {
    taper_metadata_reader *reader;
    taper_error error = {0};
    *info = (taper_metadata_info){.size = sizeof *info};
    if (!c->info.metadata_bytes) return false;
    if (taper_metadata_open(&reader, c->open, &error) != TAPER_OK) {
        cli_warning("info", NULL, "%s", error.text);
        return false;
    }
    const taper_status status = taper_metadata_get_info(reader, info, NULL);
    taper_metadata_close(reader);
    return status == TAPER_OK;
}

/* parts 0: the container does not say of which set it is a part. */
static taper_part part_of(const cli_container *c) {
    taper_part part = {.size = sizeof part};
    taper_container_get_part(c->open, &part, NULL);
    return part;
}

/* --- JSON --- */

static void json_metadata(cli_json *j, const cli_container *c) {
    taper_metadata_info m;
    if (!metadata_of(c, &m)) return;
    cli_json_open(j, "metadata", '{');
    cli_json_uint(j, "bytes", c->info.metadata_bytes);
    cli_json_uint(j, "profiles", m.icc);
    cli_json_uint(j, "exif", m.exif);
    cli_json_uint(j, "xmp", m.xmp);
    cli_json_uint(j, "cicp", m.cicp);
    cli_json_uint(j, "gamma", m.gamma);
    cli_json_uint(j, "chromaticities", m.chromaticities);
    cli_json_uint(j, "density", m.density);
    cli_json_uint(j, "times", m.modified);
    cli_json_uint(j, "payloads", m.payloads);
    cli_json_uint(j, "payload_bytes", m.payload_bytes);
    cli_json_close(j);
}

static void json_classes(cli_json *j, const cli_container *c) {
    uint32_t *size = class_sizes(c);
    cli_json_open(j, "classes", '[');
    for (uint32_t k = 0; k < c->info.classes; k++) {
        cli_json_open(j, NULL, '{');
        cli_json_string(j, "name", taper_container_class_name(c->open, k));
        cli_json_uint(j, "images", size ? size[k] : 0);
        cli_json_close(j);
    }
    cli_json_close(j);
    free(size);
}

static void json_layers(cli_json *j, const cli_container *c) {
    uint64_t before = c->info.front_bytes;
    cli_json_open(j, "layers", '[');
    for (uint32_t l = 0; l < c->info.layers; l++) {
        uint32_t passes = 0;
        const uint64_t reach = layer_reach(c, l, &passes);
        cli_json_open(j, NULL, '{');
        cli_json_uint(j, "passes", passes);
        if (taper_container_layer_stage(c->open, l))
            cli_json_uint(j, "stage", taper_container_layer_stage(c->open, l));
        cli_json_uint(j, "bytes", reach - before);
        cli_json_uint(j, "end", reach);
        cli_json_number(j, "bpp", (double)reach * 8 / (double)c->info.pixels);
        cli_json_close(j);
        before = reach;
    }
    cli_json_close(j);
}

static void json_images(cli_json *j, const cli_container *c) {
    cli_json_open(j, "list", '[');
    for (uint64_t i = 0; i < c->info.images; i++) {
        const taper_image_info image = image_of(c, i);
        cli_json_open(j, NULL, '{');
        cli_json_string(j, "name", image.name);
        cli_json_uint(j, "width", image.width);
        cli_json_uint(j, "height", image.height);
        cli_json_uint(j, "channels", image.channels);
        cli_json_uint(j, "depth", image.depth);
        if (image.is_indexed) cli_json_bool(j, "drawing", true);
        if (image.is_exact) cli_json_bool(j, "exact", true);
        if (c->info.has_labels) cli_json_int(j, "label", image.label);
        cli_json_close(j);
    }
    cli_json_close(j);
}

/* The part of a set that the container says it is. */
static void json_part(cli_json *j, const cli_container *c) {
    const taper_part part = part_of(c);
    if (!part.parts) return;
    cli_json_open(j, "part", '{');
    cli_json_uint(j, "number", part.part + 1);
    cli_json_uint(j, "of", part.parts);
    cli_json_uint(j, "images_of_set", part.images);
    cli_json_uint(j, "left_out", part.left_out);
    cli_json_close(j);
}

static void tell_json(const settings *s, const char *path, const cli_container *c) {
    const taper_container_info *f = &c->info;
    extent e = extent_of(c);
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "file", path);
    cli_json_string(&j, "kind", "container");
    cli_json_id(&j, "model", f->model_id);
    cli_json_string(&j, "builtin_model", taper_model_builtin_of(f->model_id));
    cli_json_uint(&j, "embedded_model_bytes", f->model_bytes);
    cli_json_string(&j, "layout", cli_layouts[f->layout]);
    cli_json_uint(&j, "images", f->images);
    cli_json_uint(&j, "further_names", f->further_names);
    cli_json_uint(&j, "pixels", f->pixels);
    cli_json_uint(&j, "min_width", e.min_width);
    cli_json_uint(&j, "max_width", e.max_width);
    cli_json_uint(&j, "min_height", e.min_height);
    cli_json_uint(&j, "max_height", e.max_height);
    cli_json_uint(&j, "exact_images", e.exact);
    cli_json_uint(&j, "groups", f->groups);
    cli_json_uint(&j, "rate_classes", f->rate_classes);
    cli_json_uint(&j, "front_bytes", f->front_bytes);
    cli_json_uint(&j, "bytes", c->source.size);
    cli_json_uint(&j, "whole_bytes", c->info.file_bytes);
    cli_json_bool(&j, "whole", c->source.size >= c->info.file_bytes);
    cli_json_uint(&j, "layers_here", layers_here(c));
    if (cli_reach_matters(c->open, c->source.size)) cli_reach_json(&j, c->open, c->source.size);
    cli_json_bool(&j, "names", f->has_names);
    if (f->search_bits) {
        cli_json_uint(&j, "search_bits", f->search_bits);
        cli_json_id(&j, "search_model", f->search_model_id);
        cli_json_bool(&j, "search_model_carried", f->search_model_bytes > 0);
    }
    if (f->metadata_bytes) json_metadata(&j, c);
    json_part(&j, c);
    if (f->has_labels) json_classes(&j, c);
    json_layers(&j, c);
    if (s->common.verbose) json_images(&j, c);
    cli_json_end(&j);
}

/* --- for people --- */

/* The first classes, on one line. */
static void print_classes(const cli_container *c) {
    const uint32_t classes = c->info.classes, shown = classes < 10 ? classes : 10;
    uint32_t *size = class_sizes(c);
    printf("  labels    %u class%s:", classes, formats_plural(classes, "es"));
    for (uint32_t k = 0; k < shown && size; k++) {
        printf("%s ", k ? "," : "");
        cli_put_plain(stdout, taper_container_class_name(c->open, k));
        printf(" (%u)", size[k]);
    }
    printf("%s\n", classes > shown ? ", ..." : "");
    free(size);
}

static void print_images(const cli_container *c) {
    extent e = extent_of(c);
    printf("  images    %llu, ", (unsigned long long)c->info.images);
    if (e.same_size)
        printf("%u x %u, ", e.max_width, e.max_height);
    else
        printf("widths %u to %u, heights %u to %u, ", e.min_width, e.max_width, e.min_height,
               e.max_height);
    printf("%s%s\n",
           !e.any_colour ? "grey"
           : e.any_grey  ? "RGB and grey"
                         : "RGB",
           e.any_deep ? ", 16 bits among them" : "");
    if (e.alphas) printf("            %llu with transparency\n", (unsigned long long)e.alphas);
    if (e.drawings)
        printf("            %llu drawing%s, kept exactly\n", (unsigned long long)e.drawings,
               formats_plural(e.drawings, "s"));
    if (e.exact)
        printf("            %llu exact, pixel for pixel, in the whole file\n",
               (unsigned long long)e.exact);
    if (c->info.further_names)
        printf("            %llu more file%s, equal to one of them\n",
               (unsigned long long)c->info.further_names,
               formats_plural(c->info.further_names, "s"));
    if (c->info.has_labels) print_classes(c);
    if (!c->info.has_names) return;
    printf("  names     ");
    cli_put_plain(stdout, image_of(c, 0).name);
    printf("%s\n", c->info.images > 1 ? ", ..." : "");
}

/* How many images have each kind. */
static void print_metadata(const cli_container *c) {
    taper_metadata_info m;
    if (!metadata_of(c, &m)) return;
    const struct {
        const char *kind;
        uint64_t images;
    } kinds[] = {{"profile", m.icc},     {"EXIF", m.exif},    {"XMP", m.xmp},
                 {"cICP", m.cicp},       {"gamma", m.gamma},  {"chromaticities", m.chromaticities},
                 {"density", m.density}, {"time", m.modified}};
    printf("  metadata  %llu bytes, %.1f per image; images with",
           (unsigned long long)c->info.metadata_bytes,
           (double)c->info.metadata_bytes / (double)c->info.images);
    for (size_t i = 0, shown = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].images)
            printf("%s %s: %llu", shown++ ? "," : "", kinds[i].kind,
                   (unsigned long long)kinds[i].images);
    printf("\n");
}

static void print_state(const cli_container *c) {
    if (c->source.size >= c->info.file_bytes) {
        printf("  state     whole%s%s\n",
               c->info.was_truncated ? "; was truncated to this size" : "",
               c->source.size > c->info.file_bytes ? "; bytes follow the end" : "");
        return;
    }
    printf("  state     cut: %llu of %llu bytes (%.3g %%); ", (unsigned long long)c->source.size,
           (unsigned long long)c->info.file_bytes,
           (double)c->source.size * 100 / (double)c->info.file_bytes);
    char reach[256];
    if (cli_reach_matters(c->open, c->source.size)) {
        cli_reach_sentence(c->open, c->source.size, reach);
        printf("%s\n", reach);
        return;
    }
    printf("%u of %u layer%s whole for all images\n", layers_here(c), c->info.layers,
           formats_plural(c->info.layers, "s"));
}

static void print_layers(const cli_container *c) {
    uint64_t before = c->info.front_bytes;
    const double pixels = (double)c->info.pixels;
    printf("  layer  passes       bytes      up to here         bpp\n");
    printf("  front          %11llu %15llu %11.4f\n", (unsigned long long)before,
           (unsigned long long)before, (double)before * 8 / pixels);
    for (uint32_t l = 0; l < c->info.layers; l++) {
        uint32_t passes = 0;
        const uint64_t reach = layer_reach(c, l, &passes);
        const uint32_t stage = taper_container_layer_stage(c->open, l);
        char what[20];
        snprintf(what, sizeof what, stage ? "stage %u" : "%u", stage ? stage : passes);
        printf("  %5u %7s %11llu %15llu %11.4f%s\n", l + 1, what,
               (unsigned long long)(reach - before), (unsigned long long)reach,
               (double)reach * 8 / pixels,
               reach <= c->source.size   ? ""
               : before < c->source.size ? "  in part"
                                         : "  not here");
        before = reach;
    }
}

static void print_list(const cli_container *c) {
    static const char *const kinds[] = {"", "grey", "LA  ", "RGB ", "RGBA"};
    for (uint64_t i = 0; i < c->info.images; i++) {
        const taper_image_info g = image_of(c, i);
        printf("  %6llu  %u x %u  %s  %2u bits", (unsigned long long)i + 1, g.width, g.height,
               kinds[g.channels], g.depth);
        if (g.is_indexed) fputs("  drawing", stdout);
        if (g.is_exact) fputs("  exact", stdout);
        if (g.label >= 0)
            fputs("  ", stdout),
                cli_put_plain(stdout, taper_container_class_name(c->open, (uint32_t)g.label));
        if (g.name) fputs("  ", stdout), cli_put_plain(stdout, g.name);
        putchar('\n');
    }
}

/* -vv: the group and the bytes of each image. */
static void print_groups(const cli_container *c) {
    printf("   group  images  of them the first       bytes\n");
    for (uint32_t g = 0; g < c->info.groups; g++) {
        uint64_t first = 0, count = 0, here, bytes = 0;
        taper_container_group(c->open, g, &first, &count, NULL);
        first = taper_container_image_at(c->open, first);
        taper_container_image_bytes(c->open, first, 0, &here, &bytes, NULL);
        printf("  %6u %7llu %18llu %11llu\n", g + 1, (unsigned long long)count,
               (unsigned long long)first + 1, (unsigned long long)bytes);
    }
}

static void print_part(const cli_container *c) {
    const taper_part part = part_of(c);
    if (part.parts < 2) return;
    printf("  shard     %u of %u, of a set of %llu images", part.part + 1, part.parts,
           (unsigned long long)part.images);
    if (part.left_out)
        printf("; %llu of its own could not be used", (unsigned long long)part.left_out);
    printf("\n");
}

static void tell_person(const settings *s, const char *path, const cli_container *c) {
    const taper_container_info *f = &c->info;
    cli_put_plain(stdout, path);
    printf(": container\n");
    print_images(c);
    print_part(c);
    const char *builtin = taper_model_builtin_of(f->model_id);
    printf("  model     %016llx, ", (unsigned long long)f->model_id);
    if (builtin)
        printf("%s, which is built in\n", builtin);
    else if (f->model_bytes)
        printf("carried in the file\n");
    else
        printf("not in the file: give it with -m to decode\n");
    if (f->search_bits)
        printf("  search    %u bits an image, by model %016llx, %s\n", f->search_bits,
               (unsigned long long)f->search_model_id,
               f->search_model_bytes ? "carried in the file" : "not in the file");
    if (f->metadata_bytes) print_metadata(c);
    printf("  layout    %s: %u layer%s of %u group%s", cli_layouts[f->layout], f->layers,
           formats_plural(f->layers, "s"), f->groups, formats_plural(f->groups, "s"));
    if (f->rate_classes > 1) printf(" in %u rate classes", f->rate_classes);
    printf("\n");
    printf("  size      %llu bytes, %.2f per image, %.4f bpp\n",
           (unsigned long long)c->info.file_bytes, (double)c->info.file_bytes / (double)f->images,
           (double)c->info.file_bytes * 8 / (double)f->pixels);
    print_state(c);
    print_layers(c);
    if (s->common.verbose) print_list(c);
    if (s->common.verbose > 1) print_groups(c);
}

/* --- the verb --- */

/* Closes the model. */
static int tell_model(const settings *s, cli_model *m, const char *path) {
    cli_model_report(m->model, path, &s->common);
    cli_model_close(m);
    return CLI_DONE;
}

static int tell_container(const settings *s, cli_stream *stream, const char *path) {
    cli_container container;
    int code = cli_container_take(&container, stream, "info", path, &s->common);
    if (code != CLI_DONE) return code;
    if (s->common.json)
        tell_json(s, path, &container);
    else
        tell_person(s, path, &container);
    cli_container_close(&container);
    return CLI_DONE;
}

static int tell_index(const settings *s, const char *path) {
    cli_index index;
    const int code = cli_index_open(&index, "info", path, &s->common);
    if (code == CLI_DONE) cli_index_report(&index, path, &s->common);
    cli_index_close(&index);
    return code;
}

static int tell(const settings *s, char *path) {
    cli_stream stream;
    cli_model model;
    int code = cli_inputs_check("info", &path, 1);
    if (code != CLI_DONE) return code;
    if (cli_kind_of(path) == CLI_IS_INDEX) return tell_index(s, path);
    if (taper_model_builtin_bytes(path, NULL)) {
        code = cli_model_open(&model, "info", path, &s->common);
        return code == CLI_DONE ? tell_model(s, &model, path) : code;
    }
    code = cli_stream_open(&stream, "info", path);
    if (code == CLI_DONE && cli_stream_is_model(&stream)) {
        code = cli_stages_read(&model, &stream, "info", path, &s->common);
        if (code == CLI_DONE) code = tell_model(s, &model, path);
    } else if (code == CLI_DONE) {
        code = tell_container(s, &stream, path);
    }
    cli_stream_close(&stream);
    return code;
}

int cmd_info(int argc, char **argv) {
    settings s = {0};
    int first, worst = CLI_DONE, code = cli_options_parse(&cli_verb_info, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (first == argc) return cli_usage(&cli_verb_info, "give a container or a model");
    for (int i = first; i < argc; i++) {
        code = tell(&s, argv[i]);
        if (worst == CLI_DONE) worst = code;
    }
    return worst;
}

/* model_report.c -- see model_report.h. */
#include "cli/model_report.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "codec/taper_model.h"
#include <math.h>
#include <stdio.h>

/* --- JSON --- */

static void json_model_layers(cli_json *j, const taper_model *model) {
    taper_model_layer layer = {.size = sizeof layer};
    cli_json_open(j, "layers", '[');
    for (uint32_t l = 0; !taper_model_get_layer(model, l, &layer, NULL); l++) {
        cli_json_open(j, NULL, '{');
        cli_json_uint(j, "passes", layer.passes);
        cli_json_uint(j, "bytes_per_megapixel", layer.bytes_per_megapixel);
        cli_json_close(j);
    }
    cli_json_close(j);
}

/* Training objective of an embedding model; null, or 0 classes, if unknown. */
static void json_training(cli_json *j, const taper_model_info *m) {
    cli_json_uint(j, "embedding", m->embedding);
    if (!m->embedding) return;
    cli_json_string(j, "objective", *m->objective ? m->objective : NULL);
    cli_json_number(j, "alpha", m->alpha > 0 ? (double)m->alpha : NAN);
    cli_json_uint(j, "trained_classes", m->classes);
}

static void report_json(const cli_common *common, const char *path, const taper_model *model,
                        const char *family) {
    taper_model_info m = cli_model_info(model);
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "file", path);
    cli_json_string(&j, "kind", "model");
    cli_json_string(&j, "builtin_model", taper_model_builtin_of(m.id));
    cli_json_id(&j, "id", m.id);
    cli_json_string(&j, "family", family);
    cli_json_uint(&j, "channels", m.channels);
    cli_json_uint(&j, "window_width", m.window_width);
    cli_json_uint(&j, "window_height", m.window_height);
    if (m.cells_across) {
        cli_json_uint(&j, "cells_across", m.cells_across);
        cli_json_uint(&j, "cells_down", m.cells_down);
    }
    if (m.convolutions) cli_json_uint(&j, "convolutions", m.convolutions);
    cli_json_uint(&j, "units", m.units);
    cli_json_uint(&j, "passes", m.passes);
    cli_json_uint(&j, "binary", m.binary);
    cli_json_uint(&j, "feedback", m.feedback);
    cli_json_uint(&j, "lap", m.lap);
    cli_json_uint(&j, "conditional_hidden", m.conditional_hidden);
    cli_json_uint(&j, "head_hidden", m.head_hidden);
    cli_json_uint(&j, "restoration_hidden", m.restoration_hidden);
    cli_json_uint(&j, "weights", m.weights);
    cli_json_uint(&j, "multiply_adds", m.work);
    cli_json_uint(&j, "most_multiply_adds", m.most_work);
    cli_json_uint(&j, "bytes", m.file_bytes);
    cli_json_uint(&j, "stages", m.stages);
    cli_json_uint(&j, "stages_known", m.stages_known);
    cli_json_uint(&j, "passes_known", m.passes_known);
    json_training(&j, &m);
    if (common->verbose && !m.embedding) json_model_layers(&j, model);
    cli_json_end(&j);
}

/* --- for people --- */

/* -v: the layers of an encoder. */
static void print_model_layers(const taper_model *model) {
    taper_model_layer layer = {.size = sizeof layer};
    printf("  layer  up to pass  bytes a megapixel\n");
    for (uint32_t l = 0; !taper_model_get_layer(model, l, &layer, NULL); l++)
        printf("  %5u %11u %18u\n", l + 1, layer.passes, layer.bytes_per_megapixel);
}

/* -vv: properties of each unit. */
static void print_units(const taper_model *model) {
    taper_model_unit unit = {.size = sizeof unit};
    printf("   unit  planes  finest step  in steps, its usual size\n");
    for (uint32_t u = 0; !taper_model_get_unit(model, u, &unit, NULL); u++)
        printf("  %5u %7u %12.4g %25.4g\n", u + 1, unit.planes, unit.step, unit.usual_size);
}

static void print_training(const taper_model_info *m) {
    if (!*m->objective && !m->classes) return;
    printf("  trained   %s%s", *m->objective ? "for " : "", m->objective);
    if (m->alpha > 0) printf(", alpha %.4g", (double)m->alpha);
    if (m->classes) printf("%son %u classes", *m->objective ? ", " : "", m->classes);
    printf("\n");
}

/* For an embedding model: an image is one window, and there are no bits. */
static void print_embedding(const cli_common *common, const taper_model *model) {
    uint32_t depth = 0;
    const taper_model_info m = cli_model_info(model);
    while (taper_model_layer_width(model, depth + 1)) depth++;
    printf("  window    %u x %u pixels, to which images are scaled\n", m.window_width,
           m.window_height);
    if (m.cells_across)
        printf("  inputs    gradient orientations in %u x %u cells\n", m.cells_across,
               m.cells_down);
    if (m.convolutions)
        printf("  pooling   %u convolutional layer%s of 3 x 3, each with pooling of 2 x 2\n",
               m.convolutions, formats_plural(m.convolutions, "s"));
    printf("  code      %u %s%s, by %u layer%s\n", m.units, m.binary ? "bit" : "unit",
           formats_plural(m.units, "s"), depth, formats_plural(depth, "s"));
    print_training(&m);
    printf("  work      %llu multiply-adds a pixel\n", (unsigned long long)m.work);
    if (!common->verbose) return;
    printf("  layers    %u", taper_model_layer_width(model, 0));
    for (uint32_t l = 1; l <= depth; l++) printf("-%u", taper_model_layer_width(model, l));
    printf("\n");
}

static void print_stages(const taper_model_info *m) {
    if (m->stages_known == m->stages)
        printf("  stages    %u\n", m->stages);
    else
        printf("  stages    %u of %u, which draw %u passes\n", m->stages_known, m->stages,
               m->passes_known);
}

static void print_size(const taper_model_info *m) {
    printf("  size      %llu bytes, %llu weights\n", (unsigned long long)m->file_bytes,
           (unsigned long long)m->weights);
}

static void report_text(const cli_common *common, const char *path, const taper_model *model,
                        const char *family) {
    taper_model_info m = cli_model_info(model);
    const char *builtin = taper_model_builtin_of(m.id);
    cli_put_plain(stdout, path);
    printf(": model%s%s%s\n", builtin ? ", " : "", builtin ? builtin : "",
           builtin ? ", which is built in" : "");
    printf("  id        %016llx\n", (unsigned long long)m.id);
    printf("  family    %s, for %s images%s\n", family, m.channels == 1 ? "grey" : "RGB and grey",
           m.embedding ? "; an embedding model: it has no decoder" : "");
    if (m.embedding) {
        print_embedding(common, model);
        print_size(&m);
        return;
    }
    printf("  window    %u x %u pixels; larger images are a grid of windows\n", m.window_width,
           m.window_height);
    printf("  code      %u unit%s%s, %u pass%s\n", m.units, formats_plural(m.units, "s"),
           m.binary ? " of one bit" : "", m.passes, formats_plural(m.passes, "es"));
    if (m.feedback) printf("  feedback  units, and what decodes them, know the units before\n");
    if (m.lap)
        printf("  laps      by %u pixel%s over the edges of its windows\n", m.lap,
               formats_plural(m.lap, "s"));
    if (m.conditional_hidden)
        printf("  predicts  bits, by a network of %u hidden units\n", m.conditional_hidden);
    if (m.head_hidden)
        printf("  refines   what is decoded, by a network of %u hidden units\n", m.head_hidden);
    if (m.restoration_hidden)
        printf("  restores  pixels, by convolutions %u wide\n", m.restoration_hidden);
    printf("  work      %llu multiply-adds a pixel to decode all passes, at most %llu\n",
           (unsigned long long)m.work, (unsigned long long)m.most_work);
    print_stages(&m);
    print_size(&m);
    if (common->verbose) print_model_layers(model);
    if (common->verbose > 1 && !m.binary) print_units(model);
}

void cli_model_report(const taper_model *model, const char *path, const cli_common *common) {
    const char *family = taper_family_name(cli_model_info(model).family);
    if (common->json)
        report_json(common, path, model, family);
    else
        report_text(common, path, model, family);
}

/* index_info.c -- see index_info.h. */
#include "cli/index/index_info.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include "formats/bytes.h"

/* The part of a set that it says it is; .parts 0: it does not. */
static taper_part part_of(const cli_index *index) {
    taper_part part = {.size = sizeof part};
    taper_index_get_part(index->index, &part, NULL);
    return part;
}

static void put_part_json(cli_json *j, const taper_part *part) {
    if (!part->parts) return;
    cli_json_uint(j, "part", part->part + 1);
    cli_json_uint(j, "parts", part->parts);
    cli_json_uint(j, "set_images", part->images);
    cli_json_uint(j, "left_out", part->left_out);
}

static void tell_json(const cli_index *index, const char *path) {
    const taper_index_info info = cli_index_info(index->index);
    char id[20];
    cli_json j;
    snprintf(id, sizeof id, "%016llx", (unsigned long long)info.model_id);
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "file", path);
    cli_json_string(&j, "kind", "index");
    cli_json_uint(&j, "images", info.images);
    cli_json_uint(&j, "bits", info.bits);
    const taper_part part = part_of(index);
    put_part_json(&j, &part);
    cli_json_string(&j, "weights", info.is_weighted ? "falling" : "even");
    cli_json_string(&j, "model", id);
    cli_json_bool(&j, "names", info.has_names);
    cli_json_number(&j, "recall", info.recall);
    cli_json_open(&j, "classes", '[');
    for (uint32_t k = 0; k < info.classes; k++)
        cli_json_string(&j, NULL, taper_index_class_name(index->index, k));
    cli_json_close(&j);
    cli_json_uint(&j, "bytes", index->size);
    cli_json_uint(&j, "code_bytes", info.code_bytes);
    cli_json_uint(&j, "search_bytes", info.other_bytes);
    cli_json_end(&j);
}

void cli_index_report(const cli_index *index, const char *path, const cli_common *common) {
    const taper_index_info info = cli_index_info(index->index);
    char all[16], codes[16], search[16];
    if (common->json) {
        tell_json(index, path);
        return;
    }
    cli_put_plain(stdout, path);
    printf(": an index of %llu image%s\n", (unsigned long long)info.images,
           formats_plural(info.images, "s"));
    char model[40] = "";
    if (info.model_id)
        snprintf(model, sizeof model, ", of model %016llx", (unsigned long long)info.model_id);
    printf("  codes     %u bit%s each%s; %s\n", info.bits, formats_plural(info.bits, "s"), model,
           info.is_weighted ? "earlier bits count more" : "all bits count the same");
    printf("  images    %s", info.has_names ? "with names" : "without names");
    if (info.has_labels)
        printf(", labels of %u class%s", info.classes, formats_plural(info.classes, "es"));
    const taper_part part = part_of(index);
    if (part.parts > 1)
        printf("; part %u of %u of a set of %llu", part.part + 1, part.parts,
               (unsigned long long)part.images);
    printf("\n  size      %s: codes %s, what finds them %s, names and labels the rest\n",
           cli_show_size(index->size, all), cli_show_size(info.code_bytes, codes),
           cli_show_size(info.other_bytes, search));
    printf(
        "  recall    up to %.3g %% of the ten nearest are found by a search that is not exact, as "
        "measured when it was made\n",
        100 * info.recall);
}

/* encode_quality.c -- see encode_quality.h. */
#include "cli/encode_quality.h"
#include "codec/taper_quality.h"
#include <stdlib.h>
#include <string.h>

/* bench/results/default-quality.jsonl has what these cost and keep. */
static const struct {
    const char *name;
    cli_quality quality;
} named[] = {{"visual", {.kind = CLI_QUALITY_NAMED, .psnr_db = 40, .beside_db = 3}},
             {"high", {.kind = CLI_QUALITY_NAMED, .psnr_db = 45, .beside_db = 6}},
             {"best", {.kind = CLI_QUALITY_BEST}}};

int cli_quality_parse(const char *text, cli_quality *quality) {
    const double least_db = quality->least_db;
    char *end;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strcmp(text, named[i].name) != 0) continue;
        *quality = named[i].quality;
        quality->least_db = least_db;
        return 0;
    }
    const double db = strtod(text, &end);
    if (end == text || *end || !(db >= CLI_QUALITY_LEAST_DB && db <= CLI_QUALITY_MOST_DB)) return 1;
    *quality = (cli_quality){.kind = CLI_QUALITY_DB, .psnr_db = db, .least_db = least_db};
    return 0;
}

double cli_quality_aim(const cli_quality *q, const formats_metadata *metadata) {
    double aim = q->psnr_db;
    if (q->kind == CLI_QUALITY_BEST) return q->least_db;
    if (q->kind == CLI_QUALITY_NAMED && metadata->quantisation_mse > 0) {
        const double source = taper_quality_psnr_db(metadata->quantisation_mse) + q->beside_db;
        aim = source < aim ? source : aim;
    }
    return aim > q->least_db ? aim : q->least_db;
}

/* kept.c -- see kept.h. */
#include "bench/paper/kept.h"
#include "formats/atomic_file.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

static char *path_of(const paper *p, const char *name, const char *settings,
                     const paper_curve *curve) {
    size_t counts[3] = {p->training.n, p->test.n, (size_t)p->generated};
    uint32_t hash = formats_crc32c(0, settings, strlen(settings));
    hash = formats_crc32c(hash, p->extra, strlen(p->extra));
    hash = formats_crc32c(hash, counts, sizeof counts);
    hash = formats_crc32c(hash, curve->length, curve->n * sizeof *curve->length);
    return figures_path(p->figures.work, "%s-%08x.curve", name, (unsigned)hash);
}

int paper_curve_read(const paper *p, const char *name, const char *settings, paper_curve *curve) {
    char *path = path_of(p, name, settings, curve);
    FILE *from = fopen(path, "r");
    size_t i = 0;
    char line[96];
    while (from && i < curve->n && fgets(line, sizeof line, from)) {
        char *end;
        if (strtoul(line, &end, 10) != curve->length[i]) break;
        curve->mse[i++] = strtod(end, NULL);
    }
    if (from) fclose(from);
    free(path);
    if (i == curve->n) figures_say("%s: kept", name);
    return i == curve->n;
}

void paper_curve_write(const paper *p, const char *name, const char *settings,
                       const paper_curve *curve) {
    char *path = path_of(p, name, settings, curve), *text = NULL;
    size_t size = 0;
    taper_error error = {0};
    FILE *to = open_memstream(&text, &size);
    if (!to) figures_die("no memory for a curve");
    for (size_t i = 0; i < curve->n; i++) fprintf(to, "%u %.9g\n", curve->length[i], curve->mse[i]);
    if (fclose(to) != 0) figures_die("no memory for a curve");
    figures_check(formats_file_write(path, text, size, FORMATS_ATOMIC_OVERWRITE, NULL, &error),
                  path, &error);
    free(text), free(path);
}

/* populations.c -- see populations.h. */
#include "bench/paper/populations.h"
#include "bench/paper/paper.h"
#include "formats/atomic_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double spread_evenly = 0.02;

static void add_bump(uint32_t units, double weight, double (*shape)(double b, double at), double at,
                     double *mass) {
    double sum = 0.0, scale = 1024.0 / units;
    for (uint32_t b = 1; b <= units; b++) sum += shape(b * scale, at);
    for (uint32_t b = 1; b <= units; b++) mass[b - 1] += weight * shape(b * scale, at) / sum;
}

static double log_normal(double b, double median) {
    double z = log(b / median) / 0.6;
    return exp(-0.5 * z * z) / b;
}

static double narrow(double b, double centre) {
    double z = (b - centre) / (0.04 * centre);
    return exp(-0.5 * z * z);
}

int paper_population(const char *spec, uint32_t units, double *mass) {
    static const double centre[4] = {40, 150, 360, 900}, weight[4] = {0.3, 0.35, 0.25, 0.1};
    int peaks = !strcmp(spec, "peaks");
    if (!peaks && strcmp(spec, "smooth") != 0) return 0;
    for (uint32_t i = 0; i < units; i++) mass[i] = spread_evenly / units;
    if (!peaks) add_bump(units, 1.0 - spread_evenly, log_normal, 200.0, mass);
    for (int i = 0; peaks && i < 4; i++)
        add_bump(units, (1.0 - spread_evenly) * weight[i], narrow, centre[i], mass);
    return 1;
}

/* Masses, none negative, not all 0, to the probabilities of *t. Tails are summed from the far end,
 * smallest first. */
static void take_masses(train_truncation *t, const double *mass) {
    double sum = 0.0;
    for (uint32_t i = t->units; i--;) sum += mass[i];
    for (uint32_t i = t->units; i--;) {
        t->mass[i] = mass[i] / sum;
        t->tail[i] = t->tail[i + 1] + t->mass[i];
    }
}

taper_status paper_truncation(train_truncation *t, const char *spec, uint32_t units,
                              taper_error *error) {
    double *mass = paper_memory(units, sizeof *mass);
    int population = paper_population(spec, units, mass);
    taper_status status = train_truncation_make(t, population ? "uniform" : spec, units, error);
    if (status == TAPER_OK && population) take_masses(t, mass);
    free(mass);
    return status;
}

double paper_mean_length(const train_truncation *t) {
    double sum = 0.0;
    for (uint32_t b = 1; b <= t->units; b++) sum += b * t->mass[b - 1];
    return sum;
}

taper_status paper_write_histogram(const train_truncation *t, const char *path, const char *comment,
                                   taper_error *error) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a histogram");
    fprintf(to, "# %s\n", comment);
    for (uint32_t b = 0; b < t->units; b++) fprintf(to, "%.9g\n", t->mass[b]);
    fclose(to);
    taper_status status = formats_file_write(path, text, n, FORMATS_ATOMIC_OVERWRITE, NULL, error);
    free(text);
    return status;
}

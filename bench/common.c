/* common.c -- see bench.h. */
#include "bench/bench.h"
#include "codec/backend/backend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char command_line[1024];

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void bench_begin(int argc, char **argv) {
    size_t used = 0;
    for (int i = 0; i < argc && used < sizeof command_line - 2; i++) {
        const char *word = i                       ? argv[i]
                           : strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1
                                                   : argv[0];
        used += (size_t)snprintf(command_line + used, sizeof command_line - used, "%s%s",
                                 i ? " " : "", word);
    }
}

const char *bench_program(void) {
    static char program[64];
    snprintf(program, sizeof program, "%.*s", (int)strcspn(command_line, " "), command_line);
    return program;
}

/* "Intel(R) Xeon(R) Processor, 2 cores, fused multiply-adds, AVX2" */
static void machine_name(char *to, size_t room) {
    char line[256], model[128] = "unknown processor";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            snprintf(model, sizeof model, "%.120s", strchr(line, ':') + 2);
            model[strcspn(model, "\n")] = 0;
            break;
        }
    if (info) fclose(info);
    codec_backend be;
    codec_backend_cpu(&be);
    snprintf(to, room, "%s, %ld cores, %s", model, sysconf(_SC_NPROCESSORS_ONLN), be.kernels);
}

void bench_write(FILE *to, const char *bench, const char *metric, double value, const char *unit,
                 const char *config) {
    char machine[320];
    const char *commit = getenv("TAPER_COMMIT"), *named = getenv("TAPER_MACHINE");
    if (named)
        snprintf(machine, sizeof machine, "%s", named);
    else
        machine_name(machine, sizeof machine);
    fprintf(to,
            "{\"bench\":\"%s\",\"metric\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"config\":%s,"
            "\"commit\":\"%s\",\"machine\":\"%s\",\"command\":\"%s\"}\n",
            bench, metric, value, unit, config, commit ? commit : "", machine, command_line);
}

void bench_print(const char *bench, const char *metric, double value, const char *unit,
                 const char *config) {
    bench_write(stdout, bench, metric, value, unit, config);
    fflush(stdout);
}

/* bench.h -- what every benchmark prints: one JSON line a figure, with enough beside it to repeat
 * the measurement. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include <stdio.h>

/* Seconds of a clock that only goes forward. */
double bench_now(void);

/* {"bench":..,"metric":..,"value":..,"unit":..,"config":{..},"commit":..,"machine":..,"command":..}
 * config is JSON text, e.g. "{\"threads\":2}". commit comes from the variable TAPER_COMMIT, machine
 * from TAPER_MACHINE, or is this processor, command from argv. */
void bench_print(const char *bench, const char *metric, double value, const char *unit,
                 const char *config);
/* The same line into a file. */
void bench_write(FILE *to, const char *bench, const char *metric, double value, const char *unit,
                 const char *config);

/* Remember the command line for bench_print. */
void bench_begin(int argc, char **argv);
/* The program's name, as in that command line. */
const char *bench_program(void);

#endif

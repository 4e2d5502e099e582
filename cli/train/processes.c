/* processes.c -- see processes.h. */
#include "cli/train/processes.h"
#include "cli/common/messages.h"
#include "cli/train/request.h"
#include "formats/bytes.h"
#include "train/parallel/mpi_ranks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds that a call waits for other processes. Some wait while one computes eigenvectors. */
static double patience(void) {
    const char *given = getenv("TAPER_MPI_TIMEOUT");
    const double seconds = given ? strtod(given, NULL) : 0;
    return seconds > 0 ? seconds : 1800;
}

/* srun starts tasks of MPI only with --mpi; otherwise each would train the same model. */
static int refuse_tasks_without_mpi(const char *verb) {
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    if (!tasks || strtol(tasks, NULL, 10) < 2) return CLI_DONE;
    cli_error(verb, NULL,
              "srun has started %s tasks without MPI, which would train the same model; give srun "
              "--mpi=pmix (srun --mpi=list shows which there are), or start them with mpirun",
              tasks);
    return CLI_USAGE;
}

static void share_processors(cli_common *common, const train_ranks *ranks) {
    const long all = sysconf(_SC_NPROCESSORS_ONLN), each = all / (long)ranks->local_size;
    if (common->threads <= 0) common->threads = each > 1 ? each : 1;
}

int cli_train_begin_processes(const char *verb, cli_common *common, train_ranks **ranks) {
    char name[TRAIN_MPI_NAME];
    taper_error error = {0};
    *ranks = NULL;
    if (!train_mpi_is_started()) return refuse_tasks_without_mpi(verb);
    const taper_status status = train_mpi_open(ranks, patience(), name, &error);
    if (status != TAPER_OK) return cli_fail(verb, NULL, status, &error);
    if (!*ranks) return CLI_DONE;
    share_processors(common, *ranks);
    cli_messages_process((*ranks)->rank);
    if (!train_is_first(*ranks)) common->quiet = true;
    cli_detail(common, 1, verb, "%u processes of %s", (*ranks)->size, name);
    return CLI_DONE;
}

/* --- the same words -------------------------------------------------------------------------- */

/* The number of words, 0 to 2, that begin here and are about the machine. */
static int of_the_machine(char *const *words) {
    static const char *const option[] = {"--device", "--threads", "--max-memory", "-T"};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        const size_t n = strlen(option[i]);
        if (strncmp(words[0], option[i], n) != 0) continue;
        if (!words[0][n]) return words[1] ? 2 : 1;
        if (words[0][n] == '=' || i == 3) return 1;
    }
    return 0;
}

static uint64_t hash_words(char **words) {
    uint64_t hash = formats_crc32c(0, TAPER_VERSION, sizeof TAPER_VERSION);
    while (*words) {
        const int skipped = of_the_machine(words);
        if (!skipped) hash = hash * 0x100000001b3u + formats_crc32c(0, *words, strlen(*words)) + 1;
        words += skipped ? skipped : 1;
    }
    return hash;
}

int cli_train_compare_processes(const char *verb, train_ranks *ranks, char **words,
                                const void *model, size_t bytes) {
    const uint64_t mine[2] = {hash_words(words), model ? formats_crc32c(0, model, bytes) : 0};
    taper_error error = {0};
    if (!ranks) return CLI_DONE;
    uint64_t *all = malloc(ranks->size * sizeof mine);
    taper_status status =
        all ? train_gather(ranks, mine, all, sizeof mine, &error)
            : formats_fail(&error, TAPER_ERR_NOMEM, "no memory for %u processes", ranks->size);
    for (uint32_t i = 1; i < ranks->size && status == TAPER_OK; i++) {
        const int is_model = all[2 * i] == all[0];
        if (is_model && all[2 * i + 1] == all[1]) continue;
        status = formats_fail(&error, TAPER_ERR_ARG,
                              "process %u was given %s than process 0; give all the same", i,
                              is_model ? "another model" : "other options or inputs");
    }
    free(all);
    return status == TAPER_OK ? CLI_DONE : cli_fail(verb, NULL, status, &error);
}

int cli_train_end_processes(int code) {
    const int failed = code != CLI_DONE && code != CLI_SOME_FAILED && code != CLI_TRAIN_ENDED;
    train_mpi_close(failed ? code : 0);
    return code;
}

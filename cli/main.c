/* main.c -- the table of verbs. Each is defined in cli/cmd_NAME.c with its options. */
#include "cli/cli.h"
#include "cli/common/heap.h"
#include "cli/common/inputs.h"
#include "cli/common/progress.h"
#include "cli/common/signals.h"
#include "cli/manual.h"
#include "cli/version.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const cli_verb *const verbs[] = {&cli_verb_train,
                                        &cli_verb_train_bits,
                                        &cli_verb_train_labels,
                                        &cli_verb_encode,
                                        &cli_verb_truncate,
                                        &cli_verb_decode,
                                        &cli_verb_ls,
                                        &cli_verb_extract,
                                        &cli_verb_fetch,
                                        &cli_verb_add,
                                        &cli_verb_remove,
                                        &cli_verb_rename,
                                        &cli_verb_info,
                                        &cli_verb_verify,
                                        &cli_verb_repack,
                                        &cli_verb_merge,
                                        &cli_verb_sheet,
                                        &cli_verb_compare,
                                        &cli_verb_embed,
                                        &cli_verb_index,
                                        &cli_verb_search,
                                        &cli_verb_classify,
                                        &cli_verb_page,
                                        &cli_verb_serve,
                                        NULL};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] - 1 };

static const cli_verb *find_verb(const char *name) {
    for (int i = 0; verbs[i]; i++)
        if (!strcmp(verbs[i]->name, name)) return verbs[i];
    return NULL;
}

static void help(FILE *to) {
    fputs("taper: sets of images in one file that can be cut anywhere\n\n"
          "usage: taper VERB [options] ...\n\n",
          to);
    for (int i = 0; verbs[i]; i++) fprintf(to, "  %-13s %s\n", verbs[i]->name, verbs[i]->what);
    fputs("\n'taper VERB --help' lists the options of one verb; 'taper --version -v' says what "
          "this build is.\n",
          to);
}

static int unknown_verb(const char *name) {
    const char *names[VERB_COUNT + 2];
    for (int i = 0; verbs[i]; i++) names[i] = verbs[i]->name;
    names[VERB_COUNT] = "help";
    names[VERB_COUNT + 1] = NULL;
    const char *near = cli_nearest(name, names);
    if (near)
        cli_error(NULL, NULL, "no verb '%s'; did you mean '%s'? (see: taper --help)", name, near);
    else
        cli_error(NULL, NULL, "no verb '%s' (see: taper --help)", name);
    return CLI_USAGE;
}

static int help_verb(int argc, char **argv) {
    if (argc < 2) {
        help(stdout);
        return CLI_DONE;
    }
    const cli_verb *verb = find_verb(argv[1]);
    if (!verb) return unknown_verb(argv[1]);
    cli_options_help(verb, argc > 2 && !strcmp(argv[2], "--help-all"), stdout);
    return CLI_DONE;
}

/* `taper __man VERB`, `taper __man taper`, `taper __completion bash|zsh`: for `make install`. */
static int hidden_verb(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    bool man = !strcmp(argv[0], "__man");
    if (man && !strcmp(what, "taper"))
        cli_manual_main(verbs, stdout);
    else if (man && find_verb(what))
        cli_manual_verb(find_verb(what), stdout);
    else if (!man && !strcmp(what, "bash"))
        cli_completion_bash(verbs, stdout);
    else if (!man && !strcmp(what, "zsh"))
        cli_completion_zsh(verbs, stdout);
    else
        return unknown_verb(what);
    return CLI_DONE;
}

/* With -vv: print time and memory. */
static int run_verb(const cli_verb *verb, int argc, char **argv) {
    struct rusage used;
    char memory[16];
    const int64_t start_ns = cli_now_ns();
    int code = cli_inputs_begin(argc, argv);
    if (code == CLI_DONE) code = verb->run(argc, argv);
    cli_inputs_end();
    if (cli_options_verbose() < 2 || getrusage(RUSAGE_SELF, &used) != 0) return code;
    double seconds = 1e-9 * (double)(cli_now_ns() - start_ns);
    double work = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                  1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (seconds < 0) seconds = 0; /* the clock of a virtual machine can be set back */
    fflush(stdout); /* earlier output comes first, also if both streams are one file */
    cli_note(&(cli_common){0}, verb->name, "%.2f s, %.2f s of processor, at most %s of memory",
             seconds, work, cli_show_size((uint64_t)used.ru_maxrss * 1024, memory));
    return code;
}

static int run(int argc, char **argv) {
    const char *name = argv[0];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
        return help_verb(argc, argv);
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        cli_version(stdout, argc > 1 && (!strcmp(argv[1], "-v") || !strcmp(argv[1], "--verbose")));
        return CLI_DONE;
    }
    if (!strcmp(name, "__man") || !strcmp(name, "__completion")) return hidden_verb(argc, argv);
    const cli_verb *verb = find_verb(name);
    return verb ? run_verb(verb, argc, argv) : unknown_verb(name);
}

/* Open a descriptor in place of each closed standard stream. Otherwise the next opened file would
 * get its number, and messages would be written into it. The replacement of an output refuses
 * writes, so that lost data is an error. It is a folder, because /dev/null could be reopened for
 * writing as /dev/stdout. */
static bool fill_closed_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0) continue;
        int filled = stream == STDIN_FILENO ? open("/dev/null", O_WRONLY) : open("/", O_RDONLY);
        if (filled != stream) return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (!fill_closed_streams()) return CLI_IO;
    cli_heap_keep();
    if (argc < 2) {
        help(stderr);
        return CLI_USAGE;
    }
    cli_signals_install();
    int code = run(argc - 1, argv + 1);
    /* a failed write of the last buffer is also an error */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_error(NULL, NULL, "cannot write to standard output: is it closed, or the disk full?");
        if (code == CLI_DONE) code = CLI_IO;
    }
    return code;
}

/* messages.c -- see messages.h. */
#include "cli/common/messages.h"
#include "cli/common/plain_text.h"
#include "cli/common/progress.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

cli_exit cli_exit_code(taper_status status) {
    switch (status) {
    case TAPER_OK: return CLI_DONE;
    case TAPER_ERR_ARG:
    case TAPER_ERR_MODEL:
    case TAPER_ERR_UNSUPPORTED: return CLI_USAGE;
    case TAPER_ERR_TRUNCATED:
    case TAPER_ERR_CORRUPT:
    case TAPER_ERR_VERSION: return CLI_CORRUPT;
    case TAPER_ERR_LIMIT:
    case TAPER_ERR_NOMEM: return CLI_LIMIT;
    case TAPER_ERR_DEVICE:
    case TAPER_ERR_IO:
    case TAPER_ERR_EXISTS: return CLI_IO;
    }
    return CLI_SOME_FAILED;
}

/* --- messages --- */

static bool colour_wanted(void) {
    const char *no = getenv("NO_COLOR");
    return cli_stderr_is_terminal() && !(no && *no);
}

/* A verb whose messages show the name of another one. */
static const char *renamed_verb, *shown_verb;

void cli_messages_name(const char *verb, const char *shown) {
    renamed_verb = verb, shown_verb = shown;
}

static unsigned process;

void cli_messages_process(unsigned rank) { process = rank; }

/* Print the start of a line: program, verb and file. */
static void lead(char *to, size_t room, const char *verb, const char *file) {
    if (verb && renamed_verb && !strcmp(verb, renamed_verb)) verb = shown_verb;
    size_t used = (size_t)snprintf(to, room, "taper%s%s: ", verb ? " " : "", verb ? verb : "");
    if (!file || used >= room) return;
    used += cli_plain_text(to + used, room - used - 2, strcmp(file, "-") ? file : "standard input");
    memcpy(to + used, ": ", 3);
}

static void message(const char *colour, const char *word, const char *verb, const char *file,
                    const char *format, va_list args) {
    char sentence[1024], front[2048], said[2048];
    vsnprintf(sentence, sizeof sentence, format, args);
    lead(front, sizeof front, verb, file);
    cli_plain_text(said, sizeof said, sentence);
    bool paint = colour && colour_wanted();
    if (process) {
        const size_t used = strlen(front);
        nanosleep(&(struct timespec){0, 500000000}, NULL);
        snprintf(front + used, sizeof front - used, "process %u: ", process);
    }
    cli_progress_hide();
    /* one call, so that lines of several threads are not mixed */
    fprintf(stderr, "%s%s%s%s%s\n", front, paint ? colour : "", word, said, paint ? "\033[0m" : "");
}

void cli_error(const char *verb, const char *file, const char *format, ...) {
    va_list args;
    va_start(args, format);
    message("\033[31m", "", verb, file, format, args);
    va_end(args);
}

void cli_warning(const char *verb, const char *file, const char *format, ...) {
    va_list args;
    if (process) return;
    va_start(args, format);
    message("\033[33m", "warning: ", verb, file, format, args);
    va_end(args);
}

void cli_note(const cli_common *common, const char *verb, const char *format, ...) {
    if (common->quiet) return;
    va_list args;
    va_start(args, format);
    message(NULL, "", verb, NULL, format, args);
    va_end(args);
}

void cli_detail(const cli_common *common, int level, const char *verb, const char *format, ...) {
    if (common->quiet || common->verbose < level) return;
    va_list args;
    va_start(args, format);
    message(NULL, "", verb, NULL, format, args);
    va_end(args);
}

/* The option that raises a limit, with the value that is needed. */
static void raising_option(taper_fact fact, uint64_t needed, char *to, size_t room) {
    static const char *const names[] = {[TAPER_FACT_MAX_PIXELS] = "pixels",
                                        [TAPER_FACT_MAX_IMAGES] = "images",
                                        [TAPER_FACT_MAX_MEMORY] = "memory",
                                        [TAPER_FACT_MAX_MODEL_BYTES] = "model",
                                        [TAPER_FACT_MAX_WORK] = "work"};
    const int in_mib = fact == TAPER_FACT_MAX_MEMORY;
    snprintf(to, room, "; give --max-%s %llu%s if you trust the input", names[fact],
             (unsigned long long)(in_mib ? needed >> 20 : needed), in_mib ? "M" : "");
}

/* What to do about an error, after its sentence; "" if its facts say nothing. */
static void remedy_of(const taper_error *e, char *to, size_t room) {
    const char *words = "";
    switch (e->fact) {
    case TAPER_FACT_NONE: break;
    case TAPER_FACT_MAX_PIXELS:
    case TAPER_FACT_MAX_IMAGES:
    case TAPER_FACT_MAX_MEMORY:
    case TAPER_FACT_MAX_MODEL_BYTES:
    case TAPER_FACT_MAX_WORK: raising_option(e->fact, e->needed, to, room); return;
    case TAPER_FACT_MODEL: words = "; give the container's model with -m"; break;
    case TAPER_FACT_ALPHA: words = "; give --alpha white or --alpha drop"; break;
    case TAPER_FACT_IMAGE_SIZE:
        words =
            "; bring it to that size, or train a model with --window whole on images of its own";
        break;
    case TAPER_FACT_ALLOCATION: words = "; give --allocation even"; break;
    case TAPER_FACT_THREADS: words = "; give -T 1"; break;
    case TAPER_FACT_BYTES_MISSING:
        words = "; fetch them, or make it whole with `taper truncate --fraction 1`";
        break;
    case TAPER_FACT_LAYOUT: words = "; `taper repack` changes it"; break;
    case TAPER_FACT_SEARCH_CODES: words = "; encode all with the same --embed-with, or none"; break;
    case TAPER_FACT_NO_MODEL: words = "; make one with `taper train`"; break;
    case TAPER_FACT_NO_INDEX: words = "; make one with `taper index`"; break;
    case TAPER_FACT_NO_CONTAINER: words = "; make one with `taper encode`"; break;
    case TAPER_FACT_OVERWRITE: words = " (-f)"; break;
    case TAPER_FACT_LAYERS:
        words = "; encode each with --shard 1/1, which gives all the same layers, then merge";
        break;
    }
    snprintf(to, room, "%s", words);
}

cli_sentence cli_explain(const taper_error *error) {
    cli_sentence said;
    char remedy[128];
    remedy_of(error, remedy, sizeof remedy);
    snprintf(said.text, sizeof said.text, "%s%s",
             error->text[0] ? error->text : formats_status_name(error->status), remedy);
    return said;
}

static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER;
static char reason[256];

void cli_messages_reason(const char *sentence) {
    pthread_mutex_lock(&reason_lock);
    snprintf(reason, sizeof reason, "%s", sentence);
    pthread_mutex_unlock(&reason_lock);
}

/* In place of the text of a source that failed (formats_source_read), the reason. */
static void explain_read(taper_error *e) {
    if (e->status != TAPER_ERR_IO || (strncmp(e->text, "cannot read ", 12) != 0 &&
                                      strncmp(e->text, "the container could not be", 26) != 0))
        return;
    pthread_mutex_lock(&reason_lock);
    if (reason[0]) snprintf(e->text, sizeof e->text, "%s", reason);
    pthread_mutex_unlock(&reason_lock);
}

int cli_fail(const char *verb, const char *file, taper_status status, const taper_error *error) {
    taper_error said = {.status = status};
    if (error && error->text[0]) said = *error;
    explain_read(&said);
    cli_error(verb, file, "%s", cli_explain(&said).text);
    return cli_exit_code(status);
}

/* --- numbers --- */

/* Parse a decimal number at the start of text; *rest: the text after it. strtod would also accept
 * "inf" and "0x1p3". */
static bool leading_number(const char *text, double *value, const char **rest) {
    size_t digits = strspn(text + (*text == '-' || *text == '+'), "0123456789.eE+-");
    size_t sign = *text == '-' || *text == '+';
    if (!digits || !strpbrk(text + sign, "0123456789")) return false;
    if (text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X')) return false;
    if (strchr("0123456789.", text[sign]) == NULL) return false;
    char *end;
    double v = strtod(text, &end);
    if (end == text || !isfinite(v)) return false;
    *value = v;
    *rest = end;
    return true;
}

bool cli_parse_double(const char *text, double *out) {
    const char *rest;
    double value;
    if (!leading_number(text, &value, &rest) || *rest) return false;
    *out = value;
    return true;
}

bool cli_parse_int(const char *text, int64_t *out) {
    size_t sign = *text == '-';
    if (!text[sign] || text[sign + strspn(text + sign, "0123456789")]) return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno) return false;
    *out = value;
    return true;
}

/* The factor of a suffix, or 0. One space may precede it: "1 MB". */
static double size_factor(const char *suffix) {
    static const char letters[] = "KMGT";
    if (*suffix == ' ' && suffix[1]) suffix++;
    if (!*suffix || !strcasecmp(suffix, "B")) return 1;
    for (int i = 0; letters[i]; i++) {
        if ((*suffix | 0x20) != (letters[i] | 0x20)) continue;
        if (!suffix[1] || !strcasecmp(suffix + 1, "iB")) return ldexp(1, 10 * (i + 1));
        if (!strcasecmp(suffix + 1, "B")) return i == 0 ? 1e3 : i == 1 ? 1e6 : i == 2 ? 1e9 : 1e12;
    }
    return 0;
}

bool cli_parse_amount(const char *text, double *out) {
    const char *rest;
    double value;
    if (!leading_number(text, &value, &rest)) return false;
    double factor = size_factor(rest), amount = value * factor;
    if (!(factor > 0) || *text == '-' || !(amount >= 0 && amount < 9.2e18)) return false;
    *out = amount;
    return true;
}

bool cli_parse_size(const char *text, uint64_t *out) {
    double amount;
    int64_t whole;
    if (cli_parse_int(text, &whole)) { /* exact above 2^53 */
        if (whole < 0) return false;
        *out = (uint64_t)whole;
        return true;
    }
    if (!cli_parse_amount(text, &amount)) return false;
    *out = (uint64_t)floor(amount + 0.5);
    return true;
}

char *cli_show_size(uint64_t bytes, char to[16]) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int i = 0;
    for (; value >= 1023.95 && i < 6; i++) value /= 1024;
    if (i == 0)
        snprintf(to, 16, "%d B", (int)bytes);
    else
        snprintf(to, 16, "%.1f %s", value, unit[i]);
    return to;
}

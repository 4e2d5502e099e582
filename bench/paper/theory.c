/* theory.c -- section 3 in figures: what tests/test_theory.c measured, from its output on standard
 * input. Lines that begin with "theorem" hold figures,
 *     theorem 2, nested, 600 steps: commutation 2.7e-06, lemma 1 0.0022
 * context, colon, pieces that end in a number; other lines that hold "units" name the data of those
 * that follow; the rest is passed over. */
#include "bench/paper/parts.h"
#include "cli/common/page.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 96, TEXT = 160 };

typedef struct finding {
    char what[TEXT], of[TEXT], set[TEXT], value[32];
} finding;

typedef struct findings {
    finding *at; /* [MOST] */
    size_t n;
    char set[TEXT];
} findings;

/* n bytes as text that JSON and a table take. */
static void copy(char *to, const char *from, size_t n) {
    if (n > TEXT - 1) n = TEXT - 1;
    memcpy(to, from, n);
    to[n] = 0;
    for (char *c = to; *c; c++)
        if (*c == '"' || *c == '\\' || *c == '\n' || *c == '\r') *c = ' ';
}

/* A piece: words, then a number. */
static void take_piece(findings *f, const char *of, size_t of_size, const char *piece, size_t n) {
    char text[TEXT], *end;
    copy(text, piece, n);
    char *number = strrchr(text, ' ');
    if (!number || f->n == MOST) return;
    double value = strtod(number + 1, &end);
    if (end == number + 1 || *end) return;
    finding *to = &f->at[f->n++];
    copy(to->what, text, (size_t)(number - text));
    copy(to->of, of, of_size);
    copy(to->set, f->set, strlen(f->set));
    snprintf(to->value, sizeof to->value, "%.9g", value);
}

static void take_line(findings *f, char *line) {
    size_t size = strcspn(line, "\r\n");
    line[size] = 0;
    if (strncmp(line, "theorem ", 8) != 0) {
        if (strstr(line, " units")) copy(f->set, line, size);
        return;
    }
    char *colon = strrchr(line, ':');
    if (!colon) return;
    for (char *piece = colon + 1; *piece;) {
        piece += strspn(piece, " ,;");
        size_t n = strcspn(piece, ",;");
        take_piece(f, line, (size_t)(colon - line), piece, n);
        piece += n;
    }
}

static void put_page(paper *p, const findings *f) {
    const char *head[] = {"", "of", "measured"}, *at[3 * MOST];
    for (size_t i = 0; i < f->n; i++)
        at[3 * i] = f->at[i].of, at[3 * i + 1] = f->at[i].what, at[3 * i + 2] = f->at[i].value;
    FILE *to = paper_section(
        p, "theory", "Section 3: theorems",
        "a linear network under nested dropout loses nothing at full length (theorem 1), its "
        "solutions differ from principal components by a matrix that commutes in truncation and "
        "inversion only (theorem 2), and with orthonormal columns they are the components "
        "themselves, in order (theorem 3).");
    cli_page_put_table(
        to,
        &(cli_page_table){.columns = 3, .rows = f->n, .head = head, .cell = at, .text_columns = 2});
    cli_page_note(to, "From tests/test_theory.c, which says what each figure is.");
    figures_section_end(to);
}

void paper_part_theory(paper *p) {
    findings f = {.at = figures_memory(MOST, sizeof *f.at)};
    char line[512];
    while (fgets(line, sizeof line, stdin)) take_line(&f, line);
    if (!f.n) figures_die("no line \"theorem ...: WHAT VALUE\" on standard input");
    for (size_t i = 0; i < f.n; i++)
        figures_print(&p->figures, "nested-dropout/theory", f.at[i].what,
                      strtod(f.at[i].value, NULL), "", "\"of\":\"%s\",\"set\":\"%s\"", f.at[i].of,
                      f.at[i].set);
    put_page(p, &f);
    free(f.at);
}

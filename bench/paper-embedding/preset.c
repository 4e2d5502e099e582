/* preset.c -- see preset.h. */
#include "bench/paper-embedding/preset.h"
#include "bench/paper-embedding/records.h"
#include "cli/common/page.h"

enum { SETS = 4, METHODS = 4, COLUMNS = METHODS + 2 };

static int figure_of(const embedding *e, const char *metric, const char *set, const char *method,
                     double *value) {
    char of_metric[48], of_set[48], of_method[48];
    snprintf(of_metric, sizeof of_metric, "\"metric\":\"%s\"", metric);
    snprintf(of_set, sizeof of_set, "\"set\":\"%s\"", set);
    snprintf(of_method, sizeof of_method, "\"method\":\"%s\"", method);
    return embedding_find(e, "preset", value, of_metric, of_set, of_method, NULL);
}

void embedding_put_preset(const embedding *e, FILE *to) {
    static const char *const sets[SETS][2] = {
        {"digits", "scikit-learn's digits, 1,300 images of 8 x 8"},
        {"letters", "the samples' letters, 5,200 of 20 x 20"},
        {"usps", "USPS, 7,291 of 16 x 16"},
        {"cifar-10", "CIFAR-10, 50,000 of 32 x 32 in colour"}};
    static const char *const methods[METHODS] = {"pixels", "pca", "linear-nca", "preset"};
    static const char *const head[COLUMNS] = {"set",        "pixels", "30 principal components",
                                              "linear NCA", "preset", "what it expected"};
    char text[SETS][COLUMNS][16];
    const char *at[SETS * COLUMNS];
    size_t rows = 0;
    for (size_t s = 0; s < SETS; s++) {
        double value[METHODS + 1];
        int whole = figure_of(e, "expected_error_percent", sets[s][0], "preset", &value[METHODS]);
        for (size_t m = 0; m < METHODS; m++)
            whole = whole && figure_of(e, "test_error_percent", sets[s][0], methods[m], &value[m]);
        if (!whole) continue;
        at[rows * COLUMNS] = sets[s][1];
        for (size_t c = 1; c < COLUMNS; c++) {
            snprintf(text[rows][c], sizeof text[rows][c], "%.2f", value[c - 1]);
            at[rows * COLUMNS + c] = text[rows][c];
        }
        rows++;
    }
    if (!rows) return;
    cli_page_heading(to, "train-labels: ten minutes of one thread, test error of 5-NN in %");
    cli_page_note(to, "The recipe is found by trials on training images; test images are looked at "
                      "once (bench/preset_labels.sh). Linear NCA has 30 units and begins with "
                      "principal components.");
    cli_page_put_table(
        to, &(cli_page_table){.columns = COLUMNS, .rows = rows, .head = head, .cell = at});
}

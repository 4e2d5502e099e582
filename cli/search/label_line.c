/* label_line.c -- see label_line.h. */
#include "cli/search/label_line.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"

void cli_label_heading_csv(bool with_truth, FILE *to) {
    fprintf(to, "name,label,votes,of,nearest,distance%s\n", with_truth ? ",truth" : "");
}

void cli_label_line_csv(const cli_label_line *l, FILE *to) {
    char name[CLI_IMAGE_NAME];
    cli_put_csv_name(to, cli_code_set_name(l->set, l->image, name));
    fputc(',', to);
    cli_put_csv(to, l->label ? l->label : "");
    if (l->of) {
        fprintf(to, ",%zu,%zu,", l->votes, l->of);
        cli_put_csv_name(to, cli_code_set_name(l->known, l->nearest, name));
        fprintf(to, ",%.9g", l->distance);
    } else {
        fputs(",,,,", to);
    }
    if (l->with_truth) fputc(',', to), cli_put_csv(to, l->truth ? l->truth : "");
    fputc('\n', to);
}

void cli_label_line_json(const cli_label_line *l, FILE *to) {
    char name[CLI_IMAGE_NAME];
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_string(&j, "kind", l->of ? "label" : "given");
    cli_json_string(&j, "name", cli_code_set_name(l->set, l->image, name));
    cli_json_string(&j, "label", l->label);
    if (l->of) {
        cli_json_uint(&j, "votes", l->votes);
        cli_json_uint(&j, "of", l->of);
        cli_json_string(&j, "nearest", cli_code_set_name(l->known, l->nearest, name));
        cli_json_number(&j, "distance", l->distance);
    }
    if (l->with_truth) cli_json_string(&j, "truth", l->truth);
    cli_json_end(&j);
}

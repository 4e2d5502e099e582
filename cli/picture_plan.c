/* picture_plan.c -- see picture_plan.h. */
#include "cli/picture_plan.h"
#include "formats/file.h"

int cli_picture_format_of(const char *path) {
    static const struct {
        const char *suffix;
        cli_picture_format format;
    } known[] = {
        {".png", CLI_PICTURE_PNG},      {".pnm", CLI_PICTURE_PNM},    {".ppm", CLI_PICTURE_PNM},
        {".jpg", CLI_PICTURE_JPEG},     {".jpeg", CLI_PICTURE_JPEG},  {".webp", CLI_PICTURE_WEBP},
        {".tif", CLI_PICTURE_TIFF},     {".tiff", CLI_PICTURE_TIFF},  {".pgm", CLI_PICTURE_PNM},
        {".pam", CLI_PICTURE_PNM},      {".jpe", CLI_PICTURE_JPEG},   {".jfif", CLI_PICTURE_JPEG},
        {".idx", CLI_PICTURE_IDX},      {".idx.gz", CLI_PICTURE_IDX}, {"-ubyte", CLI_PICTURE_IDX},
        {"-ubyte.gz", CLI_PICTURE_IDX}, {".bin", CLI_PICTURE_CIFAR}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (formats_has_extension(path, known[i].suffix)) return (int)known[i].format;
    return -1;
}

cli_picture_form cli_picture_plan_form(const cli_picture_plan *plan, const cli_decode_request *q,
                                       uint64_t k) {
    const char *name = plan->one_file ? q->output : plan->name[k];
    cli_picture_form form = {.format = plan->format, .quality = q->quality};
    if (plan->format == CLI_PICTURE_ORIGINAL) {
        const int format = cli_picture_format_of(name);
        const bool is_known = format >= 0 && format < CLI_PICTURE_ORIGINAL;
        form.format = is_known ? (cli_picture_format)format : CLI_PICTURE_PNG;
    }
    form.is_pam = form.format == CLI_PICTURE_PNM && formats_has_extension(name, ".pam");
    return form;
}

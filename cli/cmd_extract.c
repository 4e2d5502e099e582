/* cmd_extract.c -- chosen images of a container as files: `decode` with the images as operands. */
#include "cli/cli.h"
#include "cli/decode_verb.h"

const cli_verb cli_verb_extract = {
    .name = "extract",
    .run = cmd_extract,
    .what = "get images out of a container, by name, pattern or number",
    .synopsis = "[options] -o DIR CONTAINER [IMAGE...]",
    .options = cli_decode_options,
    .uses = cli_decode_uses,
    .about =
        "Writes the chosen images as files under their names, in the folders that they came from. "
        "IMAGE is a name, the end of a name, a pattern such as '*.jpg', a number from 1, or a "
        "range such as 3-7; `taper ls` lists the names. Without IMAGE all images are written. "
        "If an IMAGE fits no image, nothing is written, and the exit code is 2.\n\n"
        "`extract` is `decode` with the images as operands: all options, file names and exit "
        "codes are the same. Only the chosen images, and those that are coded together with "
        "them, are decoded.",
    .examples = "taper extract -o out photos.taper cat.png\n"
                "taper extract -o out photos.taper 'holiday/*' 3 7-9\n"
                "taper extract -o first.png photos.taper 1\n"};

int cmd_extract(int argc, char **argv) {
    cli_messages_name("decode", "extract");
    return cli_decode_as(&cli_verb_extract, argc, argv);
}

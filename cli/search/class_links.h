/* class_links.h -- sorts images into folders of classes, by links to their files: for
 * `classify --link`. */
#ifndef CLI_CLASS_LINKS_H
#define CLI_CLASS_LINKS_H
#include "cli/search/code_set.h"

typedef struct cli_class_links {
    const char *folder; /* borrowed */
    bool force;         /* a link of another target is replaced; other files never are */
    size_t made, failed;
} cli_class_links;

/* Make the folder, unless it exists. Returns an exit code, after a message. CLI_USAGE: the images
 * of the set are not in files of their own (containers, IDX, CIFAR, standard input). */
int cli_class_links_open(cli_class_links *links, const cli_code_set *set, const char *folder);

/* Link FOLDER/LABEL/NAME to the file of image i of the set, where NAME is the image's name. A link
 * that is there already and has this target is kept. What fails is reported and counted. label
 * NULL: "unlabelled". */
void cli_class_links_add(cli_class_links *links, const cli_code_set *set, size_t i,
                         const char *label);

#endif

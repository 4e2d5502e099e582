/* folder_walk.h -- all files below a folder. Needs POSIX (opendir, lstat). */
#ifndef FORMATS_FOLDER_WALK_H
#define FORMATS_FOLDER_WALK_H
#include "status.h"

/* Paths relative to the folder that was walked, e.g. "cat/0001.png". */
typedef struct formats_path_list {
    char **paths; /* [count], each malloc'd */
    size_t count, capacity;
} formats_path_list;

void formats_path_list_free(formats_path_list *list); /* also empties it */
/* Append a path, which from then on belongs to the list (freed at once on failure). NULL is
 * TAPER_ERR_NOMEM, so that the result of a failed copy can be passed. */
taper_status formats_path_list_add(formats_path_list *list, char *path, taper_error *error);

/* "folder/name" in new memory, without a doubled slash; NULL without memory. */
char *formats_path_join(const char *folder, const char *name);

/* Called for each thing below the folder that cannot be used: a folder that may not be opened, a
 * link to nothing, a device. path includes the folder's. May be NULL. */
typedef void formats_folder_problem_fn(void *user, const char *path, const taper_error *why);

/* List the regular files below folder, in byte order of their relative paths. Names that begin with
 * a dot are left out, files and folders alike. Symbolic links are followed, but no folder is
 * entered twice, so loops end and a file below a folder is listed once; the way without links is
 * preferred. More than max_files files is TAPER_ERR_LIMIT. On failure *out is empty. */
taper_status formats_folder_walk(const char *folder, uint64_t max_files, formats_path_list *out,
                                 formats_folder_problem_fn *problem, void *user,
                                 taper_error *error);

#endif

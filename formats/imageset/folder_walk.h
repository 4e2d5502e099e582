/* folder_walk.h -- all files below a folder. Needs POSIX (opendir, lstat). */
#ifndef FORMATS_FOLDER_WALK_H
#define FORMATS_FOLDER_WALK_H
#include "formats/status.h"

/* Paths relative to the folder that was walked, e.g. "cat/0001.png". */
typedef struct formats_path_list {
    char **paths; /* [count], each malloc'd */
    size_t count, capacity;
} formats_path_list;

void formats_path_list_free(formats_path_list *list); /* also empties it */

/* "folder/name" in new memory, without a doubled slash; NULL without memory. */
char *formats_path_join(const char *folder, const char *name);

/* 1 if a part of a relative path is hidden or a system folder, which formats_folder_walk passes
 * over. */
int formats_path_is_hidden(const char *path);

typedef enum formats_folder_problem {
    FORMATS_FOLDER_FAILED, /* cannot be opened, or a link to nothing */
    FORMATS_FOLDER_OTHER,  /* neither a file nor a folder */
    FORMATS_FOLDER_LINK,   /* a link to a folder that is not entered */
    FORMATS_FOLDER_HIDDEN  /* its name begins with a dot, or it is a system folder (see below) */
} formats_folder_problem;

/* Called for each file or folder that is left out; path includes the folder. May be NULL. */
typedef void formats_folder_problem_fn(void *user, formats_folder_problem what, const char *path,
                                       const taper_error *why);

/* List the regular files below folder, in byte order of their relative paths. Files and folders
 * whose names begin with a dot are left out. So are folders that systems create for thumbnails,
 * deleted files and the like: @eaDir, __MACOSX, #recycle, lost+found ... A link to a file counts as
 * a file, wherever it leads. A link to a folder is entered only if follow_links is 1 and its target
 * lies below the folder. No folder is entered twice, so loops end; a path without links is
 * preferred. TAPER_ERR_LIMIT: more than max_files files. TAPER_ERR_IO, TAPER_ERR_NOMEM: the text
 * has the path. On failure *out is empty. */
taper_status formats_folder_walk(const char *folder, uint64_t max_files, int follow_links,
                                 formats_path_list *out, formats_folder_problem_fn *problem,
                                 void *user, taper_error *error);

#endif

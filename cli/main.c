/* main.c -- the table of verbs. Each is defined in cli/cmd_NAME.c with its options. */
#include "cli/cli.h"
#include "cli/common/heap.h"
#include "cli/common/signals.h"
#include "cli/manual.h"
#include "cli/version.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

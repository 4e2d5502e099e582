/* request.c -- see request.h. */
#include "cli/train/request.h"

static train_request request;
static struct sigaction before; /* that of SIGTERM */

train_request *cli_train_request(void) { return &request; }

static void on_save(int number) {
    (void)number;
    if (request.heard && !request.wanted) request.wanted = TRAIN_SAVE;
}

static void on_end(int number) {
    if (request.heard && request.wanted != TRAIN_SAVE_AND_END)
        request.wanted = TRAIN_SAVE_AND_END;
    else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL)
        before.sa_handler(number);
}

void cli_train_listen(void) {
    struct sigaction action = {.sa_handler = on_save, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, NULL, &before);
    if (before.sa_handler == SIG_IGN) return;
    action.sa_mask = before.sa_mask;
    action.sa_handler = on_end;
    sigaction(SIGTERM, &action, NULL);
}

/* Messages between threads: one place for each pair of ranks, which holds one message until it is taken. */
#include "reference/ranks.h"

#include "unit/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    const void *bytes; /* of a sender that waits; NULL: none does */
    size_t count;
} place;

typedef struct network {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size;
    int64_t sent, cut;
    bool cut_off;  /* a sender has found its connection lost */
    bool lost;     /* and has ended since then: all find it */
    bool garbled;  /* a message was received where another one was expected */
    place *places; /* size x size: from, to */
} network;

typedef struct rank {
    network *net;
    armilla_ranks table;
    armilla_context *context;
    reference_rank_body body;
    void *self;
    pthread_t thread;
} rank;

/* As strict as the table may be: a sender waits until the other has it, and lengths are the same on both sides. */
static int send_bytes(void *self, int to, const void *bytes, size_t count)
{
    rank *own = self;
    network *net = own->net;
    place *where = &net->places[own->table.rank * net->size + to];
    pthread_mutex_lock(&net->lock);
    const bool cut = net->sent++ == net->cut;
    net->cut_off |= cut;
    if (!net->lost && !cut) *where = (place){bytes, count};
    pthread_cond_broadcast(&net->changed);
    while (where->bytes && !net->lost) pthread_cond_wait(&net->changed, &net->lock);
    const bool lost = net->lost || cut;
    pthread_mutex_unlock(&net->lock);
    return lost;
}

static int receive_bytes(void *self, int from, void *bytes, size_t count)
{
    rank *own = self;
    network *net = own->net;
    place *where = &net->places[from * net->size + own->table.rank];
    pthread_mutex_lock(&net->lock);
    while (!where->bytes && !net->lost) pthread_cond_wait(&net->changed, &net->lock);
    if (!net->lost && where->count != count) net->lost = net->garbled = true;
    if (!net->lost && count > 0) memcpy(bytes, where->bytes, count);
    where->bytes = NULL;
    pthread_cond_broadcast(&net->changed);
    const bool lost = net->lost;
    pthread_mutex_unlock(&net->lock);
    return lost;
}

static void *run_rank(void *argument)
{
    rank *own = argument;
    network *net = own->net;
    own->body(own->self, own->table.rank, own->context);
    pthread_mutex_lock(&net->lock);
    if (net->cut_off) net->lost = true;
    pthread_cond_broadcast(&net->changed);
    pthread_mutex_unlock(&net->lock);
    return NULL;
}

void reference_run_ranks(int size, int64_t cut, reference_rank_body body, void *self)
{
    network net = {.size = size, .cut = cut};
    rank *ranks = calloc((size_t)size, sizeof *ranks);
    net.places = calloc((size_t)(size * size), sizeof *net.places);
    assert_true(ranks && net.places);
    pthread_mutex_init(&net.lock, NULL);
    pthread_cond_init(&net.changed, NULL);
    for (int r = 0; r < size; r++) {
        ranks[r] = (rank){.net = &net, .context = support_context(), .body = body, .self = self};
        ranks[r].table = (armilla_ranks){.size = sizeof ranks[r].table,
                                         .rank = r,
                                         .count = size,
                                         .self = &ranks[r],
                                         .send = send_bytes,
                                         .receive = receive_bytes};
        support_ok(ranks[r].context, armilla_context_set_ranks(ranks[r].context, &ranks[r].table));
        assert_int_equal(pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < size; r++) pthread_join(ranks[r].thread, NULL);
    assert_false(net.garbled);
    for (int r = 0; r < size; r++) armilla_context_free(ranks[r].context);
    pthread_cond_destroy(&net.changed);
    pthread_mutex_destroy(&net.lock);
    free(net.places);
    free(ranks);
}

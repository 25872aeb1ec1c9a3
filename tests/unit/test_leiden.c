/* Leiden's algorithm against the same in plain loops over full matrices; several runs side by side against one after the
 * other, on every number of threads, without memory, and where the call is to end. */
#include "unit/graph_pairs.h"

#include "base/random.h"
#include "cluster/partition.h"

static pair a;

/* A level as a full matrix, with what its nodes have inside on the diagonal. */
typedef struct plain {
    int64_t n;
    double W[MOST][MOST], degrees[MOST], total;
} plain;

static double links_of(const plain *p, const int64_t *classes, int64_t node, int64_t class)
{
    double sum = 0;
    for (int64_t j = 0; j < p->n; j++)
        if (j != node && classes[j] == class) sum += p->W[node][j];
    return sum;
}

static double degree_of(const plain *p, const int64_t *classes, int64_t class)
{
    double sum = 0;
    for (int64_t j = 0; j < p->n; j++) sum += classes[j] == class ? p->degrees[j] : 0;
    return sum;
}

static void plain_order(int64_t n, uint64_t seed, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t other =
            (int64_t)(armilla_random_bits(seed, ARMILLA_STREAM_COMMUNITIES, (uint64_t)i) % (uint64_t)(i + 1));
        const int64_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* Where the node gains most; n: alone. */
static int64_t plain_best(const plain *p, const int64_t *labels, double resolution, int64_t node)
{
    int64_t best = labels[node];
    double most = -INFINITY;
    for (int64_t c = 0; c < p->n; c++) {
        const double links = links_of(p, labels, node, c), own = c == labels[node] ? p->degrees[node] : 0;
        const double gain = links - resolution * p->degrees[node] * (degree_of(p, labels, c) - own) / p->total +
                            (c == labels[node] ? 1e-10 * p->degrees[node] : 0);
        if ((c != labels[node] && links == 0) || gain <= most) continue;
        most = gain;
        best = c;
    }
    return most < 0 ? p->n : best;
}

static void plain_move(const plain *p, double resolution, const int64_t *order, int64_t *labels)
{
    static int64_t queue[MOST * MOST * MOST];
    bool queued[MOST];
    int64_t first = 0, last = 0;
    for (int64_t i = 0; i < p->n; i++) queue[last++] = order[i];
    for (int64_t i = 0; i < p->n; i++) queued[i] = true;
    while (first < last) {
        const int64_t node = queue[first++], own = labels[node];
        int64_t best = plain_best(p, labels, resolution, node), members = 0;
        queued[node] = false;
        for (int64_t j = 0; j < p->n; j++) members += labels[j] == own;
        if (best == own || (best == p->n && members == 1)) continue;
        for (int64_t c = 0; c < p->n && best == p->n; c++) {
            bool empty = true;
            for (int64_t j = 0; j < p->n; j++) empty &= labels[j] != c;
            if (empty) best = c;
        }
        labels[node] = best;
        for (int64_t j = 0; j < p->n; j++) {
            if (j == node || p->W[node][j] == 0 || queued[j] || labels[j] == best) continue;
            queued[j] = true;
            assert_true(last < (int64_t)(sizeof queue / sizeof *queue));
            queue[last++] = j;
        }
    }
}

/* Of a part: its edges to the rest of its community. */
static double outside_of(const plain *p, const int64_t *labels, const int64_t *parts, int64_t part)
{
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (parts[i] == part && parts[j] != part && labels[i] == labels[j]) sum += p->W[i][j];
    return sum;
}

static bool plain_connected(const plain *p, double resolution, double outside, double degree, double community)
{
    return outside >= resolution * degree * (community - degree) / p->total;
}

static void plain_refine(const plain *p, double resolution, const int64_t *order, const int64_t *labels, int64_t *parts)
{
    for (int64_t i = 0; i < p->n; i++) parts[i] = i;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t node = order[i];
        const double community = degree_of(p, labels, labels[node]);
        int64_t members = 0, best = parts[node];
        double most = 0;
        for (int64_t j = 0; j < p->n; j++) members += parts[j] == parts[node];
        if (members > 1 || parts[node] != node ||
            !plain_connected(p, resolution, outside_of(p, labels, parts, node), p->degrees[node], community))
            continue;
        for (int64_t c = 0; c < p->n; c++) {
            const double links = links_of(p, parts, node, c), degree = degree_of(p, parts, c);
            const double gain = links - resolution * p->degrees[node] * degree / p->total;
            if (c == node || links == 0 || labels[c] != labels[node] || gain < most ||
                !plain_connected(p, resolution, outside_of(p, labels, parts, c), degree, community))
                continue;
            best = c;
            most = gain;
        }
        parts[node] = best;
    }
}

static int64_t plain_compact(int64_t n, int64_t *labels)
{
    int64_t seen[MOST], count = 0;
    for (int64_t c = 0; c < MOST; c++) seen[c] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (seen[labels[i]] < 0) seen[labels[i]] = count++;
        labels[i] = seen[labels[i]];
    }
    return count;
}

static void plain_join(const plain *p, const int64_t *parts, int64_t count, plain *made)
{
    *made = (plain){.n = count, .total = p->total};
    for (int64_t i = 0; i < p->n; i++) {
        made->degrees[parts[i]] += p->degrees[i];
        for (int64_t j = 0; j < p->n; j++) made->W[parts[i]][parts[j]] += p->W[i][j];
    }
}

/* Classes of the samples whose parts are not connected become several. */
static void plain_split(const pair *from, int64_t *labels)
{
    int64_t made[MOST];
    for (int64_t i = 0; i < from->n; i++) made[i] = i;
    for (int64_t round = 0; round < from->n; round++)
        for (int64_t i = 0; i < from->n; i++)
            for (int64_t j = 0; j < from->n; j++)
                if (from->W[i * MOST + j] > 0 && labels[i] == labels[j] && made[j] < made[i]) made[i] = made[j];
    memcpy(labels, made, (size_t)from->n * sizeof *made);
}

static void plain_leiden(const pair *from, const armilla_communities_options *options, int64_t *found)
{
    static plain first, level, next;
    first = (plain){.n = from->n};
    for (int64_t i = 0; i < from->n; i++)
        for (int64_t j = 0; j < from->n; j++) {
            first.W[i][j] = from->W[i * MOST + j];
            first.degrees[i] += first.W[i][j];
            first.total += first.W[i][j];
        }
    for (int64_t i = 0; i < from->n; i++) found[i] = i;
    for (uint64_t round = 0; round < 2 && first.total > 0; round++) {
        int64_t labels[MOST], order[MOST], parts[MOST], place[MOST], of_part[MOST];
        level = first;
        memcpy(labels, found, sizeof labels);
        for (int64_t i = 0; i < from->n; i++) place[i] = i;
        for (;;) {
            plain_order(level.n, options->seed * 2 + round, order);
            plain_move(&level, options->resolution, order, labels);
            plain_refine(&level, options->resolution, order, labels, parts);
            const int64_t count = plain_compact(level.n, parts);
            if (count == level.n) break;
            plain_join(&level, parts, count, &next);
            for (int64_t i = 0; i < level.n; i++) of_part[parts[i]] = labels[i];
            for (int64_t i = 0; i < from->n; i++) place[i] = parts[place[i]];
            memcpy(labels, of_part, sizeof labels);
            (void)plain_compact(count, labels);
            level = next;
        }
        for (int64_t i = 0; i < from->n; i++) found[i] = labels[place[i]];
    }
    plain_split(from, found);
    (void)plain_compact(from->n, found);
}

/* The weights are drawn, so that no two gains are equal but by chance. */
static void test_plain_leiden(void **state)
{
    uint64_t random = 41;
    (void)state;
    for (int trial = 0; trial < reference_effort(60, 15); trial++) {
        const double chances[2] = {0.1 + 0.5 * reference_uniform(&random), 0.1 * reference_uniform(&random)};
        armilla_communities_options options = {exp(4 * reference_uniform(&random) - 2), (uint64_t)trial};
        int64_t labels[MOST], wanted[MOST], count = 0;
        draw(&a, &random, 1 + trial, trial % 6, chances);
        plain_leiden(&a, &options, wanted);
        support_ok(context, find_communities(&a.graph, 0, &options, labels, &count));
        assert_memory_equal(labels, wanted, (size_t)a.n * sizeof *labels);
        armilla_graph_release(context, &a.graph);
    }
}

/* Groups of nodes, each with edges to some of the next ones of its group and a few to any other. */
enum { NODES = 1500, EACH = 6, ORDERS = 6, EDGES = NODES * (EACH + 1) * 2 };

static void draw_large(uint64_t *random, int64_t groups, armilla_graph *made)
{
    static int64_t ends[EDGES][2];
    static float weights[EDGES];
    int64_t count = 0, degrees[NODES] = {0};
    for (int64_t i = 0; i < NODES; i++)
        for (int64_t e = 0; e <= EACH; e++) {
            const bool inside = e < EACH;
            const int64_t step = 1 + e * 7, any = 1 + (int64_t)(reference_uniform(random) * (NODES - 2));
            const int64_t j = (i + (inside ? step * groups : any)) % NODES;
            if (!inside && reference_uniform(random) < 0.5) continue;
            const float weight = (float)(0.1 + reference_uniform(random));
            for (int side = 0; side < 2; side++, count++) {
                ends[count][0] = side ? j : i;
                ends[count][1] = side ? i : j;
                weights[count] = weight;
                degrees[side ? j : i]++;
            }
        }
    support_ok(context, armilla_graph_take(context, NODES, NODES, count, made));
    for (int64_t i = 0; i < NODES; i++) made->starts[i + 1] = made->starts[i] + degrees[i];
    for (int64_t c = 0; c < count; c++) {
        const int64_t place = made->starts[ends[c][0] + 1] - degrees[ends[c][0]]--;
        made->targets[place] = ends[c][1];
        made->weights[place] = weights[c];
    }
}

/* What six orders find. */
typedef struct orders {
    int64_t labels[ORDERS][NODES], counts[ORDERS];
    double resolutions[ORDERS];
} orders;

static void search_in_turn(const armilla_graph *graph, int64_t k, orders *made)
{
    armilla_communities_options options = {.resolution = 1};
    for (int i = 0; i < ORDERS; i++) {
        options.seed = (uint64_t)i;
        support_ok(context, find_communities(graph, k, &options, made->labels[i], &made->counts[i]));
        made->resolutions[i] = options.resolution;
    }
}

/* The same by tasks, in which each begins where the one before has ended. */
static armilla_status search_at_once(const armilla_graph *graph, int64_t k, orders *made)
{
    armilla_communities_task tasks[ORDERS];
    armilla_level fine = {.nodes = 0};
    double resolution = 1;
    armilla_status status = armilla_level_of_graph(context, graph, &fine);
    for (int first = 0, done = 0; first < ORDERS && status == ARMILLA_OK; first += done) {
        for (int i = first; i < ORDERS; i++)
            tasks[i] = (armilla_communities_task){.graph = graph,
                                                  .fine = i % 2 ? &fine : NULL,
                                                  .k = k,
                                                  .options = {resolution, (uint64_t)i},
                                                  .labels = made->labels[i]};
        status = armilla_communities_share(context, tasks + first, ORDERS - first, true, &done);
        assert_in_range(done, 1, ORDERS - first);
        for (int i = first; i < first + done; i++) {
            made->counts[i] = tasks[i].count;
            made->resolutions[i] = resolution = tasks[i].options.resolution;
        }
    }
    armilla_level_release(context, &fine);
    return status;
}

static const int64_t threads_tried[] = {1, 2, 3, 8};
enum { THREADS = sizeof threads_tried / sizeof *threads_tried };

/* Numbers that are met at once, that are searched for, and that are none. */
static void test_same_on_any_threads(void **state)
{
    static orders wanted, got;
    static const int64_t numbers[] = {10, 7, 25, 2};
    uint64_t random = 43;
    armilla_graph graph;
    (void)state;
    draw_large(&random, 10, &graph);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        search_in_turn(&graph, numbers[n], &wanted);
        for (int t = 0; t < THREADS; t++) {
            got = (orders){.counts = {0}};
            support_ok(context, armilla_call_enter(context, threads_tried[t]));
            support_ok(context, search_at_once(&graph, numbers[n], &got));
            armilla_call_leave(context);
            assert_memory_equal(&wanted, &got, sizeof got);
        }
    }
    armilla_graph_release(context, &graph);
}

/* The best of the orders, and the number that is found, whatever memory lets run at a time. */
static void test_partitions_on_any_threads(void **state)
{
    static int64_t first[NODES], labels[NODES], numbered[NODES];
    uint64_t random = 47;
    armilla_graph graph;
    double stability = -1;
    (void)state;
    armilla_level fine = {.nodes = 0};
    draw_large(&random, 12, &graph);
    support_ok(context, armilla_level_of_graph(context, &graph, &fine));
    for (int t = 0; t < 2 * THREADS; t++) {
        armilla_graph_samples samples = {.context = context, .n = NODES, .k = 9};
        armilla_partition partition = {.labels = labels};
        armilla_cluster_number *looked_at = NULL;
        int64_t count = 0;
        const bool tight = t >= THREADS;
        armilla_context_set_memory(context, tight ? armilla_context_memory_live(context) + (4 << 20) : 0);
        support_ok(context, armilla_call_enter(context, threads_tried[t % THREADS]));
        support_ok(context, armilla_partition_find(&samples, &graph, &partition));
        assert_int_equal(partition.found.count, 9);
        if (t == 0) memcpy(first, labels, sizeof first);
        if (t == 0) stability = partition.stability;
        assert_memory_equal(first, labels, sizeof first);
        assert_true(partition.stability == stability);
        samples.k = 0;
        if (!tight) support_ok(context, armilla_partition_number(&samples, &fine, &partition, &looked_at, &count));
        if (t == 0) memcpy(numbered, labels, sizeof numbered);
        if (!tight) assert_memory_equal(numbered, labels, sizeof numbered);
        armilla_release(context, looked_at);
        armilla_call_leave(context);
        armilla_context_set_memory(context, 0);
    }
    armilla_level_release(context, &fine);
    armilla_graph_release(context, &graph);
}

/* One allocation fails, or all from one on, on whatever thread; nothing is left. */
static void test_tasks_without_memory(void **state)
{
    static orders wanted, got;
    uint64_t random = 53;
    (void)state;
    const double chances[2] = {0.3, 0.02};
    draw(&a, &random, MOST, 4, chances);
    support_ok(context, search_at_once(&a.graph, 3, &wanted));
    for (int t = 0; t < 2 * THREADS; t++) {
        allocator.fail_all_after = t >= THREADS;
        int64_t failures = 0;
        for (armilla_status status = ARMILLA_NO_MEMORY; status != ARMILLA_OK; failures++) {
            got = (orders){.counts = {0}};
            support_ok(context, armilla_call_enter(context, threads_tried[t % THREADS]));
            const int64_t live = allocator.live;
            allocator.countdown = allocator.taken + failures;
            status = search_at_once(&a.graph, 3, &got);
            allocator.countdown = -1;
            assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
            assert_int_equal(allocator.live, live);
            armilla_call_leave(context);
        }
        assert_true(failures > 10);
        assert_memory_equal(&wanted, &got, sizeof got);
    }
    allocator.fail_all_after = false;
    armilla_graph_release(context, &a.graph);
}

static int after_some(void *user, const armilla_progress *progress)
{
    int *left = user;
    (void)progress;
    return (*left)-- <= 0;
}

/* The end may be asked for at any time: on the calling thread alone, also while only others are at work. */
static void test_tasks_stop(void **state)
{
    static orders got;
    uint64_t random = 59;
    armilla_graph graph;
    (void)state;
    draw_large(&random, 10, &graph);
    for (int trial = 0; trial < reference_effort(40, 10); trial++) {
        int left = trial;
        armilla_context_set_watch(context, after_some, &left);
        support_ok(context, armilla_call_enter(context, threads_tried[trial % THREADS]));
        armilla_call_stage(context, ARMILLA_STAGE_CLUSTERS);
        const int64_t live = allocator.live;
        const armilla_status status = search_at_once(&graph, 25, &got);
        assert_true(status == ARMILLA_STOPPED || (status == ARMILLA_OK && trial > 1));
        assert_int_equal(allocator.live, live);
        armilla_call_leave(context);
    }
    armilla_context_set_watch(context, NULL, NULL);
    armilla_graph_release(context, &graph);
}

/* Nodes have 32 bits. */
static void test_too_many_nodes(void **state)
{
    uint64_t random = 61;
    int64_t labels[MOST], count = 0;
    const double chances[2] = {0.3, 0.1};
    armilla_communities_options options = {1, 0};
    (void)state;
    draw(&a, &random, 20, 2, chances);
    context->most_narrow = 19;
    support_fails(context, find_communities(&a.graph, 0, &options, labels, &count), ARMILLA_BAD_DATA,
                  "at most 19 samples");
    context->most_narrow = INT32_MAX;
    armilla_graph_release(context, &a.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain_leiden),         TEST(test_same_on_any_threads), TEST(test_partitions_on_any_threads),
        TEST(test_tasks_without_memory), TEST(test_tasks_stop),          TEST(test_too_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

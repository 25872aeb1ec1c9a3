/* Jobs of the command that were recorded from their beginning to their end: by processor time with --threads 1, so that what
 * else a machine does leaves it as it is. Those of `tuned` were looked at when the constants of src/base/plan.c and
 * src/base/workload.c were chosen; those of plan_held_out.h were recorded once these were settled. */
#ifndef ARMILLA_UNIT_PLAN_JOBS_H
#define ARMILLA_UNIT_PLAN_JOBS_H

#include "base/plan.h"

/* What was told at that second: the part in progress, how far it was, and what it was expected to take where that was known
 * better than before (0: it was not). */
typedef struct moment {
    double seconds;
    armilla_work work;
    armilla_phase phase;
    double fraction, expected;
} moment;

#define AT(seconds, work, phase, fraction)                                                                             \
    {                                                                                                                  \
        seconds, ARMILLA_WORK_##work, ARMILLA_PHASE_##phase, fraction, 0                                               \
    }
#define REVISED(seconds, work, phase, fraction, expected)                                                              \
    {                                                                                                                  \
        seconds, ARMILLA_WORK_##work, ARMILLA_PHASE_##phase, fraction, expected                                        \
    }

enum { ANNOUNCED = 4 };

typedef struct job {
    const char *name;
    armilla_workload announced[ANNOUNCED]; /* until one without a size */
    const moment *moments;
    size_t count;
    double end;
} job;

#define RECORDED(rows) rows, sizeof rows / sizeof *rows
#define SHAPE .size = sizeof(armilla_workload), .threads = 1

/* clang-format off */
static const moment cluster_moments[] = {
    AT(0, RECIPE, SURVEY, 0),
    AT(0.07, FIT, SURVEY, 0),
    AT(0.128, FIT, START, 0),
    AT(0.155, FIT, ITERATIONS, 0),
    AT(0.185, FIT, CODES, 0),
    AT(0.234, CLUSTER, SURVEY, 0),
    AT(0.285, CLUSTER, CELLS, 0),
    AT(0.602, CLUSTER, RECALL, 0),
    AT(0.671, CLUSTER, NEIGHBORS, 0),
    AT(2.684, CLUSTER, WEIGHTS, 0.2),
    AT(2.764, CLUSTER, CELLS, 0),
    AT(3.057, CLUSTER, RECALL, 0),
    AT(3.119, CLUSTER, NEIGHBORS, 0),
    AT(5.111, CLUSTER, WEIGHTS, 0.2),
    AT(5.214, CLUSTER, CELLS, 0),
    AT(5.469, CLUSTER, RECALL, 0),
    AT(5.52, CLUSTER, NEIGHBORS, 0),
    AT(6.905, CLUSTER, WEIGHTS, 0.2),
    AT(7.296, CLUSTER, NUMBER, 0),
    AT(9.298, CLUSTER, NUMBER, 0.0882),
    AT(11.301, CLUSTER, NUMBER, 0.1471),
    AT(13.318, CLUSTER, NUMBER, 0.1985),
    AT(15.319, CLUSTER, NUMBER, 0.2574),
    AT(17.322, CLUSTER, NUMBER, 0.3162),
    AT(19.323, CLUSTER, NUMBER, 0.3676),
    AT(21.345, CLUSTER, NUMBER, 0.4265),
    AT(23.35, CLUSTER, NUMBER, 0.4853),
    AT(25.352, CLUSTER, NUMBER, 0.5368),
    AT(27.355, CLUSTER, NUMBER, 0.5882),
    AT(29.356, CLUSTER, NUMBER, 0.6397),
    AT(31.358, CLUSTER, NUMBER, 0.6912),
    AT(33.37, CLUSTER, NUMBER, 0.7353),
    AT(35.378, CLUSTER, NUMBER, 0.7794),
    AT(37.384, CLUSTER, NUMBER, 0.8235),
    AT(39.385, CLUSTER, NUMBER, 0.8676),
    AT(41.417, CLUSTER, NUMBER, 0.9118),
    AT(43.419, CLUSTER, NUMBER, 0.9412),
    AT(45.42, CLUSTER, NUMBER, 0.9804),
};
#define CLUSTER_END 46.169

static const moment search_moments[] = {
    AT(0.002, NEIGHBORS, SURVEY, 0),
    AT(0.103, NEIGHBORS, CELLS, 0),
    AT(0.504, NEIGHBORS, CELLS, 0.3364),
    AT(0.907, NEIGHBORS, CELLS, 0.6843),
    AT(1.34, NEIGHBORS, CELLS, 0.9946),
    AT(1.372, NEIGHBORS, RECALL, 0),
    AT(1.607, NEIGHBORS, NEIGHBORS, 0),
    AT(2.028, NEIGHBORS, NEIGHBORS, 0.041),
    AT(2.461, NEIGHBORS, NEIGHBORS, 0.0956),
    AT(2.882, NEIGHBORS, NEIGHBORS, 0.1502),
    AT(3.288, NEIGHBORS, NEIGHBORS, 0.2048),
    AT(3.705, NEIGHBORS, NEIGHBORS, 0.2594),
    AT(4.116, NEIGHBORS, NEIGHBORS, 0.314),
    AT(4.606, NEIGHBORS, NEIGHBORS, 0.3823),
    AT(5.087, NEIGHBORS, NEIGHBORS, 0.4506),
    AT(5.499, NEIGHBORS, NEIGHBORS, 0.5052),
    AT(5.902, NEIGHBORS, NEIGHBORS, 0.5598),
    AT(6.385, NEIGHBORS, NEIGHBORS, 0.6281),
    AT(6.878, NEIGHBORS, NEIGHBORS, 0.6963),
    AT(7.348, NEIGHBORS, NEIGHBORS, 0.7646),
    AT(7.833, NEIGHBORS, NEIGHBORS, 0.8329),
    AT(8.335, NEIGHBORS, NEIGHBORS, 0.9011),
    AT(8.838, NEIGHBORS, NEIGHBORS, 0.9694),
};
#define SEARCH_END 9.154

static const moment fit_moments[] = {
    AT(0, FIT, SURVEY, 0),        AT(0.005, FIT, START, 0),
    AT(0.054, FIT, FITS, 0),      AT(0.304, FIT, FITS, 0.0677),
    AT(0.869, FIT, FITS, 0.0704), AT(1.119, FIT, FITS, 0.0785),
    AT(1.369, FIT, FITS, 0.0901), AT(1.619, FIT, FITS, 0.1164),
    AT(1.869, FIT, FITS, 0.269),  AT(2.119, FIT, FITS, 0.3241),
    AT(2.369, FIT, FITS, 0.3512), AT(2.619, FIT, FITS, 0.3724),
    AT(2.869, FIT, FITS, 0.3988), AT(3.119, FIT, FITS, 0.4277),
    AT(3.369, FIT, FITS, 0.4858), AT(3.619, FIT, FITS, 0.548),
    AT(3.869, FIT, FITS, 0.582),  AT(4.119, FIT, FITS, 0.5994),
    AT(4.369, FIT, FITS, 0.6159), AT(4.619, FIT, FITS, 0.6412),
    AT(4.87, FIT, FITS, 0.6805),  AT(5.12, FIT, FITS, 0.7392),
    AT(5.37, FIT, FITS, 0.8059),  AT(5.62, FIT, FITS, 0.8485),
    AT(5.87, FIT, FITS, 0.8744),  AT(6.121, FIT, FITS, 0.8953),
    AT(6.371, FIT, FITS, 0.9184), AT(6.621, FIT, FITS, 0.9606),
    AT(6.871, FIT, FITS, 0.975),
};
#define FIT_END 7.018


static const moment noise_moments[] = {
    AT(0.004, RECIPE, SURVEY, 0),
    AT(0.040, FIT, SURVEY, 0),
    AT(0.067, FIT, START, 0),
    AT(0.099, FIT, ITERATIONS, 0),
    AT(0.599, FIT, ITERATIONS, 0.5536),
    AT(0.662, FIT, CODES, 0),
    AT(0.685, CLUSTER, SURVEY, 0),
    AT(0.702, CLUSTER, CELLS, 0),
    AT(0.812, CLUSTER, RECALL, 0),
    REVISED(0.864, CLUSTER, NEIGHBORS, 0, 1.583),
    AT(1.494, CLUSTER, NEIGHBORS, 0.4096),
    AT(2.130, CLUSTER, NEIGHBORS, 0.8192),
    AT(2.408, CLUSTER, WEIGHTS, 0.2),
    AT(2.424, CLUSTER, CELLS, 0),
    AT(2.503, CLUSTER, RECALL, 0),
    REVISED(2.528, CLUSTER, NEIGHBORS, 0, 1.109),
    AT(3.081, CLUSTER, NEIGHBORS, 0.5461),
    AT(3.566, CLUSTER, WEIGHTS, 0.2),
    AT(3.589, CLUSTER, CELLS, 0),
    AT(3.652, CLUSTER, RECALL, 0),
    REVISED(3.669, CLUSTER, NEIGHBORS, 0, 0.569),
    AT(4.152, CLUSTER, NEIGHBORS, 0.9557),
    AT(4.177, CLUSTER, WEIGHTS, 0.2),
    AT(4.253, CLUSTER, NUMBER, 0),
    AT(4.737, CLUSTER, NUMBER, 0.0345),
    AT(5.238, CLUSTER, NUMBER, 0.102),
    AT(5.766, CLUSTER, NUMBER, 0.1628),
    AT(6.255, CLUSTER, NUMBER, 0.225),
    AT(6.758, CLUSTER, NUMBER, 0.3),
    AT(7.246, CLUSTER, NUMBER, 0.325),
    AT(7.726, CLUSTER, NUMBER, 0.375),
    AT(8.208, CLUSTER, NUMBER, 0.4),
    AT(8.685, CLUSTER, NUMBER, 0.425),
    AT(9.197, CLUSTER, NUMBER, 0.475),
    AT(9.718, CLUSTER, NUMBER, 0.5),
    AT(10.234, CLUSTER, NUMBER, 0.5375),
    AT(10.751, CLUSTER, NUMBER, 0.6),
    AT(11.284, CLUSTER, NUMBER, 0.6375),
    AT(11.791, CLUSTER, NUMBER, 0.7),
    AT(12.273, CLUSTER, NUMBER, 0.7375),
    AT(12.764, CLUSTER, NUMBER, 0.8),
    AT(13.291, CLUSTER, NUMBER, 0.85),
    AT(13.774, CLUSTER, NUMBER, 0.9125),
    AT(14.284, CLUSTER, NUMBER, 0.975),
    AT(14.889, STRUCTURE, STRUCTURE, 0),
};
#define NOISE_END 15.275

static const moment given_moments[] = {
    AT(0.004, RECIPE, SURVEY, 0),
    AT(0.043, FIT, SURVEY, 0),
    AT(0.075, FIT, START, 0),
    AT(0.097, FIT, ITERATIONS, 0),
    AT(0.197, FIT, ITERATIONS, 0.4269),
    AT(0.297, FIT, ITERATIONS, 0.5116),
    AT(0.397, FIT, ITERATIONS, 0.6306),
    AT(0.497, FIT, ITERATIONS, 0.9365),
    AT(0.505, FIT, CODES, 0),
    AT(0.526, CLUSTER, SURVEY, 0),
    AT(0.545, CLUSTER, CELLS, 0),
    AT(0.652, CLUSTER, CELLS, 0.8276),
    AT(0.672, CLUSTER, RECALL, 0),
    REVISED(0.708, CLUSTER, NEIGHBORS, 0, 0.490),
    AT(0.822, CLUSTER, NEIGHBORS, 0.2048),
    AT(0.936, CLUSTER, NEIGHBORS, 0.4096),
    AT(1.055, CLUSTER, NEIGHBORS, 0.6144),
    AT(1.173, CLUSTER, NEIGHBORS, 0.8192),
    AT(1.278, CLUSTER, WEIGHTS, 0),
    AT(1.329, CLUSTER, CELLS, 0),
    AT(1.430, CLUSTER, RECALL, 0),
    REVISED(1.458, CLUSTER, NEIGHBORS, 0, 0.437),
    AT(1.554, CLUSTER, NEIGHBORS, 0.2048),
    AT(1.648, CLUSTER, NEIGHBORS, 0.4096),
    AT(1.740, CLUSTER, NEIGHBORS, 0.6144),
    AT(1.832, CLUSTER, NEIGHBORS, 0.8192),
    AT(1.921, CLUSTER, WEIGHTS, 0.2),
    AT(1.987, CLUSTER, CELLS, 0),
    AT(2.069, CLUSTER, RECALL, 0),
    REVISED(2.091, CLUSTER, NEIGHBORS, 0, 0.328),
    AT(2.155, CLUSTER, NEIGHBORS, 0.2048),
    AT(2.217, CLUSTER, NEIGHBORS, 0.4096),
    AT(2.283, CLUSTER, NEIGHBORS, 0.6144),
    AT(2.346, CLUSTER, NEIGHBORS, 0.8192),
    AT(2.407, CLUSTER, WEIGHTS, 0.2),
    AT(2.478, CLUSTER, COMMUNITIES, 0),
    AT(2.686, CLUSTER, COMMUNITIES, 0.0833),
    AT(2.793, CLUSTER, COMMUNITIES, 0.1667),
    AT(2.960, CLUSTER, COMMUNITIES, 0.25),
    AT(3.066, CLUSTER, COMMUNITIES, 0.3333),
    AT(3.180, CLUSTER, COMMUNITIES, 0.4167),
    AT(3.283, CLUSTER, COMMUNITIES, 0.5),
    AT(3.400, CLUSTER, COMMUNITIES, 0.5833),
    AT(3.506, CLUSTER, COMMUNITIES, 0.6667),
    AT(3.673, CLUSTER, COMMUNITIES, 0.75),
    AT(3.777, CLUSTER, COMMUNITIES, 0.8333),
    AT(3.944, CLUSTER, COMMUNITIES, 0.9167),
    AT(3.995, STRUCTURE, STRUCTURE, 0),
    AT(4.101, STRUCTURE, STRUCTURE, 0.3654),
    AT(4.211, STRUCTURE, STRUCTURE, 0.5961),
    AT(4.313, STRUCTURE, STRUCTURE, 0.75),
};
#define GIVEN_END 4.333

static const moment text_moments[] = {
    AT(0.117, RECIPE, SURVEY, 0),
    AT(0.123, FIT, SURVEY, 0),
    AT(0.156, FIT, START, 0),
    AT(0.321, FIT, ITERATIONS, 0),
    AT(0.473, FIT, ITERATIONS, 0.4717),
    AT(0.637, FIT, ITERATIONS, 0.644),
    AT(0.711, FIT, CODES, 0),
    AT(0.753, CLUSTER, NEIGHBORS, 0),
    AT(0.892, CLUSTER, NEIGHBORS, 0.2779),
    AT(1.056, CLUSTER, NEIGHBORS, 0.486),
    AT(1.210, CLUSTER, WEIGHTS, 0.2),
    AT(1.215, CLUSTER, NEIGHBORS, 0),
    AT(1.368, CLUSTER, NEIGHBORS, 0.97),
    AT(1.381, CLUSTER, WEIGHTS, 0.2),
    AT(1.391, CLUSTER, NEIGHBORS, 0),
    AT(1.518, CLUSTER, WEIGHTS, 0.2),
    AT(1.542, CLUSTER, NUMBER, 0),
    AT(1.699, CLUSTER, NUMBER, 0.0781),
    AT(1.850, CLUSTER, NUMBER, 0.1562),
    AT(2.002, CLUSTER, NUMBER, 0.2422),
    AT(2.165, CLUSTER, NUMBER, 0.3281),
    AT(2.321, CLUSTER, NUMBER, 0.4141),
    AT(2.475, CLUSTER, NUMBER, 0.5),
    AT(2.636, CLUSTER, NUMBER, 0.5781),
    AT(2.794, CLUSTER, NUMBER, 0.6562),
    AT(2.947, CLUSTER, NUMBER, 0.7344),
    AT(3.104, CLUSTER, NUMBER, 0.8125),
    AT(3.259, CLUSTER, NUMBER, 0.875),
    AT(3.412, CLUSTER, NUMBER, 0.9297),
    AT(3.566, CLUSTER, NUMBER, 0.9688),
    AT(3.687, STRUCTURE, STRUCTURE, 0),
    AT(3.849, STRUCTURE, STRUCTURE, 0.3438),
    AT(4.003, STRUCTURE, STRUCTURE, 0.75),
    AT(4.164, STRUCTURE, STRUCTURE, 0.9688),
};
#define TEXT_END 4.184

static const moment cells_moments[] = {
    AT(0.005, NEIGHBORS, SURVEY, 0),
    AT(0.065, NEIGHBORS, CELLS, 0),
    AT(0.279, NEIGHBORS, CELLS, 0.3763),
    AT(0.496, NEIGHBORS, CELLS, 0.7566),
    AT(0.669, NEIGHBORS, RECALL, 0),
    REVISED(0.771, NEIGHBORS, NEIGHBORS, 0, 7.138),
    AT(1.058, NEIGHBORS, NEIGHBORS, 0.041),
    AT(1.278, NEIGHBORS, NEIGHBORS, 0.0819),
    AT(1.501, NEIGHBORS, NEIGHBORS, 0.1229),
    AT(1.723, NEIGHBORS, NEIGHBORS, 0.1638),
    AT(1.940, NEIGHBORS, NEIGHBORS, 0.2048),
    AT(2.164, NEIGHBORS, NEIGHBORS, 0.2458),
    AT(2.382, NEIGHBORS, NEIGHBORS, 0.2867),
    AT(2.600, NEIGHBORS, NEIGHBORS, 0.3277),
    AT(2.817, NEIGHBORS, NEIGHBORS, 0.3686),
    AT(3.031, NEIGHBORS, NEIGHBORS, 0.4096),
    AT(3.248, NEIGHBORS, NEIGHBORS, 0.4506),
    AT(3.473, NEIGHBORS, NEIGHBORS, 0.4915),
    AT(3.696, NEIGHBORS, NEIGHBORS, 0.5325),
    AT(3.923, NEIGHBORS, NEIGHBORS, 0.5734),
    AT(4.151, NEIGHBORS, NEIGHBORS, 0.6144),
    AT(4.378, NEIGHBORS, NEIGHBORS, 0.6554),
    AT(4.598, NEIGHBORS, NEIGHBORS, 0.6963),
    AT(4.819, NEIGHBORS, NEIGHBORS, 0.7373),
    AT(5.043, NEIGHBORS, NEIGHBORS, 0.7782),
    AT(5.269, NEIGHBORS, NEIGHBORS, 0.8192),
    AT(5.498, NEIGHBORS, NEIGHBORS, 0.8602),
    AT(5.720, NEIGHBORS, NEIGHBORS, 0.9011),
    AT(5.937, NEIGHBORS, NEIGHBORS, 0.9421),
    AT(6.153, NEIGHBORS, NEIGHBORS, 0.983),
};
#define CELLS_END 6.173

/* armilla cluster without --k, of 120000 samples with 32 features; neighbors --recall 0.98 of 300000 with 64; fit --model
 * spherical-nmf --rank 8 --restarts 12 of 20000 with 40; cluster without --k of 30000 x 64 normal numbers; cluster --k 8 of 40000 x 50 in 8
 * groups; cluster without --k of 12000 texts of 60 words; neighbors --recall 0.95 of 200000 x 32. */
static const job tuned[] = {
    {"cluster",
     {{SHAPE, .work = ARMILLA_WORK_RECIPE, .samples = 120000, .features = 32},
      {SHAPE, .work = ARMILLA_WORK_FIT, .samples = 120000, .features = 32, .rank = 32, .restarts = 1, .max_iter = 500},
      {SHAPE, .work = ARMILLA_WORK_CLUSTER, .samples = 120000, .features = 32, .rank = 32, .codes = true, .graph = true}},

     RECORDED(cluster_moments),
     CLUSTER_END},
    {"neighbors", {{SHAPE, .work = ARMILLA_WORK_NEIGHBORS, .samples = 300000, .features = 64, .count = 10, .recall = 0.98}}, RECORDED(search_moments), SEARCH_END},
    {"fit", {{SHAPE, .work = ARMILLA_WORK_FIT, .samples = 20000, .features = 40, .rank = 8, .restarts = 12, .max_iter = 500}}, RECORDED(fit_moments), FIT_END},
    {"cluster of noise",
     {{SHAPE, .work = ARMILLA_WORK_RECIPE, .samples = 30000, .features = 64},
      {SHAPE, .work = ARMILLA_WORK_FIT, .samples = 30000, .features = 64, .rank = 40, .restarts = 1, .max_iter = 500},
      {SHAPE, .work = ARMILLA_WORK_CLUSTER, .samples = 30000, .features = 64, .rank = 40, .codes = true, .graph = true},
      {SHAPE, .work = ARMILLA_WORK_STRUCTURE, .samples = 30000, .features = 64}},
     RECORDED(noise_moments),
     NOISE_END},
    {"cluster --k 8",
     {{SHAPE, .work = ARMILLA_WORK_RECIPE, .samples = 40000, .features = 50},
      {SHAPE, .work = ARMILLA_WORK_FIT, .samples = 40000, .features = 50, .rank = 32, .restarts = 1, .max_iter = 500},
      {SHAPE, .work = ARMILLA_WORK_CLUSTER, .samples = 40000, .features = 50, .rank = 32, .codes = true, .graph = true, .k = 8},
      {SHAPE, .work = ARMILLA_WORK_STRUCTURE, .samples = 40000, .features = 50}},
     RECORDED(given_moments),
     GIVEN_END},
    {"cluster of text",
     {{SHAPE, .work = ARMILLA_WORK_RECIPE, .samples = 12000, .features = 6000, .entries = 653024},
      {SHAPE, .work = ARMILLA_WORK_FIT, .samples = 12000, .features = 6000, .entries = 653024, .rank = 40, .restarts = 1, .max_iter = 500},
      {SHAPE, .work = ARMILLA_WORK_CLUSTER, .samples = 12000, .features = 6000, .entries = 653024, .rank = 40, .codes = true, .graph = true},
      {SHAPE, .work = ARMILLA_WORK_STRUCTURE, .samples = 12000, .features = 6000}},
     RECORDED(text_moments),
     TEXT_END},
    {"neighbors --recall 0.95", {{SHAPE, .work = ARMILLA_WORK_NEIGHBORS, .samples = 200000, .features = 32, .count = 10, .recall = 0.95}}, RECORDED(cells_moments), CELLS_END},
};
/* clang-format on */

#endif

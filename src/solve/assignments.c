/* Assignments from codes and back, their state, and what Lloyd's iteration sees of a fit. */
#include "solve/assignments.h"

#include <string.h>

void armilla_assignments_list(armilla_assignments *a, const armilla_problem *p, armilla_state_list *list)
{
    armilla_state_number(list, "assign.assigned", ARMILLA_STATE_U8, &a->assigned);
    armilla_state_number(list, "assign.settled", ARMILLA_STATE_U8, &a->settled);
    armilla_state_samples(list, "assign.assignments", ARMILLA_STATE_I32, 1, &p->share, &a->atoms);
    for (int64_t j = p->share.first; j < p->share.last && list->restoring && list->status == ARMILLA_OK; j++)
        (void)armilla_state_require(list, "assign.assignments", (uint32_t)a->atoms[j] < (uint64_t)p->r);
    armilla_state_workspace(list, ARMILLA_STATE_F64, p->r, 1, &a->offsets);
}

void armilla_assignments_begin(armilla_assignments *a, const armilla_problem *p)
{
    const size_t size = armilla_type_size(p->options.type);
    double w = 0;
    for (int64_t j = p->share.first; j < p->share.last; j++) {
        a->atoms[j] = 0;
        for (int64_t k = 0; k < p->r; k++) {
            armilla_fetch(p->options.type, 1, (const char *)p->W + (size_t)(j * p->r + k) * size, &w);
            if (w != 0) a->atoms[j] = (int32_t)k;
        }
    }
}

void armilla_assignments_finish(const armilla_assignments *a, const armilla_problem *p)
{
    const size_t size = armilla_type_size(p->options.type);
    const double one = 1;
    if (p->sealed || !a->assigned) return;
    for (int64_t j = p->share.first; j < p->share.last; j++) {
        char *w = (char *)p->W + (size_t)(j * p->r) * size;
        memset(w, 0, (size_t)p->r * size);
        armilla_store(p->options.type, 1, &one, w + (size_t)a->atoms[j] * size);
    }
}

const int32_t *armilla_assignments_newest(const armilla_assignments *a)
{
    return a->assigned ? a->atoms : NULL;
}

armilla_lloyd armilla_assignments_lloyd(const armilla_assignments *a, const armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    return (armilla_lloyd){.sweep = p->sweep,
                           .kernels = armilla_code_kernels_for(p->context),
                           .m = p->m,
                           .share = p->share,
                           .r = p->r,
                           .squared_norms = p->squared_norms,
                           .l = trial->l,
                           .U = p->U,
                           .U_typed = p->U_typed,
                           .U_next = p->U_next,
                           .stays = a->settled,
                           .A = trial->A,
                           .sizes = trial->G,
                           .squares = p->H,
                           .stride = p->r + 1,
                           .assignments = a->atoms,
                           .distances = a->misfit,
                           .offsets = a->offsets,
                           .atom = p->options.basis->atom};
}

/* The first look has codes instead of assignments. */
armilla_status armilla_assignments_find_unused(const armilla_assignments *a, armilla_trial *trial)
{
    return a->assigned ? armilla_trial_choose_revived(trial, a->misfit) : armilla_trial_find_unused(trial);
}

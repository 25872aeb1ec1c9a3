/* A solver at work: its memory by its list, and its steps. */
#include "solve/problem.h"

static void list_self(void *self, armilla_state_list *list)
{
    const armilla_run *run = self;
    const size_t outer = armilla_state_enter(list, run->solver->name);
    run->solver->list(run->self, list);
    armilla_state_leave(list, outer);
}

armilla_status armilla_run_open(armilla_run *run, armilla_problem *problem, const armilla_solver *solver)
{
    *run = (armilla_run){.problem = problem, .solver = solver};
    armilla_status status = armilla_take(problem->context, 1, solver->bytes(&problem->options), &run->self);
    if (status == ARMILLA_OK) status = solver->open(problem, run->self);
    if (status == ARMILLA_OK) status = armilla_state_take(problem->context, list_self, run);
    if (status != ARMILLA_OK) armilla_run_close(run);
    return status;
}

void armilla_run_close(armilla_run *run)
{
    if (!run->problem) return;
    armilla_context *context = run->problem->context;
    if (run->self) {
        armilla_state_release(context, list_self, run);
        if (run->solver->close) run->solver->close(run->self);
        armilla_release(context, run->self);
    }
    *run = (armilla_run){.problem = NULL};
}

void armilla_run_begin(armilla_run *run)
{
    run->problem->sealed = run->problem->unfinished = false;
    run->problem->objective = armilla_problem_objective(run->problem);
    run->solver->begin(run->problem, run->self);
}

armilla_status armilla_run_step(armilla_run *run, bool *ended)
{
    const armilla_status status = run->solver->step(run->problem, run->self, ended);
    if (status == ARMILLA_OK && *ended && run->solver->finish) run->solver->finish(run->problem, run->self);
    return status;
}

void armilla_run_list(armilla_run *run, armilla_state_list *list)
{
    armilla_problem_list(run->problem, list);
    list_self(run, list);
}

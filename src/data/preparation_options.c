/* Preparations as options ask for them, as summaries tell them, and in words: every one by going through the table of
 * steps. */
#include "data/preparation.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool armilla_step_read(armilla_step step, const char *word, bool *taken)
{
    for (int i = 0; i < 2; i++)
        if (word && armilla_steps[step].words[i] && strcmp(word, armilla_steps[step].words[i]) == 0) {
            *taken = i == 1;
            return true;
        }
    return false;
}

const char *armilla_step_form(armilla_step step, size_t index)
{
    const char *const *forms = armilla_steps[step].forms;
    return index < sizeof armilla_steps[step].forms / sizeof *forms ? forms[index] : NULL;
}

int64_t armilla_step_numbers(armilla_step step, int64_t m)
{
    return armilla_steps[step].single ? 1 : m;
}

bool armilla_total_read(const char *text, bool *taken, double *total)
{
    char *end = NULL;
    *taken = text && strcmp(text, "none") != 0;
    *total = 0;
    if (!*taken || strcmp(text, "median") == 0) return true;
    *total = armilla_read_number(text, &end);
    return end != text && *end == '\0' && *total > 0 && isfinite(*total);
}

static void ask(armilla_preparation *p, armilla_step step, const void *field)
{
    const char *const *word = field;
    const int64_t *count = field;
    const bool *flag = field;
    switch (armilla_steps[step].asked) {
    case ARMILLA_ASKED_BY_FLAG:
        p->taken[step] = *flag;
        return;
    case ARMILLA_ASKED_BY_WORD:
        (void)armilla_step_read(step, *word, &p->taken[step]);
        return;
    case ARMILLA_ASKED_BY_TOTAL:
        (void)armilla_total_read(*word, &p->taken[step], &p->number[step]);
        return;
    case ARMILLA_ASKED_BY_COUNT:
        p->taken[step] = *count > 0;
        p->number[step] = (double)*count;
        return;
    }
}

/* The first form where the word is none of them. */
static size_t form_of(armilla_step step, const char *word)
{
    size_t form = 0;
    for (size_t i = 0; word && armilla_step_form(step, i); i++)
        if (strcmp(word, armilla_step_form(step, i)) == 0) form = i;
    return form;
}

armilla_preparation armilla_preparation_asked(const armilla_options *options)
{
    armilla_preparation p = {.m = 0};
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        const void *form = (const char *)options + row->form_option;
        ask(&p, (armilla_step)step, (const char *)options + row->option);
        if (row->form) p.form[step] = form_of((armilla_step)step, *(const char *const *)form);
    }
    return p;
}

/* How many features were chosen; before that, how many are to be. */
static double count_chosen(const armilla_preparation *p, armilla_step step)
{
    const double *chosen = p->learned[step];
    int64_t count = 0;
    for (int64_t i = 0; i < p->m && chosen; i++) count += chosen[i] != 0;
    return chosen ? (double)count : p->number[step];
}

/* The number that goes with the step: as learned, before that as asked for; 0 where it is not taken. */
static double number_of(const armilla_preparation *p, armilla_step step)
{
    const armilla_step_row *row = &armilla_steps[step];
    if (!p->taken[step]) return 0;
    if (row->asked == ARMILLA_ASKED_BY_COUNT) return count_chosen(p, step);
    return row->single && p->learned[step] ? *p->learned[step] : p->number[step];
}

static const char *total_text(const armilla_preparation *p, armilla_step step, char text[32])
{
    const double total = number_of(p, step);
    if (total > 0) (void)armilla_plain_print(text, 32, "%.17g", total);
    return !p->taken[step] ? NULL : total > 0 ? text : "median";
}

static void tell(const armilla_preparation *p, armilla_step step, char text[32], void *field)
{
    switch (armilla_steps[step].asked) {
    case ARMILLA_ASKED_BY_FLAG:
        *(bool *)field = p->taken[step];
        return;
    case ARMILLA_ASKED_BY_WORD:
        *(const char **)field = armilla_steps[step].words[p->taken[step]];
        return;
    case ARMILLA_ASKED_BY_TOTAL:
        *(const char **)field = total_text(p, step, text);
        return;
    case ARMILLA_ASKED_BY_COUNT:
        *(int64_t *)field = (int64_t)number_of(p, step);
        return;
    }
}

void armilla_preparation_tell(const armilla_preparation *p, armilla_step_texts *texts, armilla_options *options)
{
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        void *form = (char *)options + row->form_option;
        tell(p, (armilla_step)step, texts->of[step], (char *)options + row->option);
        if (row->form) *(const char **)form = p->taken[step] ? row->forms[p->form[step]] : NULL;
    }
}

void armilla_preparation_describe(const armilla_preparation *p, armilla_model_summary *summary)
{
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        char *field = (char *)summary + row->summary;
        if (!row->summary) continue;
        if (row->asked == ARMILLA_ASKED_BY_TOTAL)
            *(double *)(void *)field = number_of(p, (armilla_step)step);
        else
            tell(p, (armilla_step)step, NULL, field);
    }
}

static bool step_alike(const armilla_preparation *a, const armilla_preparation *b, armilla_step step)
{
    if (a->taken[step] != b->taken[step]) return false;
    if (!a->taken[step]) return true;
    return a->form[step] == b->form[step] &&
           (a->number[step] == b->number[step] || number_of(a, step) == number_of(b, step));
}

bool armilla_preparation_alike(const armilla_preparation *a, const armilla_preparation *b)
{
    bool alike = true;
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) alike &= step_alike(a, b, (armilla_step)step);
    return alike;
}

/* "log1p", "total 1000", "2000 most variable features" */
static int put_step(const armilla_preparation *p, armilla_step step, char *buffer, size_t size)
{
    const armilla_step_row *row = &armilla_steps[step];
    const double number = number_of(p, step);
    if (row->asked == ARMILLA_ASKED_BY_COUNT) return armilla_plain_print(buffer, size, "%.0f %s", number, row->shown);
    if (row->asked == ARMILLA_ASKED_BY_TOTAL && number > 0)
        return armilla_plain_print(buffer, size, "%s %.6g", row->shown, number);
    return armilla_plain_print(buffer, size, "%s%s", row->shown, row->asked == ARMILLA_ASKED_BY_TOTAL ? " median" : "");
}

void armilla_preparation_print(const armilla_preparation *p, char *buffer, size_t size)
{
    size_t used = 0;
    if (size > 0) buffer[0] = '\0';
    for (int step = 0; step < ARMILLA_STEP_COUNT && used < size; step++) {
        if (!p->taken[step]) continue;
        if (used > 0) used += (size_t)snprintf(buffer + used, size - used, ", ");
        if (used < size) used += (size_t)put_step(p, (armilla_step)step, buffer + used, size - used);
    }
}

/* One pass over a text table that finds what its columns contain. Unlike the reader of numbers it accepts text, so that
 * it can say of any table how it could be read. The distinct values of each column are stored as hashes, no more than
 * are counted. */
#include "files/table_facts.h"

#include "base/size.h"
#include "base/sized.h"
#include "files/table_columns.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST = 100,         /* different values of a column that are counted: at least so many, */
    MOST = 10000,         /* at most so many, */
    ALL_COLUMNS = 1 << 22 /* and of all columns together about so many */
};

typedef struct tally {
    armilla_column_facts facts;
    bool fractions;
    uint64_t *seen; /* hashes of values, by open addressing; 0: free */
    int64_t places; /* of seen, a power of 2 */
    char text[ARMILLA_SHOWN];
} tally;

struct armilla_table_facts {
    armilla_context *context;
    int64_t rows, count;
    tally *columns;
    armilla_names names;
};

/* What the pass works with. */
typedef struct survey {
    armilla_text text;
    armilla_table_columns columns;
    armilla_table_facts *facts;
    armilla_status status;
    int64_t most; /* different values of a column that are counted */
} survey;

/* splitmix64's last step, a permutation: different numbers never meet. */
static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

static uint64_t hash_number(double value)
{
    uint64_t bits = 0;
    const double plain = value == 0 ? 0 : value; /* of both signs */
    memcpy(&bits, &plain, sizeof bits);
    return mix(bits ^ 0x9e3779b97f4a7c15u);
}

/* FNV-1a of the field's text; in quotes two quotes stand for one. */
static uint64_t hash_text(const armilla_field *field)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const unsigned char *at = field->start; at < field->end; at++) {
        hash = (hash ^ *at) * 0x100000001b3u;
        at += field->quote && *at == field->quote && at + 1 < field->end && at[1] == field->quote;
    }
    return mix(hash);
}

/* The slot of the hash, or the free slot for it. */
static uint64_t *find_place(uint64_t *seen, int64_t places, uint64_t hash)
{
    uint64_t place = hash & (uint64_t)(places - 1);
    while (seen[place] && seen[place] != hash) place = (place + 1) & (uint64_t)(places - 1);
    return &seen[place];
}

static armilla_status grow(armilla_context *context, tally *c)
{
    enum { FIRST = 16 };
    uint64_t *wider = NULL;
    const int64_t places = c->places ? 2 * c->places : FIRST;
    const armilla_status status = armilla_take(context, places, sizeof *wider, &wider);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < c->places; i++)
        if (c->seen[i]) *find_place(wider, places, c->seen[i]) = c->seen[i];
    armilla_release(context, c->seen);
    c->seen = wider;
    c->places = places;
    return ARMILLA_OK;
}

static armilla_status count_value(armilla_context *context, int64_t most, uint64_t hash, tally *c)
{
    if (c->facts.more) return ARMILLA_OK;
    if (2 * c->facts.distinct >= c->places) {
        const armilla_status status = grow(context, c);
        if (status != ARMILLA_OK) return status;
    }
    uint64_t *place = find_place(c->seen, c->places, hash + !hash);
    if (*place) return ARMILLA_OK;
    if (c->facts.distinct == most) {
        c->facts.more = true;
        armilla_release(context, c->seen);
        c->seen = NULL;
        return ARMILLA_OK;
    }
    *place = hash + !hash;
    c->facts.distinct++;
    return ARMILLA_OK;
}

/* Names and labels are texts, of which 1 and 1.0 are two; elsewhere they are one number. */
static armilla_status count_field(const survey *s, const armilla_field *field, tally *c)
{
    armilla_column_facts *facts = &c->facts;
    double value = 0;
    const armilla_decimal kind = armilla_fields_number(field, s->columns.dialect.mark, s->text.plain, &value);
    if (kind == ARMILLA_DECIMAL_EMPTY || kind == ARMILLA_DECIMAL_NOT_FINITE) {
        facts->missing++;
        return ARMILLA_OK;
    }
    const bool number = kind != ARMILLA_DECIMAL_TEXT, exact = kind == ARMILLA_DECIMAL_NUMBER;
    const bool named = facts->use == ARMILLA_COLUMN_NAMES || facts->use == ARMILLA_COLUMN_LABELS;
    facts->numbers += number;
    facts->texts += !number;
    c->fractions |= exact && value != floor(value);
    if (facts->texts == 1 && !number) {
        facts->text_row = s->facts->rows + 1;
        armilla_text_show((armilla_span){field->start, field->end}, c->text);
    }
    return count_value(s->text.context, s->most, exact && !named ? hash_number(value) : hash_text(field), c);
}

/* False where the record has another number of fields, or memory is short. */
static bool take_record(survey *s, armilla_span record)
{
    const unsigned char *at = record.start;
    armilla_field field;
    int64_t i = 0;
    for (; i < s->columns.fields && at && armilla_fields_next(&s->columns.dialect, record, &at, &field); i++) {
        s->status = count_field(s, &field, &s->facts->columns[i]);
        if (s->status != ARMILLA_OK) return false;
    }
    s->facts->rows++;
    return i == s->columns.fields && armilla_table_columns_end(&s->columns, record, at);
}

static void take_part(void *self, armilla_text_part *part)
{
    survey *s = self;
    armilla_span rest = part->text, record = rest;
    while (armilla_fields_next_record(&s->columns.dialect, &rest, &record)) {
        if (armilla_text_over(&s->text, part, record.start)) return;
        if (take_record(s, record)) continue;
        part->bad = record.start;
        s->columns.first = record; /* for the message */
        return;
    }
}

static armilla_column_use use_of(const armilla_table_columns *c, int64_t i)
{
    if (i == c->label) return ARMILLA_COLUMN_LABELS;
    if (i == c->name) return ARMILLA_COLUMN_NAMES;
    return armilla_table_columns_number(c, i) ? ARMILLA_COLUMN_VALUES : ARMILLA_COLUMN_LEFT_OUT;
}

static armilla_column_type type_of(const tally *c)
{
    if (c->facts.texts > 0) return ARMILLA_COLUMN_TEXT;
    if (c->facts.numbers == 0) return ARMILLA_COLUMN_EMPTY;
    return c->fractions ? ARMILLA_COLUMN_NUMBER : ARMILLA_COLUMN_INTEGER;
}

static armilla_status begin(survey *s)
{
    const armilla_table_columns *c = &s->columns;
    armilla_table_facts *facts = s->facts;
    s->most = armilla_min64(armilla_max64(ALL_COLUMNS / c->fields, FEWEST), MOST);
    const armilla_status status = armilla_take(s->text.context, c->fields, sizeof *facts->columns, &facts->columns);
    if (status != ARMILLA_OK) return status;
    facts->count = c->fields;
    for (int64_t i = 0; i < facts->count; i++) {
        facts->columns[i].facts.use = use_of(c, i);
        facts->columns[i].facts.guessed = i == c->name && c->names_are_text;
    }
    return armilla_table_columns_names(&s->text, c, true, &facts->names);
}

static void finish(armilla_table_facts *facts)
{
    for (int64_t i = 0; i < facts->count; i++) {
        tally *c = &facts->columns[i];
        const char *name = i < facts->names.count ? armilla_names_at(&facts->names, i) : "";
        c->facts.name = *name ? name : NULL;
        c->facts.type = type_of(c);
        c->facts.text = c->facts.texts > 0 ? c->text : NULL;
        armilla_release(facts->context, c->seen);
        c->seen = NULL;
    }
}

/* Parts come in their order, on one thread. */
static armilla_status take_rows(survey *s)
{
    const armilla_text_part *bad = NULL;
    armilla_status status = armilla_dialect_cut(&s->text, s->columns.first.start, &s->columns.dialect);
    if (status != ARMILLA_OK) return status;
    s->text.team.threads = 1;
    status = armilla_text_parse(&s->text, take_part, s, &bad);
    if (status != ARMILLA_OK || !bad) return status;
    if (s->status != ARMILLA_OK) return s->status;
    return armilla_table_columns_ragged(&s->text, &s->columns, s->columns.first);
}

armilla_status armilla_table_facts_read(armilla_context *context, const armilla_bytes *bytes,
                                        const armilla_read_options *options, armilla_table_facts **facts)
{
    survey s = {.status = ARMILLA_OK};
    armilla_status status = armilla_take(context, 1, sizeof *s.facts, &s.facts);
    if (status != ARMILLA_OK) return status;
    s.facts->context = context;
    status = armilla_text_open(context, bytes, options, &s.text);
    if (status == ARMILLA_OK) {
        armilla_dialect_declared(&s.text);
        status = armilla_table_columns_find(&s.text, &s.columns);
        if (status == ARMILLA_OK) status = begin(&s);
        if (status == ARMILLA_OK) status = take_rows(&s);
        armilla_table_columns_free(context, &s.columns);
        armilla_text_close(&s.text);
    }
    finish(s.facts);
    if (status == ARMILLA_OK)
        *facts = s.facts;
    else
        armilla_table_facts_free(s.facts);
    return status;
}

void armilla_table_facts_free(armilla_table_facts *facts)
{
    if (!facts) return;
    armilla_names_free(facts->context, &facts->names);
    armilla_release(facts->context, facts->columns);
    armilla_release(facts->context, facts);
}

int64_t armilla_table_facts_rows(const armilla_table_facts *facts)
{
    return facts ? facts->rows : 0;
}

int64_t armilla_table_facts_columns(const armilla_table_facts *facts)
{
    return facts ? facts->count : 0;
}

bool armilla_table_facts_column_sized(const armilla_table_facts *facts, int64_t index, armilla_column_facts *column,
                                      size_t size)
{
    const armilla_column_facts none = {.size = 0};
    const bool there = facts && index >= 0 && index < facts->count;
    if (column) armilla_sized_write(there ? &facts->columns[index].facts : &none, sizeof none, column, size);
    return there;
}

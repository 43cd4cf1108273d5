/* table.c - a table in memory, and the writers of CSV and JSON. */
#include "results/table/table.h"
#include "base/mem.h"
#include "base/json.h"
#include "base/csv.h"

#include <stdbool.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void table_free(struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->at[i].text);
    for (size_t k = 0; k < t->heads; k++)
        free((void *)t->head[k].name);
    free(t->at);
    free(t->head);
    *t = (struct table){0};
}

void table_head(struct table *t, struct table_head head)
{
    t->head = xgrow(t->head, t->heads, &t->heads_cap, sizeof *t->head);
    head.name = xstrdup(head.name);
    t->head[t->heads++] = head;
}

void table_heads(struct table *t, const struct table_head *head, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_head(t, head[i]);
}

size_t table_rows(const struct table *t)
{
    return t->heads ? t->n / t->heads : 0;
}

const struct table_value *table_at(const struct table *t, size_t row, size_t column)
{
    return &t->at[row * t->heads + column];
}

/* ---- values --------------------------------------------------------------------------------- */

void table_take(struct table *t, char *text, bool number)
{
    t->at = xgrow(t->at, t->n, &t->cap, sizeof *t->at);
    t->at[t->n++] = (struct table_value){text, number && text && *text};
}

void table_text(struct table *t, const char *text)
{
    table_take(t, text ? xstrdup(text) : NULL, false);
}

void table_number(struct table *t, const char *digits)
{
    table_take(t, digits && *digits ? xstrdup(digits) : NULL, true);
}

void table_u64(struct table *t, uint64_t value)
{
    table_take(t, xasprintf("%" PRIu64, value), true);
}

void table_known(struct table *t, bool known, uint64_t value)
{
    table_take(t, known ? xasprintf("%" PRIu64, value) : NULL, true);
}

/* Rounds to an integer first: printf would write "-0.0 %". */
char *table_percent_text(double part, double whole)
{
    if (!(whole > 0) || isnan(part))
        return NULL;
    const double x = 1000 * part / whole;
    const long long tenths = (long long)(x < 0 ? x - 0.5 : x + 0.5);
    const long long size = tenths < 0 ? -tenths : tenths;

    return xasprintf("%s%lld.%lld %%", tenths < 0 ? "-" : "", size / 10, size % 10);
}

void table_percent(struct table *t, double part, double whole)
{
    table_take(t, table_percent_text(part, whole), false);
}

/* ---- CSV and JSON --------------------------------------------------------------------------- */

void table_csv(const struct table *t, FILE *out)
{
    for (size_t k = 0; k < t->heads; k++) {
        fputs(k ? "," : "", out);
        csv_field(out, t->head[k].name);
    }
    for (size_t i = 0; i < t->n; i++) {
        fputs(i % t->heads ? "," : "\n", out);
        csv_field(out, t->at[i].text ? t->at[i].text : "");
    }
    fputc('\n', out);
}

/* A cell of Markdown; | in it would end it. */
static void markdown_cell(const char *text, FILE *out)
{
    fputc(' ', out);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    fputs(" |", out);
}

void table_markdown(const struct table *t, FILE *out)
{
    for (size_t k = 0; k < t->heads; k++) {
        fputs(k ? "" : "|", out);
        if (*t->head[k].name)
            markdown_cell(t->head[k].name, out);
        else
            fputs(" |", out);
    }
    for (size_t k = 0; k < t->heads; k++)
        fprintf(out, "%s --%c |", k ? "" : "\n|", t->head[k].align == TABLE_LEFT ? '-' : ':');
    for (size_t i = 0; i < t->n; i++) {
        fputs(i % t->heads ? "" : "\n|", out);
        markdown_cell(t->at[i].text ? t->at[i].text : "", out);
    }
    fputs(t->heads ? "\n" : "", out);
}

static void json_row(const struct table *t, size_t row, FILE *out)
{
    struct json j;

    json_init(&j, out, false);
    json_object(&j);
    for (size_t k = 0; k < t->heads; k++) {
        const struct table_value *v = table_at(t, row, k);
        if (!v->text || !*v->text)
            continue;
        json_key(&j, t->head[k].name);
        (v->number ? json_number : json_str)(&j, v->text);
    }
    json_end(&j);
    fputc('\n', out);
}

void table_json_lines(const struct table *t, FILE *out)
{
    for (size_t i = 0; i < table_rows(t); i++)
        json_row(t, i, out);
}

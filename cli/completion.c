/* completion.c - a completion script for bash, made of the rows of verbs and tables: a new verb,
 * option, policy or parameter completes without a line here. What an option or operand takes is
 * told by its name in the usage line: FILE, DIR, SOURCE, NAME=VALUE, a|b, ... The script works on
 * its own: it calls neither lardsim nor the bash-completion package. */
#include <string.h>

#include "base/param.h"
#include "cli/cli.h"

/* Returns what bash completes for an option's value or an operand, by its name in the usage line:
 * words (compgen -W) or files (an action of compgen). NULL: nothing. */
#define PROGRAMS "words=$(lardsim programs list 2>/dev/null | sed -n '/^next:/!s/ .*//p')"
static const char *takes(const char *arg)
{
    static const struct {
        const char *arg, *words;
    } kinds[] = {{"SPEC", "words=$policies"},
                 {"PRESET", "words=$presets files=-f"},
                 {"NAME=VALUE", "words=$parameters"},
                 {"KEY=VALUE", "words=$synth"},
                 {"[KEY=VALUE...]", "words=$synth"},
                 {"[TABLE]", "words=$tables; [[ $prev == manual ]] && words=$pages"},
                 {"NAME...", "words=$names"},
                 {"NAME[,KEY=VALUE...]", "words=$workloads"},
                 {"PROGRAM", PROGRAMS},
                 {"PROGRAM[,KEY=VALUE...]", PROGRAMS},
                 {"PROGRAM[,KEY=VALUE...]...", PROGRAMS},
                 {"SPEC,...", "words=$policies"},
                 {"DIR", "files=-d"},
                 {"FILE", "files=-f"},
                 {"SOURCE", "files=-f"},
                 {"[SOURCE]", "files=-f"},
                 {"IN", "files=-f"},
                 {"IN...", "files=-f"},
                 {"OUT", "files=-f"}};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strcmp(arg, kinds[i].arg) == 0)
            return kinds[i].words;
    return NULL;
}

/* "last | all", "last|all" and "last, all" become "last all". */
static void put_choices(FILE *out, const char *choices)
{
    fputs(" words=\"", out);
    for (const char *p = choices; *p; p++)
        fputc(*p == '|' || *p == ',' ? ' ' : *p, out);
    fputs("\"", out);
}

/* ---- lists of names ------------------------------------------------------------------------- */

/* compgen splits its words at blanks, so a name with one can't be proposed. */
static void put_name(void *arg, const struct row *r)
{
    if (!strchr(r->name, ' '))
        fprintf(arg, " %s", r->name);
}

static void put_assignment(void *arg, const struct row *r)
{
    fprintf(arg, " %s=", r->name);
}

static void put_list(FILE *out, const char *variable, const char *table, row_fn *fn)
{
    fprintf(out, "    local %s=\"", variable);
    table_find(table)->each(fn, out);
    fputs("\"\n", out);
}

/* The first words of all verbs ("" for group), or the second words of a group's. Verbs of a group
 * stand next to each other, so looking at the last one is enough to print a group's name once. */
static void put_words(FILE *out, const char *group)
{
    const char *last = "";

    for (size_t i = 0; verbs[i]; i++) {
        const char *name = verb_in_group(verbs[i], group);
        const size_t length = name ? strcspn(name, " ") : 0;
        if (!name || (strncmp(name, last, length) == 0 && strcspn(last, " ") == length))
            continue;
        fprintf(out, "%.*s ", (int)length, name);
        last = name;
    }
}

static void put_lists(FILE *out)
{
    put_list(out, "policies", "policies", put_name);
    put_list(out, "presets", "presets", put_name);
    put_list(out, "parameters", "parameters", put_assignment);
    put_list(out, "synth", "synth", put_assignment);
    put_list(out, "workloads", "workloads", put_name);
    fputs("    local pages=\"", out);
    put_words(out, "");
    fputs("\"\n", out);
    fputs("    local tables=\"manual completion", out);
    for (const struct name_table *t = tables; t->name; t++)
        fprintf(out, " %s", t->name);
    fputs("\"\n    local names=\"", out);
    for (const struct name_table *t = tables; t->name; t++)
        t->each(put_name, out);
    fputs("\"\n", out);
}

/* ---- cases ---------------------------------------------------------------------------------- */

static const char *field(const struct row *r, const char *key)
{
    for (size_t i = 0; i < r->fields; i++)
        if (strcmp(r->field[i].key, key) == 0)
            return r->field[i].text;
    return "";
}

/* The words that a parameter may be set to; NULL: it takes no words. Only choices and switches have
 * some; the range of a number is not to be typed. */
static const char *value_choices(const struct row *r)
{
    const char *type = field(r, "type");
    const bool some = strstr(type, "choice") || strcmp(type, param_type_name(PARAM_BOOL)) == 0;

    return some ? field(r, "range") : NULL;
}

static void put_value_case(void *arg, const struct row *r)
{
    FILE *out = arg;
    const char *choices = value_choices(r);

    if (!choices)
        return;
    fprintf(out, "        %s)", r->name);
    put_choices(out, choices);
    fputs(" ;;\n", out);
}

/* Parameters of a policy under another label ("-p mine=vc" is set by policy.mine.history): by the
 * last part of the name. bash takes the first pattern that fits, so these come after the exact
 * names. */
static void put_label_case(void *arg, const struct row *r)
{
    FILE *out = arg;
    const char *choices = value_choices(r), *last = strrchr(r->name, '.');

    if (!choices || strncmp(r->name, "policy.", strlen("policy.")) != 0)
        return;
    fprintf(out, "        policy.*%s)", last);
    put_choices(out, choices);
    fputs(" ;;\n", out);
}

static void put_option_case(FILE *out, const struct verb *v, const struct argp_option *o)
{
    const char *words = takes(o->arg);

    fprintf(out, "        \"%s --%s\"", v->help->name, o->name);
    /* argp gives options without a short form a key that is no character. */
    if (o->key > 0 && o->key < 256)
        fprintf(out, "|\"%s -%c\"", v->help->name, o->key);
    fprintf(out, ") value=1 %s", words ? words : "");
    if (strchr(o->arg, '|'))
        put_choices(out, o->arg);
    fputs(" ;;\n", out);
}

/* Options without a long name are not proposed: they are other short forms of named ones. */
static void put_option_words(FILE *out, const struct argp_option *o)
{
    if (!o->name)
        return;
    if (o->key > 0 && o->key < 256)
        fprintf(out, " -%c", o->key);
    fprintf(out, " --%s%s", o->name, o->arg ? "=" : "");
}

static void put_common_words(FILE *out)
{
    for (const struct argp_option *o = cli_common_options; o->key; o++)
        put_option_words(out, o);
}

static void put_option_list(FILE *out, const struct verb *v)
{
    fprintf(out, "        \"%s\") words=\"", v->help->name);
    for (const struct argp_option *o = v->options; o && o->name; o++)
        put_option_words(out, o);
    put_common_words(out);
    fputs("\" ;;\n", out);
}

static void put_operand_case(FILE *out, const struct verb *v)
{
    char word[64];

    fprintf(out, "        \"%s\")", v->help->name);
    for (const char *p = v->help->args; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (takes(word))
            fprintf(out, " %s", takes(word));
        p += n;
    }
    fputs(" ;;\n", out);
}

/* "trace info" is two words to bash: from here on the verb is both, and operands begin at word 3.
 */
static void put_group_words(FILE *out, const char *group)
{
    fprintf(out,
            "    elif [[ $verb == %s ]]; then\n"
            "        verb=\"%s ${COMP_WORDS[2]}\" at=3\n"
            "        ((COMP_CWORD > 2)) || words=\"",
            group, group);
    put_words(out, group);
    put_common_words(out);
    fputs("\"\n", out);
}

/* A group that is a verb, too: what follows may be its operand. */
static void put_verb_and_group(FILE *out, const char *group)
{
    fprintf(out, "    elif [[ $verb == %s && \" ", group);
    put_words(out, group);
    fprintf(out,
            "\" == *\" ${COMP_WORDS[2]} \"* && $COMP_CWORD -gt 2 ]]; then\n"
            "        verb=\"%s ${COMP_WORDS[2]}\" at=3\n"
            "    elif [[ $verb == %s && $COMP_CWORD == 2 ]]; then\n"
            "        words=\"",
            group, group);
    put_words(out, group);
    fputs("\"\n", out);
}

static void put_verb_words(FILE *out)
{
    fputs("    local verb=${COMP_WORDS[1]} at=2\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        verb='' at=1 words=\"",
          out);
    put_words(out, "");
    fputs("help", out);
    put_common_words(out);
    fputs("\"\n", out);
    put_group_words(out, "trace");
    put_group_words(out, "workload");
    put_group_words(out, "capture");
    put_group_words(out, "programs");
    put_verb_and_group(out, "sweep");
    fputs("    fi\n", out);
}

void completion_print(FILE *out)
{
    /* The state of the script: left is what stands before "@" in the word being completed, before
     * what stands before "=" in it; assigned: a value is wanted; value: the option before has
     * claimed it. */
    fputs("# bash completion for lardsim. Made by: lardsim list completion\n"
          "_lardsim() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local words='' files='' value='' assigned='' before='' left=''\n",
          out);
    put_lists(out);
    fputs(
        "    # Readline breaks words at \"@\" and \"=\", unless COMP_WORDBREAKS is without them.\n"
        "    if [[ $cur == @ ]]; then\n"
        "        left=$prev@ cur='' prev=${COMP_WORDS[COMP_CWORD-2]}\n"
        "    elif [[ $prev == @ ]]; then\n"
        "        left=${COMP_WORDS[COMP_CWORD-2]}@ prev=${COMP_WORDS[COMP_CWORD-3]}\n"
        "    fi\n"
        "    if [[ $cur == = ]]; then\n"
        "        cur='' assigned=1\n"
        "    elif [[ $prev == = ]]; then\n"
        "        prev=${COMP_WORDS[COMP_CWORD-2]} assigned=1\n"
        "    elif [[ $cur == *=* ]]; then\n"
        "        before=${cur%=*}= cur=${cur##*=} prev=${before%=} assigned=1\n"
        "        prev=${prev##*=}\n"
        "    fi\n",
        out);
    put_verb_words(out);
    fputs("    if ((COMP_CWORD >= at)); then\n    case \"$verb $prev\" in\n", out);
    for (size_t i = 0; verbs[i]; i++)
        for (const struct argp_option *o = verbs[i]->options; o && o->name; o++)
            if (o->arg)
                put_option_case(out, verbs[i], o);
    fputs("    esac\n    if [[ $value ]]; then\n        :\n    elif [[ $assigned ]]; then\n"
          "        case $prev in\n",
          out);
    table_find("parameters")->each(put_value_case, out);
    table_find("synth")->each(put_value_case, out);
    table_find("parameters")->each(put_label_case, out);
    fputs("        policies) words=$policies ;;\n", out);
    fputs("        esac\n    elif [[ $cur == -* ]]; then\n        case $verb in\n", out);
    for (size_t i = 0; verbs[i]; i++)
        put_option_list(out, verbs[i]);
    fputs("        esac\n    else\n        case $verb in\n", out);
    for (size_t i = 0; verbs[i]; i++)
        put_operand_case(out, verbs[i]);
    fputs("        help) words=$pages ;;\n", out);
    fputs("        esac\n    fi\n    fi\n"
          "    mapfile -t COMPREPLY < <(\n"
          "        [[ $words ]] && compgen -W \"$words\" -- \"$left$cur\"\n"
          "        [[ $files ]] && compgen \"$files\" -- \"$cur\")\n"
          "    COMPREPLY=(\"${COMPREPLY[@]#\"$left\"}\")\n"
          "    COMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n"
          "    [[ $files ]] && compopt -o filenames\n"
          "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
          "    return 0\n"
          "}\n"
          "complete -F _lardsim lardsim\n",
          out);
}

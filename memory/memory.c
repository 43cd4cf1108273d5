/* memory.c - the table of memories, and binding one to its section of the configuration. */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define MEMORY(name) extern const struct memory_type memory_##name;
#include "memory/memories.def"
#undef MEMORY

const struct memory_type *const memory_types[] = {
#define MEMORY(name) &memory_##name,
#include "memory/memories.def"
#undef MEMORY
    NULL};

const struct memory_type *memory_find(const char *name)
{
    for (size_t i = 0; memory_types[i]; i++)
        if (!strcmp(memory_types[i]->name, name))
            return memory_types[i];
    return NULL;
}

static int unknown_memory(const char *name, struct err *e)
{
    const char *known[ARRAY_SIZE(memory_types)];
    size_t n = 0;

    for (; memory_types[n]; n++)
        known[n] = memory_types[n]->name;
    const char *near = nearest_name(name, known, n);
    return err_set(e, LARD_CONFIG,
                   "memory: there is no memory '%s'%s%s%s; see: explain memory.type", name,
                   near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

int memory_open(struct memory *m, const char *name, struct config *config,
                const struct memory_env *env, struct err *e)
{
    *m = (struct memory){.type = memory_find(name)};
    if (!m->type)
        return unknown_memory(name, e);
    m->params = xcalloc(1, m->type->params_size ? m->type->params_size : 1);
    if (m->type->params) {
        char *section = xasprintf("memory.%s", m->type->name);
        const int bad = config_bind(config, section, m->type->params, m->params, e);
        free(section);
        if (bad) {
            memory_close(m);
            return -1;
        }
    }
    m->self = m->type->create(env, m->params, e);
    if (!m->self) {
        memory_close(m);
        return -1;
    }
    return 0;
}

void memory_close(struct memory *m)
{
    if (m->self)
        m->type->destroy(m->self);
    free(m->params);
    *m = (struct memory){0};
}

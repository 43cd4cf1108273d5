/* memory.c - the table of memories, and binding one to its section of the configuration. */
#include "memory/memory.h"

#include <stdlib.h>

#include "base/mem.h"

#define MEMORY(name) extern const struct memory_type memory_##name;
#include "memory/memories.def"
#undef MEMORY

const struct memory_type *const memory_types[] = {
#define MEMORY(name) &memory_##name,
#include "memory/memories.def"
#undef MEMORY
    NULL};

int memory_open(struct memory *m, const struct memory_type *type, struct config *config,
                const struct memory_env *env, struct err *e)
{
    *m = (struct memory){.type = type};
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

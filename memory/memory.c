/* memory.c - the table of memories, and binding one to its section of the configuration. */
#include "memory/memory.h"

#include <stdlib.h>

#include "base/mem.h"

const struct memory_type *const memory_types[] = {
#define MEMORY(name) &memory_##name,
#include "memory/memories.def"
#undef MEMORY
    NULL};

int memory_open(struct memory *m, const struct memory_type *type, struct config *config,
                const struct memory_env *env, struct err *e)
{
    *m = (struct memory){.type = type};
    m->params = xcalloc(1, type->params_size ? type->params_size : 1);
    char *section = xasprintf("memory.%s", type->name);
    if (!type->params || !config_bind(config, section, type->params, m->params, e))
        m->self = type->create(env, m->params, e);
    free(section);
    if (m->self)
        return 0;
    memory_close(m);
    return -1;
}

void memory_close(struct memory *m)
{
    if (m->self)
        m->type->destroy(m->self);
    free(m->params);
    *m = (struct memory){0};
}

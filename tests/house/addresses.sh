#!/bin/sh
# addresses.sh - does a program that takes a virtual address for a physical one, or the other way
# round, fail to compile? Each mix-up stands beside what its author meant, which compiles.
cd "${top_srcdir:-.}" || exit 99
LC_ALL=C
export LC_ALL
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
dsm=$(find . -name dsm.h ! -path './build*' | sed 's|^\./||')
bad=0

# body STATEMENT: a policy's hook with all that it has at hand.
body() {
    printf '#include "%s"\n' policy/checker/cells.h policy/cost/inline_heap.h runtime/runtime.h \
        sim/machine/machine.h swmanager/swmanager.h "$dsm"
    cat <<'END'
void hook(const struct policy_env *env, const struct event *ev, const struct line_event *line,
          struct machine *m, struct swmanager *s, struct dsm *d, struct cells *cells);
void hook(const struct policy_env *env, const struct event *ev, const struct line_event *line,
          struct machine *m, struct swmanager *s, struct dsm *d, struct cells *cells)
{
    const struct policy_machine *p = env->machine;
    const struct caches *c = &p->caches;
    const struct vaddr v = event_at(ev);
    uint64_t second = 0, walks = 0;
    (void)c, (void)v, (void)second, (void)walks, (void)line, (void)m, (void)s, (void)d, (void)cells;
END
    printf '    %s;\n}\n' "$1"
}

compiles() { # STATEMENT OPTION...
    body "$1" >"$dir/x.c"
    shift
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. "$@" -fsyntax-only "$dir/x.c" 2>"$dir/says"
}

mix() { # SENTENCE WRONG RIGHT
    if ! compiles "$3" -Wall -Wextra -Werror; then
        echo "$1: what was meant does not compile: $3"
        cat "$dir/says"
        bad=1
    fi
    if compiles "$2"; then
        echo "$1: it compiles: $2"
        bad=1
    elif ! grep -Eq 'incompatible|invalid operands' "$dir/says"; then
        echo "$1: something else is wrong with it: $2"
        cat "$dir/says"
        bad=1
    fi
}

mix "an access of a policy's goes to where the program's datum lies virtually" \
    'env->mem(env->host, 0, v, 8, MEM_LOAD, 0)' \
    'env->mem(env->host, 0, machine_physical(p, v), 8, MEM_LOAD, 0)'
mix "the same, by the number that an event has" \
    'env->mem(env->host, 0, ev->addr, 8, MEM_LOAD, 0)' \
    'env->mem(env->host, 0, machine_physical(p, event_at(ev)), 8, MEM_LOAD, 0)'
mix "caches are asked for a virtual line" \
    'c->type->where(c->self, 0, v)' 'c->type->where(c->self, 0, machine_physical(p, v))'
mix "a virtual line is dropped" \
    'c->type->drop(c->self, 0, ev->addr, &(uint8_t){0}, 0)' \
    'c->type->drop(c->self, 0, line->addr, &(uint8_t){0}, 0)'
mix "a history of a virtual address is looked up by a line event's physical one" \
    'cells_get(cells, line->addr)' 'cells_get(cells, ev->addr)'
mix "an event's address is compared with a line's" \
    'if (line->addr == ev->addr) return' \
    'if (paddr_same(line->addr, machine_physical(p, v))) return'
mix "a physical address is translated again" \
    'machine_physical(p, line->addr)' 'machine_physical(p, v)'
mix "the same, by the pages" \
    'pages_physical(&m->pages, line->addr)' 'pages_physical(&m->pages, v)'
mix "the metadata of a physical address are asked for" \
    'metadata_at(env->cost, line->addr)' 'metadata_at(env->cost, ev->addr)'
mix "the ledger has an access at a virtual address" \
    'ledger_access(env->cost, 0, v, 8, MEM_LOAD)' \
    'ledger_access(env->cost, 0, metadata_at(env->cost, v.at), 8, MEM_LOAD)'
mix "a block is given back by a number" \
    'metadata_give(env->cost, 0, ev->addr, 64)' \
    'metadata_give(env->cost, 0, metadata_take(env->cost, 0, 64), 64)'
mix "coherence gets a virtual address" \
    'coherence_access(m->coherence, 0, v, MEM_LOAD, TRAFFIC_DATA, 0)' \
    'coherence_access(m->coherence, 0, pages_physical(&m->pages, v), MEM_LOAD, TRAFFIC_DATA, 0)'
mix "the machine gets a virtual address" \
    'machine_access(m, 0, v, 8, MEM_LOAD)' \
    'machine_access(m, 0, pages_physical(&m->pages, v), 8, MEM_LOAD)'
mix "a memory request is of a virtual line" \
    'struct mem_request r = {.addr = v}; (void)r' \
    'struct mem_request r = {.addr = line->addr}; (void)r'
mix "the software manager keeps a virtual granule" \
    'swm_find(s, 0, v, 0)' 'swm_find(s, 0, machine_physical(p, v), 0)'
mix "distributed shared memory gets a physical address" \
    'dsm_access(d, 0, line->addr, 8, false)' 'dsm_access(d, 0, v, 8, false)'
mix "the caches of a host get a virtual address" \
    'outside_access(m->outside, 0, v, 8, MEM_LOAD, 0)' \
    'outside_access(m->outside, 0, line->addr, 8, MEM_LOAD, 0)'
mix "a policy gets a host's caches without their methods" \
    'struct caches q; q = m->outside; (void)q' \
    'struct caches q; q = outside_caches(m->outside); (void)q'
exit $bad

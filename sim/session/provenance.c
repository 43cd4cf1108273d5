/* provenance.c - what a run says of itself: what made its results (provenance.json), and what that
 * cost this host (host.json). results/read/ reads both again. */
#include "sim/session/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build.h"
#include "base/folder.h"
#include "base/mem.h"

/* The same events from another path are the same run: they have an identity of their own. */
uint64_t sim_config_hash(const struct lardsim *l)
{
    return config_hash(l->config, "source");
}

uint64_t lardsim_identity(const struct lardsim *l)
{
    return digest_value(run_identity(l));
}

/* ---- provenance.json ------------------------------------------------------------------------ */

void json_write_text(void *j, const char *name, const char *text)
{
    json_key_str(j, name, text);
}

static void write_build(struct json *j)
{
    char id[BUILD_ID];

    build_id(id);
    json_key_object(j, "build");
    json_key_str(j, "id", id);
    json_key_str(j, "commit", *build_known()->commit ? build_known()->commit : NULL);
    json_key_str(j, "compiler", build_known()->compiler);
    json_key_str(j, "flags", build_known()->flags);
    json_end(j);
    json_key_object(j, "libraries");
    digest_library(json_write_text, j);
    config_library(json_write_text, j);
    trace_libraries(json_write_text, j);
    json_end(j);
}

static void write_seed(void *j, const char *name, const char *text)
{
    const char *dot = strrchr(name, '.');

    if (!strcmp(dot ? dot + 1 : name, "seed"))
        json_key_u64(j, name, strtoull(text, NULL, 10));
}

/* The source's, where it is a generator, and those of the configuration. */
static void write_seeds(struct json *j, const struct lardsim *l)
{
    json_key_object(j, "seeds");
    if (l->pulled && l->pulled->seeded)
        json_key_u64(j, "source", l->pulled->seed);
    config_each(l->config, write_seed, j);
    json_end(j);
}

void provenance_write(FILE *out, const struct lardsim *l)
{
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    json_key_str(&j, "schema", PROVENANCE_SCHEMA);
    json_key_str(&j, "version", lardsim_version());
    write_build(&j);
    json_key_str(&j, "verb", l->comparing ? "compare" : "run");
    json_key_array(&j, "command");
    for (size_t i = 0; i < l->words; i++)
        json_str(&j, l->word[i]);
    json_end(&j);
    json_key_hex16(&j, "configuration", sim_config_hash(l));
    json_key_str(&j, "source", l->source);
    if (sim_caveat(l))
        json_key_str(&j, "caveat", sim_caveat(l));
    json_key_u64(&j, "events", l->st.events);
    json_key_hex16(&j, "identity", lardsim_identity(l));
    write_seeds(&j, l);
    json_key_hex16(&j, "digest", l->result.all);
    json_key_hex16(&j, "behaviour", l->result.behaviour);
    json_key_bool(&j, "complete", !l->err.code || l->err.code == LARD_RACES);
    json_key_str(&j, "error", l->err.code ? l->err.text : NULL);
    json_end(&j);
}

/* ---- host.json ------------------------------------------------------------------------------ */

static void write_seconds(struct json *j, const char *key, double seconds)
{
    json_key(j, key);
    json_fixed(j, (uint64_t)(seconds * 1e6), 1000000);
}

static void write_host(FILE *out, const struct lardsim *l)
{
    char *folder = getcwd(NULL, 0), name[256] = "";
    struct host_clock now;
    struct json j;

    (void)gethostname(name, sizeof name - 1);
    host_read(&now);
    json_init(&j, out, true);
    json_object(&j);
    json_key_str(&j, "schema", "lardsim-host-1");
    json_key_str(&j, "host", name);
    json_key_str(&j, "working_folder", folder);
    json_key_str(&j, "started", l->began.date);
    write_seconds(&j, "seconds", now.seconds - l->began.seconds);
    write_seconds(&j, "user_seconds", now.user - l->began.user);
    write_seconds(&j, "system_seconds", now.system - l->began.system);
    json_key_u64(&j, "max_resident_bytes", now.max_rss);
    json_key_object(&j, "kept_bytes"); /* what limits.memory counts */
    json_key_u64(&j, "live", l->memory.live);
    json_key_u64(&j, "peak", l->memory.peak);
    json_end(&j);
    json_key_object(&j, "policy_state_bytes");
    for (size_t i = 0; i < l->checkers; i++) {
        json_key_object(&j, checker_label(l->checker[i]));
        json_key_u64(&j, "live", checker_memory(l->checker[i])->live);
        json_key_u64(&j, "peak", checker_memory(l->checker[i])->peak);
        json_end(&j);
    }
    json_end(&j);
    free(folder);
}

/* Its hash stands in it: DONE, which has those of the others, is the same on all hosts. */
void host_write(FILE *out, const struct lardsim *l)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = xmemstream(&text, &n);

    write_host(memory, l);
    if (fclose(memory))
        die("no memory for host.json");
    folder_hash_json(out, text, n);
    free(text);
}

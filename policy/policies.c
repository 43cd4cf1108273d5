/* policies.c - every policy, by name. */
#include "policy/policy.h"

#include <string.h>

const struct policy *const policies[] = {
#define POLICY(name) &policy_##name,
#include "policy/policies.def"
#undef POLICY
    NULL,
};

const struct policy *policy_find(const char *name)
{
    for (size_t i = 0; policies[i]; i++)
        if (!strcmp(policies[i]->name, name))
            return policies[i];
    return NULL;
}

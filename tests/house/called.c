/* called.c - for a build with -finstrument-functions, preloaded: the address of each function of
 * the program as it is called, in a line of the file $CALLED. */
#include <stdio.h>
#include <stdlib.h>

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    static FILE *out;

    (void)site;
    if (!out)
        out = fopen(getenv("CALLED"), "w");
    if (out)
        fprintf(out, "%016lx\n", (unsigned long)function);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}

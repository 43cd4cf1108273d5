/* build.h - which build of the program this is, for what must know whether two results come from
 * the same one. */
#ifndef LARDSIM_BUILD_H
#define LARDSIM_BUILD_H

struct build_stamp {      /* stamp.c: in the program and the shared library, not in tests */
    const char *commit;   /* of the source; ends in '+' if that had changes; "" unknown */
    const char *compiler; /* with its version */
    const char *flags;    /* for the compiler, without those for warnings */
};
extern const struct build_stamp build_stamp __attribute__((weak));

enum { BUILD_ID = 64 };
/* The commit. Of a source with changes, or without a commit: "binary-" and the hash by which the
 * linker knows the program or shared library that this is in; "unknown" where it gave none. */
void build_id(char to[static BUILD_ID]);

const struct build_stamp *build_known(void); /* "": unknown */

#endif

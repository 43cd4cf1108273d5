/* gem5_form.h - what the parts of the reader of gem5's packet traces share: the container, the
 * sidecar. docs/foreign-formats.md is the specification. */
#ifndef LARDSIM_GEM5_FORM_H
#define LARDSIM_GEM5_FORM_H

#include "trace/trace.h"

#define GEM5_MAGIC "gem5"

/* ---- packets: foreign/gem5_packet.c --------------------------------------------------------- */

struct gem5_packet {
    uint64_t tick, addr, pc, requestor, command, size, flags;
    uint64_t at; /* byte of the file, unpacked */
};

struct gem5_name { /* a requestor's name */
    uint64_t id;
    char *text; /* owns */
};

struct gem5_file {
    struct input *in;       /* owns, as what follows */
    struct gem5_name *name; /* the header's names of requestors */
    size_t names, names_cap;
    uint64_t ticks;    /* ticks in a second */
    struct err failed; /* the first error; it stays */
    uint64_t at, next; /* bytes of the message in hand, and of the one behind it */
    uint64_t before;   /* the latest tick */
    uint8_t *buffer;
    size_t start, end, cap; /* bounds of the bytes in the buffer that were not taken */
};

/* Reads the header. Takes ownership of in. NULL: error. */
struct gem5_file *gem5_file_open(struct input *in, struct err *e);
void gem5_file_close(struct gem5_file *f);
/* 1: a packet; 0: the end; -1: f->failed. */
int gem5_packet_next(struct gem5_file *f, struct gem5_packet *p);
/* Sets f->failed to "file: byte N: what; remedy"; always -1. */
int gem5_fail(struct gem5_file *f, uint64_t at, const char *what, const char *remedy);

/* ---- the sidecar: foreign/gem5_sync.c ------------------------------------------------------- */

struct gem5_mark {
    uint64_t value; /* a thread, a round, bytes */
    uint8_t kind;   /* the event's kind; 0: none */
    bool in;        /* the thread is in the library from here on */
};
struct gem5_section { /* a thread's marks while it ran on a core */
    sim_tid tid;
    uint32_t core;
    size_t first, marks; /* in gem5_sync.mark */
    size_t next;         /* the core's next section; GEM5_NO_SECTION: it is the last one */
};
#define GEM5_NO_SECTION SIZE_MAX
struct gem5_sync {
    char *name;            /* owns: the path */
    struct names *threads; /* owns: those that have names */
    struct gem5_mark *mark;
    struct gem5_section *section; /* in the order of the file */
    size_t marks, marks_cap, sections, sections_cap;
    uint32_t cores;  /* one more than the last that is named */
    size_t *of_core; /* its first section, or GEM5_NO_SECTION */
};

struct gem5_sync *gem5_sync_read(const char *path, struct err *e); /* NULL: error */
void gem5_sync_free(struct gem5_sync *y);                          /* NULL is fine */

#endif

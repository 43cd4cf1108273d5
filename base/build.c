/* build.c - which build this is: the stamp of the source, or the hash that the linker noted in the
 * binary (ELF, NT_GNU_BUILD_ID), which is another one whenever any of the code is. */
#include "base/build.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- the stamp: absent where stamp.c is not linked in --------------------------------------- */

const struct build_stamp *build_known(void)
{
    static const struct build_stamp nothing = {"", "", ""};

    return &build_stamp ? &build_stamp : &nothing;
}

/* ---- the binary's own hash ------------------------------------------------------------------ */

/* Notes are a header, a name and contents, each filled up to four bytes. */
static size_t padded(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static void write_hash(char *to, const unsigned char *hash, size_t bytes)
{
    int n = snprintf(to, BUILD_ID, "binary-");

    for (size_t i = 0; i < bytes && n < BUILD_ID - 2; i++)
        n += snprintf(to + n, (size_t)(BUILD_ID - n), "%02x", hash[i]);
}

static void read_notes(const unsigned char *at, size_t bytes, char *to)
{
    ElfW(Nhdr) note;

    for (const unsigned char *end = at + bytes; (size_t)(end - at) >= sizeof note;) {
        memcpy(&note, at, sizeof note);
        const unsigned char *name = at + sizeof note, *hash = name + padded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            !memcmp(name, "GNU", sizeof "GNU"))
            write_hash(to, hash, note.n_descsz);
        at = hash + padded(note.n_descsz);
    }
}

static bool is_loaded_in(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD &&
            address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* Reads the notes of a loaded object if it is the one that holds this function: the program, or a
 * library of it. */
static int read_object(struct dl_phdr_info *object, size_t bytes, void *to)
{
    (void)bytes;
    if (!is_loaded_in(object, (uintptr_t)read_notes))
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE)
            read_notes((const unsigned char *)object->dlpi_addr + part->p_vaddr, part->p_memsz, to);
    }
    return 1;
}

void build_id(char to[static BUILD_ID])
{
    const char *commit = build_known()->commit;
    const size_t n = strlen(commit);

    if (n && commit[n - 1] != '+') {
        snprintf(to, BUILD_ID, "%s", commit);
        return;
    }
    snprintf(to, BUILD_ID, "unknown");
    dl_iterate_phdr(read_object, to);
}

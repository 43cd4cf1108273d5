// glue.cc - calls to DRAMSim3, for C. The only file that knows the library, and the only
// one in C++.
#include "memory/dramsim3/dramsim3_int.h"

#include <cstdint>
#include <new>

#include <dramsim3.h>

using dramsim3::MemorySystem;

struct dram3 {
    MemorySystem *system; // owns
};

// Later than here the library throws nothing but a lack of memory, which ends the process.

struct dram3 *dram3_open(const char *ini, const char *folder, dram3_answer *answer, void *arg)
try {
    const auto read = [answer, arg](uint64_t addr) { answer(arg, addr); };
    const auto write = [](uint64_t) {};

    return new dram3{dramsim3::GetMemorySystem(ini, folder, read, write)};
} catch (...) {
    return nullptr;
}

// The header declares the class without its members, so `delete` would give back the wrong size.
void dram3_close(struct dram3 *d)
{
    if (!d)
        return;
    d->system->~MemorySystem();
    ::operator delete(d->system);
    delete d;
}

uint64_t dram3_line(const struct dram3 *d)
{
    const int bytes = d->system->GetBusBits() / 8 * d->system->GetBurstLength();

    return static_cast<uint64_t>(bytes);
}

bool dram3_accepts(const struct dram3 *d, uint64_t addr, bool write)
{
    return d->system->WillAcceptTransaction(addr, write);
}

void dram3_add(struct dram3 *d, uint64_t addr, bool write)
{
    d->system->AddTransaction(addr, write);
}

void dram3_tick(struct dram3 *d)
{
    d->system->ClockTick();
}

void dram3_print(const struct dram3 *d)
{
    d->system->PrintStats();
}

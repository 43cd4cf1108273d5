// bare.cc - DRAMSim3 by itself. It uses nothing but the library's own header.
#include "bench/bare.h"

#include <cstdint>
#include <ctime>
#include <deque>
#include <vector>

#include <dramsim3.h>

enum { SILENT = 1 << 20 }; // cycles without anything, in which it must have come to a stand

// Which of a line's reads an answer is for does not matter to the sum of latencies.
struct bare_outcome bare_run(const struct bare_device *d, const struct bare_request *q, size_t n)
{
    const clock_t began = clock();
    std::vector<std::deque<size_t>> outside(d->mask + 1);
    uint64_t now = 0, inside = 0, silent = 0;
    size_t next = 0, waiting = 0;
    bare_outcome out{};
    const auto answer = [&](uint64_t) {
        out.latency += (now * d->num + d->den - 1) / d->den;
        out.reads++;
        inside--;
        silent = 0;
    };
    // Never freed: the header declares the class without its members.
    auto *const m = dramsim3::GetMemorySystem(d->ini, d->folder, answer, [](uint64_t) {});

    for (; next < n || waiting || inside; now++) {
        for (; next < n && q[next].cycle <= now; next++, waiting++)
            outside[q[next].addr >> d->shift & d->mask].push_back(next);
        for (auto &queue : outside)
            while (!queue.empty()) {
                const bare_request &r = q[queue.front()];
                if (!m->WillAcceptTransaction(r.addr, r.write))
                    break;
                m->AddTransaction(r.addr, r.write);
                out.latency -= r.write ? 0 : r.at;
                inside += !r.write;
                queue.pop_front();
                waiting--;
                silent = 0;
            }
        m->ClockTick();
        out.stalls = (waiting || inside) && ++silent == SILENT;
        if (out.stalls)
            break;
    }
    out.cycles = now;
    out.seconds = static_cast<double>(clock() - began) / CLOCKS_PER_SEC;
    return out;
}

// glue.cc - calls to DRAMSim3, for C. The only file that knows the library, and the only
// one in C++. It looks into the library's objects, also where they are private
// (-fno-access-control): for counts, which the library only prints, and for stalls.
#include "memory/dramsim3/dramsim3_int.h"

#include <cstdint>
#include <initializer_list>
#include <new>
#include <vector>

#include <memory_system.h>

using dramsim3::Controller;
using dramsim3::MemorySystem;
using dramsim3::Transaction;

namespace
{

struct Channel {
    Controller *controller;                  // borrows
    std::vector<Transaction> aside;          // writes that it is not to see for a cycle
    bool helped;                             // over the first of its writes
    std::vector<const uint64_t *> counts[6]; // in the order of dram3_count
};

} // namespace

struct dram3 {
    MemorySystem *system; // owns
    std::vector<Channel> channels;
    uint64_t stalls;
};

// ---- opening ------------------------------------------------------------------------------------

// A library with other members (THERMAL, CMD_TRACE) has others here.
static bool as_expected(const MemorySystem &s, const Controller &c, int number)
{
    const auto places = static_cast<size_t>(s.config_->trans_queue_size);

    return c.channel_id_ == number && &c.config_ == s.config_ && !c.is_unified_queue_ &&
           c.read_queue_.capacity() == places && c.write_buffer_.capacity() == places &&
           c.pending_rd_q_.empty() && c.write_draining_ == 0;
}

// Counts of this epoch and of those before; both are where they are for good.
static void find_counts(Channel &c)
{
    auto &stats = c.controller->simple_stats_;
    const std::initializer_list<const char *> names[] = {
        {"num_read_row_hits", "num_write_row_hits"},
        {"num_read_cmds"},
        {"num_write_cmds"},
        {"num_act_cmds"},
        {"num_pre_cmds"},
        {"num_ref_cmds", "num_refb_cmds"}};

    for (size_t i = 0; i < 6; i++)
        for (const char *name : names[i]) {
            c.counts[i].push_back(&stats.counters_[name]);
            c.counts[i].push_back(&stats.epoch_counters_[name]);
        }
}

static bool find_channels(struct dram3 *d)
{
    const auto *jedec = dynamic_cast<dramsim3::JedecDRAMSystem *>(d->system->dram_system_);

    if (!jedec)
        return false;
    for (Controller *c : jedec->ctrls_) {
        if (!as_expected(*d->system, *c, static_cast<int>(d->channels.size())))
            return false;
        d->channels.emplace_back();
        d->channels.back().controller = c;
        d->channels.back().aside.reserve(c->write_buffer_.capacity());
        find_counts(d->channels.back());
    }
    return true;
}

// Later than here the library throws nothing but a lack of memory, which ends the process.

struct dram3 *dram3_open(const char *ini, const char *folder, dram3_answer *answer, void *arg)
try {
    const auto read = [answer, arg](uint64_t addr) { answer(arg, addr); };
    const auto write = [](uint64_t) {};
    auto *d = new dram3{dramsim3::GetMemorySystem(ini, folder, read, write), {}, 0};

    if (find_channels(d))
        return d;
    dram3_close(d);
    return nullptr;
} catch (...) {
    return nullptr;
}

void dram3_close(struct dram3 *d)
{
    if (!d)
        return;
    delete d->system;
    delete d;
}

uint64_t dram3_line(const struct dram3 *d)
{
    const int bytes = d->system->GetBusBits() / 8 * d->system->GetBurstLength();

    return static_cast<uint64_t>(bytes);
}

// ---- stalls -------------------------------------------------------------------------------------

static bool reads(const Controller &c, uint64_t addr)
{
    for (const Transaction &t : c.read_queue_)
        if (t.addr == addr)
            return true;
    return false;
}

// The library stalls when a drain of writes comes first to one whose line is still to be read, in
// its queue of reads: the write waits for the read, and reads wait for the drain, which begins
// again each cycle. With no command left to issue nothing will ever change that.
static bool stalls(const Controller &c)
{
    const auto &w = c.write_buffer_;

    return !c.write_draining_ && (w.size() >= w.capacity() || w.size() > 8) &&
           c.pending_rd_q_.count(w.front().addr) && c.cmd_queue_.QueueEmpty();
}

// Then it does not see its writes until that read has become a command.
static bool wants_help(struct dram3 *d, Channel &c)
{
    if (c.helped)
        c.helped = reads(*c.controller, c.controller->write_buffer_.front().addr);
    if (!c.helped && stalls(*c.controller)) {
        c.helped = true;
        d->stalls++;
    }
    return c.helped;
}

// ---- requests and cycles ------------------------------------------------------------------------

bool dram3_accepts(const struct dram3 *d, uint64_t addr, bool write)
{
    return d->system->WillAcceptTransaction(addr, write);
}

bool dram3_add(struct dram3 *d, uint64_t addr, bool write)
{
    const auto channel = static_cast<size_t>(d->system->dram_system_->GetChannel(addr));
    const bool waits = d->channels[channel].controller->pending_wr_q_.count(addr) > 0;

    d->system->AddTransaction(addr, write);
    return waits && !write;
}

void dram3_tick(struct dram3 *d)
{
    for (Channel &c : d->channels)
        if (wants_help(d, c))
            c.controller->write_buffer_.swap(c.aside);
    d->system->ClockTick();
    for (Channel &c : d->channels)
        if (c.helped)
            c.controller->write_buffer_.swap(c.aside);
}

void dram3_counts(const struct dram3 *d, struct dram3_count *to)
{
    uint64_t *const sum[] = {&to->hits,      &to->reads,      &to->writes,
                             &to->activates, &to->precharges, &to->refreshes};

    *to = dram3_count{};
    to->stalls = d->stalls;
    for (const Channel &c : d->channels)
        for (size_t i = 0; i < 6; i++)
            for (const uint64_t *count : c.counts[i])
                *sum[i] += *count;
}

void dram3_print(const struct dram3 *d)
{
    d->system->PrintStats();
}

#include "gem5/lard_monitor.hh"

#include "arch/x86/ldstflags.hh"
#include "arch/x86/regs/segment.hh"
#include "cpu/base.hh"
#include "cpu/thread_context.hh"
#include "sim/process.hh"
#include "sim/system.hh"

namespace gem5
{

LardMonitor::Stats::Stats(statistics::Group *parent)
    : statistics::Group(parent), ADD_STAT(reads, statistics::units::Count::get(), "loads"),
      ADD_STAT(writes, statistics::units::Count::get(), "stores"),
      ADD_STAT(atomics, statistics::units::Count::get(), "locked operations"),
      ADD_STAT(marked, statistics::units::Count::get(), "accesses with the mark"),
      ADD_STAT(split, statistics::units::Count::get(), "accesses over two lines"),
      ADD_STAT(ignored, statistics::units::Count::get(), "packets that are no access"),
      ADD_STAT(delayed, statistics::units::Count::get(), "answers that were held back"),
      ADD_STAT(delayTicks, statistics::units::Tick::get(), "for how long in all")
{
}

LardMonitor::LardMonitor(const Params &p)
    : SimObject(p), memSide(name() + ".mem_side_port", *this),
      cpuSide(name() + ".cpu_side_port", *this), workload(p.workload), core(p.core),
      pump([this] { pumped(); }, name() + ".pump"), stats(this)
{
}

LardMonitor::~LardMonitor()
{
    port_free(thePort);
}

void LardMonitor::init()
{
    fatal_if(!cpuSide.isConnected() || !memSide.isConnected(),
             "%s stands between a CPU and its cache: connect both ports\n", name());
}

Port &LardMonitor::getPort(const std::string &which, PortID idx)
{
    return which == "mem_side_port"   ? static_cast<Port &>(memSide)
           : which == "cpu_side_port" ? static_cast<Port &>(cpuSide)
                                      : SimObject::getPort(which, idx);
}

void LardMonitor::startup()
{
    port_core to = {};
    line = workload->context(0)->getSystemPtr()->cacheLineSize();
    to.line = line;
    to.arg = this;
    to.send = [](void *arg, void *answer) {
        return static_cast<LardMonitor *>(arg)->cpuSide.sendTimingResp(
            static_cast<PacketPtr>(answer));
    };
    to.wake = [](void *arg, uint64_t tick) {
        auto *m = static_cast<LardMonitor *>(arg);
        m->reschedule(m->pump, tick, true);
    };
    thePort = port_new(workload->run(), core, &to);
    fatal_if(!thePort, "lardsim: no memory\n");
}

port_packet LardMonitor::packet(PacketPtr pkt) const
{
    const RequestPtr &r = pkt->req;
    ThreadContext *tc = r->hasContextId() ? workload->context(r->contextId()) : nullptr;
    port_packet k = {};
    k.id = r.get();
    k.size = pkt->getSize();
    k.made = r->time();
    k.is = (pkt->isRead() ? PORT_READ : 0) | (pkt->isWrite() ? PORT_WRITE : 0) |
           (r->isLockedRMW() ? PORT_LOCKED : 0) | (r->isPrefetch() ? PORT_PREFETCH : 0) |
           (r->isInstFetch() ? PORT_FETCH : 0) | (r->isCacheMaintenance() ? PORT_MAINTENANCE : 0);
    if (!r->hasVaddr() || !r->hasPC() || !tc) {
        k.is |= PORT_NO_ADDRESS;
        k.at.tick = curTick();
        return k;
    }
    k.at = workload->who(tc);
    k.at.pc = r->getPC();
    k.at.core = core;
    k.addr = r->getVaddr();
    const auto segment = Request::FlagsType(r->getFlags()) & X86ISA::SegmentFlagMask;
    k.is |= (segment == X86ISA::segment_idx::Cs ? PORT_MARKED : 0) |
            (segment == X86ISA::segment_idx::Ss ? PORT_ON_STACK : 0);
    return k;
}

/** Its core has come so far. */
port_packet LardMonitor::answered(PacketPtr pkt) const
{
    port_packet k = packet(pkt);
    if (!(k.is & PORT_NO_ADDRESS))
        k.at.instructions = workload->context(k.at.context)->getCpuPtr()->totalInsts();
    return k;
}

bool LardMonitor::request(PacketPtr pkt)
{
    if (port_may_be_part(pkt->getAddr(), pkt->getSize(), line)) {
        const port_packet k = packet(pkt);
        port_request(thePort, &k);
    }
    return memSide.sendTimingReq(pkt);
}

bool LardMonitor::answer(PacketPtr pkt)
{
    const port_packet k = answered(pkt);
    const int bad = port_answer(thePort, &k, pkt);
    if (bad)
        workload->check();
    return true; // refused or not, it is the port's now
}

Tick LardMonitor::atomic(PacketPtr pkt)
{
    const port_packet k = answered(pkt); // the cache makes an answer of it
    const Tick took = memSide.sendAtomic(pkt);
    const Tick added = port_atomic(thePort, &k, took);
    workload->check();
    return took + added;
}

void LardMonitor::pumped()
{
    port_pump(thePort, curTick());
    if (port_is_idle(thePort))
        signalDrainDone();
}

void LardMonitor::retry()
{
    port_retry(thePort, curTick());
    if (port_is_idle(thePort))
        signalDrainDone();
}

DrainState LardMonitor::drain()
{
    return !thePort || port_is_idle(thePort) ? DrainState::Drained : DrainState::Draining;
}

void LardMonitor::resetStats()
{
    SimObject::resetStats();
    if (thePort)
        since = *port_counted(thePort);
}

void LardMonitor::preDumpStats()
{
    SimObject::preDumpStats();
    if (!thePort)
        return;
    const port_counts &now = *port_counted(thePort);
    stats.reads = now.reads - since.reads;
    stats.writes = now.writes - since.writes;
    stats.atomics = now.atomics - since.atomics;
    stats.marked = now.marked - since.marked;
    stats.split = now.split - since.split;
    stats.ignored = now.ignored - since.ignored;
    stats.delayed = now.delayed - since.delayed;
    stats.delayTicks = now.ticks - since.ticks;
}

} // namespace gem5

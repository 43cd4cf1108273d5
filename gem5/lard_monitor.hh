/* lard_monitor.hh - stands between a CPU's data port and its L1 data cache. Packets pass; what they
 * mean, and when an answer goes on, gem5/port.c decides. */
#ifndef LARD_MONITOR_HH
#define LARD_MONITOR_HH

#include "base/statistics.hh"
#include "gem5/lard_workload.hh"
#include "gem5/port.h"
#include "mem/port.hh"
#include "params/LardMonitor.hh"
#include "sim/eventq.hh"
#include "sim/sim_object.hh"

namespace gem5
{

class LardMonitor : public SimObject
{
  public:
    PARAMS(LardMonitor);
    LardMonitor(const Params &p);
    ~LardMonitor();

    Port &getPort(const std::string &name, PortID idx) override;
    void init() override;
    void startup() override;
    void resetStats() override;
    void preDumpStats() override;
    DrainState drain() override;

  private:
    struct MemSide : public RequestPort {
        LardMonitor &m;
        MemSide(const std::string &n, LardMonitor &m_) : RequestPort(n), m(m_) {}
        bool recvTimingResp(PacketPtr p) override { return m.answer(p); }
        void recvReqRetry() override { m.cpuSide.sendRetryReq(); }
        void recvRangeChange() override { m.cpuSide.sendRangeChange(); }
        bool isSnooping() const override { return m.cpuSide.isSnooping(); }
        Tick recvAtomicSnoop(PacketPtr p) override { return m.cpuSide.sendAtomicSnoop(p); }
        void recvFunctionalSnoop(PacketPtr p) override { m.cpuSide.sendFunctionalSnoop(p); }
        void recvTimingSnoopReq(PacketPtr p) override { m.cpuSide.sendTimingSnoopReq(p); }
        void recvRetrySnoopResp() override { m.cpuSide.sendRetrySnoopResp(); }
    } memSide;
    struct CpuSide : public ResponsePort {
        LardMonitor &m;
        CpuSide(const std::string &n, LardMonitor &m_) : ResponsePort(n), m(m_) {}
        AddrRangeList getAddrRanges() const override { return m.memSide.getAddrRanges(); }
        void recvFunctional(PacketPtr p) override { m.memSide.sendFunctional(p); }
        Tick recvAtomic(PacketPtr p) override { return m.atomic(p); }
        bool recvTimingReq(PacketPtr p) override { return m.request(p); }
        bool tryTiming(PacketPtr p) override { return m.memSide.tryTiming(p); }
        bool recvTimingSnoopResp(PacketPtr p) override { return m.memSide.sendTimingSnoopResp(p); }
        void recvRespRetry() override { m.retry(); }
    } cpuSide;

    LardWorkload *workload;
    const unsigned core;
    unsigned line = 0; // bytes
    port *thePort = nullptr;
    port_counts since = {}; // the last reset of statistics
    EventFunctionWrapper pump;

    struct Stats : public statistics::Group {
        Stats(statistics::Group *parent);
        statistics::Scalar reads, writes, atomics, marked, split, ignored, delayed, delayTicks;
    } stats;

    port_packet packet(PacketPtr pkt) const;
    port_packet answered(PacketPtr pkt) const;
    bool request(PacketPtr pkt);
    bool answer(PacketPtr pkt);
    Tick atomic(PacketPtr pkt);
    void retry();
    void pumped();
};

} // namespace gem5
#endif

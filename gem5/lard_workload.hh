/* lard_workload.hh - the program under test, as gem5 runs it: hands its pseudo-ops, and the system
 * calls that begin and end threads, to lardsim's run, which it owns. */
#ifndef LARD_WORKLOAD_HH
#define LARD_WORKLOAD_HH

#include <vector>

#include "arch/x86/linux/se_workload.hh"
#include "base/statistics.hh"
#include "gem5/live.h"
#include "params/LardWorkload.hh"

namespace gem5
{

class LardWorkload : public X86ISA::EmuLinux
{
  public:
    PARAMS(LardWorkload);
    LardWorkload(const Params &p);
    ~LardWorkload();

    void regStats() override;
    void resetStats() override;
    void preDumpStats() override;
    void startup() override;
    void drainResume() override;
    void event(ThreadContext *tc) override; // the pseudo-op 0x70
    void syscall(ThreadContext *tc) override;

    // Python calls these two: a region of interest begins or ends; results are written at the end.
    void roi(bool begins);
    void finish();

    /** The run; monitors report to it. */
    live *run();
    /** Ends gem5 with lardsim's message if the run has an error. Results are kept. */
    void check();
    live_place who(ThreadContext *tc); // without place and instructions; the run has begun
    live_place place(ThreadContext *tc);
    /** NULL: there is none of that number. */
    ThreadContext *context(ContextID number) const;

  private:
    live *theRun = nullptr;
    std::vector<const BaseCPU *> cpus; // of each core, when it was asked last

    struct Stats : public statistics::Group {
        Stats(statistics::Group *parent);
        statistics::Scalar events, operations, unheard;
        statistics::Vector races, addedCycles, waitedCycles, owedCycles;
    } stats;

    void nameVariables();
    void ask(ThreadContext *tc); // asks for its core's CPU, which may have changed
    void askAll();
};

} // namespace gem5
#endif

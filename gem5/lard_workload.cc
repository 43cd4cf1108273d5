#include "gem5/lard_workload.hh"

#include <cstdlib>
#include <cxxabi.h>
#include <string>
#include <typeinfo>
#include <vector>

#include "arch/x86/regs/int.hh"
#include "base/loader/object_file.hh"
#include "base/loader/symtab.hh"
#include "base/output.hh"
#include "cpu/base.hh"
#include "cpu/thread_context.hh"
#include "mem/se_translating_port_proxy.hh"
#include "sim/core.hh"
#include "sim/cur_tick.hh"
#include "sim/mem_state.hh"
#include "sim/process.hh"
#include "sim/system.hh"

namespace gem5
{

namespace
{

ThreadContext *context(void *arg, int number)
{
    return static_cast<LardWorkload *>(arg)->context(number);
}

bool mapped(void *arg, int number, uint64_t addr)
{
    Process *p = context(arg, number)->getProcessPtr();
    return p->pTable->lookup(addr) || !p->memState->isUnmapped(addr, 1);
}

bool read(void *arg, int number, uint64_t addr, void *to, size_t bytes)
{
    return SETranslatingPortProxy(context(arg, number)).tryReadBlob(addr, to, bytes);
}

uint64_t stack(void *arg, int number)
{
    return context(arg, number)->getReg(X86ISA::int_reg::Rsp);
}

size_t symbol(void *arg, uint64_t addr, char *to, size_t size)
{
    const auto &table = context(arg, 0)->getProcessPtr()->objFile->symtab();
    const auto it = table.findNearest(addr);
    if (it == table.end())
        return 0;
    const int n = snprintf(to, size, "%s+0x%llx (0x%llx)", it->name().c_str(),
                           (unsigned long long)(addr - it->address()), (unsigned long long)addr);
    return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

/** gem5's class of a CPU, as gem5::TimingSimpleCPU. */
std::string className(const BaseCPU &cpu)
{
    const char *mangled = typeid(cpu).name();
    int bad = 0;
    char *name = abi::__cxa_demangle(mangled, nullptr, nullptr, &bad);
    const std::string to = name && !bad ? name : mangled;
    free(name);
    return to;
}

} // anonymous namespace

LardWorkload::Stats::Stats(statistics::Group *parent)
    : statistics::Group(parent, "lard"),
      ADD_STAT(events, statistics::units::Count::get(), "events that lardsim has had"),
      ADD_STAT(operations, statistics::units::Count::get(), "pseudo-ops of lard.h"),
      ADD_STAT(unheard, statistics::units::Count::get(),
               "accesses and operations that were only counted, and not checked"),
      ADD_STAT(races, statistics::units::Count::get(), "racy accesses by policy"),
      ADD_STAT(addedCycles, statistics::units::Cycle::get(),
               "cycles that the detector adds to each core"),
      ADD_STAT(waitedCycles, statistics::units::Cycle::get(),
               "cycles of these for which the core has stood still"),
      ADD_STAT(owedCycles, statistics::units::Cycle::get(),
               "cycles of these for which it had no access any more to wait at")
{
}

LardWorkload::LardWorkload(const Params &p) : X86ISA::EmuLinux(p), stats(this)
{
    registerExitCallback([this]() {
        if (theRun && live_finish(theRun))
            warn("lardsim: %s", live_error(theRun));
    });
}

LardWorkload::~LardWorkload()
{
    live_free(theRun);
}

static std::vector<const char *> texts(const std::vector<std::string> &from)
{
    std::vector<const char *> to;
    for (const auto &s : from)
        to.push_back(s.c_str());
    return to;
}

live *LardWorkload::run()
{
    if (theRun)
        return theRun;

    const Params &p = dynamic_cast<const Params &>(params());
    const std::vector<const char *> settings = texts(p.settings), debug = texts(p.debug);
    const std::string output = simout.resolve(p.output);
    const std::string record = p.record.empty() ? "" : simout.resolve(p.record);
    live_config c = {};
    c.preset = p.preset.c_str();
    c.file = p.config.c_str();
    c.setting = settings.data();
    c.settings = settings.size();
    c.debug = debug.data();
    c.debugs = debug.size();
    c.output = output.c_str();
    c.record = record.c_str();
    c.period = system->threads[0]->getCpuPtr()->clockPeriod();
    c.ticks = sim_clock::Frequency;
    c.cores = system->threads.size();
    c.delays = p.feedback;
    c.marked = p.marked;
    const live_host host = {this, mapped, read, stack, symbol};
    theRun = live_new(&c, &host);
    check();
    askAll();
    const live_place at = place(system->threads[0]);
    live_begin(theRun, &at);
    check();
    return theRun;
}

/** A switch puts a context of another CPU into the place of the old one, under the same numbers
 * (BaseCPU::takeOverFrom), so whoever looks at the context sees it. */
void LardWorkload::ask(ThreadContext *tc)
{
    const BaseCPU *cpu = tc->getCpuPtr();
    const size_t core = tc->cpuId();
    if (core >= cpus.size())
        cpus.resize(core + 1);
    if (cpus[core] == cpu)
        return;
    cpus[core] = cpu;
    const char *says = live_cpu(theRun, core, className(*cpu).c_str(), curTick());
    if (says)
        warn("lardsim: %s\n", says);
}

void LardWorkload::askAll()
{
    for (auto *tc : system->threads)
        ask(tc);
}

/** m5.switchCpus drains the system first: nothing happens between the switch and this. */
void LardWorkload::drainResume()
{
    X86ISA::EmuLinux::drainResume();
    if (theRun)
        askAll();
}

void LardWorkload::check()
{
    if (!live_error(theRun))
        return;
    const std::string why = live_error(theRun);
    live_finish(theRun);
    fatal("lardsim: %s\n", why);
}

/** Threads are there, CPUs are there: as early as the machine's size is known. */
void LardWorkload::regStats()
{
    X86ISA::EmuLinux::regStats();
    run();
    size_t policies = 0;
    while (live_policy(theRun, policies))
        policies++;
    stats.races.init(policies ? policies : 1).flags(statistics::nozero);
    for (size_t i = 0; i < policies; i++)
        stats.races.subname(i, live_policy(theRun, i));
    stats.addedCycles.init(system->threads.size()).flags(statistics::total);
    stats.waitedCycles.init(system->threads.size()).flags(statistics::total);
    stats.owedCycles.init(system->threads.size()).flags(statistics::total);
}

void LardWorkload::resetStats()
{
    X86ISA::EmuLinux::resetStats();
    if (theRun && live_events(theRun)) {
        live_reset(theRun);
        check();
    }
}

void LardWorkload::preDumpStats()
{
    X86ISA::EmuLinux::preDumpStats();
    stats.events = live_events(theRun);
    stats.unheard = live_unheard(theRun);
    for (size_t i = 0; live_policy(theRun, i); i++) {
        const std::string name =
            std::string("policy.") + live_policy(theRun, i) + ".races.accesses";
        uint64_t n = 0;
        if (!live_stat(theRun, name.c_str(), &n))
            stats.races[i] = n;
    }
    for (unsigned i = 0; i < system->threads.size(); i++) {
        stats.addedCycles[i] = live_added(theRun, i);
        stats.waitedCycles[i] = live_paid(theRun, i);
        stats.owedCycles[i] = live_unpaid(theRun, i);
    }
}

void LardWorkload::startup()
{
    X86ISA::EmuLinux::startup();
    run();
    nameVariables();
}

/** Races are reported by the names that the program gives its variables. */
void LardWorkload::nameVariables()
{
    for (const auto &s : system->threads[0]->getProcessPtr()->objFile->symtab())
        if (s.type() == loader::Symbol::SymbolType::Object)
            live_name(theRun, s.address(), s.name().c_str());
    check();
}

ThreadContext *LardWorkload::context(ContextID number) const
{
    return number >= 0 && size_t(number) < system->threads.size() ? system->threads[number]
                                                                  : nullptr;
}

live_place LardWorkload::who(ThreadContext *tc)
{
    ask(tc);
    live_place at = {};
    at.pid = tc->getProcessPtr()->pid();
    at.tick = curTick();
    at.context = tc->contextId();
    at.core = tc->cpuId();
    return at;
}

live_place LardWorkload::place(ThreadContext *tc)
{
    live_place at = who(tc);
    at.pc = tc->pcState().instAddr();
    at.instructions = tc->getCpuPtr()->totalInsts();
    return at;
}

void LardWorkload::event(ThreadContext *tc)
{
    using namespace X86ISA;
    ++stats.operations;
    run();
    const live_place at = place(tc);
    const uint64_t arg[6] = {tc->getReg(int_reg::Rdi), tc->getReg(int_reg::Rsi),
                             tc->getReg(int_reg::Rdx), tc->getReg(int_reg::Rcx),
                             tc->getReg(int_reg::R8),  tc->getReg(int_reg::R9)};
    uint64_t answer = arg[2];
    live_op(run(), &at, arg, &answer);
    check();
    // The answer goes to rdx, not rax: the instruction itself puts 0 into rax afterwards.
    if (answer != arg[2])
        tc->setReg(int_reg::Rdx, answer);
}

void LardWorkload::syscall(ThreadContext *tc)
{
    enum { Clone = 56, Exit = 60, Clone3 = 435 }; // x86-64 Linux
    run();
    const live_place at = place(tc);
    const RegVal number = tc->getReg(X86ISA::int_reg::Rax);
    if (number == Exit)
        live_exit(run(), &at); // afterwards the context is another thread's
    X86ISA::EmuLinux::syscall(tc);
    if (number == Clone || number == Clone3) {
        const int64_t child = tc->getReg(X86ISA::int_reg::Rax);
        if (child > 0)
            live_clone(run(), &at, child);
    }
    check();
}

void LardWorkload::finish()
{
    live_finish(run());
    check();
}

void LardWorkload::roi(bool begins)
{
    run();
    const live_place at = place(system->threads[0]);
    live_roi(theRun, &at, begins);
    check();
}

} // namespace gem5

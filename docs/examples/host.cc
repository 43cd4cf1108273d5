// host.cc - lardsim in a program in C++ (docs/library.md): an instance that frees itself, errors as
// exceptions. The program is a lock that two threads hand over: nothing races.
#include <lardsim.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

class Detector
{
  public:
    explicit Detector(std::vector<const char *> settings)
        : l(lardsim_new(), lardsim_free)
    {
        for (const char *s : settings)
            check(lardsim_set(l.get(), s));
        lardsim_on_race(l.get(), [](void *self, const lardsim_race *) {
            ++static_cast<Detector *>(self)->races;
        }, this);
        check(lardsim_start(l.get()));
    }

    // Cycles by which the core is to be delayed.
    std::uint64_t access(std::uint32_t core, std::uint64_t cycle, lardsim_kind kind, std::uint64_t addr)
    {
        std::uint64_t added = 0;
        const lardsim_at at = here(core, cycle);
        check(lardsim_access_at(l.get(), &at, core, kind, addr, 4, 0, 0, &added));
        return added;
    }

    std::uint64_t sync(std::uint32_t core, std::uint64_t cycle, lardsim_kind kind, std::uint64_t object)
    {
        std::uint64_t added = 0;
        const lardsim_at at = here(core, cycle);
        check(lardsim_sync_at(l.get(), &at, core, kind, object, 0, 0, 0, &added));
        return added;
    }

    std::uint64_t stat(const char *name) const
    {
        std::uint64_t value = 0;
        if (lardsim_stat(l.get(), name, &value))
            throw std::out_of_range(name);
        return value;
    }

    void finish() { check(lardsim_finish(l.get())); }

    unsigned races = 0;

  private:
    std::unique_ptr<lardsim, decltype(&lardsim_free)> l;

    static lardsim_at here(std::uint32_t core, std::uint64_t cycle)
    {
        lardsim_at at{};
        at.core = core;
        at.cycle = cycle;
        return at;
    }

    void check(int result) const
    {
        if (result)
            throw std::runtime_error(lardsim_error(l.get()));
    }
};

int main()
try {
    Detector detector({"machine=multicore", "cores=2", "order=host", "policies=fasttrack"});
    std::uint64_t now = 0;

    for (std::uint32_t turn = 0; turn < 6; turn++) {
        const std::uint32_t core = turn % 2;
        now += 10 + detector.sync(core, now + 10, LARDSIM_ACQUIRE, 0x2000);
        now += 2 + detector.access(core, now + 2, LARDSIM_WRITE, 0x1000);
        now += 10 + detector.sync(core, now + 10, LARDSIM_RELEASE, 0x2000);
    }
    std::cout << detector.stat("events.total") << " events, so far " << detector.races << " races\n";
    detector.finish();
    std::cout << now << " cycles, " << detector.stat("host.added") << " of them the detector's\n";
} catch (const std::exception &e) {
    std::cerr << "host: " << e.what() << '\n';
    return 1;
}

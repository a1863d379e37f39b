// Burns in functions that are inlined into one that is not, for the tests of CPU samples.
#include <cstdint>
#include <cstdlib>
#include <ctime>

#define INLINED inline __attribute__((always_inline))

volatile uint64_t sink;

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Word>
INLINED Word Mix(Word value) {
  for (int i = 0; i < 20000; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

}  // namespace

struct Mixer {
  INLINED static uint64_t Stir(uint64_t value) { return Mix<uint64_t>(value) + 1; }
};

__attribute__((noinline)) void Burn(double seconds) {
  const double until = CpuSeconds() + seconds;
  while (CpuSeconds() < until) sink = Mixer::Stir(sink);
}

int main(int, char** words) { Burn(std::atof(words[1])); }

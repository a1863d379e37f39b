// What a thread did in the time that looks at its Python stand for (store.python_samples): a thread
// without a processor, and one that waits for Python's lock, is not one that sleeps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "store/store.h"

namespace batchlight {

// The parts add up to the time.
struct LookTimes {
  int64_t ran_ns = 0;
  int64_t ready_ns = 0;   // could run and had no processor (KnowsReady)
  int64_t gil_ns = 0;     // waited for the GIL
  int64_t waited_ns = 0;  // slept, or waited for something else: the GPU, a lock, a file

  int64_t ns() const { return ran_ns + ready_ns + gil_ns + waited_ns; }
  // It ran, or would have, had the machine and other threads let it.
  int64_t awake_ns() const { return ran_ns + ready_ns + gil_ns; }

  LookTimes& operator+=(const LookTimes& other) {
    ran_ns += other.ran_ns;
    ready_ns += other.ready_ns;
    gil_ns += other.gil_ns;
    waited_ns += other.waited_ns;
    return *this;
  }
  friend bool operator==(const LookTimes&, const LookTimes&) = default;
};

// `ns` of the time that a record stands for, in equal parts of all that it says.
inline LookTimes TimesOfLooks(const PythonSamplesTable& samples, size_t row, int64_t ns) {
  const int64_t all_ns = samples.end_ns[row] - samples.start_ns[row];
  if (all_ns <= 0 || ns <= 0) return {};
  // Sums are rounded, not parts: what is nothing of the whole is nothing of a part of it.
  int64_t sum_ns = 0, told_ns = 0;
  const auto part = [&](int64_t of_all_ns) {
    sum_ns = std::min(all_ns, sum_ns + std::max<int64_t>(0, of_all_ns));
    const auto until_ns =
        sum_ns == all_ns ? ns : static_cast<int64_t>(double(sum_ns) / double(all_ns) * double(ns));
    return until_ns - std::exchange(told_ns, until_ns);
  };
  LookTimes times;
  times.ran_ns = part(samples.cpu_ns[row]);
  times.ready_ns = part(samples.ready_ns[row]);
  const bool waits = samples.gil[row] == GilState::kWaits;
  times.gil_ns = part(waits ? all_ns : samples.gil_ns[row]);
  times.waited_ns = part(all_ns);
  return times;
}
inline LookTimes TimesOfLooks(const PythonSamplesTable& samples, size_t row) {
  return TimesOfLooks(samples, row, samples.end_ns[row] - samples.start_ns[row]);
}

// Whether it is known when threads had no processor. Else that is in waited_ns.
inline bool KnowsReady(const PythonSamplesTable& samples) {
  return std::any_of(samples.ready_ns.begin(), samples.ready_ns.end(),
                     [](int64_t ns) { return ns > 0; });
}

}  // namespace batchlight

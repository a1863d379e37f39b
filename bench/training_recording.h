// A recording like that of a long training run, of any size: what the benchmarks of reading read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace batchlight::bench {

// The files of a live folder with about `events` begin and end records on two threads: steps of
// NVTX ranges, modules, phases, and operators with shapes (60 % of the events).
std::map<std::string, std::string> TrainingRecording(uint64_t events);

}  // namespace batchlight::bench

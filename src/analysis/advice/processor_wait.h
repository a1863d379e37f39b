// How much of the time the training thread waits for a processor, for rules that go by how long
// something takes.
#pragma once

#include "analysis/run/run_measures.h"

namespace batchlight::advice {

// Share of the time in which it could run and had none; 0 where it nearly always had one, or
// nothing is known. (machine/processor_rules.cpp)
double ProcessorWait(const RunMeasures& run);

}  // namespace batchlight::advice

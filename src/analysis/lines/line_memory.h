// Memory of the program's processes by line of Python: who allocated, who holds it when it is most,
// and what grows from step to step (store.memory_blocks, profile --python-memory).
//
// A line is the innermost one of the user's own code in the stack of whoever asked for a block
// (stack_lines.h). Blocks that are a sample count with what they stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct LineMemoryRow {
  PythonFrameId frame;  // None: no Python code asked, or none that is known
  PythonStackId stack;  // of those that reached the line, the one that allocated most
  uint64_t allocations = 0;
  uint64_t allocated_bytes = 0;
  uint64_t python_bytes = 0;       // of these, for Python's objects
  uint64_t peak_bytes = 0;         // held when their process held most
  uint64_t peak_python_bytes = 0;  // of these, by Python's objects
  uint64_t end_bytes = 0;          // still held when the process, or the recording, ended
  // Held at the end of steady steps: by how much it rises from one to the next, and in how many of
  // the stretches that were looked at it rose. 0 without steps.
  double growth_per_step_bytes = 0;
  double rising_share = 0;
};

struct LineMemory {
  std::vector<LineMemoryRow> rows;  // by falling bytes at the peak, then allocated
  uint64_t allocated_bytes = 0;
  uint64_t peak_bytes = 0;  // summed over processes, each at its own peak
  uint64_t blocks = 0;      // that were recorded
  uint64_t steps = 0;       // over which growth was measured

  bool empty() const { return rows.empty(); }
};

LineMemory MeasureLineMemory(const Store& store, const StepSet& steps);

}  // namespace batchlight

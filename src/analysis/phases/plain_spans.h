// Where a process recorded without detail: control steps, and the steps that a budget
// (--overhead) leaves out. Said by marks (format/detail_marks.def).
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct PlainSpan {
  int64_t start_ns = 0;   // the end of a step; switching comes first
  int64_t end_ns = 0;     // where detail begins to come back; kOpenEnd: it never does
  int64_t switch_ns = 0;  // what switching off took, after start_ns
};

// In order, without overlap; none of them in recordings of other tools.
std::vector<PlainSpan> FindPlainSpans(const Store& store, ProcessId process);

// Whether the mark is one of these, and none of the program's.
bool IsDetailMark(const Store& store, size_t mark);

}  // namespace batchlight

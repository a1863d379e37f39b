// Recognizes operators in PyTorch's own NVTX ranges, for when the operator recorder could not be
// built (python/batchlight/_bridge/_torch_emit_nvtx.py): "aten::addmm, seq = 11, op_id = 401". They
// are recorded as operators: as ranges, each would have a text of its own and fill every list of
// ranges.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::nvtx {

// Set once; from then on such ranges are operators. Ranges that tell sizes stay ranges: their sizes
// lack types, which readers can do without but an OpBegin cannot.
extern bool g_operator_ranges;

struct OperatorText {
  size_t name_bytes = 0;  // 0: no such text
  int64_t sequence = -1;
  uint32_t scope = 0;  // of PyTorch: 0 function, 1 backward, 7 user
};
OperatorText ReadOperatorText(const char* text);

// False: not recorded.
bool RecordOperatorBegin(const char* text, const OperatorText& operator_text);
void RecordOperatorEnd();

}  // namespace batchlight::inject::nvtx

#include "analysis/roofline/line_copies.h"

#include <unordered_map>
#include <vector>

#include "analysis/lines/line_parts.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/roofline/operator_inputs.h"
#include "base/saturating_add.h"

namespace batchlight {
namespace {

// clone, contiguous, to, cpu, ... end in the first; stack and what collates batches in the second.
bool IsCopy(std::string_view name) { return name == "aten::copy_" || name == "aten::cat"; }

// Of copy_(self, source, ...) the bytes of self, of cat(tensors, dim) those of all.
uint64_t BytesOfCopy(std::string_view inputs_text) {
  const std::vector<OperatorInput> inputs = ParseOperatorInputs(inputs_text);
  if (inputs.empty()) return 0;
  const auto bytes_of = [](const OperatorInput& tensor) {
    return static_cast<uint64_t>(tensor.ElementCount()) *
           static_cast<uint64_t>(DtypeBytes(tensor.dtype));
  };
  if (inputs[0].kind == OperatorInput::Kind::kTensor) return bytes_of(inputs[0]);
  uint64_t bytes = 0;
  for (const OperatorInput& tensor : inputs[0].elements) bytes += bytes_of(tensor);
  return bytes;
}

class CopyMeasurer {
 public:
  CopyMeasurer(const Store& store, const BackwardLinks& links)
      : store_(store), lines_(store), finder_(store, links, lines_) {}

  void AddOperators() {
    const OperatorCallsTable& calls = store_.operator_calls;
    std::unordered_map<StringId, uint64_t> bytes_of;  // by text of the inputs
    for (uint32_t row = 0; row < calls.size(); ++row) {
      if (calls.inputs[row].IsNone() || !IsCopy(store_.Text(calls.name[row]))) continue;
      const auto [known, added] = bytes_of.try_emplace(calls.inputs[row], 0);
      if (added) known->second = BytesOfCopy(store_.Text(calls.inputs[row]));
      SaturatingAdd(CopiesOf(finder_.OfOperator(OperatorCallId::At(row))).tensor_bytes,
                    known->second);
    }
  }

  void AddGpu(const Attribution& work) {
    const MemcpysTable& copies = store_.memcpys;
    const CallStacks calls(store_);
    for (size_t row = 0; row < copies.size(); ++row) {
      const LinePart part = finder_.OfWork(work.memcpys[row], calls.Of(copies.api_call[row]));
      SaturatingAdd(CopiesOf(part).gpu_bytes, copies.bytes[row]);
    }
  }

  std::map<LineKey, LineCopies> Take() { return std::move(copies_); }

 private:
  LineCopies& CopiesOf(const LinePart& part) {
    const PythonFrameId frame = part.stack.IsNone() ? PythonFrameId() : lines_.Of(part.stack).frame;
    LineCopies& copies = copies_[KeyOfLine(store_, part.kind, frame)];
    copies.frame = frame;
    return copies;
  }

  const Store& store_;
  StackLines lines_;
  LineFinder finder_;
  std::map<LineKey, LineCopies> copies_;
};

}  // namespace

std::map<LineKey, LineCopies> MeasureLineCopies(const Store& store, const BackwardLinks& links,
                                                const Attribution& work) {
  if (!HasCallStacks(store)) return {};
  CopyMeasurer measurer(store, links);
  measurer.AddOperators();
  measurer.AddGpu(work);
  return measurer.Take();
}

}  // namespace batchlight

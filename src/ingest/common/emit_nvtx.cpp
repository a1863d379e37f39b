#include "ingest/common/emit_nvtx.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace batchlight {
namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kOperatorId = ", op_id = ";
constexpr std::string_view kSizes = ", sizes = ";
constexpr std::string_view kInputIds = ", input_op_ids = ";
constexpr uint32_t kUnseen = UINT32_MAX;

// The operator that a message describes, parsed once for each distinct text.
struct Operator {
  StringId name;
  StringId shapes;
  StringId inputs;
  int64_t sequence = -1;
  OperatorScope scope = OperatorScope::kFunction;
  bool is_operator = false;
};

bool IsBackwardName(std::string_view name) {
  return name.find("Backward") != name.npos || name.starts_with("torch::autograd::") ||
         name.starts_with("autograd::engine::");
}

// "[[64, 2], []]" -> "t[64, 2], -": sizes without types; FLOPs need no more.
std::string UntypedInputs(std::string_view sizes) {
  std::string inputs;
  int depth = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == ']' && depth > 0 && --depth == 0) break;
    if (sizes[i] == '[' && depth++ == 0) continue;
    if (depth == 0) continue;
    if (sizes.substr(i, 2) == "[]") {
      inputs += '-';
      --depth;
      ++i;
    } else if (sizes[i] == '[' && i + 1 < sizes.size() && sizes[i + 1] != '[') {
      inputs += "t[";
    } else {
      inputs += sizes[i];
    }
  }
  return inputs;
}

Operator Describe(Store& store, StringId message) {
  const EmitNvtxText parsed = ParseEmitNvtx(store.Text(message));
  Operator found;
  found.is_operator = parsed.is_operator;
  if (!parsed.is_operator) return found;
  // Copies, because interning may move what the views point to.
  const std::string name(parsed.name);
  const std::string sizes(parsed.sizes);
  found.sequence = parsed.sequence;
  found.scope = IsBackwardName(name) ? OperatorScope::kBackward : OperatorScope::kFunction;
  found.name = store.strings.Intern(name);
  if (!sizes.empty()) {
    found.shapes = store.strings.Intern(sizes);
    found.inputs = store.strings.Intern(UntypedInputs(sizes));
  }
  return found;
}

}  // namespace

EmitNvtxText ParseEmitNvtx(std::string_view text) {
  EmitNvtxText parsed;
  const size_t sequence = text.find(kSequence);
  const size_t id = text.find(kOperatorId);
  const size_t end = std::min(sequence, id);
  if (end == text.npos || end == 0) return parsed;
  parsed.name = text.substr(0, end);
  if (sequence != text.npos) {
    const char* digits = text.data() + sequence + kSequence.size();
    const auto [stop, error] = std::from_chars(digits, text.data() + text.size(), parsed.sequence);
    if (error != std::errc()) return parsed;
  }
  parsed.is_operator = true;
  const size_t sizes = text.find(kSizes);
  if (sizes != text.npos) {
    const size_t begin = sizes + kSizes.size();
    const size_t stop = text.find(kInputIds, begin);
    parsed.sizes = text.substr(begin, stop == text.npos ? stop : stop - begin);
  }
  return parsed;
}

bool HasOperatorRanges(const Store& store) {
  std::vector<bool> seen(store.strings.size());
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const StringId message = ranges.message[row];
    if (ranges.style[row] != NvtxStyle::kPushPop || message.IsNone() || seen[message.row()])
      continue;
    seen[message.row()] = true;
    if (ParseEmitNvtx(store.Text(message)).is_operator) return true;
  }
  return false;
}

void OperatorsFromRanges(Store& store) {
  if (store.operator_calls.size() > 0) return;
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  std::vector<Operator> operators(1);                          // of a distinct text
  std::vector<uint32_t> known(store.strings.size(), kUnseen);  // its number by message, 0 none
  struct Open {
    uint32_t row;
    int64_t end_ns;
  };
  std::vector<Open> open;  // operators around the range, of one thread
  ThreadId thread;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.style[i] != NvtxStyle::kPushPop) continue;
    if (ranges.message[i].IsNone()) continue;
    uint32_t& number = known[ranges.message[i].row()];
    if (number == kUnseen) {
      Operator found = Describe(store, ranges.message[i]);
      number = found.is_operator ? static_cast<uint32_t>(operators.size()) : 0;
      if (found.is_operator) operators.push_back(found);
    }
    if (number == 0) continue;
    const Operator& op = operators[number];
    if (ranges.thread[i] != thread) open.clear();
    thread = ranges.thread[i];
    while (!open.empty() && open.back().end_ns <= ranges.start_ns[i]) open.pop_back();
    const auto row = static_cast<uint32_t>(store.operator_calls.size());
    store.operator_calls.Append(
        {.start_ns = ranges.start_ns[i],
         .end_ns = ranges.end_ns[i],
         .thread = thread,
         .name = op.name,
         .shapes = op.shapes,
         .sequence = op.sequence,
         .parent = open.empty() ? OperatorCallId::None() : OperatorCallId::At(open.back().row),
         .depth = static_cast<uint16_t>(open.size()),
         .scope = op.scope,
         .inputs = op.inputs});
    open.push_back({row, ranges.end_ns[i]});
  }
}

}  // namespace batchlight

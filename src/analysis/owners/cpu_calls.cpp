#include "analysis/owners/cpu_calls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/merge_runs.h"

namespace batchlight {
namespace {

// "" for what PyTorch leaves out.
std::string_view OperatorName(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"profiler::_record_function_enter", "profiler::_record_function_enter_new",
       "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"});
  return std::find(kNames.begin(), kNames.end(), name) == kNames.end() ? name : "";
}

std::string_view SameName(std::string_view name) { return name; }

// Thread, start, longest first: as plain numbers, compared millions of times.
using Place = std::tuple<ThreadId, int64_t, int64_t>;

template <typename Table>
Place PlaceOf(const Table& table, size_t row) {
  return {table.thread[row], table.start_ns[row], -table.end_ns[row]};
}

// The calls of one table, in order.
class Source {
 public:
  template <typename Table>
  Source(const Table& table, std::function<bool(size_t, CpuCall*)> read)
      : size_(table.size()), read_(std::move(read)) {
    const auto before = [&table](uint32_t a, uint32_t b) {
      return PlaceOf(table, a) < PlaceOf(table, b);
    };
    // The store's order of ranges lets equal starts stand as they came.
    for (uint32_t row = 1; row < size_; ++row) {
      if (!before(row, row - 1)) continue;
      order_.resize(size_);
      for (uint32_t i = 0; i < size_; ++i) order_[i] = i;
      MergeRuns(order_, before);
      break;
    }
    Advance();
  }

  bool AtEnd() const { return !at_.has_value(); }
  const CpuCall& call() const { return *at_; }
  Place place() const { return {at_->thread, at_->start_ns, -at_->end_ns}; }
  void Advance() {
    at_.emplace();
    while (next_ < size_) {
      const size_t row = order_.empty() ? next_ : order_[next_];
      ++next_;
      if (read_(row, &*at_)) return;
    }
    at_.reset();
  }

 private:
  size_t size_;
  size_t next_ = 0;
  std::vector<uint32_t> order_;  // empty: the table's
  std::function<bool(size_t, CpuCall*)> read_;
  std::optional<CpuCall> at_;
};

template <typename Table>
bool ReadCall(const Table& table, size_t row, CpuCall::Kind kind, uint32_t name, CpuCall* call) {
  if (table.end_ns[row] == kOpenEnd || table.thread[row].IsNone()) return false;
  if (name == NumberOfString::kLeftOut) return false;
  *call = {.start_ns = table.start_ns[row],
           .end_ns = table.end_ns[row],
           .thread = table.thread[row],
           .name = name,
           .kind = kind};
  return true;
}

Source OperatorsOf(const Store& store, NameNumbers* names) {
  const OperatorCallsTable& calls = store.operator_calls;
  return {calls, [&calls, number = NumberOfString(store, names, OperatorName)](
                     size_t row, CpuCall* call) mutable {
            const bool annotation = calls.scope[row] == OperatorScope::kUser;
            const auto kind = annotation ? CpuCall::Kind::kAnnotation : CpuCall::Kind::kOperator;
            if (!ReadCall(calls, row, kind, number[calls.name[row]], call)) return false;
            call->operator_row = static_cast<uint32_t>(row);
            return true;
          }};
}

Source ApiCallsOf(const Store& store, NameNumbers* names) {
  const ApiCallsTable& calls = store.api_calls;
  return {calls, [&calls, number = NumberOfString(store, names, PlainApiName)](
                     size_t row, CpuCall* call) mutable {
            const uint32_t name = number[calls.name[row]];
            if (!ReadCall(calls, row, CpuCall::Kind::kApiCall, name, call)) return false;
            call->api_row = static_cast<uint32_t>(row);
            return true;
          }};
}

template <typename Table>
Source AnnotationsOf(const Store& store, const Table& table, const std::vector<StringId>& texts,
                     NameNumbers* names) {
  return {table, [&table, &texts, number = NumberOfString(store, names, SameName)](
                     size_t row, CpuCall* call) mutable {
            if constexpr (requires { table.style; }) {
              if (table.style[row] == NvtxStyle::kStartEnd) return false;
            }
            return ReadCall(table, row, CpuCall::Kind::kAnnotation, number[texts[row]], call);
          }};
}

}  // namespace

uint32_t NameNumbers::Of(std::string_view name) {
  const std::string_view shown = name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name;
  const auto [place, added] =
      numbers_.try_emplace(std::string(shown), static_cast<uint32_t>(names_.size()));
  if (added) names_.push_back(&place->first);
  return place->second;
}

NumberOfString::NumberOfString(const Store& store, NameNumbers* names, NameOf name_of)
    : store_(store),
      names_(*names),
      name_of_(name_of),
      numbers_(store.strings.size(), CpuCall::kNone) {}

uint32_t NumberOfString::operator[](StringId string) {
  if (string.IsNone()) return names_.Of({});
  uint32_t& number = numbers_[string.row()];
  if (number == CpuCall::kNone) {
    const std::string_view text = store_.Text(string);
    const std::string_view name = name_of_(text);
    number = name.empty() && !text.empty() ? kLeftOut : names_.Of(name);
  }
  return number;
}

void VisitCpuCalls(const Store& store, NameNumbers* names,
                   const std::function<void(const CpuCall&)>& visit) {
  std::vector<Source> sources;
  sources.push_back(OperatorsOf(store, names));
  // Of other inputs these are not PyTorch's.
  if (store.source_format == "kineto") {
    sources.push_back(AnnotationsOf(store, store.nvtx_ranges, store.nvtx_ranges.message, names));
    sources.push_back(AnnotationsOf(store, store.phase_calls, store.phase_calls.name, names));
  }
  sources.push_back(ApiCallsOf(store, names));
  while (true) {
    Source* next = nullptr;
    for (Source& source : sources) {
      if (source.AtEnd()) continue;
      if (next == nullptr || source.place() < next->place()) next = &source;
    }
    if (next == nullptr) return;
    CpuCall call = next->call();
    // PyTorch ends these where NCCL's work ends.
    call.async =
        call.kind == CpuCall::Kind::kAnnotation && names->Text(call.name).starts_with("nccl:");
    visit(call);
    next->Advance();
  }
}

}  // namespace batchlight

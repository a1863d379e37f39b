#include "analysis/whatif/pipeline_trace.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/split.h"
#include "store/value_limits.h"

namespace batchlight {
namespace {

constexpr std::string_view kNames[kPipelineWorkCount] = {"forward-compute",
                                                         "backward-compute",
                                                         "forward-send",
                                                         "forward-recv",
                                                         "backward-send",
                                                         "backward-recv",
                                                         "params-all-gather",
                                                         "grads-reduce-scatter",
                                                         "separate-grads-all-reduce",
                                                         "layernorm-grads-all-reduce",
                                                         "embedding-grads-all-reduce",
                                                         "gc",
                                                         "optimizer-clip-main-grad",
                                                         "optimizer"};

enum Column {
  kReplica,
  kStage,
  kRank,
  kStep,
  kWork,
  kStart,
  kDuration,
  kSequence,
  kChunk,
  kModelChunk,
  kColumnCount
};
constexpr std::string_view kColumns[kColumnCount] = {
    "dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc", "gmc"};

std::string_view TakeRow(std::string_view& text) {
  std::string_view line = TakeLine(text);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  if (!ReadNumber(text, number) || !std::isfinite(number)) return std::nullopt;
  return number;
}

// Counts up to a thousand millions; times as everywhere (store/value_limits.h), of which sums are
// finite.
bool IsPossible(Column column, double number) {
  constexpr double kNsPerS = 1e9, kLargestCount = 1e9;
  if (column == kStart) return std::abs(number) <= kLargestTimeNs / kNsPerS;
  if (column == kDuration) return std::abs(number) <= kLongestEventNs / kNsPerS;
  return number == std::floor(number) && std::abs(number) <= kLargestCount;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<PipelineOperation>> Run() {
    const std::vector<std::string_view> names = SplitAt(TakeRow(text_), ',');
    for (size_t column = 0; column < kColumnCount; ++column) {
      const auto place = std::find(names.begin(), names.end(), kColumns[column]);
      if (place == names.end()) {
        return InputError("there is no column " + std::string(kColumns[column]) +
                          "; docs/ranks.md has the form of such a file");
      }
      places_[column] = static_cast<size_t>(place - names.begin());
    }
    std::vector<PipelineOperation> operations;
    for (size_t number = 2; !text_.empty(); ++number) {
      const std::string_view line = TakeRow(text_);
      if (line.empty()) continue;
      PipelineOperation operation;
      if (!ReadLine(SplitAt(line, ','), operation)) {
        return InputError("line " + std::to_string(number) + ": " + problem_);
      }
      operations.push_back(operation);
    }
    if (operations.empty()) return InputError("there is no operation after the first line");
    return operations;
  }

 private:
  bool ReadLine(const std::vector<std::string_view>& fields, PipelineOperation& out) {
    std::array<double, kColumnCount> numbers{};
    for (size_t column = 0; column < kColumnCount; ++column) {
      if (places_[column] >= fields.size()) {
        problem_ = "it has " + std::to_string(fields.size()) + " fields";
        return false;
      }
      const std::string_view text = fields[places_[column]];
      if (column == kWork) {
        const auto name = std::find(std::begin(kNames), std::end(kNames), text);
        if (name == std::end(kNames)) {
          problem_ = "unknown optype " + std::string(text);
          return false;
        }
        out.work = static_cast<PipelineWork>(name - std::begin(kNames));
        continue;
      }
      // Operations of no chunk of the model have none.
      const bool may_lack = column == kChunk || column == kModelChunk;
      const std::optional<double> number = may_lack && text.empty() ? 0 : NumberOf(text);
      if (!number || !IsPossible(static_cast<Column>(column), *number)) {
        problem_ = std::string(kColumns[column]) + " is \"" + std::string(text) + "\"";
        return false;
      }
      numbers[column] = *number;
    }
    out.replica = static_cast<int32_t>(numbers[kReplica]);
    out.stage = static_cast<int32_t>(numbers[kStage]);
    out.rank = static_cast<int32_t>(numbers[kRank]);
    out.step = static_cast<int64_t>(numbers[kStep]);
    out.sequence = static_cast<int32_t>(numbers[kSequence]);
    out.chunk = static_cast<int32_t>(numbers[kChunk]);
    out.model_chunk = static_cast<int32_t>(numbers[kModelChunk]);
    out.start_s = numbers[kStart];
    out.duration_s = numbers[kDuration];
    return true;
  }

  std::string_view text_;
  std::array<size_t, kColumnCount> places_{};
  std::string problem_;
};

}  // namespace

std::string_view PipelineWorkName(PipelineWork work) { return kNames[static_cast<size_t>(work)]; }

bool IsPipelineTrace(std::string_view text) {
  const std::string_view line = TakeRow(text);
  return line.find("dp_rank") != line.npos && line.find("optype") != line.npos &&
         line.find("seq_id") != line.npos;
}

Result<std::vector<PipelineOperation>> ReadPipelineTrace(std::string_view text) {
  return Reader(text).Run();
}

}  // namespace batchlight

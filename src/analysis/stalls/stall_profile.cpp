#include "analysis/stalls/stall_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/demangled.h"

namespace batchlight {

const std::array<StallReason, kStallReasons> kStallReasonList = {{
#define STALL_REASON(name, title, help, advice) {name, title, help, advice},
#include "analysis/stalls/stall_reasons.def"
#undef STALL_REASON
}};

namespace {

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view kTwin = "_not_issued";

struct Reason {
  size_t place = kStallReasons;  // in by_reason
  bool is_twin = false;          // samples that the reason itself has too
};

Reason ReasonOf(std::string_view name) {
  Reason reason;
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  if (name.ends_with(kTwin)) {
    reason.is_twin = true;
    name.remove_suffix(kTwin.size());
  }
  if (name == "no_instructions") name = "no_instruction";  // of some chips
  for (size_t i = 0; i < kStallReasons; ++i) {
    if (kStallReasonList[i].name == name) reason.place = i;
  }
  return reason;
}

void Add(StallRow& row, const Reason& reason, uint64_t samples) {
  if (reason.is_twin) {
    row.not_issued += samples;
  } else {
    row.samples += samples;
    row.by_reason[reason.place] += samples;
  }
}

void Sort(std::vector<StallRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StallRow& a, const StallRow& b) { return a.samples > b.samples; });
}

class Profiler {
 public:
  explicit Profiler(const StallSamples& samples) : samples_(samples) {
    for (const std::string& name : samples.names) reasons_.push_back(ReasonOf(name));
  }

  StallProfile Make() {
    for (const StallSample& sample : samples_.samples) Take(sample);
    ChooseInstructions();
    StallProfile& profile = profile_;
    for (const StallRow& row : profile.kernels) profile.samples += row.samples;
    const double all = std::max<double>(1, double(profile.samples));
    for (StallRow& row : profile.lines) {
      const StallRow& kernel = profile.kernels[kernels_[row.kernel]];
      row.share = double(row.samples) / all;
      row.kernel_share = double(row.samples) / std::max<double>(1, double(kernel.samples));
    }
    for (StallRow& row : profile.kernels) {
      row.share = double(row.samples) / all;
      row.kernel_share = 1;
    }
    Sort(profile.kernels);
    Sort(profile.lines);
    for (const StallWindow& window : samples_.windows) {
      ++profile.windows;
      if (!window.is_whole) ++profile.windows_cut;
      if (window.is_short) ++profile.windows_short;
      profile.taken += window.samples;
      profile.dropped += window.dropped;
      profile.foreign += window.foreign;
      profile.buffer_full = profile.buffer_full || window.buffer_full;
    }
    return std::move(profile_);
  }

 private:
  struct Instruction {
    uint64_t samples = 0;
    size_t line = 0;  // of profile_.lines
    uint32_t text = 0;
    uint64_t offset = 0;
  };

  const std::string& KernelOf(uint32_t function) {
    const auto [place, is_new] = demangled_.try_emplace(function);
    if (is_new) place->second = DemangledName(samples_.names[function]);
    return place->second;
  }

  void Take(const StallSample& sample) {
    const Reason& reason = reasons_[sample.reason];
    const std::string& kernel = KernelOf(sample.function);
    const auto [place, is_new] = kernels_.try_emplace(kernel, profile_.kernels.size());
    if (is_new) profile_.kernels.push_back({.kernel = kernel});
    Add(profile_.kernels[place->second], reason, sample.samples);

    const bool has_line = sample.line != 0;
    profile_.has_lines = profile_.has_lines || has_line;
    const auto key = std::tuple(place->second, has_line ? sample.file : 0u,
                                has_line ? uint64_t{sample.line} : sample.offset,
                                has_line ? uint64_t{0} : sample.code);
    const auto [line, is_new_line] = lines_.try_emplace(key, profile_.lines.size());
    if (is_new_line) {
      profile_.lines.push_back(
          {.kernel = kernel,
           .file = samples_.names[sample.file],
           .line = sample.line,
           .source = has_line ? samples_.names[sample.source] : std::string()});
    }
    Add(profile_.lines[line->second], reason, sample.samples);
    if (reason.is_twin) return;
    Instruction& instruction = instructions_[{sample.code, sample.function, sample.offset}];
    instruction.samples += sample.samples;
    instruction.line = line->second;
    instruction.text = sample.instruction;
    instruction.offset = sample.offset;
  }

  // Of a line's instructions the one with most samples stands for it.
  void ChooseInstructions() {
    std::vector<uint64_t> most(profile_.lines.size());
    for (const auto& [key, instruction] : instructions_) {
      if (instruction.samples <= most[instruction.line]) continue;
      most[instruction.line] = instruction.samples;
      StallRow& row = profile_.lines[instruction.line];
      row.instruction = samples_.names[instruction.text];
      row.offset = instruction.offset;
    }
  }

  const StallSamples& samples_;
  std::vector<Reason> reasons_;  // by name
  std::unordered_map<uint32_t, std::string> demangled_;
  std::unordered_map<std::string, size_t> kernels_;
  std::map<std::tuple<size_t, uint32_t, uint64_t, uint64_t>, size_t> lines_;
  std::map<std::tuple<uint64_t, uint32_t, uint64_t>, Instruction> instructions_;
  StallProfile profile_;
};

// The places of by_reason, greatest first, without that of warps that went on.
std::vector<size_t> GreatestReasons(const StallRow& row) {
  std::vector<size_t> places;
  for (size_t i = 1; i <= kStallReasons; ++i) {
    if (row.by_reason[i] > 0) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(),
                   [&row](size_t a, size_t b) { return row.by_reason[a] > row.by_reason[b]; });
  return places;
}

}  // namespace

StallProfile ProfileStalls(const StallSamples& samples) { return Profiler(samples).Make(); }

std::string MainStalls(const StallRow& row) {
  constexpr size_t kMost = 3;
  constexpr double kLeastPercent = 5;
  std::string text;
  size_t count = 0;
  for (const size_t place : GreatestReasons(row)) {
    const double percent =
        double(row.by_reason[place]) * 100 / std::max<double>(1, double(row.samples));
    if (count == kMost || (count > 0 && percent < kLeastPercent)) break;
    if (count++ > 0) text += ", ";
    text += place < kStallReasons ? std::string(kStallReasonList[place].title) : "other";
    text += " " + std::to_string(std::lround(percent)) + " %";
  }
  return text;
}

std::string StallAdvice(const StallRow& row) {
  constexpr double kLeastShare = 0.25;  // less would not be worth the work
  for (const size_t place : GreatestReasons(row)) {
    if (double(row.by_reason[place]) < kLeastShare * double(row.samples)) return "";
    if (place < kStallReasons && !kStallReasonList[place].advice.empty()) {
      return std::string(kStallReasonList[place].advice);
    }
  }
  return "";
}

}  // namespace batchlight

#include "analysis/lines/code_samples.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/lines/source_place.h"

namespace batchlight {
namespace {

constexpr double kNamedShare = 0.1;
constexpr double kMostOfIt = 0.5;

struct FunctionKey {
  StringId file;
  StringId function;
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

void Sort(std::vector<SampledFunction>& functions) {
  std::sort(functions.begin(), functions.end(),
            [](const SampledFunction& a, const SampledFunction& b) {
              return std::tuple(-a.ns, a.file, a.function) < std::tuple(-b.ns, b.file, b.function);
            });
}

}  // namespace

CodeSamples::CodeSamples(const Store& store) : store_(store) {
  if (empty()) return;
  lines_ = StackLines(store);
  for (const StringId file : store.python_frames.file) {
    is_shown_.push_back(OwnerOfSource(store.Text(file)) >= SourceOwner::kPackage);
  }
}

SampledTime CodeSamples::During(ThreadId thread, const std::vector<TimeSpan>& spans) const {
  const PythonSamplesTable& samples = store_.python_samples;
  const auto first = std::partition_point(samples.thread.begin(), samples.thread.end(),
                                          [&](ThreadId other) { return other < thread; });
  std::map<FunctionKey, std::map<uint32_t, int64_t>> lines;  // ns by line
  SampledTime time;
  size_t at = 0;
  for (auto row = static_cast<size_t>(first - samples.thread.begin());
       row < samples.size() && samples.thread[row] == thread; ++row) {
    const int64_t ns = NsInside(spans, samples.start_ns[row], samples.end_ns[row], at);
    if (ns == 0 || samples.python_stack[row].IsNone()) continue;
    const StackLine& line = lines_.Of(samples.python_stack[row]);
    if (line.imports) continue;
    time.all_ns += ns;
    if (line.frame.IsNone() || line.loads || !is_shown_[line.frame.row()]) continue;
    const PythonFramesRow place = store_.python_frames.Row(line.frame.row());
    lines[{place.file, place.function}][place.line] += ns;
  }
  for (const auto& [key, by_line] : lines) {
    SampledFunction function{.file = key.file, .function = key.function};
    int64_t most_ns = -1;
    for (const auto& [line, ns] : by_line) {
      function.ns += ns;
      if (ns > most_ns) std::tie(function.line, most_ns) = std::pair(line, ns);
    }
    time.functions.push_back(function);
  }
  Sort(time.functions);
  return time;
}

SampledTime SumOf(const std::vector<SampledTime>& times) {
  SampledTime sum;
  std::map<FunctionKey, SampledFunction> functions;
  for (const SampledTime& time : times) {
    sum.all_ns += time.all_ns;
    for (const SampledFunction& function : time.functions) {
      const auto [place, added] =
          functions.try_emplace({function.file, function.function}, function);
      if (!added) place->second.ns += function.ns;
    }
  }
  for (const auto& [key, function] : functions) sum.functions.push_back(function);
  Sort(sum.functions);
  return sum;
}

std::string FunctionText(const Store& store, const SampledFunction& function) {
  const std::string place =
      std::string(ShortFile(store.Text(function.file))) + ':' + std::to_string(function.line);
  const std::string_view name = store.Text(function.function);
  if (name.empty() || name == "<module>") return place;
  return "`" + std::string(name) + "` (" + place + ")";
}

std::string FunctionTexts(const Store& store, const SampledTime& time, size_t most) {
  std::string text;
  double named_ns = 0;
  for (size_t i = 0; i < std::min(most, time.functions.size()); ++i) {
    const auto ns = static_cast<double>(time.functions[i].ns);
    if (ns < kNamedShare * static_cast<double>(time.all_ns)) break;
    named_ns += ns;
    text += (i > 0 ? ", " : "") + FunctionText(store, time.functions[i]);
  }
  return named_ns > kMostOfIt * static_cast<double>(time.all_ns) ? text : "";
}

}  // namespace batchlight

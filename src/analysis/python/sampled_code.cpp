#include "analysis/python/sampled_code.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/lines/source_place.h"
#include "analysis/numbers/time_span.h"

namespace batchlight {
namespace {

struct CodeKey {
  StringId file;
  StringId function;
  uint32_t line = 0;
  friend auto operator<=>(const CodeKey&, const CodeKey&) = default;
};

// What the samples of one stack stand for.
struct StackSum {
  uint64_t samples = 0;
  int64_t ns = 0;
  int64_t cpu_ns = 0;
  int64_t steps_ns = 0;
  TimeSpan longest{}, longest_in_steps{};
  std::set<ThreadId> threads;
};

// The longest of several stacks, first of those that matter most.
class LongestStretch {
 public:
  void Add(const StackSum& spent, bool innermost) {
    KeepLonger(spans_[innermost ? 1 : 3], spent.longest);
    KeepLonger(spans_[innermost ? 0 : 2], spent.longest_in_steps);
  }
  TimeSpan Get() const {
    for (const TimeSpan& span : spans_) {
      if (span.duration_ns() > 0) return span;
    }
    return {};
  }

 private:
  TimeSpan spans_[4];
};

using SpansOfThreads = std::map<ThreadId, std::vector<TimeSpan>>;

SpansOfThreads SteadySpans(const StepSet& steps) {
  SpansOfThreads spans;
  for (const ProcessSteps& process : steps.processes) {
    if (process.thread.IsNone()) continue;
    for (const uint32_t row : process.steady) {
      const Step& step = process.steps[row];
      AddSpan(spans[process.thread], step.start_ns, step.end_ns);
    }
  }
  return spans;
}

std::map<PythonStackId, StackSum> SumByStack(const Store& store, const StepSet& steps) {
  const PythonSamplesTable& samples = store.python_samples;
  const SpansOfThreads spans = SteadySpans(steps);
  std::map<PythonStackId, StackSum> sums;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (samples.python_stack[row].IsNone()) continue;
    StackSum& sum = sums[samples.python_stack[row]];
    sum.samples += samples.samples[row];
    sum.ns += samples.end_ns[row] - samples.start_ns[row];
    sum.cpu_ns += samples.cpu_ns[row];
    sum.threads.insert(samples.thread[row]);
    const TimeSpan span{samples.start_ns[row], samples.end_ns[row]};
    KeepLonger(sum.longest, span);
    if (const auto own = spans.find(samples.thread[row]); own != spans.end()) {
      const int64_t inside_ns = NsInside(own->second, span.start_ns, span.end_ns);
      sum.steps_ns += inside_ns;
      if (inside_ns == span.duration_ns()) KeepLonger(sum.longest_in_steps, span);
    }
  }
  return sums;
}

// By row of store.python_frames: code of the recorder, which wraps what the program calls.
std::vector<bool> FindRecorders(const Store& store) {
  std::vector<bool> recorders;
  for (const StringId file : store.python_frames.file) {
    recorders.push_back(OwnerOfSource(store.Text(file)) == SourceOwner::kNobody);
  }
  return recorders;
}

// key_of(row of store.python_frames). The recorder's code has what it takes itself, not what runs
// within.
template <typename KeyOfFrame>
std::vector<SampledCode> SumByKey(const Store& store, const StepSet& steps, KeyOfFrame&& key_of) {
  struct Sum {
    SampledCode code;
    std::set<ThreadId> threads;
    LongestStretch longest;
  };
  const PythonStacksTable& stacks = store.python_stacks;
  const std::vector<bool> recorders = FindRecorders(store);
  std::map<CodeKey, Sum> sums;
  std::vector<CodeKey> path;
  for (const auto& [stack, spent] : SumByStack(store, steps)) {
    path.clear();
    for (PythonStackId at = stack; !at.IsNone(); at = stacks.parent[at.row()]) {
      const PythonFrameId frame = stacks.frame[at.row()];
      if (frame.IsNone() || (!path.empty() && recorders[frame.row()])) continue;
      path.push_back(key_of(frame.row()));
    }
    if (path.empty()) continue;
    Sum& own = sums[path.front()];
    own.code.samples += spent.samples;
    own.code.self_ns += spent.ns;
    own.code.self_cpu_ns += spent.cpu_ns;
    own.code.steps_self_ns += spent.steps_ns;
    own.threads.insert(spent.threads.begin(), spent.threads.end());
    own.longest.Add(spent, true);
    std::sort(path.begin(), path.end());
    path.erase(std::unique(path.begin(), path.end()), path.end());
    for (const CodeKey& key : path) {
      Sum& sum = sums[key];
      sum.longest.Add(spent, false);
      SampledCode& code = sum.code;
      code.total_ns += spent.ns;
      code.total_cpu_ns += spent.cpu_ns;
      code.steps_total_ns += spent.steps_ns;
    }
  }
  std::vector<SampledCode> result;
  for (auto& [key, sum] : sums) {
    sum.code.file = key.file;
    sum.code.function = key.function;
    sum.code.line = key.line;
    sum.code.threads = sum.threads.size();
    sum.code.longest = sum.longest.Get();
    result.push_back(sum.code);
  }
  std::sort(result.begin(), result.end(), [&](const SampledCode& a, const SampledCode& b) {
    return std::tuple(-a.self_cpu_ns, -a.self_ns, -a.total_ns, store.Text(a.file), a.line,
                      store.Text(a.function)) < std::tuple(-b.self_cpu_ns, -b.self_ns, -b.total_ns,
                                                           store.Text(b.file), b.line,
                                                           store.Text(b.function));
  });
  return result;
}

}  // namespace

std::vector<SampledCode> SumSamplesByPythonFunction(const Store& store, const StepSet& steps) {
  const PythonFramesTable& frames = store.python_frames;
  return SumByKey(store, steps, [&](size_t row) {
    return CodeKey{frames.file[row], frames.function[row], frames.first_line[row]};
  });
}

std::vector<SampledCode> SumSamplesByPythonLine(const Store& store, const StepSet& steps) {
  const PythonFramesTable& frames = store.python_frames;
  return SumByKey(store, steps, [&](size_t row) {
    return CodeKey{frames.file[row], frames.function[row], frames.line[row]};
  });
}

StepsOnThreads CountStepsOnThreads(const StepSet& steps) {
  StepsOnThreads all;
  for (const ProcessSteps& process : steps.processes) {
    if (process.thread.IsNone()) continue;
    all.count += process.steady.size();
    for (const uint32_t row : process.steady) all.ns += process.steps[row].duration_ns();
  }
  return all;
}

}  // namespace batchlight

#include "analysis/python/sampled_code.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/lines/source_place.h"
#include "analysis/numbers/looks_in_a_row.h"
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
  LookTimes times;
  int64_t steps_ns = 0;
  std::set<ThreadId> threads;
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

std::map<PythonStackId, StackSum> SumByStack(const Store& store, const SpansOfThreads& spans) {
  const PythonSamplesTable& samples = store.python_samples;
  std::map<PythonStackId, StackSum> sums;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (samples.python_stack[row].IsNone()) continue;
    StackSum& sum = sums[samples.python_stack[row]];
    sum.samples += samples.samples[row];
    sum.ns += samples.end_ns[row] - samples.start_ns[row];
    sum.cpu_ns += samples.cpu_ns[row];
    sum.times += TimesOfLooks(samples, row);
    sum.threads.insert(samples.thread[row]);
    if (const auto own = spans.find(samples.thread[row]); own != spans.end()) {
      sum.steps_ns += NsInside(own->second, samples.start_ns[row], samples.end_ns[row]);
    }
  }
  return sums;
}

// By row of store.python_frames: code of the recorder, which wraps what the program calls.
std::vector<bool> FindRecorders(const Store& store) {
  std::vector<bool> recorders;
  for (const StringId file : store.python_frames.file) {
    recorders.push_back(OwnerOfSource(store, store.Text(file)) == SourceOwner::kNobody);
  }
  return recorders;
}

// The longest stretch of looks one after the other that saw a piece of code, of any thread.
class LongestStretches {
 public:
  LongestStretches(const Store& store, const SpansOfThreads& steady, size_t codes)
      : store_(store), steady_(steady), looks_(codes), in_steps_(codes) {}

  // codes_of(stack): numbers of the codes on a stack, each once.
  template <typename CodesOf>
  void Find(CodesOf&& codes_of) {
    const PythonSamplesTable& samples = store_.python_samples;
    std::map<ThreadId, std::vector<uint32_t>> rows;
    for (uint32_t row = 0; row < samples.size(); ++row) rows[samples.thread[row]].push_back(row);
    for (auto& [thread, of_thread] : rows) {
      std::stable_sort(of_thread.begin(), of_thread.end(), [&](uint32_t a, uint32_t b) {
        return samples.start_ns[a] < samples.start_ns[b];
      });
      const auto spans = steady_.find(thread);
      own_ = spans == steady_.end() ? nullptr : &spans->second;
      for (const uint32_t row : of_thread) {
        if (samples.python_stack[row].IsNone()) continue;
        for (const size_t code : codes_of(samples.python_stack[row])) {
          KeepInSteps(code, looks_[code].Add({samples.start_ns[row], samples.end_ns[row]}));
        }
      }
      for (size_t code = 0; code < looks_.size(); ++code) KeepInSteps(code, looks_[code].End());
    }
  }

  // In steps that count, if it was in one without a break.
  TimeSpan Of(size_t code) const {
    return in_steps_[code].duration_ns() > 0 ? in_steps_[code] : looks_[code].longest();
  }

 private:
  void KeepInSteps(size_t code, const TimeSpan& span) {
    if (own_ == nullptr || span.duration_ns() <= in_steps_[code].duration_ns()) return;
    const bool inside = NsInside(*own_, span.start_ns, span.end_ns) == span.duration_ns();
    if (inside) in_steps_[code] = span;
  }

  const Store& store_;
  const SpansOfThreads& steady_;
  const std::vector<TimeSpan>* own_ = nullptr;  // of the thread
  std::vector<LooksInARow> looks_;              // by code
  std::vector<TimeSpan> in_steps_;              // the longest row that lies in steps that count
};

// key_of(row of store.python_frames). The recorder's code has what it takes itself, not what runs
// within.
template <typename KeyOfFrame>
std::vector<SampledCode> SumByKey(const Store& store, const StepSet& steps, KeyOfFrame&& key_of) {
  struct Sum {
    SampledCode code;
    std::set<ThreadId> threads;
    size_t number = 0;
  };
  const PythonStacksTable& stacks = store.python_stacks;
  const std::vector<bool> recorders = FindRecorders(store);
  const SpansOfThreads steady = SteadySpans(steps);
  std::map<CodeKey, Sum> sums;
  std::map<PythonStackId, std::vector<size_t>> codes_of;  // numbers from 1
  size_t last = 0;
  std::vector<CodeKey> path;
  for (const auto& [stack, spent] : SumByStack(store, steady)) {
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
    own.code.self_times += spent.times;
    own.code.steps_self_ns += spent.steps_ns;
    own.threads.insert(spent.threads.begin(), spent.threads.end());
    std::sort(path.begin(), path.end());
    path.erase(std::unique(path.begin(), path.end()), path.end());
    std::vector<size_t>& numbers = codes_of[stack];
    for (const CodeKey& key : path) {
      Sum& sum = sums[key];
      if (sum.number == 0) sum.number = ++last;
      numbers.push_back(sum.number);
      SampledCode& code = sum.code;
      code.total_ns += spent.ns;
      code.total_cpu_ns += spent.cpu_ns;
      code.steps_total_ns += spent.steps_ns;
    }
  }
  LongestStretches longest(store, steady, last + 1);
  longest.Find([&](PythonStackId stack) -> const std::vector<size_t>& { return codes_of[stack]; });
  std::vector<SampledCode> result;
  for (auto& [key, sum] : sums) {
    sum.code.file = key.file;
    sum.code.function = key.function;
    sum.code.line = key.line;
    sum.code.threads = sum.threads.size();
    sum.code.longest = longest.Of(sum.number);
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

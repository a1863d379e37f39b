#include "analysis/lines/code_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/lines/source_place.h"
#include "analysis/numbers/looks_in_a_row.h"

namespace batchlight {
namespace {

constexpr double kNamedShare = 0.1;
constexpr double kMostOfIt = 0.5;
constexpr double kCalledShare = 0.2;

// "Replay.sample.<locals>.<listcomp>" -> "Replay.sample": what stands inside a function is its own.
std::string_view Enclosing(std::string_view function) {
  for (const std::string_view inner :
       {".<locals>.<listcomp>", ".<locals>.<genexpr>", ".<locals>.<dictcomp>",
        ".<locals>.<setcomp>", ".<locals>.<lambda>"}) {
    while (function.ends_with(inner)) function.remove_suffix(inner.size());
  }
  return function;
}

// visit(moment, ns) for each look that a record stands for. A look says where the thread was at its
// moment, the end of the time that it stands for.
template <typename Visitor>
void VisitMoments(const PythonSamplesTable& samples, size_t row, Visitor&& visit) {
  constexpr uint32_t kMostLooks = 1000;  // of damaged records: millions
  const int64_t looks = std::clamp<int64_t>(samples.samples[row], 1, kMostLooks);
  const int64_t each_ns = (samples.end_ns[row] - samples.start_ns[row]) / looks;
  for (int64_t later = looks - 1; later >= 0; --later) {
    visit(samples.end_ns[row] - each_ns * later, each_ns);
  }
}

// The stretch that the moment lies in, which is in one.
const TimeSpan& Around(const std::vector<TimeSpan>& spans, int64_t moment_ns) {
  return *std::partition_point(spans.begin(), spans.end(),
                               [&](const TimeSpan& span) { return span.end_ns <= moment_ns; });
}

// Of those that lie in `spans` the time, and where they are.
struct LooksInside {
  int64_t ns = 0;
  TimeSpan span{};
};
LooksInside LooksWithin(const PythonSamplesTable& samples, size_t row,
                        const std::vector<TimeSpan>& spans, size_t& at) {
  LooksInside inside;
  VisitMoments(samples, row, [&](int64_t moment_ns, int64_t each_ns) {
    if (NsInside(spans, moment_ns, moment_ns + 1, at) == 0) return;
    if (inside.ns == 0) {
      inside.span.start_ns = std::max(moment_ns - each_ns, Around(spans, moment_ns).start_ns);
    }
    inside.ns += each_ns;
    inside.span.end_ns = moment_ns;
  });
  return inside;
}

void Sort(std::vector<SampledFunction>& functions) {
  std::sort(functions.begin(), functions.end(),
            [](const SampledFunction& a, const SampledFunction& b) {
              return std::tuple(-a.ns, a.file, a.function) < std::tuple(-b.ns, b.file, b.function);
            });
}

struct LineTime {
  StringId text;
  int64_t ns = 0;
  int64_t alone_ns = 0;  // with no other function below it
  LooksInARow looks;

  void Add(int64_t more_ns, const TimeSpan& span, bool alone) {
    ns += more_ns;
    alone_ns += alone ? more_ns : 0;
    looks.Add(span);
  }
};
using LinesOfFunctions = std::map<FunctionName, std::map<uint32_t, LineTime>>;  // by line

std::vector<SampledFunction> SumsOf(const LinesOfFunctions& lines) {
  std::vector<SampledFunction> functions;
  for (const auto& [key, by_line] : lines) {
    SampledFunction function{.file = key.first, .function = key.second, .line = 0, .ns = 0};
    int64_t most_ns = -1;
    for (const auto& [line, time] : by_line) {
      function.ns += time.ns;
      if (time.ns <= most_ns) continue;
      most_ns = time.ns;
      function.line = line;
      function.text = time.text;
      function.line_ns = time.ns;
      function.alone_ns = time.alone_ns;
      function.longest = time.looks.longest();
    }
    functions.push_back(function);
  }
  Sort(functions);
  return functions;
}

}  // namespace

CodeSamples::CodeSamples(const Store& store) : store_(store) {
  if (empty()) return;
  lines_ = StackLines(store);
  for (const StringId file : store.python_frames.file) {
    is_shown_.push_back(OwnerOfSource(store, store.Text(file)) >= SourceOwner::kPackage);
  }
}

template <typename Visitor>
void CodeSamples::VisitLooks(ThreadId thread, const std::vector<TimeSpan>& spans,
                             Visitor&& visit) const {
  const PythonSamplesTable& samples = store_.python_samples;
  const auto first = std::partition_point(samples.thread.begin(), samples.thread.end(),
                                          [&](ThreadId other) { return other < thread; });
  size_t at = 0;
  for (auto row = static_cast<size_t>(first - samples.thread.begin());
       row < samples.size() && samples.thread[row] == thread; ++row) {
    if (samples.python_stack[row].IsNone()) continue;
    const LooksInside inside = LooksWithin(samples, row, spans, at);
    if (inside.ns <= 0) continue;
    visit(samples.python_stack[row], TimesOfLooks(samples, row, inside.ns), inside.span);
  }
}

bool CodeSamples::IsOfOthers(PythonStackId stack) const {
  return lines_.Of(stack).imports || lines_.Of(stack).records;
}

PythonFrameId CodeSamples::InnermostOwn(PythonStackId stack) const {
  const StackLine& line = lines_.Of(stack);
  const bool is_none = line.frame.IsNone() || line.loads || !is_shown_[line.frame.row()];
  return is_none ? PythonFrameId::None() : line.frame;
}

// In autograd's engine, which runs no Python of its caller: operators, or a wait for other ranks.
constexpr std::string_view kRunBackward = "_engine_run_backward";

PythonFrameId CodeSamples::OutermostInModule(PythonStackId stack) const {
  const PythonFrameId innermost = InnermostOwn(stack);
  if (innermost.IsNone()) return innermost;
  const PythonFrameId top = store_.python_stacks.frame[stack.row()];
  if (!top.IsNone() && store_.Text(store_.python_frames.function[top.row()]) == kRunBackward)
    return {};
  PythonFrameId outermost;
  for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const PythonFramesRow place = store_.python_frames.Row(frame.row());
    if (IsForward(Enclosing(store_.Text(place.function)))) break;
    if (OwnerOfSource(store_, store_.Text(place.file)) == SourceOwner::kUser) outermost = frame;
  }
  return stack.IsNone() || outermost.IsNone() ? innermost : outermost;
}

template <typename Chooser>
SampledTime CodeSamples::SumBy(ThreadId thread, const std::vector<TimeSpan>& spans,
                               Chooser&& choose) const {
  LinesOfFunctions lines, innermost;
  SampledTime time;
  const auto add = [&](PythonFrameId frame, int64_t ns, const TimeSpan& span, bool alone,
                       LinesOfFunctions& to) {
    if (frame.IsNone()) return;
    const PythonFramesRow place = store_.python_frames.Row(frame.row());
    LineTime& line =
        to[{place.file, std::string(Enclosing(store_.Text(place.function)))}][place.line];
    line.text = place.text;
    line.Add(ns, span, alone);
  };
  VisitLooks(thread, spans, [&](PythonStackId stack, const LookTimes& times, TimeSpan span) {
    if (IsOfOthers(stack)) return;
    time.all_ns += times.ns();
    time.times += times;
    const PythonFrameId frame = choose(stack);
    if (frame.IsNone()) return;  // it waits, or is nobody's that is named
    const PythonFrameId top = store_.python_stacks.frame[stack.row()];
    add(frame, times.ns(), span, frame == top, lines);
    add(top, times.ns(), span, true, innermost);
  });
  time.functions = SumsOf(lines);
  time.innermost = SumsOf(innermost);
  return time;
}

SampledTime CodeSamples::During(ThreadId thread, const std::vector<TimeSpan>& spans) const {
  return SumBy(thread, spans, [&](PythonStackId stack) { return InnermostOwn(stack); });
}

PythonFrameId CodeSamples::OfPackageInLoop(const std::map<FunctionName, int64_t>& loop,
                                           PythonStackId stack) const {
  if (IsOfOthers(stack) || lines_.Of(stack).loads) return {};
  PythonFrameId innermost;
  bool runs_loop = false;
  for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
    if (frame.IsNone() || !is_shown_[frame.row()]) continue;
    const PythonFramesRow place = store_.python_frames.Row(frame.row());
    if (OwnerOfSource(store_, store_.Text(place.file)) == SourceOwner::kUser) break;
    if (innermost.IsNone()) innermost = frame;
    runs_loop = runs_loop ||
                loop.contains({place.file, std::string(Enclosing(store_.Text(place.function)))});
  }
  return runs_loop ? innermost : PythonFrameId::None();
}

SampledTime CodeSamples::OfProgram(const std::map<FunctionName, int64_t>& loop, ThreadId thread,
                                   const std::vector<TimeSpan>& spans) const {
  return SumBy(thread, spans, [&](PythonStackId stack) {
    return OfPackageInLoop(loop, stack).IsNone() ? InnermostOwn(stack) : PythonFrameId::None();
  });
}

SampledTime CodeSamples::OfPackages(const std::map<FunctionName, int64_t>& loop, ThreadId thread,
                                    const std::vector<TimeSpan>& spans) const {
  return SumBy(thread, spans, [&](PythonStackId stack) { return OfPackageInLoop(loop, stack); });
}

SampledTime CodeSamples::InsideModules(ThreadId thread, const std::vector<TimeSpan>& spans) const {
  return SumBy(thread, spans, [&](PythonStackId stack) { return OutermostInModule(stack); });
}

SampledFunction CodeSamples::OutermostBut(const std::map<FunctionName, int64_t>& loop,
                                          PythonStackId stack) const {
  SampledFunction outermost;
  for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const PythonFramesRow place = store_.python_frames.Row(frame.row());
    if (OwnerOfSource(store_, store_.Text(place.file)) != SourceOwner::kUser) continue;
    FunctionName name{place.file, std::string(Enclosing(store_.Text(place.function)))};
    if (loop.contains(name)) continue;
    outermost = {.file = name.first, .function = std::move(name.second), .line = place.line};
  }
  return outermost;
}

SampledTime CodeSamples::CalledFrom(const std::map<FunctionName, int64_t>& loop, ThreadId thread,
                                    const std::vector<TimeSpan>& spans) const {
  LinesOfFunctions lines;
  SampledTime time;
  VisitLooks(thread, spans, [&](PythonStackId stack, const LookTimes& times, TimeSpan span) {
    if (IsOfOthers(stack)) return;
    time.all_ns += times.ns();
    time.times += times;
    const SampledFunction outermost = OutermostBut(loop, stack);
    if (outermost.line == 0) return;
    lines[{outermost.file, outermost.function}][outermost.line].Add(times.ns(), span, false);
  });
  time.functions = SumsOf(lines);
  return time;
}

SampledFunction CodeSamples::CalledOrInLoop(const std::map<FunctionName, int64_t>& loop,
                                            PythonStackId stack) const {
  if (IsOfOthers(stack) || lines_.Of(stack).loads) return {};
  SampledFunction called = OutermostBut(loop, stack);
  for (; called.line == 0 && !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
    if (frame.IsNone() || !is_shown_[frame.row()]) continue;
    const PythonFramesRow place = store_.python_frames.Row(frame.row());
    if (OwnerOfSource(store_, store_.Text(place.file)) != SourceOwner::kUser) return {};
    called = {.file = place.file,
              .function = std::string(Enclosing(store_.Text(place.function))),
              .line = place.line};
  }
  return called;
}

std::vector<CodeLook> CodeSamples::LooksIn(ThreadId thread,
                                           const std::vector<TimeSpan>& spans) const {
  const PythonSamplesTable& samples = store_.python_samples;
  std::vector<CodeLook> inside;
  const auto first = std::partition_point(samples.thread.begin(), samples.thread.end(),
                                          [&](ThreadId other) { return other < thread; });
  size_t at = 0;
  for (auto row = static_cast<size_t>(first - samples.thread.begin());
       row < samples.size() && samples.thread[row] == thread; ++row) {
    if (samples.python_stack[row].IsNone()) continue;
    VisitMoments(samples, row, [&](int64_t moment_ns, int64_t ns) {
      if (NsInside(spans, moment_ns, moment_ns + 1, at) == 0) return;
      inside.push_back({.at_ns = moment_ns,
                        .ns = ns,
                        .times = TimesOfLooks(samples, row, ns),
                        .stack = samples.python_stack[row]});
    });
  }
  return inside;
}

std::map<FunctionName, int64_t> CodeSamples::OnStacks(ThreadId thread,
                                                      const std::vector<TimeSpan>& spans) const {
  std::map<FunctionName, int64_t> functions;
  std::set<FunctionName> of_stack;  // recursion counts once
  VisitLooks(thread, spans, [&](PythonStackId stack, const LookTimes& times, const TimeSpan&) {
    of_stack.clear();
    for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
      const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
      if (frame.IsNone() || !is_shown_[frame.row()]) continue;
      const PythonFramesRow place = store_.python_frames.Row(frame.row());
      of_stack.insert({place.file, std::string(Enclosing(store_.Text(place.function)))});
    }
    for (const FunctionName& function : of_stack) functions[function] += times.ns();
  });
  return functions;
}

std::map<FunctionName, int64_t> CodeSamples::OftenOnStacks(ThreadId thread,
                                                           const std::vector<TimeSpan>& spans,
                                                           double least_share) const {
  std::map<FunctionName, int64_t> functions = OnStacks(thread, spans);
  int64_t most_ns = 0;
  for (const auto& [function, ns] : functions) most_ns = std::max(most_ns, ns);
  std::erase_if(functions, [&](const auto& function) {
    return double(function.second) < least_share * double(most_ns);
  });
  return functions;
}

bool IsForward(std::string_view function) {
  const size_t dot = function.rfind('.');
  return (dot == function.npos ? function : function.substr(dot + 1)) == "forward";
}

namespace {

std::vector<SampledFunction> SumOf(const std::vector<SampledTime>& times,
                                   std::vector<SampledFunction> SampledTime::*which) {
  std::map<FunctionName, SampledFunction> functions;
  for (const SampledTime& time : times) {
    for (const SampledFunction& function : time.*which) {
      const auto [place, added] =
          functions.try_emplace({function.file, function.function}, function);
      if (added) continue;
      place->second.ns += function.ns;
      if (place->second.line == function.line) {
        place->second.line_ns += function.line_ns;
        place->second.alone_ns += function.alone_ns;
        KeepLonger(place->second.longest, function.longest);
      }
    }
  }
  std::vector<SampledFunction> sum;
  for (const auto& [key, function] : functions) sum.push_back(function);
  Sort(sum);
  return sum;
}

}  // namespace

SampledTime SumOf(const std::vector<SampledTime>& times) {
  SampledTime sum;
  for (const SampledTime& time : times) {
    sum.all_ns += time.all_ns;
    sum.times += time.times;
  }
  sum.functions = SumOf(times, &SampledTime::functions);
  sum.innermost = SumOf(times, &SampledTime::innermost);
  return sum;
}

std::string FunctionText(const Store& store, const SampledFunction& function) {
  const std::string place =
      std::string(ShortFile(store.Text(function.file))) + ':' + std::to_string(function.line);
  if (function.function.empty()) return place;
  if (function.function == "<module>") return "the main program (" + place + ")";
  return "`" + function.function + "` (" + place + ")";
}

std::string EventOfFunction(std::string_view function) {
  return function.empty() ? "" : '(' + std::string(function) + ')';
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

std::string CalledText(const Store& store, const SampledTime& time) {
  constexpr size_t kMost = 2;
  std::string text;
  size_t named = 0;
  for (const SampledFunction& function : time.innermost) {
    if (double(function.ns) < kCalledShare * double(time.all_ns) || named == kMost) break;
    const std::string_view file = store.Text(function.file);
    const SourceOwner owner = OwnerOfSource(store, file);
    const std::string_view module = InstalledModule(store, file);
    if (owner == SourceOwner::kUser || owner == SourceOwner::kPyTorch || module.empty()) continue;
    if (IsForward(function.function)) continue;
    text += (named++ > 0 ? ", `" : "`") + function.function + "` of " + std::string(module);
  }
  return text;
}

}  // namespace batchlight

// In which functions of the user's own code a thread was, by samples from outside
// (store.python_samples). A sample belongs to the innermost frame of the user's own code, or of an
// installed package's where there is none; not where that only asked a DataLoader for a batch. What
// imports run, and what the recorder does for itself, is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/lines/look_times.h"
#include "analysis/lines/stack_lines.h"
#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

struct SampledFunction {
  StringId file;
  std::string function;  // qualified name; what is defined inside it is its own
  uint32_t line = 0;     // where most of it was
  StringId text;         // of that line, where the file could be read
  int64_t line_ns = 0;   // in that line
  int64_t alone_ns = 0;  // of that in the line itself, or in C that it calls: in no other function
  int64_t ns = 0;        // wall time that the samples stand for
  TimeSpan longest{};    // of looks at that line, one after the other; empty: not known
};

struct SampledTime {
  std::vector<SampledFunction> functions;  // by falling time
  std::vector<SampledFunction>
      innermost;       // what these were in, whoever's code that is; the same way
  int64_t all_ns = 0;  // of all samples, whatever code they are of
  LookTimes times;     // the same, by what the thread did
};

// Of a function: file and qualified name.
using FunctionName = std::pair<StringId, std::string>;

// A look at a thread: where it was at a moment, and the time before it that this stands for.
struct CodeLook {
  int64_t at_ns = 0;
  int64_t ns = 0;
  LookTimes times;  // the same, by what the thread did
  PythonStackId stack;
};

class CodeSamples {
 public:
  explicit CodeSamples(const Store& store);

  bool empty() const { return store_.python_samples.size() == 0; }
  // `spans`: ordered and disjoint.
  SampledTime During(ThreadId thread, const std::vector<TimeSpan>& spans) const;
  // As During, without what a package does that runs the loop: `loop` holds functions of the
  // user's and of packages, and on the stack one of these is inside of the user's innermost.
  SampledTime OfProgram(const std::map<FunctionName, int64_t>& loop, ThreadId thread,
                        const std::vector<TimeSpan>& spans) const;
  // That alone, by the package's innermost function.
  SampledTime OfPackages(const std::map<FunctionName, int64_t>& loop, ThreadId thread,
                         const std::vector<TimeSpan>& spans) const;
  // By the outermost function of the user's own code on each stack that is none of `loop`: what
  // a loop calls, whatever that calls in turn.
  SampledTime CalledFrom(const std::map<FunctionName, int64_t>& loop, ThreadId thread,
                         const std::vector<TimeSpan>& spans) const;
  // The function that such a stack is counted for, ns 0; where all of the user's own on it are of
  // `loop`, the innermost, unless a package runs in it. line 0: none.
  SampledFunction CalledOrInLoop(const std::map<FunctionName, int64_t>& loop,
                                 PythonStackId stack) const;
  // Those at moments inside of `spans`, in order.
  std::vector<CodeLook> LooksIn(ThreadId thread, const std::vector<TimeSpan>& spans) const;
  // As During, but what a module's forward calls has all that it calls in turn: by the outermost of
  // the user's own functions inside the innermost forward.
  SampledTime InsideModules(ThreadId thread, const std::vector<TimeSpan>& spans) const;
  // Functions of the user's own code that were on the stack then, innermost or not, with that time.
  std::map<FunctionName, int64_t> OnStacks(ThreadId thread,
                                           const std::vector<TimeSpan>& spans) const;
  // The same without those that were there for less than a share of the time of the first of them:
  // a sample at the edge of a stretch may say where the thread was just before.
  std::map<FunctionName, int64_t> OftenOnStacks(ThreadId thread, const std::vector<TimeSpan>& spans,
                                                double least_share) const;

 private:
  bool IsOfOthers(PythonStackId stack) const;  // an import's, or the recorder's
  // The frame that a look is of: the innermost of the user's own, or the outermost inside a module.
  PythonFrameId InnermostOwn(PythonStackId stack) const;
  PythonFrameId OutermostInModule(PythonStackId stack) const;
  // Of the package that runs the loop, if it runs; else None.
  PythonFrameId OfPackageInLoop(const std::map<FunctionName, int64_t>& loop,
                                PythonStackId stack) const;
  SampledFunction OutermostBut(const std::map<FunctionName, int64_t>& loop,
                               PythonStackId stack) const;
  template <typename Chooser>
  SampledTime SumBy(ThreadId thread, const std::vector<TimeSpan>& spans, Chooser&& choose) const;
  // visit(stack, times, span) for the thread's looks within the spans, which lie in that one.
  template <typename Visitor>
  void VisitLooks(ThreadId thread, const std::vector<TimeSpan>& spans, Visitor&& visit) const;

  const Store& store_;
  StackLines lines_;
  std::vector<bool> is_shown_;  // by row of store.python_frames: code of the user or of a package
};

// Whether that is a module's forward, by the last part of the name.
bool IsForward(std::string_view function);

// Of several threads together.
SampledTime SumOf(const std::vector<SampledTime>& times);

// "`collect` (train.py:42)"; "the main program (train.py:42)" outside of functions.
std::string FunctionText(const Store& store, const SampledFunction& function);
// "(collect)": what stands in the names of its events (PythonLabel). "" where its name is not
// known.
std::string EventOfFunction(std::string_view function);
// How many functions a sentence names.
inline constexpr size_t kNamedFunctions = 3;
// The functions that hold a tenth or more of the time, at most `most` of them: "`tokenize`
// (data.py:7), `collect` (train.py:42)". "" where they do not hold half of it.
std::string FunctionTexts(const Store& store, const SampledTime& time,
                          size_t most = kNamedFunctions);
// What of packages and of Python itself they call for it: "`ZipExtFile._read1` of zipfile". Those
// that hold a fifth of the time, two at most; "" where none does. PyTorch's own and forwards say
// nothing.
std::string CalledText(const Store& store, const SampledTime& time);

}  // namespace batchlight

#include "analysis/cpu/call_stacks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/cpu/sample_sums.h"

namespace batchlight {
namespace {

constexpr size_t kMostCallers = 3;

using StackKey = std::tuple<ThreadId, NativeStackId, PythonStackId, StringId>;

template <typename Sum>
void Count(Sum& sum, uint64_t calls, int64_t total_ns, int64_t longest_ns) {
  sum.calls += calls;
  sum.total_ns += total_ns;
  sum.longest_ns = std::max(sum.longest_ns, longest_ns);
}

std::vector<CallsOfStack> ListOf(const std::map<StackKey, CallsOfStack>& sums) {
  std::vector<CallsOfStack> list;
  for (const auto& [key, sum] : sums) {
    list.push_back(sum);
    std::tie(list.back().thread, list.back().stack, list.back().python_stack, list.back().call) =
        key;
  }
  return list;
}

// Files of what is called, whose own frames say nothing about the caller.
bool IsCalled(std::string_view module) {
  for (const std::string_view prefix :
       {"libcuda.so", "libcudart", "libc.so", "libc-2", "libpthread", "ld-linux", "[vdso]"}) {
    if (module.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<NativeFrameId> CallersOf(const Store& store, NativeStackId stack) {
  std::vector<NativeFrameId> callers;
  NativeFrameId innermost;
  for (; !stack.IsNone() && callers.size() < kMostCallers;
       stack = store.native_stacks.parent[stack.row()]) {
    const NativeFrameId frame = store.native_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    if (innermost.IsNone()) innermost = frame;
    const bool is_called =
        callers.empty() && IsCalled(ModuleName(store, store.native_frames.module[frame.row()]));
    if (!is_called) callers.push_back(frame);
  }
  if (callers.empty() && !innermost.IsNone()) callers.push_back(innermost);
  return callers;
}

// One frame of each function: the places in it from which a call is made are one caller.
class FrameOfFunction {
 public:
  explicit FrameOfFunction(const Store& store) : store_(store) {}
  NativeFrameId Of(NativeFrameId frame) {
    const StringId function = store_.native_frames.function[frame.row()];
    if (function.IsNone()) return frame;
    const NativeFramesRow row = store_.native_frames.Row(frame.row());
    return frames_.try_emplace({row.module, function, row.inlined}, frame).first->second;
  }

 private:
  const Store& store_;
  std::map<std::tuple<NativeModuleId, StringId, YesNo>, NativeFrameId> frames_;
};

}  // namespace

std::vector<CallsOfStack> SumCudaCallsByStack(const Store& store,
                                              const std::vector<PythonStackId>& python_stacks) {
  std::map<StackKey, CallsOfStack> sums;
  const CudaBacktracesTable& backtraces = store.cuda_backtraces;
  const ApiCallsTable& calls = store.api_calls;
  for (size_t row = 0; row < backtraces.size(); ++row) {
    const ApiCallId call = backtraces.api_call[row];
    if (call.IsNone() || backtraces.native_stack[row].IsNone()) continue;
    const int64_t ns = calls.end_ns[call.row()] - calls.start_ns[call.row()];
    Count(sums[{calls.thread[call.row()], backtraces.native_stack[row], python_stacks[call.row()],
                calls.name[call.row()]}],
          1, ns, ns);
  }
  return ListOf(sums);
}

std::vector<CallsOfStack> SumOsCallsByStack(const Store& store,
                                            const std::vector<PythonStackId>& python_stacks) {
  std::map<StackKey, CallsOfStack> sums;
  const OsCallsTable& calls = store.os_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.native_stack[row].IsNone()) continue;
    const int64_t ns = calls.end_ns[row] - calls.start_ns[row];
    Count(sums[{calls.thread[row], calls.native_stack[row], python_stacks[row], calls.name[row]}],
          1, ns, ns);
  }
  return ListOf(sums);
}

bool RunsPython(const Store& store, NativeFrameId frame) {
  if (frame.IsNone()) return false;
  const std::string_view name = store.Text(store.native_frames.function[frame.row()]);
  return name.starts_with("_PyEval_EvalFrame") || name.starts_with("PyEval_EvalFrame");
}

std::vector<CallsOfCaller> SumCallsByCaller(
    const Store& store, const std::vector<PythonStackId>& cuda,
    const std::vector<PythonStackId>& os,
    const std::function<PythonFrameId(PythonStackId)>& line_of) {
  FrameOfFunction frame_of(store);
  std::map<std::tuple<StringId, std::vector<NativeFrameId>, PythonFrameId>, CallsOfCaller> sums;
  std::vector<CallsOfStack> all = SumCudaCallsByStack(store, cuda);
  const std::vector<CallsOfStack> of_os = SumOsCallsByStack(store, os);
  all.insert(all.end(), of_os.begin(), of_os.end());
  for (const CallsOfStack& of : all) {
    std::vector<NativeFrameId> callers = CallersOf(store, of.stack);
    for (NativeFrameId& caller : callers) caller = frame_of.Of(caller);
    const PythonFrameId line =
        of.python_stack.IsNone() ? PythonFrameId::None() : line_of(of.python_stack);
    Count(sums[{of.call, std::move(callers), line}], of.calls, of.total_ns, of.longest_ns);
  }
  std::vector<CallsOfCaller> list;
  for (auto& [key, sum] : sums) {
    std::tie(sum.call, sum.callers, sum.python_frame) = key;
    list.push_back(sum);
  }
  std::stable_sort(list.begin(), list.end(), [](const CallsOfCaller& a, const CallsOfCaller& b) {
    return a.total_ns > b.total_ns;
  });
  return list;
}

}  // namespace batchlight

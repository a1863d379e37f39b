#include "analysis/breakdown/freed_batches.h"

#include <algorithm>
#include <unordered_set>

namespace batchlight {
namespace {

// What a smaller copy leaves behind is freed in no time.
constexpr uint64_t kLargeCopyBytes = 4'000'000;
// From the end of the copy's call to the end of the operator around it.
constexpr int64_t kBehindCopyNs = 500'000;

// Calls of the thread that copy large tensors from pageable memory to the GPU, in order.
std::vector<TimeSpan> LargeCopies(const Store& store, ThreadId thread) {
  std::vector<TimeSpan> calls;
  const MemcpysTable& copies = store.memcpys;
  for (size_t row = 0; row < copies.size(); ++row) {
    if (copies.source_kind[row] != MemoryKind::kPageable) continue;
    if (copies.destination_kind[row] != MemoryKind::kDevice) continue;
    if (copies.bytes[row] < kLargeCopyBytes || copies.api_call[row].IsNone()) continue;
    const size_t call = copies.api_call[row].row();
    if (store.api_calls.thread[call] != thread) continue;
    // It returns before the copy is done where the last of it is staged.
    const int64_t end_ns = store.api_calls.end_ns[call];
    if (end_ns != kOpenEnd) calls.push_back({store.api_calls.start_ns[call], end_ns});
  }
  return UnionOf(std::move(calls));
}

}  // namespace

int64_t FreeingNs(const Store& store, const ProcessSteps& main, const CodeSamples& samples,
                  const std::vector<TimeSpan>& gaps) {
  const std::vector<TimeSpan> copies = LargeCopies(store, main.thread);
  if (copies.empty() || samples.empty()) return 0;
  std::vector<TimeSpan> behind;
  auto copy = copies.begin();
  for (const TimeSpan& gap : gaps) {
    while (copy != copies.end() && copy->end_ns < gap.start_ns - kBehindCopyNs) ++copy;
    if (copy != copies.end() && copy->end_ns <= gap.start_ns) behind.push_back(gap);
  }
  // The copy's stacks, and those of its callers: the same line again.
  std::unordered_set<uint32_t> lines;
  for (const CodeLook& look : samples.LooksIn(main.thread, copies)) {
    for (PythonStackId stack = look.stack; !stack.IsNone();
         stack = store.python_stacks.parent[stack.row()]) {
      if (!lines.insert(uint32_t(stack.row())).second) break;
    }
  }
  int64_t ns = 0;
  for (const CodeLook& look : samples.LooksIn(main.thread, behind)) {
    if (lines.contains(uint32_t(look.stack.row()))) ns += look.ns;
  }
  return ns;
}

}  // namespace batchlight

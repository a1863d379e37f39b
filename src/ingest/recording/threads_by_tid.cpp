#include "ingest/recording/threads_by_tid.h"

#include <algorithm>
#include <numeric>

#include "store/row_order.h"

namespace batchlight {
namespace {

// Restores the order of the threads table after rows were appended.
void OrderThreads(Store& store) {
  ThreadsTable& threads = store.threads;
  std::vector<uint32_t> order(threads.size());
  std::iota(order.begin(), order.end(), 0);
  // Sorts by process only: within one, threads keep their order and new ones come last.
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return threads.process[a] < threads.process[b]; });
  ReorderRows(store, threads, order);
}

}  // namespace

void ThreadsByTid::AddMissing(std::span<const TidUse> uses, Store& store) {
  std::map<Key, std::pair<int64_t, int64_t>> missing;  // first and last time
  Key last{};
  bool last_known = false;
  for (const TidUse& use : uses) {
    if (use.process.IsNone() || use.tid == 0) continue;
    const Key key{use.process, use.tid};
    if (key != last) {  // calls of a thread come in long runs
      last = key;
      last_known = rows_.contains(key);
    }
    if (last_known) continue;
    auto& [first_ns, last_ns] = missing.try_emplace(key, use.at_ns, use.at_ns).first->second;
    first_ns = std::min(first_ns, use.at_ns);
    last_ns = std::max(last_ns, use.at_ns);
  }
  if (missing.empty()) return;
  for (const auto& [key, span] : missing) {
    store.threads.Append(
        {.process = key.first, .tid = key.second, .start_ns = span.first, .end_ns = span.second});
  }
  OrderThreads(store);
}

ThreadsByTid::ThreadsByTid(std::span<const TidUse> uses, Store& store) : threads_(&store.threads) {
  const auto index = [&] {
    rows_.clear();
    for (size_t row = 0; row < threads_->size(); ++row) {
      rows_[{threads_->process[row], threads_->tid[row]}].push_back(ThreadId::At(row));
    }
  };
  index();
  AddMissing(uses, store);
  index();
}

ThreadId ThreadsByTid::Find(const TidUse& use) const {
  const auto found = rows_.find({use.process, use.tid});
  if (use.tid == 0 || found == rows_.end()) return ThreadId::None();
  ThreadId thread = found->second.front();
  for (const ThreadId later : found->second) {
    if (threads_->start_ns[later.row()] <= use.at_ns) thread = later;
  }
  return thread;
}

}  // namespace batchlight

#include "ingest/common/lock_handovers.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace batchlight {
namespace {

// EOWNERDEAD of Linux, where it was recorded.
constexpr int64_t kOwnerDied = 130;

// Those that took it are in order of their ends, by which the mutex went from one to the next.
struct Taken {
  int64_t end_ns;
  uint32_t row;
  friend bool operator<(const Taken& a, const Taken& b) {
    return std::pair(a.end_ns, a.row) < std::pair(b.end_ns, b.row);
  }
};

}  // namespace

void FollowLockHandovers(Store& store) {
  OsCallsTable& calls = store.os_calls;
  std::map<std::pair<ProcessId, uint64_t>, std::vector<Taken>> by_mutex;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.object[row] == 0 || calls.end_ns[row] == kOpenEnd) continue;
    if (!store.Text(calls.name[row]).starts_with("pthread_mutex_")) continue;
    by_mutex[{store.ProcessOf(calls.thread[row]), calls.object[row]}].push_back(
        {calls.end_ns[row], static_cast<uint32_t>(row)});
  }
  for (auto& [mutex, waits] : by_mutex) {
    std::sort(waits.begin(), waits.end());
    const Taken* last = nullptr;  // that got it before the wait at hand ended
    for (const Taken& wait : waits) {
      if (last != nullptr && last->end_ns > calls.start_ns[wait.row] &&
          calls.thread[last->row] != calls.thread[wait.row]) {
        calls.released_by[wait.row] =
            static_cast<uint32_t>(store.threads.tid[calls.thread[last->row].row()]);
      }
      const int64_t result = calls.result[wait.row];
      if (result == 0 || result == kOwnerDied) last = &wait;
    }
  }
}

}  // namespace batchlight

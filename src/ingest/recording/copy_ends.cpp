#include "ingest/recording/copy_ends.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "format/records.h"

namespace batchlight {
namespace {

constexpr int64_t kSuspiciousNs = 100'000;

using Stream = std::tuple<uint32_t, uint32_t, uint32_t>;  // row of the process, context, stream

struct Suspect {
  size_t row;  // of memcpys
  int64_t start_ns;
  int64_t next_ns = INT64_MAX;  // begin of the stream's next work
};
using Suspects = std::map<Stream, std::vector<Suspect>>;  // by start

template <typename Table>
Stream StreamOf(const Table& table, size_t row) {
  return {table.process[row].row(), table.context[row], table.stream[row]};
}

bool IsSuspect(const MemcpysTable& copies, size_t row) {
  if (copies.end_ns[row] == kOpenEnd) return false;
  const int64_t length = copies.end_ns[row] - copies.start_ns[row];
  if (length < kSuspiciousNs) return false;
  if (copies.graph_node[row] != 0 || copies.process[row].IsNone()) return false;
  return copies.bytes[row] < static_cast<uint64_t>(length);  // 1 GB/s is a byte a ns
}

Suspects FindSuspects(const MemcpysTable& copies) {
  Suspects suspects;
  for (size_t row = 0; row < copies.size(); ++row) {
    if (!IsSuspect(copies, row)) continue;
    suspects[StreamOf(copies, row)].push_back({row, copies.start_ns[row]});
  }
  return suspects;
}

template <typename Table>
void FindNext(const Table& table, Suspects& suspects) {
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.process[row].IsNone()) continue;
    const auto stream = suspects.find(StreamOf(table, row));
    if (stream == suspects.end()) continue;
    std::vector<Suspect>& list = stream->second;
    const auto behind = std::partition_point(list.begin(), list.end(), [&](const Suspect& suspect) {
      return suspect.start_ns < table.start_ns[row];
    });
    if (behind == list.begin()) continue;
    int64_t& next_ns = std::prev(behind)->next_ns;
    next_ns = std::min(next_ns, table.start_ns[row]);
  }
}

// Median of the copies of the same kind and size; INT64_MAX without any.
int64_t UsualNs(const MemcpysTable& copies, size_t suspect) {
  std::vector<int64_t> lengths;
  for (size_t row = 0; row < copies.size(); ++row) {
    const bool alike = copies.bytes[row] == copies.bytes[suspect] &&
                       copies.copy_kind[row] == copies.copy_kind[suspect] &&
                       copies.source_kind[row] == copies.source_kind[suspect] &&
                       copies.destination_kind[row] == copies.destination_kind[suspect];
    if (!alike || copies.end_ns[row] == kOpenEnd || IsSuspect(copies, row)) continue;
    lengths.push_back(copies.end_ns[row] - copies.start_ns[row]);
  }
  if (lengths.empty()) return INT64_MAX;
  const auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

}  // namespace

void CutImpossibleCopyEnds(Store& store) {
  MemcpysTable& copies = store.memcpys;
  Suspects suspects = FindSuspects(copies);
  if (suspects.empty()) return;
  FindNext(store.kernels, suspects);
  FindNext(copies, suspects);
  FindNext(store.memsets, suspects);
  FindNext(store.graph_launches, suspects);
  std::vector<Suspect> impossible;
  for (const auto& [stream, list] : suspects) {
    for (const Suspect& suspect : list) {
      if (suspect.next_ns < copies.end_ns[suspect.row]) impossible.push_back(suspect);
    }
  }
  if (impossible.empty()) return;
  constexpr size_t kSearched = 100;  // more are no slip of CUPTI's: take the upper bound
  for (size_t i = 0; i < impossible.size(); ++i) {
    const Suspect& copy = impossible[i];
    const int64_t usual_ns = i < kSearched ? UsualNs(copies, copy.row) : INT64_MAX;
    copies.end_ns[copy.row] = copy.start_ns + std::min(usual_ns, copy.next_ns - copy.start_ns);
  }
  store.losses.Append({.process = ProcessId::None(),
                       .counter = static_cast<uint32_t>(format::Counter::kCopyEndsCut),
                       .value = impossible.size()});
}

}  // namespace batchlight

#include "timeline/tracks/stream_events.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace batchlight::timeline {
namespace {

struct Key {
  ProcessId process;
  int64_t device = -1;
  TrackKind kind = TrackKind::kStream;
  uint64_t context = 0;
  uint64_t stream = 0;

  friend auto operator<=>(const Key&, const Key&) = default;
};

template <typename Table>
Key KeyOf(const Table& table, size_t row) {
  if constexpr (std::is_same_v<Table, MemcpysTable>) {
    if (IsUnified(table.copy_kind[row])) {
      return {table.process[row], int64_t{table.device[row]}, TrackKind::kUnified};
    }
  }
  if constexpr (std::is_same_v<Table, UmGpuFaultsTable>) {
    return {table.process[row], int64_t{table.device[row]}, TrackKind::kUnified};
  } else if constexpr (std::is_same_v<Table, SynchronizationsTable>) {
    return {table.process[row], -1, TrackKind::kWaits};
  } else if constexpr (requires { table.stream; }) {
    return {table.process[row], int64_t{table.device[row]}, TrackKind::kStream, table.context[row],
            table.stream[row]};
  } else {
    return {table.process[row], -1, TrackKind::kDriver};
  }
}

// What is known of streams besides their events.
class KnownStreams {
 public:
  explicit KnownStreams(const Store& store) : store_(store) {
    const GpuContextsTable& contexts = store.gpu_contexts;
    for (size_t row = 0; row < contexts.size(); ++row) {
      default_.insert({contexts.process[row], contexts.context[row], contexts.null_stream[row]});
    }
    const GpuStreamsTable& streams = store.gpu_streams;
    for (size_t row = 0; row < streams.size(); ++row) {
      row_of_.try_emplace({streams.process[row], streams.context[row], streams.stream[row]}, row);
    }
  }

  std::string TitleOf(const Key& key) const {
    if (key.kind == TrackKind::kWaits) return "Waits for the GPU";
    if (key.kind == TrackKind::kDriver) return "Driver and CUPTI";
    if (key.kind == TrackKind::kUnified) return "Unified memory";
    std::string title = "stream " + std::to_string(key.stream);
    const Stream stream{key.process, key.context, key.stream};
    if (default_.contains(stream)) title += " (default)";
    const auto named = row_of_.find(stream);
    if (named == row_of_.end()) return title;
    const std::string_view name = store_.Text(store_.gpu_streams.name[named->second]);
    if (!name.empty()) title += ", " + std::string(name);
    return title;
  }

 private:
  using Stream = std::tuple<ProcessId, uint64_t, uint64_t>;  // with its context

  const Store& store_;
  std::set<Stream> default_;
  std::map<Stream, size_t> row_of_;
};

using Lists = std::map<Key, StreamList>;

// Events of a table by track. Events of many streams take turns: where those of the last tracks lie
// is kept.
class RowsByKey {
 public:
  void Add(const Key& key, uint32_t ref) {
    Recent& recent = recent_[(key.stream + key.context * 7 + key.process.value * 31) % kRecent];
    if (recent.rows == nullptr || recent.key != key) recent = {key, &found_[key]};
    recent.rows->push_back(ref);
  }
  std::map<Key, std::vector<uint32_t>>& found() { return found_; }

 private:
  static constexpr size_t kRecent = 64;
  struct Recent {
    Key key;
    std::vector<uint32_t>* rows = nullptr;
  };
  std::map<Key, std::vector<uint32_t>> found_;
  std::array<Recent, kRecent> recent_;
};

template <typename Table>
void AddTable(const Timeline& timeline, const Table& table, const KnownStreams& known,
              Lists& lists) {
  const EventTable* events = timeline.events().TableWithKey(Table::kName);
  if (events == nullptr) return;
  RowsByKey rows;
  for (uint32_t row = 0; row < events->rows; ++row) {
    rows.Add(KeyOf(table, row), events->first_ref + row);
  }
  for (auto& [key, refs] : rows.found()) {
    StreamList& list = lists[key];
    if (list.tables.empty()) {
      list = {.process = key.process,
              .device = key.device,
              .kind = key.kind,
              .context = key.context,
              .stream = key.stream,
              .title = known.TitleOf(key),
              .tables = {}};
    }
    list.tables.push_back(std::move(refs));
  }
}

}  // namespace

StreamTables::StreamTables(const Timeline& timeline) : timeline_(timeline) {
  const Store& store = timeline.store();
  const KnownStreams known(store);
  Lists lists;
#define STREAM_TABLE(member, title) AddTable(timeline, store.member, known, lists);
#define PROCESS_TABLE(member, title) AddTable(timeline, store.member, known, lists);
#include "timeline/tracks/event_tables.def"
  for (auto& [key, list] : lists) lists_.push_back(std::move(list));
}

std::vector<uint32_t> StreamTables::EventsOf(const StreamList& list) const {
  const Events& events = timeline_.events();
  const auto before = [&](uint32_t a, uint32_t b) {
    const int64_t a_ns = events.Start(a);
    const int64_t b_ns = events.Start(b);
    if (a_ns != b_ns) return a_ns < b_ns;
    return events.End(a) > events.End(b);
  };
  std::vector<uint32_t> all;
  for (const std::vector<uint32_t>& refs : list.tables) {
    const size_t middle = all.size();
    all.insert(all.end(), refs.begin(), refs.end());
    const auto at = all.begin() + static_cast<ptrdiff_t>(middle);
    // Tables are by start, but not by length where starts are equal.
    if (!std::is_sorted(at, all.end(), before)) std::stable_sort(at, all.end(), before);
    std::inplace_merge(all.begin(), at, all.end(), before);
  }
  return all;
}

}  // namespace batchlight::timeline

#include "ingest/recording/join_fragments.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/thread_pool.h"
#include "ingest/recording/stitch.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

// Rows of the table that ids of type T point into, before the fragment's.
template <typename T>
uint32_t BaseRow(const FragmentMap& map) {
#define TABLE_BEGIN(Name, member, doc) \
  if constexpr (std::is_same_v<RowIdOf<Name##Table>, T>) return map.member;
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
}

template <typename T>
T Translate(const FragmentMap& map, T value) {
  if constexpr (std::is_same_v<T, StringId>) {
    return map.String(value);
  } else if constexpr (std::is_same_v<T, NvtxDomainId>) {
    return value.IsNone() ? value : map.domains[value.row()];
  } else {
    return value.IsNone() ? value : T{BaseRow<T>(map) + value.value};
  }
}

// Process and thread ids are the store's already.
template <typename T>
constexpr bool kIsPlain = std::is_arithmetic_v<T> || kIsKind<T> || std::is_same_v<T, ProcessId> ||
                          std::is_same_v<T, ThreadId>;

// Where a column lies in a store: a function for each column, since the rest is the same for all
// columns of a type.
template <typename T>
using ColumnPlace = std::vector<T>& (*)(Store&);

template <typename T>
void JoinColumn(std::vector<Fragment>& fragments, std::span<const FragmentMap> maps,
                ColumnPlace<T> column_of, size_t rows, Store& store) {
  std::vector<T>& out = column_of(store);
  out.reserve(rows);
  for (size_t i = 0; i < fragments.size(); ++i) {
    std::vector<T>& in = column_of(fragments[i].store);
    if constexpr (kIsPlain<T>) {
      out.insert(out.end(), in.begin(), in.end());
    } else {
      for (const T value : in) out.push_back(Translate(maps[i], value));
    }
    std::vector<T>().swap(in);
  }
}

// One task a column: two columns never share memory, and a fragment's part is freed as soon as it
// is copied, so that the peak is one column above the result.
struct JoinTask {
  // JoinColumn<T>() with `column`, a ColumnPlace<T>.
  void (*join)(const JoinTask&, std::vector<Fragment>&, std::span<const FragmentMap>, Store&);
  void (*column)();
  size_t rows;
};

template <typename T>
JoinTask MakeTask(ColumnPlace<T> column_of, size_t rows) {
  return {[](const JoinTask& task, std::vector<Fragment>& fragments,
             std::span<const FragmentMap> maps, Store& store) {
            JoinColumn(fragments, maps, reinterpret_cast<ColumnPlace<T>>(task.column), task.rows,
                       store);
          },
          reinterpret_cast<void (*)()>(column_of), rows};
}

void JoinStrings(std::vector<Fragment>& fragments, std::span<FragmentMap> maps, Store& store) {
  for (size_t i = 0; i < fragments.size(); ++i) {
    StringPool& from = fragments[i].store.strings;
    maps[i].strings.reserve(from.size());
    for (size_t row = 0; row < from.size(); ++row) {
      maps[i].strings.push_back(store.strings.Intern(from.Get(StringId::At(row))));
    }
    from = StringPool();
  }
}

void JoinDomains(std::vector<Fragment>& fragments, std::span<FragmentMap> maps, Store& store) {
  std::map<std::pair<ProcessId, StringId>, NvtxDomainId> rows;
  std::map<ProcessId, uint32_t> last_native_id;
  for (size_t i = 0; i < fragments.size(); ++i) {
    NvtxDomainsTable& from = fragments[i].store.nvtx_domains;
    for (size_t row = 0; row < from.size(); ++row) {
      const StringId name = maps[i].String(from.name[row]);
      const auto [place, added] =
          rows.try_emplace({from.process[row], name}, NvtxDomainId::At(store.nvtx_domains.size()));
      if (added) {
        store.nvtx_domains.Append({.process = from.process[row],
                                   .name = name,
                                   .native_id = ++last_native_id[from.process[row]],
                                   .created_ns = from.created_ns[row]});
      }
      maps[i].domains.push_back(place->second);
    }
    from.Clear();
  }
}

// Sets the base rows of every table; false if ids cannot name all rows.
bool SetBaseRows(const std::vector<Fragment>& fragments, std::span<FragmentMap> maps) {
  bool fits = true;
#define TABLE_BEGIN(Name, member, doc)              \
  {                                                 \
    uint64_t rows = 0;                              \
    for (size_t i = 0; i < fragments.size(); ++i) { \
      maps[i].member = static_cast<uint32_t>(rows); \
      rows += fragments[i].store.member.size();     \
    }                                               \
    fits = fits && rows < UINT32_MAX;               \
  }
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
  return fits;
}

template <typename Table>
size_t TotalRows(const std::vector<Fragment>& fragments, Table Store::*table) {
  size_t rows = 0;
  for (const Fragment& fragment : fragments) rows += (fragment.store.*table).size();
  return rows;
}

void JoinColumns(std::vector<Fragment>& fragments, std::span<const FragmentMap> maps,
                 Store& store) {
  std::vector<JoinTask> tasks;
  // Tables that no fragment fills (or that were joined before) have no rows here.
#define TABLE_BEGIN(Name, member, doc)                                      \
  if (const size_t rows = TotalRows(fragments, &Store::member); rows > 0) { \
    const auto table = [](Store & of) -> Name##Table& { return of.member; };
#define COLUMN(type, name, doc)   \
  tasks.push_back(MakeTask<type>( \
      [](Store& of) -> std::vector<type>& { return decltype(table){}(of).name; }, rows));
#define TABLE_END(Name) }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
  ParallelFor(tasks.size(), [&](size_t i) { tasks[i].join(tasks[i], fragments, maps, store); });
}

// Row numbers that are not typed ids.
void ShiftRowNumbers(std::span<const FragmentMap> maps, Store& store) {
  const auto shift = [&](std::vector<uint32_t>& column, uint32_t FragmentMap::*owner,
                         uint32_t FragmentMap::*target) {
    for (size_t i = 0; i < maps.size(); ++i) {
      const size_t end = i + 1 < maps.size() ? maps[i + 1].*owner : column.size();
      for (size_t row = maps[i].*owner; row < end; ++row) column[row] += maps[i].*target;
    }
  };
  shift(store.nvtx_attributes.blob_begin, &FragmentMap::nvtx_attributes,
        &FragmentMap::nvtx_payload_blobs);
  shift(store.nvtx_payload_schemas.entry_begin, &FragmentMap::nvtx_payload_schemas,
        &FragmentMap::nvtx_payload_entries);
}

void AddLoss(Store& store, ThreadId thread, format::Counter counter, uint64_t value) {
  store.losses.Append({.process = store.ProcessOf(thread),
                       .counter = static_cast<uint32_t>(counter),
                       .value = value});
}

template <typename Table>
void ApplyPatches(const StitchPatches& patches, Table& table, Store& store) {
  constexpr bool kIsNvtx = std::is_same_v<Table, NvtxRangesTable>;
  for (const StitchedEnd& end : patches.ends) {
    table.end_ns[end.row] = std::max(table.start_ns[end.row], end.end_ns);
    if constexpr (kIsNvtx) table.end_thread[end.row] = end.thread;
  }
  ParallelFor(patches.segments.size(), [&](size_t i) {
    const CarriedSegment& segment = patches.segments[i];
    for (uint32_t row = segment.begin_row; row < segment.end_row; ++row) {
      if constexpr (kIsNvtx) {
        if (table.domain[row] != segment.domain || table.style[row] != NvtxStyle::kPushPop) {
          continue;
        }
      }
      if (table.parent[row].IsNone()) table.parent[row].value = segment.parent;
      table.depth[row] =
          static_cast<uint16_t>(std::min<uint32_t>(table.depth[row] + segment.depth, UINT16_MAX));
    }
  });
  for (const auto& [thread, count] : patches.open_at_end) {
    AddLoss(store, thread, format::Counter::kRangesOpenAtEnd, count);
  }
  if constexpr (!kIsNvtx) return;
  for (const auto& [thread, count] : patches.unbalanced_ends) {
    AddLoss(store, thread, format::Counter::kPopsUnbalanced, count);
  }
}

template <typename Table>
void Stitch(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
            NestedTable nested, uint32_t FragmentMap::*base, Table& table, Store& store) {
  std::vector<uint32_t> bases;
  std::vector<std::vector<NvtxDomainId>> domains;
  for (const FragmentMap& map : maps) {
    bases.push_back(map.*base);
    domains.push_back(map.domains);
  }
  const StitchPatches patches = StitchNesting(fragments, nested, bases, domains);
  ApplyPatches(patches, table, store);
  if constexpr (std::is_same_v<Table, PhaseCallsTable>) {
    for (const StitchedNote& note : patches.notes) {
      store.imported_files.phase_call[maps[note.fragment].imported_files + note.note] = {note.row};
    }
  }
}

// Start/end ranges whose halves lie in different pieces or threads.
void TieLooseRanges(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                    Store& store) {
  std::map<std::pair<ProcessId, uint64_t>, uint32_t> starts;
  for (size_t i = 0; i < fragments.size(); ++i) {
    for (const LooseRange& start : fragments[i].loose_starts) {
      starts[{start.process, start.range_id}] = maps[i].nvtx_ranges + start.row;
    }
  }
  NvtxRangesTable& table = store.nvtx_ranges;
  std::map<ProcessId, uint64_t> unknown;
  std::map<ProcessId, uint64_t> open;
  for (const Fragment& fragment : fragments) {
    for (const LooseRange& end : fragment.loose_ends) {
      const auto start = starts.find({end.process, end.range_id});
      if (start == starts.end()) {
        ++unknown[end.process];
        continue;
      }
      table.end_ns[start->second] = std::max(table.start_ns[start->second], end.at_ns);
      table.end_thread[start->second] = end.thread;
      starts.erase(start);
    }
  }
  for (const auto& [key, row] : starts) ++open[key.first];
  const auto add = [&](const auto& counts, format::Counter counter) {
    for (const auto& [process, count] : counts) {
      store.losses.Append({process, static_cast<uint32_t>(counter), count});
    }
  };
  add(unknown, format::Counter::kEndsUnknown);
  add(open, format::Counter::kRangesOpenAtEnd);
}

}  // namespace

Result<std::vector<FragmentMap>> JoinFragments(std::vector<Fragment>& fragments, Store& store) {
  std::vector<FragmentMap> maps(fragments.size());
  JoinStrings(fragments, maps, store);
  JoinDomains(fragments, maps, store);
  if (!SetBaseRows(fragments, maps)) {
    return InputError("the recording has more than 4 billion rows in one table; split it by time");
  }
  JoinColumns(fragments, maps, store);
  ShiftRowNumbers(maps, store);
  Stitch(fragments, maps, NestedTable::kNvtxRanges, &FragmentMap::nvtx_ranges, store.nvtx_ranges,
         store);
  Stitch(fragments, maps, NestedTable::kModuleCalls, &FragmentMap::module_calls, store.module_calls,
         store);
  Stitch(fragments, maps, NestedTable::kPhaseCalls, &FragmentMap::phase_calls, store.phase_calls,
         store);
  Stitch(fragments, maps, NestedTable::kOperatorCalls, &FragmentMap::operator_calls,
         store.operator_calls, store);
  TieLooseRanges(fragments, maps, store);
  return maps;
}

}  // namespace batchlight

#include "store/merge_stores.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "store/finish.h"
#include "store/reason_features.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

constexpr std::string_view kSessionFacts = "session.";

bool IsTime(std::string_view column) {
  return column == "start_ns" || column == "end_ns" || column == "created_ns";
}

bool IsDevice(std::string_view column) {
  return column == "device" || column == "source_device" || column == "destination_device";
}

// visit(name, column) for every column whose values are of type T. By macro: see RenumberIds.
template <typename T, typename Visitor>
void VisitColumnsOf(Store& store, Visitor&& visit) {
#define TABLE_BEGIN(Name, member, doc) \
  {                                    \
    auto& table = store.member;        \
    (void)table;
#define COLUMN(type, name, doc) \
  if constexpr (std::is_same_v<type, T>) visit(std::string_view(#name), table.name);
#define TABLE_END(Name) }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
}

void ShiftTimes(const TimeShift& shift, Store& store) {
  VisitColumnsOf<int64_t>(store, [&](std::string_view name, std::vector<int64_t>& column) {
    if (!IsTime(name)) return;
    for (int64_t& time_ns : column) time_ns = shift.Of(time_ns);
  });
  const int64_t end_ns = shift.Of(store.duration_ns);
  store.duration_ns = end_ns == kOpenEnd ? store.duration_ns : std::max<int64_t>(0, end_ns);
}

// Rows of the result before those of one input, and its strings there.
struct Places {
  std::vector<StringId> strings;
#define TABLE_BEGIN(Name, member, doc) uint32_t member = 0;
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
};

template <typename T>
uint32_t FirstRow(const Places& places) {
#define TABLE_BEGIN(Name, member, doc) \
  if constexpr (std::is_same_v<RowIdOf<Name##Table>, T>) return places.member;
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
}

template <typename T>
[[gnu::noinline]] void AppendColumn(const Places& places, std::vector<T>& from,
                                    std::vector<T>& to) {
  if constexpr (std::is_arithmetic_v<T> || kIsKind<T>) {
    to.insert(to.end(), from.begin(), from.end());
  } else {
    to.reserve(to.size() + from.size());
    for (const T id : from) {
      if (id.IsNone()) {
        to.push_back(id);
      } else if constexpr (std::is_same_v<T, StringId>) {
        to.push_back(places.strings[id.row()]);
      } else {
        to.push_back(T{FirstRow<T>(places) + id.value});
      }
    }
  }
  std::vector<T>().swap(from);
}

// False if ids cannot name all rows.
bool AppendTables(Store& from, Store& to) {
  Places places;
  places.strings.reserve(from.strings.size());
  for (size_t row = 0; row < from.strings.size(); ++row) {
    places.strings.push_back(to.strings.Intern(from.strings.Get(StringId::At(row))));
  }
  bool fits = true;
#define TABLE_BEGIN(Name, member, doc)                     \
  places.member = static_cast<uint32_t>(to.member.size()); \
  fits = fits && uint64_t{to.member.size()} + from.member.size() < UINT32_MAX;
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
  if (!fits) return false;
  // Row numbers that are not typed ids.
  for (uint32_t& row : from.nvtx_attributes.blob_begin) row += places.nvtx_payload_blobs;
  for (uint32_t& row : from.nvtx_payload_schemas.entry_begin) row += places.nvtx_payload_entries;
#define TABLE_BEGIN(Name, member, doc) \
  {                                    \
    auto& source = from.member;        \
    auto& target = to.member;
#define COLUMN(type, name, doc) AppendColumn(places, source.name, target.name);
#define TABLE_END(Name) }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
  return true;
}

// Numbers the GPUs of all inputs.
class GpuNumbers {
 public:
  // `host` tells GPUs without a UUID apart. Leaves the input only those that no input before it
  // had.
  void Apply(const std::string& host, Store& store) {
    std::map<uint32_t, uint32_t> numbers;
    std::vector<uint32_t> added;
    for (size_t row = 0; row < store.gpus.size(); ++row) {
      uint32_t& device = store.gpus.device[row];
      const std::string uuid(store.Text(store.gpus.uuid[row]));
      const auto [place, is_new] =
          numbers_.try_emplace(uuid.empty() ? host + "/" + std::to_string(device) : uuid, device);
      if (is_new) place->second = Take(device);
      if (is_new) added.push_back(static_cast<uint32_t>(row));
      numbers.try_emplace(device, place->second);
      device = place->second;
    }
    const std::vector<uint32_t> own = store.gpus.device;
    VisitColumnsOf<uint32_t>(store, [&](std::string_view name, std::vector<uint32_t>& column) {
      if (!IsDevice(name)) return;
      for (uint32_t& device : column) {
        const auto number = numbers.find(device);
        if (number != numbers.end()) device = number->second;
      }
    });
    store.gpus.device = own;
    store.gpus.Reorder(added);
  }

 private:
  uint32_t Take(uint32_t wanted) {
    if (taken_.insert(wanted).second) return wanted;
    while (!taken_.insert(next_).second) ++next_;
    return next_;
  }

  std::map<std::string, uint32_t> numbers_;  // by UUID, or host and number
  std::set<uint32_t> taken_;
  uint32_t next_ = 0;
};

// What one input says of the session.
std::map<std::string, std::string> SessionFacts(const Store& store) {
  std::map<std::string, std::string> facts;
  for (size_t row = 0; row < store.properties.size(); ++row) {
    if (!store.properties.process[row].IsNone()) continue;
    facts[std::string(store.Text(store.properties.key[row]))] =
        store.Text(store.properties.value[row]);
  }
  return facts;
}

// Keys of the session in which the inputs differ.
std::set<std::string> DifferingFacts(const std::vector<std::map<std::string, std::string>>& all) {
  std::set<std::string> differ;
  for (const auto& facts : all) {
    for (const auto& [key, value] : facts) {
      if (key.starts_with(kSessionFacts)) continue;
      for (const auto& others : all) {
        const auto other = others.find(key);
        if (other == others.end() || other->second != value) differ.insert(key);
      }
    }
  }
  return differ;
}

// Moves the facts that differ to the processes; of the session stay those that the first input
// says.
void SettleFacts(const std::map<std::string, std::string>& facts,
                 const std::set<std::string>& differ, bool is_first, Store& store) {
  std::vector<uint32_t> kept;
  std::set<std::pair<ProcessId, StringId>> own;
  for (size_t row = 0; row < store.properties.size(); ++row) {
    const bool of_session = store.properties.process[row].IsNone();
    const std::string key(store.Text(store.properties.key[row]));
    if (!of_session || (is_first && !differ.contains(key))) {
      kept.push_back(static_cast<uint32_t>(row));
    }
    if (!of_session) own.emplace(store.properties.process[row], store.properties.key[row]);
  }
  store.properties.Reorder(kept);
  for (const auto& [key, value] : facts) {
    if (!differ.contains(key)) continue;
    const StringId name = store.strings.Intern(key);
    const StringId text = store.strings.Intern(value);
    for (size_t row = 0; row < store.processes.size(); ++row) {
      const ProcessId process = ProcessId::At(row);
      if (!own.contains({process, name})) store.properties.Append({process, name, text});
    }
  }
}

// "node1.batchlight: the end of the recording is missing".
void LabelReasons(const std::string& label, Store& store) {
  for (size_t row = 0; row < store.reasons.size(); ++row) {
    if (!IsReadingFeature(store.Text(store.reasons.feature[row]))) continue;
    const std::string text(store.Text(store.reasons.text[row]));
    store.reasons.text[row] = store.strings.Intern(label + ": " + text);
  }
}

// Processes by start, threads by process and start, as the schema says.
void OrderPrograms(Store& store) {
  std::vector<uint32_t> order(store.processes.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto& start_ns = store.processes.start_ns;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return start_ns[a] < start_ns[b]; });
  // An input's own order stands: a parent may have the later time where clocks were corrected.
  std::vector<uint32_t> place = NewRows(order);
  for (size_t row = 0; row < place.size(); ++row) {
    const ProcessId parent = store.processes.parent[row];
    if (!parent.IsNone() && place[parent.row()] > place[row]) return;
  }
  ReorderRows(store, store.processes, order);
  std::vector<uint32_t> threads(store.threads.size());
  std::iota(threads.begin(), threads.end(), 0u);
  const ThreadsTable& table = store.threads;
  std::stable_sort(threads.begin(), threads.end(), [&](uint32_t a, uint32_t b) {
    if (table.process[a] != table.process[b]) return table.process[a] < table.process[b];
    return table.start_ns[a] < table.start_ns[b];
  });
  ReorderRows(store, store.threads, threads);
}

// Names the hosts of all inputs. Of those that do not say theirs, as traces of PyTorch, two are
// taken to be of one host if they know the same GPUs and no GPU did something for both.
class HostNames {
 public:
  std::string Of(const Store& store) {
    const std::string_view host = store.Property("machine.hostname");
    if (!host.empty()) return std::string(host);
    const std::vector<std::string> gpus = GpusOf(store);
    const std::set<uint32_t> used(store.kernels.device.begin(), store.kernels.device.end());
    size_t i = 0;
    while (i < unnamed_.size() && (unnamed_[i].gpus != gpus || Meet(unnamed_[i].used, used))) ++i;
    if (i == unnamed_.size()) unnamed_.push_back({gpus, {}});
    unnamed_[i].used.insert(used.begin(), used.end());
    return "host " + std::to_string(i);
  }

 private:
  struct Unnamed {
    std::vector<std::string> gpus;
    std::set<uint32_t> used;
  };

  static std::vector<std::string> GpusOf(const Store& store) {
    std::vector<std::string> gpus;
    for (size_t row = 0; row < store.gpus.size(); ++row) {
      gpus.push_back(std::to_string(store.gpus.device[row]) + " " +
                     std::string(store.Text(store.gpus.name[row])));
    }
    return gpus;
  }

  static bool Meet(const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
    return std::any_of(a.begin(), a.end(), [&](uint32_t device) { return b.contains(device); });
  }

  std::vector<Unnamed> unnamed_;
};

}  // namespace

int64_t TimeShift::Of(int64_t time_ns) const {
  if (time_ns == kOpenEnd || time_ns == INT64_MIN) return time_ns;
  int64_t shifted_ns = 0;
  const auto drifted = static_cast<int64_t>(double(time_ns - pivot_ns) * drift);
  if (__builtin_add_overflow(time_ns, offset_ns, &shifted_ns) ||
      __builtin_add_overflow(shifted_ns, drifted, &shifted_ns)) {
    return time_ns;
  }
  return shifted_ns;
}

Result<Store> MergeStores(std::vector<MergeInput> inputs) {
  std::vector<std::map<std::string, std::string>> facts;
  for (const MergeInput& input : inputs) facts.push_back(SessionFacts(input.store));
  const std::set<std::string> differ = DifferingFacts(facts);
  GpuNumbers gpus;
  HostNames hosts;
  Store merged;
  merged.source_format = inputs[0].store.source_format;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Store& store = inputs[i].store;
    ShiftTimes(inputs[i].shift, store);
    gpus.Apply(hosts.Of(store), store);
    SettleFacts(facts[i], differ, i == 0, store);
    LabelReasons(inputs[i].label, store);
    // Counts of one machine: of several, or of one by several tools, they are no series.
    if (inputs.size() > 1) store.machine_usage.Reorder({});
    merged.duration_ns = std::max(merged.duration_ns, store.duration_ns);
    if (!AppendTables(store, merged)) {
      return InputError(
          "the recordings have more than 4 billion rows in one table together: give "
          "fewer of them, or record fewer steps");
    }
    store = Store();
  }
  OrderPrograms(merged);
  FinishStore(merged, {.has_range_parents = true, .has_call_parents = true});
  return merged;
}

}  // namespace batchlight

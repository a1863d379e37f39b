// The summaries of CUDA calls, kernels and memory operations.
#include <algorithm>
#include <unordered_map>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_finder.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

constexpr std::string_view kKernelCategory = "CUDA_KERNEL";
constexpr std::string_view kMemoryCategory = "MEMORY_OPER";
constexpr std::string_view kApiCategory = "CUDA_API";

struct NamedGroups {
  GroupNumbers numbers;
  GroupedValues values;

  // visit(key, summary) for every group.
  template <typename Visit>
  void Finish(const Visit& visit) const {
    const std::vector<Summary> summaries = values.Summarize();
    for (size_t group = 0; group < summaries.size(); ++group) {
      visit(numbers.keys()[group], summaries[group]);
    }
  }
};

// --- calls ---------------------------------------------------------------------------------------

// cudaMalloc and cudaMalloc_v3020 are one function. nsys has two lines for them where calls are
// there twice.
enum class Versions { kTogether, kApart };

std::vector<SummaryGroup> ApiGroups(const Query& query, Versions versions) {
  const ApiCallsTable& calls = query.store.api_calls;
  std::unordered_map<std::string_view, StringId> shown;
  std::unordered_map<uint32_t, StringId> representative;
  NamedGroups groups;
  groups.values.Reserve(calls.size());
  for (size_t row = 0; row < calls.size(); ++row) {
    if (!query.Keep(calls.start_ns[row], calls.end_ns[row])) continue;
    const auto [place, added] = representative.try_emplace(calls.name[row].value);
    if (added && versions == Versions::kApart) place->second = calls.name[row];
    if (added && versions == Versions::kTogether) {
      place->second = shown.try_emplace(ApiName(query.store.Text(calls.name[row])), calls.name[row])
                          .first->second;
    }
    groups.values.Add(groups.numbers.Of(place->second.value),
                      calls.end_ns[row] - calls.start_ns[row]);
  }
  std::vector<SummaryGroup> rows;
  groups.Finish([&](uint64_t key, const Summary& summary) {
    const StringId id{static_cast<uint32_t>(key)};
    rows.push_back({summary, {std::string(ApiName(query.store.Text(id)))}, key});
  });
  return rows;
}

// --- kernels -------------------------------------------------------------------------------------

// "range/kernel" when ranges are asked for.
class KernelLabels {
 public:
  explicit KernelLabels(const Query& query) : query_(query), naming_(KernelNamingOf(query)) {
    if (query.Has("nvtx-name")) ranges_ = InnermostRanges(query);
  }
  uint64_t Key(size_t kernel) {
    const StringId name = KernelName(query_.store, kernel, naming_);
    uint32_t range = UINT32_MAX;
    if (!ranges_.empty() && ranges_[kernel] != UINT32_MAX) {
      range = query_.store.nvtx_ranges.message[ranges_[kernel]].value;
    }
    return uint64_t{name.value} << 32 | range;
  }
  std::string Label(uint64_t key) const {
    std::string label;
    const auto range = static_cast<uint32_t>(key);
    if (range != UINT32_MAX) label = std::string(query_.store.Text(StringId{range})) + '/';
    label += query_.store.Text(StringId{static_cast<uint32_t>(key >> 32)});
    return label;
  }

 private:
  const Query& query_;
  KernelNaming naming_;
  std::vector<uint32_t> ranges_;
};

std::vector<SummaryGroup> KernelGroups(const Query& query) {
  const KernelsTable& kernels = query.store.kernels;
  KernelLabels labels(query);
  NamedGroups groups;
  groups.values.Reserve(kernels.size());
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!query.Keep(kernels.start_ns[row], kernels.end_ns[row])) continue;
    groups.values.Add(groups.numbers.Of(labels.Key(row)),
                      kernels.end_ns[row] - kernels.start_ns[row]);
  }
  std::vector<SummaryGroup> rows;
  groups.Finish([&](uint64_t key, const Summary& summary) {
    rows.push_back({summary, {labels.Label(key)}});
  });
  return rows;
}

// --- memory operations ---------------------------------------------------------------------------

// Calls add(name rank, value of the row) for every copy and set in the window.
std::vector<SummaryGroup> MemoryGroups(const Query& query, bool by_size) {
  const MemcpysTable& copies = query.store.memcpys;
  const MemsetsTable& sets = query.store.memsets;
  constexpr uint64_t kSets = 256;
  NamedGroups groups;
  for (size_t row = 0; row < copies.size(); ++row) {
    if (!query.Keep(copies.start_ns[row], copies.end_ns[row])) continue;
    groups.values.Add(groups.numbers.Of(Number(copies.copy_kind[row])),
                      by_size ? static_cast<int64_t>(copies.bytes[row])
                              : copies.end_ns[row] - copies.start_ns[row]);
  }
  for (size_t row = 0; row < sets.size(); ++row) {
    if (!query.Keep(sets.start_ns[row], sets.end_ns[row])) continue;
    groups.values.Add(groups.numbers.Of(kSets), by_size ? static_cast<int64_t>(sets.bytes[row])
                                                        : sets.end_ns[row] - sets.start_ns[row]);
  }
  std::vector<SummaryGroup> rows;
  groups.Finish([&](uint64_t key, const Summary& summary) {
    rows.push_back(
        {summary,
         {key == kSets ? std::string(kMemsetName) : CopyName(static_cast<CopyKind>(key))}});
  });
  return rows;
}

void AppendWithCategory(std::vector<SummaryGroup>& all, std::vector<SummaryGroup> more,
                        std::string_view category) {
  for (SummaryGroup& group : more) {
    group.labels.insert(group.labels.begin(), std::string(category));
    all.push_back(std::move(group));
  }
}

RowSource Table(std::string count, std::initializer_list<const char*> labels,
                std::vector<SummaryGroup> groups, Ties ties = Ties::kByLabel) {
  ResultTable table;
  table.columns = SummaryColumns(std::move(count));
  for (const char* label : labels) table.columns.push_back(TextColumn(label));
  table.rows = RowsByTotal(std::move(groups), ties);
  return KeepRows(std::move(table));
}

}  // namespace

Result<RowSource> CudaApiSum(const Query& query) {
  const Versions versions = query.nsys_compat ? Versions::kApart : Versions::kTogether;
  return Table("Num Calls", {"Name"}, ApiGroups(query, versions), Ties::kByNumber);
}

Result<RowSource> CudaGpuKernSum(const Query& query) {
  return Table("Instances", {"Name"}, KernelGroups(query), Ties::kFewestFirst);
}

Result<RowSource> CudaGpuKernGbSum(const Query& query) {
  const KernelsTable& kernels = query.store.kernels;
  // Launch configurations differ in more than grid and block: number the pairs of those two.
  std::unordered_map<std::string, uint32_t> shapes;
  std::unordered_map<KernelLaunchId, uint32_t> shape_of;
  std::vector<std::pair<std::string, std::string>> shape_text;
  const auto shape = [&](size_t kernel) {
    const auto [known, is_new] = shape_of.try_emplace(kernels.launch[kernel]);
    if (!is_new) return known->second;
    const KernelLaunchesRow l = LaunchOf(query.store, kernel);
    std::string grid = Dimensions(l.grid_x, l.grid_y, l.grid_z);
    std::string block = Dimensions(l.block_x, l.block_y, l.block_z);
    const auto [place, added] =
        shapes.try_emplace(grid + '|' + block, static_cast<uint32_t>(shape_text.size()));
    if (added) shape_text.emplace_back(std::move(grid), std::move(block));
    return known->second = place->second;
  };
  KernelLabels labels(query);
  GroupNumbers names;
  NamedGroups groups;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!query.Keep(kernels.start_ns[row], kernels.end_ns[row])) continue;
    const uint64_t name = names.Of(labels.Key(row));
    groups.values.Add(groups.numbers.Of(name << 32 | shape(row)),
                      kernels.end_ns[row] - kernels.start_ns[row]);
  }
  std::vector<SummaryGroup> rows;
  groups.Finish([&](uint64_t key, const Summary& summary) {
    const auto& [grid, block] = shape_text[static_cast<uint32_t>(key)];
    rows.push_back({summary, {grid, block, labels.Label(names.keys()[key >> 32])}});
  });
  return Table("Instances", {"GridXYZ", "BlockXYZ", "Name"}, std::move(rows), Ties::kFewestFirst);
}

Result<RowSource> CudaGpuMemTimeSum(const Query& query) {
  return Table("Count", {"Operation"}, MemoryGroups(query, false));
}

Result<RowSource> CudaGpuMemSizeSum(const Query& query) {
  ResultTable table;
  table.columns = {BytesColumn("Total"),  IntegerColumn("Count"), BytesColumn("Avg"),
                   BytesColumn("Med"),    BytesColumn("Min"),     BytesColumn("Max"),
                   BytesColumn("StdDev"), TextColumn("Operation")};
  for (auto& cells : RowsByTotal(MemoryGroups(query, true))) {
    table.rows.emplace_back(std::make_move_iterator(cells.begin() + 1),
                            std::make_move_iterator(cells.end()));
  }
  return KeepRows(std::move(table));
}

Result<RowSource> CudaGpuSum(const Query& query) {
  std::vector<SummaryGroup> groups;
  AppendWithCategory(groups, KernelGroups(query), kKernelCategory);
  AppendWithCategory(groups, MemoryGroups(query, false), kMemoryCategory);
  return Table("Instances", {"Category", "Operation"}, std::move(groups));
}

Result<RowSource> CudaApiGpuSum(const Query& query) {
  std::vector<SummaryGroup> groups;
  AppendWithCategory(groups, ApiGroups(query, Versions::kTogether), kApiCategory);
  AppendWithCategory(groups, KernelGroups(query), kKernelCategory);
  AppendWithCategory(groups, MemoryGroups(query, false), kMemoryCategory);
  return Table("Instances", {"Category", "Operation"}, std::move(groups));
}

}  // namespace batchlight::stats

// um_sum, um_total_sum, um_cpu_page_faults_sum: unified memory.
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/report_arguments.h"
#include "analysis/stats/report_functions.h"
#include "base/hex_address.h"

namespace batchlight::stats {
namespace {

struct Page {
  int64_t to_device = 0;
  int64_t to_host = 0;
  int64_t migration_time = 0;
  int64_t cpu_faults = 0;
  int64_t gpu_faults = 0;
};

std::map<uint64_t, Page> Pages(const Query& query) {
  const Store& store = query.store;
  std::map<uint64_t, Page> pages;
  for (size_t row = 0; row < store.um_transfers.size(); ++row) {
    const MemcpysRow copy = store.memcpys.Row(store.um_transfers.memcpy_row[row].row());
    if (!query.Keep(copy.start_ns, copy.end_ns)) continue;
    Page& page = pages[store.um_transfers.virtual_address[row]];
    if (copy.copy_kind == CopyKind::kUnifiedHostToDevice)
      page.to_device += static_cast<int64_t>(copy.bytes);
    if (copy.copy_kind == CopyKind::kUnifiedDeviceToHost)
      page.to_host += static_cast<int64_t>(copy.bytes);
    page.migration_time += copy.end_ns - copy.start_ns;
  }
  for (size_t row = 0; row < store.um_cpu_faults.size(); ++row) {
    const int64_t start = store.um_cpu_faults.start_ns[row];
    if (query.Keep(start, start)) ++pages[store.um_cpu_faults.address[row]].cpu_faults;
  }
  for (size_t row = 0; row < store.um_gpu_faults.size(); ++row) {
    if (!query.Keep(store.um_gpu_faults.start_ns[row], store.um_gpu_faults.end_ns[row])) continue;
    pages[store.um_gpu_faults.address[row]].gpu_faults += store.um_gpu_faults.fault_count[row];
  }
  return pages;
}

// Bytes per second as nsys works it out: a whole number of operations per second times the bytes.
double MigrationRate(const Page& page) {
  if (page.migration_time <= 0) return -1;
  return static_cast<double>(1'000'000'000 / page.migration_time) *
         static_cast<double>(page.to_device + page.to_host);
}

}  // namespace

Result<RowSource> UmSum(const Query& query) {
  const int64_t rows = ArgumentInteger(query.args, "rows", 10);
  const size_t limit = rows < 0 ? SIZE_MAX : static_cast<size_t>(rows);
  const std::map<uint64_t, Page> pages = Pages(query);
  std::vector<std::pair<uint64_t, Page>> order(pages.begin(), pages.end());
  // The fastest first, whatever the size; pages that did not move come last.
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return MigrationRate(a.second) > MigrationRate(b.second);
  });
  if (order.size() > limit) order.resize(limit);
  ResultTable table;
  table.columns = {TextColumn("Virtual Address"),
                   BytesColumn("HtoD Migration size"),
                   BytesColumn("DtoH Migration size"),
                   IntegerColumn("CPU Page Faults"),
                   IntegerColumn(" GPU Page Faults"),  // the space is nsys's
                   {"Migration Throughput", CellType::kReal, Unit::kRate, 3, {}}};
  for (const auto& [address, page] : order) {
    const auto if_any = [](int64_t number) { return number == 0 ? Cell() : Cell(number); };
    table.rows.push_back({HexAddress(address), if_any(page.to_device), if_any(page.to_host),
                          if_any(page.cpu_faults), if_any(page.gpu_faults),
                          page.migration_time > 0 ? Cell(MigrationRate(page)) : Cell()});
  }
  return KeepRows(std::move(table));
}

Result<RowSource> UmTotalSum(const Query& query) {
  const std::map<uint64_t, Page> pages = Pages(query);
  Page sum;
  for (const auto& [address, page] : pages) {
    sum.to_device += page.to_device;
    sum.to_host += page.to_host;
    sum.cpu_faults += page.cpu_faults;
    sum.gpu_faults += page.gpu_faults;
  }
  ResultTable table;
  table.columns = {
      BytesColumn("Total HtoD Migration Size"), BytesColumn("Total DtoH Migration Size"),
      IntegerColumn("Total CPU Page Faults"),   IntegerColumn("Total GPU PageFaults"),
      TextColumn("Minimum Virtual Address"),    TextColumn("Maximum Virtual Address")};
  if (!pages.empty()) {
    table.rows.push_back({sum.to_device, sum.to_host, sum.cpu_faults, sum.gpu_faults,
                          HexAddress(pages.begin()->first), HexAddress(pages.rbegin()->first)});
  } else if (HasAllTables(query.store)) {  // a sum of nothing has no value, a count has
    table.rows.push_back({Cell(), Cell(), int64_t{0}, Cell(), Cell(), Cell()});
  }
  return KeepRows(std::move(table));
}

Result<RowSource> UmCpuPageFaultsSum(const Query& query) {
  const UmCpuFaultsTable& faults = query.store.um_cpu_faults;
  using Place = std::tuple<std::string_view, std::string_view, uint32_t>;  // code, file, line
  std::map<Place, int64_t> counts;
  for (size_t row = 0; row < faults.size(); ++row) {
    if (!query.Keep(faults.start_ns[row], faults.start_ns[row])) continue;
    ++counts[{query.store.Text(faults.instruction[row]), query.store.Text(faults.source_file[row]),
              faults.source_line[row]}];
  }
  std::vector<std::pair<Place, int64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  ResultTable table;
  table.columns = {IntegerColumn("CPU Page Faults"), TextColumn("CPU Instruction Address"),
                   TextColumn("Source File"), IntegerColumn("Source Line")};
  for (const auto& [place, count] : order) {
    const auto& [instruction, file, line] = place;
    table.rows.push_back({count, std::string(instruction), std::string(file), int64_t{line}});
  }
  return KeepRows(std::move(table));
}

}  // namespace batchlight::stats

// sample_report DIR [STEPS [OPERATORS_PER_STEP [gpu [counters|roofline|step-roofline]]]]: the
// report of a run made by hand, and DIR/diff.html, which compares it with one whose forward is
// faster; for the browser tests in web/.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "analysis/stalls/stall_tables.h"
#include "analysis/testing/sample_run.h"
#include "base/file.h"
#include "report/files/report_folder.h"
#include "report/files/sample_roofline.h"
#include "report/terminal/diff_text.h"

namespace batchlight {
namespace {

struct Counted {
  const char* metric;
  double values[3];  // of a product, of another kernel, of attention
};
constexpr Counted kCounted[] = {
    {"gpu__time_duration.sum", {90'000, 40'000, 60'000}},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", {83.2, 0, 41}},
    {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed", {4, 12.5, 8}},
    {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed", {21, 30, 33}},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", {35, 91.4, 20}},
    {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", {30, 44, 25}},
    {"dram__bytes_read.sum", {33e6, 67e6, 12e6}},
    {"dram__bytes_write.sum", {8e6, 67e6, 4e6}},
    {"sm__cycles_elapsed.avg.per_second", {1.7e9, 1.8e9, 1.7e9}}};

// Which of the values a kernel has.
size_t KindOf(std::string_view kernel) {
  return kernel.starts_with("nvjet") ? 0 : kernel.find("flash") == kernel.npos ? 1 : 2;
}

// Forty kernels of the run were measured one by one.
void AddCounters(Store& store) {
  constexpr size_t kKernels = 40;
  const KernelsTable& kernels = store.kernels;
  const size_t first = kernels.size() / 2;
  const size_t last = std::min(first + kKernels, kernels.size()) - 1;
  store.counter_ranges.Append({.start_ns = kernels.start_ns[first],
                               .end_ns = kernels.start_ns[last] + 1,
                               .process = kernels.process[first],
                               .device = kernels.device[first],
                               .context = kernels.context[first],
                               .range = 1,
                               .kernels = static_cast<uint32_t>(last - first + 1)});
  for (size_t row = first; row <= last; ++row) {
    const size_t kind = KindOf(store.Text(kernels.demangled_name[row]));
    for (const Counted& counted : kCounted) {
      store.counter_values.Append({.process = kernels.process[first],
                                   .range = 1,
                                   .launch = static_cast<uint32_t>(row - first + 1),
                                   .metric = store.strings.Intern(counted.metric),
                                   .value = counted.values[kind]});
    }
  }
}

// And the instructions of one kernel were sampled, besides one that was not measured.
std::vector<ResultTable> StallTables(const Store& store) {
  StallSamples samples;
  const auto name = [&samples](std::string_view text) {
    samples.names.emplace_back(text);
    return static_cast<uint32_t>(samples.names.size() - 1);
  };
  const auto reason = [&name](const std::string& key) {
    return name("smsp__pcsamp_warps_issue_stalled_" + key);
  };
  std::string_view product;
  for (size_t row = 0; row < store.kernels.size() && !product.starts_with("nvjet"); ++row) {
    product = store.Text(store.kernels.demangled_name[row]);
  }
  const uint32_t functions[] = {name(product), name("gather")};
  const uint32_t reasons[] = {reason("long_scoreboard"), reason("barrier"), reason("selected")};
  const uint32_t file = name("/home/user/kernels.py"), load = name("LDG.E R2, desc[UR4][R2.64]");
  const uint32_t source = name("value = tl.load(table + place)  # <b>far</b> apart");
  for (uint32_t place = 0; place < 30; ++place) {
    const bool is_product = place < 10;
    samples.samples.push_back({.function = functions[is_product ? 0 : 1],
                               .reason = reasons[place % 3],
                               .instruction = place % 4 == 0 ? load : 0,
                               .file = is_product ? 0 : file,
                               .line = is_product ? 0 : 10 + place / 2,
                               .source = is_product ? 0 : source,
                               .samples = 1000 - 30 * place,
                               .code = 1,
                               .offset = 16 * place});
  }
  samples.windows.push_back({.number = 1, .is_whole = true});
  const StallProfile profile = ProfileStalls(samples);
  return {StallKernelsTable(profile), StallLinesTable(profile)};
}

Status Write(const std::string& folder, const testing::SampleRun& run, std::string_view counted) {
  Store store = testing::MakeSampleRun(run);
  const bool has_counters = counted == "counters";
  if (has_counters) AddCounters(store);
  if (counted == "roofline") AddSampleRoofline(store);
  if (counted.ends_with("roofline")) AddSampleStepRoofline(store);
  const RunOverview overview = BuildOverview(store, {.phase_events = true});
  ReportOptions options{.folder = folder, .overwrite = true, .version = "test"};
  if (has_counters) options.more_tables = StallTables(store);
  const auto written = WriteReportFolder(overview, options);
  if (!written.ok()) return written.status();
  testing::SampleRun other = run;
  other.forward_ms = 5;
  const Store other_store = testing::MakeSampleRun(other);
  const RunDiff diff = DiffRuns(overview, BuildOverview(other_store));
  return WriteWholeFile(folder + "/diff.html", DiffAsHtml(diff, {}, "test"));
}

}  // namespace
}  // namespace batchlight

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  batchlight::testing::SampleRun run;
  if (argc > 2) run.steps = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) run.operators_per_step = std::strtoull(argv[3], nullptr, 10);
  run.gpu = argc > 4;
  const batchlight::Status status = batchlight::Write(argv[1], run, argc > 5 ? argv[5] : "");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.exit_code();
}

#include "report/page/page_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/result/result_column.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "report/page/html_page.h"
#include "report/page/page_columns.h"
#include "report/page/page_ranks.h"
#include "report/page/page_steps.h"
#include "report/page/page_tree.h"

namespace batchlight {
namespace {

struct Page {
  explicit Page(const testing::SampleRun& run = {})
      : store(testing::MakeSampleRun(run)), overview(BuildOverview(store, {.phase_events = true})) {
    advice = overview.findings;
    utilization = MeasureUtilization(store, overview.steps, overview.gpu.breakdowns);
    memory = GpuMemoryCurves(store, overview.steps);
    tops = MakeTopLists(overview);
  }
  PageInput input() const {
    return {&overview, overview.phase_events.get(), &advice, &utilization, &memory, &tops, &tables,
            "1.2.3"};
  }
  nlohmann::json Json(const PageLimits& limits = {}) const {
    return nlohmann::json::parse(MakePageJson(input(), limits));
  }

  Store store;
  RunOverview overview;
  std::vector<Finding> advice;
  std::vector<GpuUtilization> utilization;
  std::vector<MemoryCurve> memory;
  std::vector<TopList> tops;
  std::vector<PageTable> tables;
};

TEST(PageDataTest, PhasesOfEveryStepAddUpToIt) {
  const nlohmann::json steps = Page().Json()["training"][0]["tracks"][0];
  ASSERT_EQ(steps["duration_ns"].size(), 60u);
  ASSERT_GT(steps["phase_ns"].size(), 3u);
  for (size_t i = 0; i < 60; ++i) {
    int64_t sum = 0;
    for (const auto& phase : steps["phase_ns"]) sum += phase[i].get<int64_t>();
    EXPECT_EQ(sum, steps["duration_ns"][i]) << "step " << i;
  }
}

// Both over steady steps and in every bin of steps, also where the smaller events are put together.
TEST(PageDataTest, EventsAddUpToTheirPhase) {
  const Page page({.gpu = true});
  for (const size_t most : {size_t{1200}, size_t{1}}) {
    const nlohmann::json json = page.Json({.events = most});
    for (const nlohmann::json& track : json["training"][0]["tracks"]) {
      ASSERT_EQ(track["events"]["lists"].size(), track["phases"].size());
      const size_t bins = track["events"]["bins"]["first_step"].size();
      ASSERT_EQ(bins, 60u);  // one per step
      for (size_t phase = 0; phase < track["phases"].size(); ++phase) {
        const nlohmann::json& list = track["events"]["lists"][phase];
        EXPECT_LE(list["name"].size(), most == 1 ? 3u + 1 + 1 : 25u + 4 + 1);
        int64_t total_ns = 0;
        std::vector<int64_t> in_bins(bins);
        for (size_t i = 0; i < list["name"].size(); ++i) {
          total_ns += list["total_ns"][i].get<int64_t>();
          for (size_t bin = 0; bin < bins; ++bin) {
            in_bins[bin] += list["bin_ns"][i][bin].get<int64_t>();
          }
        }
        const int64_t steps = track["summary"]["count"];
        const int64_t mean_ns = track["summary"]["phase_mean_ns"][phase];
        EXPECT_NEAR(double(total_ns) / double(steps), double(mean_ns), 1) << track["phases"][phase];
        EXPECT_EQ(nlohmann::json(in_bins), track["phase_ns"][phase]) << track["phases"][phase];
      }
    }
  }
}

TEST(PageDataTest, PartsOfTheGpuAddUpToItsWindows) {
  const nlohmann::json tracks = Page({.gpu = true}).Json()["training"][0]["tracks"];
  ASSERT_EQ(tracks.size(), 2u);
  const nlohmann::json& gpu = tracks[1];
  EXPECT_EQ(gpu["track"], "GPU 0");
  EXPECT_EQ(gpu["number"], tracks[0]["number"]);
  EXPECT_NE(gpu["facts"][0]["value"].get<std::string>().find("%"), std::string::npos);
  for (size_t i = 0; i < 60; ++i) {
    int64_t sum = 0;
    for (const auto& part : gpu["phase_ns"]) sum += part[i].get<int64_t>();
    EXPECT_EQ(sum, gpu["duration_ns"][i]) << "step " << i;
  }
}

TEST(PageDataTest, AdviceIsThatOfTheAnalysis) {
  const Page page({.gpu = true});
  const nlohmann::json advice = page.Json()["advice"];
  ASSERT_FALSE(page.advice.empty());
  ASSERT_EQ(advice.size(), page.advice.size());
  EXPECT_EQ(advice[0]["rule"], page.advice[0].rule);
  EXPECT_TRUE(advice[0]["same_time_as"].is_array());
  EXPECT_EQ(advice[0]["gain_ns"], std::llround(page.advice[0].gain_ns));
}

// What supports a finding leads to its events, where it is one.
TEST(PageDataTest, TellsWhatTheTimelineFindsEvidenceBy) {
  Page page;
  page.advice = {{.rule = "gpu-held-back",
                  .evidence = {{.kind = "function", .name = "`rays` (a.py:7)", .event = "(rays)"},
                               {.kind = "part", .name = "idle: operators"},
                               {.kind = "module", .name = "layers.0"},
                               {.kind = "part", .name = "Python"},
                               {.kind = "setting", .name = "batch_size"}}}};
  page.advice[0].evidence.push_back({.kind = "place", .name = "loop", .longest = {50, 70}});
  page.advice[0].evidence.push_back({.kind = "step", .name = "25", .per_step_ns = 9, .step = 25});
  const nlohmann::json advice = page.Json()["advice"];
  const nlohmann::json expected = nlohmann::json::parse(R"json([
      {"find": "(rays)", "table": "python_stretches"}, {"find": "idle: operators"},
      {"find": "layers.0", "table": "module_calls"}, null, null, {"from": 50, "to": 70},
      {"step": 25}])json");
  const nlohmann::json& evidence = advice[0]["evidence"];
  ASSERT_EQ(evidence.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(evidence[i]["place"], expected[i]) << i;
  EXPECT_EQ(advice[0]["shown"], 6);  // what takes most
}

TEST(PageDataTest, NumbersThatNameSomethingAreTold) {
  EXPECT_TRUE(PageColumn(CountColumn("pid", "PID", "")).value("identifier", false));
  EXPECT_FALSE(PageColumn(CountColumn("calls", "Calls", "")).contains("identifier"));
  EXPECT_FALSE(PageColumn(TimeColumn("step", "Step", "")).contains("identifier"));
}

TEST(PageDataTest, GpuSectionHasFormulasAndMemory) {
  const Page page({.gpu = true});
  const nlohmann::json gpu = page.Json()["gpu"];
  ASSERT_EQ(gpu["utilization"].size(), 1u);
  EXPECT_NE(gpu["utilization"][0]["metrics"][0]["help"], "");
  ASSERT_EQ(gpu["memory"].size(), 1u);
  EXPECT_EQ(gpu["memory"][0]["bytes"].size(), gpu["memory"][0]["time_ns"].size());
  EXPECT_TRUE(Page().Json()["gpu"]["utilization"].empty());
}

// Sum of a list over steady bins.
int64_t OverBins(const nlohmann::json& parts, const char* key) {
  int64_t sum = 0;
  for (size_t bin = 0; bin < parts["counts"].size(); ++bin) {
    if (parts["counts"][bin] == 1) sum += parts["of"][key][bin].get<int64_t>();
  }
  return sum;
}

TEST(PageDataTest, BinsOfTheGpuAddUpToTheStepsThatCount) {
  const Page page({.steps = 300, .gpu = true});
  const nlohmann::json json = page.Json();
  const nlohmann::json& bins = json["gpu"]["utilization"][0]["parts"];
  ASSERT_EQ(bins["of"]["time_ns"].size(), json["bin_starts"].size());
  const GpuUse& use = page.utilization[0].steady;
  EXPECT_EQ(OverBins(bins, "time_ns"), use.time_ns);
  EXPECT_EQ(OverBins(bins, "busy_ns"), use.busy_ns);
  EXPECT_EQ(OverBins(bins, "kernel_ns"), use.kernel_ns);
  EXPECT_EQ(OverBins(bins, "tensor_ns"), use.tensor_ns);
  const ProcessSteps& process = *page.overview.steps.Main();
  const LaunchQueue& queue = page.overview.queues[0];
  const nlohmann::json& queued = json["gpu"]["queues"][0]["parts"];
  const auto time_ns = double(process.duration.total);
  EXPECT_EQ(OverBins(queued, "time_ns"), process.duration.total);
  EXPECT_NEAR(double(OverBins(queued, "depth_ns")) / time_ns, queue.mean_depth, 1e-6);
  EXPECT_NEAR(double(OverBins(queued, "empty_ns")) / time_ns, queue.empty, 1e-6);
  uint64_t launches = 0;
  const nlohmann::json& latency = queued["histograms"]["latency"];
  for (size_t bin = 0; bin < latency["counts"].size(); ++bin) {
    const size_t buckets = latency["counts"][bin].size();
    EXPECT_LT(latency["first"][bin].get<size_t>() + buckets, latency["starts"].size());
    if (queued["counts"][bin] != 1) continue;
    for (const uint64_t count : latency["counts"][bin]) launches += count;
  }
  EXPECT_EQ(launches, queue.latency.count);
}

TEST(PageDataTest, EveryBinHasACurveOfTheLaunchQueue) {
  const nlohmann::json json = Page({.steps = 300, .gpu = true}).Json();
  const std::vector<size_t> starts = json["bin_starts"];
  ASSERT_GT(starts.size(), 50u);
  std::vector<bool> has(starts.size());
  for (const auto& curve : json["gpu"]["queues"][0]["curves"]) {
    const auto after = std::upper_bound(starts.begin(), starts.end(), curve["row"].get<size_t>());
    has[static_cast<size_t>(after - starts.begin()) - 1] = true;
  }
  EXPECT_EQ(std::count(has.begin(), has.end(), false), 0);
}

TEST(PageDataTest, BinsOfRanksAddUpToTheirMeans) {
  testing::StoreBuilder build;
  for (int rank = 0; rank < 2; ++rank) {
    const ThreadId thread = build.Thread(build.Process(uint32_t(100 + rank), "train.py", rank));
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t start = step * 1'000'000;
      build.Range(thread, "step", start, start + 900'000 + rank * 50'000);
      build.Kernel(thread, "gemm", start + 100, start + 200, start + 200'000 + step * 1000);
    }
  }
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  const nlohmann::json rows = PageTableParts(overview, "ranks")["rows"];
  ASSERT_EQ(rows.size(), 2u);
  for (size_t rank = 0; rank < 2; ++rank) {
    const nlohmann::json& bins = rows[rank];
    const RankRow& row = overview.distributed.ranks[rank];
    const auto mean = [&](const char* list, const char* over) {
      return double(OverBins(bins, list)) / double(OverBins(bins, over));
    };
    EXPECT_NEAR(mean("step_ns", "steps"), row.step_ns, 1e-6);
    EXPECT_GT(row.compute_ns, 0);
    EXPECT_NEAR(mean("compute_ns", "windows"), row.compute_ns, 1e-6);
    EXPECT_NEAR(mean("idle_ns", "windows"), row.idle_ns, 1e-6);
  }
  const nlohmann::json all = PageTableParts(overview, "collectives")["all"];
  EXPECT_EQ(all["of"]["steps"].size(), rows[0]["of"]["steps"].size());
  int64_t steps = 0;
  for (const auto& count : all["of"]["steps"]) steps += count.get<int64_t>();
  EXPECT_EQ(steps, 40);
}

TEST(PageDataTest, EveryRankHasItsSteps) {
  testing::StoreBuilder build;
  for (int rank = 0; rank < 2; ++rank) {
    const ThreadId thread = build.Thread(build.Process(uint32_t(100 + rank), "train.py", rank));
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t start = step * 1'000'000;
      build.Range(thread, "step", start, start + 900'000 + rank * 50'000);
      build.Range(thread, "forward", start + 100, start + 400'000);
    }
  }
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  PageStrings strings(100);
  const nlohmann::json training =
      PageTraining(overview, *PhaseEventsOf(overview), 1000, 100, strings);
  ASSERT_EQ(training.size(), 2u);
  EXPECT_EQ(training[0]["process"], "rank 0, train.py (pid 100)");
  EXPECT_EQ(training[1]["process"], "rank 1, train.py (pid 101)");
  EXPECT_EQ(training[1]["tracks"][0]["summary"]["median_ns"], 1'000'000);
  EXPECT_EQ(training[1]["tracks"][0]["between_ns"], 0);  // what lies between is part of a step
}

TEST(PageDataTest, ManyStepsAreGroupedAndTheLongestIsKept) {
  const Page page({.steps = 1000, .operators_per_step = 10});
  const nlohmann::json steps = page.Json({.steps = 300})["training"][0]["tracks"][0];
  EXPECT_EQ(steps["group"], 4);
  EXPECT_EQ(steps["count"], 1000);
  EXPECT_EQ(steps["duration_ns"].size(), 250u);
  int64_t longest = 0;
  for (const auto& ns : steps["duration_max_ns"]) longest = std::max(longest, ns.get<int64_t>());
  int64_t expected = 0;
  for (const Step& step : page.overview.steps.Main()->steps) {
    expected = std::max(expected, step.duration_ns());
  }
  EXPECT_EQ(longest, expected);
}

TEST(PageDataTest, SummaryIsTheAnalysisItself) {
  const Page page;
  const nlohmann::json summary = page.Json()["training"][0]["tracks"][0]["summary"];
  EXPECT_EQ(summary["median_ns"], page.overview.steps.Main()->duration.median);
  EXPECT_EQ(summary["count"], page.overview.steps.Main()->duration.count);
}

// Time of all nodes in all bins, by kind of work.
std::pair<int64_t, int64_t> TreeTime(const nlohmann::json& tree) {
  int64_t cpu_ns = 0;
  int64_t gpu_ns = 0;
  for (size_t node = 0; node < tree["kind"].size(); ++node) {
    const auto kind = static_cast<TreeKind>(tree["kind"][node].get<int>());
    for (const int64_t ns : tree["self_ns"][node]) (IsGpuWork(kind) ? gpu_ns : cpu_ns) += ns;
  }
  return {cpu_ns, gpu_ns};
}

TEST(PageDataTest, ATreeThatIsCutKeepsItsSums) {
  const Page page({.gpu = true});
  const nlohmann::json whole = page.Json()["tree"];
  const nlohmann::json cut = page.Json({.nodes = 20})["tree"];
  EXPECT_EQ(whole["left_out"], 0);
  EXPECT_GT(cut["left_out"], 0);
  EXPECT_LT(cut["kind"].size(), whole["kind"].size());
  EXPECT_EQ(TreeTime(cut), TreeTime(whole));
  for (size_t node = 0; node < cut["parent"].size(); ++node) {
    EXPECT_LT(cut["parent"][node].get<int>(), int(node));
  }
}

// Each rank with operators of its own.
Store RunOfRanks(int ranks = 3) {
  testing::StoreBuilder build;
  for (int rank = 0; rank < ranks; ++rank) {
    const ThreadId thread = build.Thread(build.Process(uint32_t(100 + rank), "train.py", rank));
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t at = step * 1'000'000;
      build.Range(thread, "step", at, at + 900'000 + rank);
      build.Operator(thread, "aten::addmm", at + 100, at + 200 + step + rank);
      for (int op = 0; op < 30; ++op) {
        const std::string name = "aten::rank" + std::to_string(rank) + "_" + std::to_string(op);
        build.Operator(thread, name, at + 1000 * (op + 1), at + 1000 * (op + 1) + 20 + op);
      }
    }
  }
  return build.Build();
}

TEST(PageDataTest, RanksHaveTheTimesOfTheirOwnPages) {
  const Store store = RunOfRanks();
  PageStrings strings(100);
  const nlohmann::json tree = PageTree(BuildOverview(store), 1000, strings);
  ASSERT_EQ(tree["ranks"].size(), 3u);
  EXPECT_EQ(tree["ranks_left_out"], 0);
  for (int rank = 0; rank < 3; ++rank) {
    const nlohmann::json& times = tree["ranks"][size_t(rank)];
    EXPECT_EQ(times["name"], "rank " + std::to_string(rank));
    PageStrings own_strings(100);
    const nlohmann::json own =
        PageTree(BuildOverview(store, {.steps = {.rank = rank}}), 1000, own_strings);
    EXPECT_FALSE(own.contains("ranks"));
    for (const char* part : {"step_ns", "bins", "self_ns", "calls"}) {
      EXPECT_EQ(times[part], own[part]) << part << " of rank " << rank;
    }
  }
}

TEST(PageDataTest, RanksKeepTheirSumsWhenTheTreeIsCut) {
  const Store store = RunOfRanks();
  PageStrings strings(100);
  const nlohmann::json whole = PageTree(BuildOverview(store), 1000, strings);
  const nlohmann::json cut = PageTree(BuildOverview(store), 10, strings);
  EXPECT_GT(cut["left_out"], 0);
  for (size_t rank = 0; rank < 3; ++rank) {
    int64_t sums[2] = {};
    for (const auto& row : whole["ranks"][rank]["self_ns"]) {
      for (const int64_t ns : row) sums[0] += ns;
    }
    for (const auto& row : cut["ranks"][rank]["self_ns"]) {
      for (const int64_t ns : row) sums[1] += ns;
    }
    EXPECT_GT(sums[0], 0);
    EXPECT_EQ(sums[0], sums[1]);
  }
}

TEST(PageDataTest, VeryManyRanksFitThePageWhichSaysWhatIsLeftOut) {
  Page page;
  page.store = RunOfRanks(80);
  page.overview = BuildOverview(page.store, {.phase_events = true});
  const nlohmann::json tree = page.Json()["tree"];
  EXPECT_EQ(tree["ranks"].size(), 64u);
  EXPECT_EQ(tree["ranks_left_out"], 16);
  const std::string whole = MakePageJson(page.input(), {});
  EXPECT_LT(whole.size(), 4'500'000u);
  const std::string cut = MakePageJsonWithin(page.input(), whole.size() / 2);
  EXPECT_LE(cut.size(), whole.size() / 2);
  EXPECT_GT(nlohmann::json::parse(cut)["tree"]["left_out"], tree["left_out"]);
}

TEST(PageDataTest, TablesAreCutAndSaySo) {
  Page page;
  ResultTable table{.name = "t", .title = "T", .columns = {{.name = "Name"}}};
  for (int i = 0; i < 100; ++i) table.rows.push_back({std::string(5000, 'x')});
  page.tables.push_back({table, "t.csv"});
  const nlohmann::json json = page.Json({.rows = 10, .text = 50});
  EXPECT_EQ(json["tables"][0]["total_rows"], 100);
  EXPECT_EQ(json["tables"][0]["cells"][0].size(), 10u);
  const size_t text = json["tables"][0]["cells"][0][0];
  EXPECT_EQ(json["tables"][0]["cells"][0][9], text);  // equal texts are held once
  EXPECT_LT(json["strings"][text].get<std::string>().size(), 60u);
}

TEST(PageDataTest, LimitsShrinkUntilThePageFits) {
  Page page;
  ResultTable table{.name = "t", .title = "T", .columns = {{.name = "Name"}}};
  for (int i = 0; i < 2000; ++i) table.rows.push_back({std::to_string(i) + std::string(1500, 'x')});
  page.tables.push_back({table, "t.csv"});
  EXPECT_GT(MakePageJson(page.input(), {}).size(), 1'000'000u);
  EXPECT_LE(MakePageJsonWithin(page.input(), 500'000).size(), 500'000u);
}

TEST(PageDataTest, ARunWithoutStepsSaysWhy) {
  const nlohmann::json json = Page({.steps = 0}).Json();
  EXPECT_TRUE(json["training"].empty());
  EXPECT_FALSE(json["steps_found"].get<std::string>().empty());
}

TEST(HtmlPageTest, NothingInTheDataEndsTheScript) {
  const std::string html =
      MakeHtmlPage("a</title><script>x",
                   Page().Json().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  size_t ends = 0;
  for (size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2u);  // of the data and of the program
  EXPECT_EQ(html.find("<script>x"), std::string::npos);
  EXPECT_EQ(html.find("broken out'</script"), std::string::npos);
}

}  // namespace
}  // namespace batchlight

#include "timeline/answers/range_tables.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/result/table_columns.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

// Steps of 10 ms, the 7th of 90, of which the first begins with zeroing gradients.
class RangeTablesOfSteps : public ::testing::Test {
 protected:
  void Record(int64_t steps) {
    StoreBuilder build;
    const ThreadId main = build.Thread(build.Process(100, "train.py"));
    int64_t now_ns = 0;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t end_ns = now_ns + (step == 7 ? 90 : 10) * kMs;
      build.Range(main, "step", now_ns, end_ns);
      if (step < 5) build.Phase(main, Phase::kZeroGrad, "zero_grad", now_ns, now_ns + kMs);
      build.Phase(main, Phase::kBackward, "backward", now_ns + 2 * kMs, now_ns + 5 * kMs);
      now_ns = end_ns;
    }
    store_ = build.Build();
    timeline_ = BuildTimeline(store_);
    maker_.emplace(*timeline_, StepOptions());
  }
  RangeTables OfSteps(int64_t first, int64_t last, const char* key, bool all_rows = false) {
    return maker_->Make({.by_steps = true,
                         .first_step = first,
                         .last_step = last,
                         .keys = {key},
                         .all_rows = all_rows});
  }
  static std::vector<std::string> Texts(const ResultTable& table, std::string_view key) {
    std::vector<std::string> texts;
    for (const std::vector<Cell>& row : table.rows) {
      texts.push_back(std::get<std::string>(row[ColumnWithKey(table, key)]));
    }
    return texts;
  }

  Store store_;
  std::unique_ptr<Timeline> timeline_;
  std::optional<RangeTableMaker> maker_;
};

TEST_F(RangeTablesOfSteps, AnOutlierIsOneOfTheRunWhateverIsSelected) {
  Record(20);
  EXPECT_EQ(Texts(OfSteps(7, 7, "steps").tables.at(0), "outlier"),
            (std::vector<std::string>{"yes"}));
  EXPECT_EQ(Texts(OfSteps(6, 8, "steps").tables.at(0), "outlier"),
            (std::vector<std::string>{"", "yes", ""}));
}

TEST_F(RangeTablesOfSteps, WhatTheStepsHaveNothingOfIsLeftOut) {
  Record(20);
  const auto has_zeroing = [&](int64_t first, int64_t last) {
    const std::vector<std::string> phases =
        Texts(OfSteps(first, last, "phases").tables.at(0), "phase");
    return std::find(phases.begin(), phases.end(), "zero_grad") != phases.end();
  };
  EXPECT_TRUE(has_zeroing(3, 8));
  EXPECT_FALSE(has_zeroing(8, 12));
}

TEST_F(RangeTablesOfSteps, ALongTableIsCutUnlessAllOfItIsAskedFor) {
  Record(2100);
  const RangeTables cut = OfSteps(0, 2099, "steps");
  EXPECT_EQ(cut.tables.at(0).rows.size(), 2000u);
  EXPECT_EQ(cut.cut.at("steps"), 2100u);
  const RangeTables all = OfSteps(0, 2099, "steps", true);
  EXPECT_EQ(all.tables.at(0).rows.size(), 2100u);
  EXPECT_TRUE(all.cut.empty());
}

// What the analyses find for whole steps, when they look at nothing else.
void ExpectTablesOf(const Store& store, const RangeTables& made, int64_t first, int64_t last) {
  RunOverview overview = BuildOverview(store, {.steps = {.first_step = first, .last_step = last}});
  const StepSet all = FindSteps(store);
  std::vector<Step>& steps = overview.steps.processes.at(0).steps;
  for (size_t i = 0; i < steps.size(); ++i) steps[i].outlier = all.Main()->steps[i].outlier;
  for (const ResultTable& table : made.tables) {
    if (table.name == "events" || table.name == "memory") continue;
    const ResultTable known = FindOverviewTable(table.name)->make(overview);
    std::vector<size_t> shown;
    for (size_t i = 0; i < known.columns.size(); ++i) {
      if (!known.columns[i].of_whole_run) shown.push_back(i);
    }
    ASSERT_EQ(table.columns.size(), shown.size()) << table.name;
    std::vector<std::vector<Cell>> rows;
    for (const std::vector<Cell>& row : known.rows) {
      bool lies_here = true;
      rows.emplace_back();
      for (const size_t i : shown) {
        rows.back().push_back(row[i]);
        if (known.columns[i].key == "calls_per_step") lies_here = row[i] != Cell{0.0};
        if (known.columns[i].key == "share_of_step" && known.name == "nvtx_ranges") {
          lies_here = row[i] != Cell{0.0};
        }
        if (known.columns[i].key == "step" && known.columns[i].unit == Unit::kNone) {
          const int64_t number = std::get<int64_t>(row[i]);
          lies_here = number >= made.first_step && number <= made.last_step;
        }
      }
      if (!lies_here) rows.pop_back();
    }
    std::vector<std::vector<Cell>> made_rows = table.rows;  // ordered by these steps
    std::sort(made_rows.begin(), made_rows.end());
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(made_rows, rows) << table.name << " of " << first << " to " << last;
  }
}

TEST(RangeTables, OfWholeStepsAreThoseOfTheAnalyses) {
  const Store store = testing::MakeSampleRun({.steps = 20, .gpu = true});
  const auto timeline = BuildTimeline(store);
  const std::vector<Step>& steps = timeline->steps().Main()->steps;
  RangeTableMaker maker(*timeline, {});
  // One part after another, by one table or all: nothing of the part before is left.
  using Keys = std::vector<std::string>;
  for (const Keys& keys : {Keys{"operators"}, Keys{}, Keys{"modules"}, Keys{"kernels"},
                           Keys{"collectives"}, Keys{"phases", "kernels"}, Keys{}}) {
    for (const auto& [first, last] : {std::pair<size_t, size_t>{6, 8}, {2, 2}, {10, 19}}) {
      const RangeTables by_steps = maker.Make({.by_steps = true,
                                               .first_step = steps[first].number,
                                               .last_step = steps[last].number,
                                               .keys = keys});
      EXPECT_TRUE(by_steps.whole_steps);
      if (keys.empty()) {
        EXPECT_GT(by_steps.tables.size(), 8u);
      }
      ExpectTablesOf(store, by_steps, int64_t(first), int64_t(last));
      const RangeTables by_time =
          maker.Make({.from_ns = by_steps.from_ns, .to_ns = by_steps.to_ns, .keys = keys});
      EXPECT_TRUE(by_time.whole_steps);
      ASSERT_EQ(by_time.tables.size(), by_steps.tables.size());
      for (size_t i = 0; i < by_time.tables.size(); ++i) {
        EXPECT_EQ(by_time.tables[i].rows, by_steps.tables[i].rows);
      }
    }
  }
  EXPECT_NE(maker.Make({.by_steps = true, .first_step = 999}).problem, "");
}

}  // namespace
}  // namespace batchlight::timeline

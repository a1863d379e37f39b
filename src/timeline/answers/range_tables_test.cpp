#include "timeline/answers/range_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "analysis/result/table_columns.h"
#include "analysis/tables/overview_tables.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "analysis/testing/two_ranks.h"
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
    const ResultTable known = table.name == "collectives"
                                  ? MakeCollectivesOfStepsTable(overview)
                                  : FindOverviewTable(table.name)->make(overview);
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
  const Store store = testing::MakeSampleRun({.steps = 20, .gpu = true, .all_of_gpu = true});
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
      EXPECT_GE(by_steps.tables.size(), keys.size());
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

// --- parts of steps ----------------------------------------------------------------------------

double NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) return double(*whole);
  const auto* real = std::get_if<double>(&cell);
  return real == nullptr ? 0 : *real;
}

// Numbers by the texts that name them.
using Sums = std::map<std::string, double>;

void ExpectNear(const Sums& made, const Sums& known, double most, const std::string& what) {
  for (const auto& [name, value] : known) {
    const auto found = made.find(name);
    EXPECT_NEAR(found == made.end() ? 0 : found->second, value, most) << what << " " << name;
  }
  for (const auto& [name, value] : made) {
    EXPECT_TRUE(known.contains(name) || value == 0) << what << " " << name << " " << value;
  }
}

const ResultTable* TableNamed(const RangeTables& range, std::string_view name) {
  for (const ResultTable& table : range.tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

// One column by the texts of one other.
Sums ColumnOf(const RangeTables& range, std::string_view name, std::string_view by,
              std::string_view column) {
  Sums sums;
  const ResultTable* table = TableNamed(range, name);
  if (table == nullptr) return sums;
  const size_t key = ColumnWithKey(*table, by), value = ColumnWithKey(*table, column);
  if (value == table->columns.size()) {
    ADD_FAILURE() << name << " lacks " << column;
    return sums;
  }
  for (const auto& row : table->rows) {
    sums[std::get<std::string>(row[key])] += NumberOf(row[value]);
  }
  return sums;
}

double SumOf(const Sums& sums) {
  double sum = 0;
  for (const auto& [name, value] : sums) sum += value;
  return sum;
}

// What of the rows of a store's table lies in a stretch of time, looked at one by one.
class Inside {
 public:
  Inside(const Store& store, int64_t from_ns, int64_t to_ns)
      : store_(store), from_ns_(from_ns), to_ns_(to_ns) {}

  template <typename Table>
  double Ns(const Table& table, size_t row) const {
    const int64_t start_ns = std::max(table.start_ns[row], from_ns_);
    return double(std::max<int64_t>(0, std::min(table.end_ns[row], to_ns_) - start_ns));
  }
  template <typename Table>
  bool Begins(const Table& table, size_t row) const {
    return table.start_ns[row] >= from_ns_ && table.start_ns[row] < to_ns_;
  }

  template <typename Table>
  Sums Times(const Table& table, const std::vector<StringId>& names) const {
    Sums sums;
    for (size_t row = 0; row < table.size(); ++row) sums[TextOf(names[row])] += Ns(table, row);
    return sums;
  }
  template <typename Table>
  Sums Calls(const Table& table, const std::vector<StringId>& names) const {
    Sums sums;
    for (size_t row = 0; row < table.size(); ++row) {
      if (Begins(table, row)) sums[TextOf(names[row])] += 1;
    }
    return sums;
  }
  // Without the calls inside.
  template <typename Table>
  Sums Selves(const Table& table, const std::vector<StringId>& names) const {
    Sums sums = Times(table, names);
    for (size_t row = 0; row < table.size(); ++row) {
      if (!table.parent[row].IsNone()) {
        sums[TextOf(names[table.parent[row].row()])] -= Ns(table, row);
      }
    }
    return sums;
  }

 private:
  std::string TextOf(StringId name) const { return std::string(store_.Text(name)); }

  const Store& store_;
  const int64_t from_ns_;
  const int64_t to_ns_;
};

// The forward operators' modules with those around them, to which the time of backward belongs.
Sums BackwardOfModules(const Store& store, const Inside& inside) {
  const OperatorCallsTable& ops = store.operator_calls;
  const ModuleCallsTable& modules = store.module_calls;
  Sums sums;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.scope[row] != OperatorScope::kBackward) continue;
    size_t forward = 0;
    while (ops.scope[forward] == OperatorScope::kBackward ||
           ops.sequence[forward] != ops.sequence[row]) {
      ++forward;
    }
    const int64_t at_ns = ops.start_ns[forward];
    for (size_t module = 0; module < modules.size(); ++module) {
      if (modules.start_ns[module] > at_ns || modules.end_ns[module] <= at_ns) continue;
      sums[std::string(store.Text(modules.path[module]))] += inside.Ns(ops, row);
    }
  }
  return sums;
}

double BusyNs(const Store& store, const Inside& inside, int64_t from_ns, int64_t to_ns) {
  std::vector<TimeSpan> spans;
  const auto add = [&](const auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (inside.Ns(table, row) > 0) spans.push_back({table.start_ns[row], table.end_ns[row]});
    }
  };
  add(store.kernels);
  add(store.memcpys);
  return double(NsInside(UnionOf(std::move(spans)), from_ns, to_ns));
}

// Phases as the picture has them; where none is drawn, between steps, it is `other`.
Sums PhasesOf(const Timeline& timeline, int64_t from_ns, int64_t to_ns) {
  const EventTable& phases = *timeline.events().TableWithKey("step_phases");
  Sums sums;
  for (uint32_t row = 0; row < phases.rows; ++row) {
    const TimeSpan part = PartInside({phases.start_ns[row], phases.end_ns[row]}, {from_ns, to_ns});
    sums[std::string(timeline.names().Text(phases.name[row].value))] += double(part.duration_ns());
  }
  sums["other"] += double(to_ns - from_ns) - SumOf(sums);
  return sums;
}

class RangeTablesOfTime : public ::testing::Test {
 protected:
  RangeTables Of(int64_t from_ns, int64_t to_ns) {
    RangeTables made = maker_.Make({.from_ns = from_ns, .to_ns = to_ns, .all_rows = true});
    EXPECT_FALSE(made.whole_steps);
    return made;
  }
  // In the middle steps and around them, in order.
  std::vector<int64_t> Edges(size_t count) {
    const std::vector<Step>& steps = timeline_->steps().Main()->steps;
    std::uniform_int_distribution<int64_t> any(steps[2].start_ns - 1, steps[6].end_ns + 1);
    std::vector<int64_t> edges;
    while (edges.size() < count) edges.push_back(any(random_));
    std::sort(edges.begin(), edges.end());
    return edges;
  }
  void ExpectLikeBruteForce(int64_t from_ns, int64_t to_ns) {
    SCOPED_TRACE(std::to_string(from_ns) + " to " + std::to_string(to_ns));
    const RangeTables made = Of(from_ns, to_ns);
    const Inside inside(store_, from_ns, to_ns);
    const auto expect = [&](const char* table, const char* by, const char* column,
                            const Sums& known) {
      ExpectNear(ColumnOf(made, table, by, column), known, 1, std::string(table) + "." + column);
    };
    const auto& [kernels, ops, modules] =
        std::tie(store_.kernels, store_.operator_calls, store_.module_calls);
    expect("kernels", "name", "time_per_step", inside.Times(kernels, kernels.demangled_name));
    expect("kernels", "name", "calls_per_step", inside.Calls(kernels, kernels.demangled_name));
    expect("operators", "name", "self_per_step", inside.Selves(ops, ops.name));
    expect("operators", "name", "total_per_step", inside.Times(ops, ops.name));
    expect("operators", "name", "calls_per_step", inside.Calls(ops, ops.name));
    expect("modules", "module", "forward_per_step", inside.Times(modules, modules.path));
    expect("modules", "module", "self_per_step", inside.Selves(modules, modules.path));
    expect("modules", "module", "calls_per_step", inside.Calls(modules, modules.path));
    expect("modules", "module", "backward_per_step", BackwardOfModules(store_, inside));
    expect("phases", "phase", "mean", PhasesOf(*timeline_, from_ns, to_ns));
    double copied_ns = 0;
    for (size_t row = 0; row < store_.memcpys.size(); ++row) {
      copied_ns += inside.Ns(store_.memcpys, row);
    }
    EXPECT_NEAR(SumOf(ColumnOf(made, "copies", "kind", "time_per_step")), copied_ns, 1);
    const Sums waits = inside.Times(store_.api_calls, store_.api_calls.name);
    EXPECT_NEAR(SumOf(ColumnOf(made, "waits", "call", "time_per_step")),
                waits.at("cudaStreamSynchronize"), 1);
    const Sums parts = ColumnOf(made, "gpu_parts", "part", "mean");
    double idle_ns = 0;
    for (const auto& [part, ns] : parts) idle_ns += part.starts_with("idle") ? ns : 0;
    EXPECT_NEAR(SumOf(parts), double(to_ns - from_ns), 1);
    EXPECT_NEAR(idle_ns, double(to_ns - from_ns) - BusyNs(store_, inside, from_ns, to_ns), 1);
    const Sums calls = inside.Calls(store_.nvtx_ranges, store_.nvtx_ranges.message);
    EXPECT_EQ(SumOf(ColumnOf(made, "collectives", "operation", "calls")),
              calls.contains("ncclAllReduce") ? calls.at("ncclAllReduce") : 0);
  }

  const Store store_ = testing::MakeSampleRun({.steps = 8, .gpu = true, .all_of_gpu = true});
  const std::unique_ptr<Timeline> timeline_ = BuildTimeline(store_);
  RangeTableMaker maker_{*timeline_, {}};
  std::mt19937_64 random_{5};
};

TEST_F(RangeTablesOfTime, AreClippedAtItsEdges) {
  for (int i = 0; i < 30; ++i) {
    const std::vector<int64_t> edges = Edges(2);
    ExpectLikeBruteForce(edges[0], edges[1] + 1);
  }
  // Within one call, and outside of all steps.
  const OperatorCallsTable& ops = store_.operator_calls;
  const size_t op = ops.size() / 2;
  ExpectLikeBruteForce(ops.start_ns[op] + 3, ops.start_ns[op] + 9);
  ExpectLikeBruteForce(0, timeline_->steps().Main()->steps[0].start_ns - 1);
}

// What adds up, by the table, its column and what names the row.
Sums AllSumsOf(const RangeTables& range) {
  Sums sums;
  for (const ResultTable& table : range.tables) {
    if (table.name == "events" || table.name == "memory") continue;
    for (const auto& row : table.rows) {
      std::string name = table.name;
      for (const Cell& cell : row) {
        if (const auto* text = std::get_if<std::string>(&cell)) name += "|" + *text;
      }
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string& key = table.columns[i].key;
        const bool adds_up = key.ends_with("_per_step") || key == "mean" || key == "calls" ||
                             key == "kernel_time" || key == "waited";
        if (adds_up) sums[name + "." + key] += NumberOf(row[i]);
      }
    }
  }
  return sums;
}

TEST_F(RangeTablesOfTime, PartsAddUp) {
  for (int i = 0; i < 10; ++i) {
    const std::vector<int64_t> edges = Edges(4);
    Sums parts;
    for (size_t part = 0; part + 1 < edges.size(); ++part) {
      for (const auto& [name, value] : AllSumsOf(Of(edges[part], edges[part + 1]))) {
        parts[name] += value;
      }
    }
    const Sums whole = AllSumsOf(Of(edges.front(), edges.back()));
    EXPECT_GT(whole.size(), 100u);
    ExpectNear(parts, whole, 3, "parts");
  }
}

TEST_F(RangeTablesOfTime, SayWhatTheyAreOf) {
  const std::vector<Step>& steps = timeline_->steps().Main()->steps;
  EXPECT_EQ(Of(steps[2].start_ns + 1, steps[3].end_ns).notes,
            (std::vector<std::string>{"of exactly this time, in steps 2 to 3, as if it were one "
                                      "step"}));
  EXPECT_EQ(Of(0, steps[0].start_ns - 1).notes,
            (std::vector<std::string>{"of exactly this time, outside of all steps, as if it were "
                                      "one step"}));
}

// Of two ranks, of which the first waits 0.3 ms in each step for the second.
TEST(RangeTables, HaveTheTimesOfCollectives) {
  const Store store = testing::MakeTwoRanks(20);
  const auto timeline = BuildTimeline(store);
  RangeTableMaker maker(*timeline, {});
  const auto expect = [](const RangeTables& made, double calls) {
    const auto sum = [&](const char* column) {
      return SumOf(ColumnOf(made, "collectives", "operation", column));
    };
    EXPECT_EQ(sum("calls"), 2 * calls);
    EXPECT_EQ(sum("kernel_time"), 500'000 * calls);
    EXPECT_EQ(sum("average"), 250'000);
    EXPECT_EQ(sum("waited"), 300'000 * calls);
    EXPECT_EQ(sum("shortest"), 100'000);
    EXPECT_NEAR(sum("algorithm_gbps"), 10, 1e-9);
    EXPECT_NEAR(sum("bus_gbps"), 10, 1e-9);
  };
  expect(maker.Make({.by_steps = true, .first_step = 4, .last_step = 9}), 6);
  expect(maker.Make({.from_ns = 8'000'001, .to_ns = 11'000'000}), 2);
}

}  // namespace
}  // namespace batchlight::timeline

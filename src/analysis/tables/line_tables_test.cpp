// What stands beside each line in `table lines` and `table python_lines`.
#include <optional>
#include <string>
#include <string_view>

#include "analysis/overview/run_overview.h"
#include "analysis/tables/overview_tables.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

using testing::kTrain;

class LineTablesTest : public testing::LinesTest {
 protected:
  RunOverview Overview() {
    store = build.Build();
    return BuildOverview(store);
  }

  // The number in the row whose column `key` has `value`; nullopt: an empty cell, or no such
  // column.
  static std::optional<int64_t> NumberOf(const ResultTable& table, std::string_view key,
                                         const Cell& value, std::string_view column) {
    const auto place_of = [&](std::string_view wanted) {
      size_t place = 0;
      while (place < table.columns.size() && table.columns[place].key != wanted) ++place;
      return place;
    };
    const size_t where = place_of(key), what = place_of(column);
    if (where == table.columns.size() || what == table.columns.size()) return std::nullopt;
    for (const auto& row : table.rows) {
      if (row[where] != value) continue;
      const auto* number = std::get_if<int64_t>(&row[what]);
      return number == nullptr ? std::nullopt : std::optional(*number);
    }
    ADD_FAILURE() << "no row";
    return std::nullopt;
  }

  Store store;
};

TEST_F(LineTablesTest, LinesHaveWhatTheyKeepWaitingAndCopy) {
  ForwardAndBackward();  // the GPU works from 1000 to 1900
  const PythonStackId line20 = Frame(kTrain, 20, script);
  Operator(main, "aten::item", 1800, 2500, line20);
  build.ApiCall(main, "cudaStreamSynchronize", 1850, 1950);
  Operator(main, "aten::clone", 2600, 2900, line10);
  Operator(main, "aten::copy_", 2610, 2890);
  build.store().operator_calls.inputs.back() = build.Text("f32[5, 5], f32[5, 5], 0");
  build.Copy(main, CopyKind::kDeviceToDevice, MemoryKind::kDevice, MemoryKind::kDevice, 100, 2620,
             2700, 2800);
  const ResultTable table = MakeLinesTable(Overview());
  const Cell line_10 = std::string(kTrain) + ":10", line_20 = std::string(kTrain) + ":20";
  EXPECT_EQ(NumberOf(table, "place", line_20, "waits"), 100);
  EXPECT_EQ(NumberOf(table, "place", line_20, "idle_caused"), 600);
  EXPECT_EQ(NumberOf(table, "place", line_10, "waits"), 0);
  EXPECT_EQ(NumberOf(table, "place", line_10, "copied"), 100);
  EXPECT_EQ(NumberOf(table, "place", line_10, "gpu_copied"), 100);
}

TEST_F(LineTablesTest, LinesThatOnlyKeepOthersWaitingHaveARow) {
  ForwardAndBackward();
  build.store().python_samples.Append({.start_ns = 1900,
                                       .end_ns = 9000,
                                       .thread = main,
                                       .python_stack = Frame(kTrain, 30, script)});
  Operator(main, "aten::linear", 9000, 9500, line10);
  build.Kernel(main, "gemm", 9100, 9200, 9300);
  const ResultTable table = MakeLinesTable(Overview());
  const Cell line_30 = std::string(kTrain) + ":30";
  EXPECT_EQ(NumberOf(table, "place", line_30, "gpu"), 0);
  EXPECT_EQ(NumberOf(table, "place", line_30, "idle_caused"), 7100);
}

TEST_F(LineTablesTest, WithoutAGpuNothingWaitsForOne) {
  Operator(main, "aten::linear", 100, 200, line10);
  const ResultTable table = MakeLinesTable(Overview());
  const Cell line_10 = std::string(kTrain) + ":10";
  EXPECT_EQ(NumberOf(table, "place", line_10, "cpu"), 100);
  for (const char* column : {"idle_caused", "waits", "copied", "gpu_copied"}) {
    EXPECT_FALSE(NumberOf(table, "place", line_10, column).has_value()) << column;
  }
}

TEST_F(LineTablesTest, NobodyIsSaidNotToWaitWhereNothingWasSampled) {
  const TableEntry& gil = *FindOverviewTable("python_gil");
  const TableEntry& samples = *FindOverviewTable("python_samples");
  EXPECT_EQ(gil.why_this_empty(build.store()), "");
  EXPECT_EQ(samples.why_this_empty(build.store()), "");
  EXPECT_NE(gil.why_empty.find("was not sampled"), std::string::npos);
  build.store().reasons.Append({.process = process,
                                .feature = build.Text("python-sampling"),
                                .text = build.Text("this version of Python is not known")});
  const std::string why = "Python code was not sampled: this version of Python is not known";
  EXPECT_EQ(gil.why_this_empty(build.store()), why);
  EXPECT_EQ(samples.why_this_empty(build.store()), why);
  Store refused;
  refused.reasons.Append({.feature = refused.strings.Intern("python-sampling"),
                          .text = refused.strings.Intern("Python code is not sampled: no memory")});
  EXPECT_EQ(samples.why_this_empty(refused), "Python code is not sampled: no memory");
  build.store().python_samples.Append(
      {.start_ns = 0, .end_ns = 9000, .thread = main, .python_stack = Frame(kTrain, 30, script)});
  EXPECT_EQ(gil.why_this_empty(build.store()), "no thread was seen waiting for the GIL");
}

TEST_F(LineTablesTest, ExactLinesHaveWhatTheirOperatorsDid) {
  ForwardAndBackward();
  Store& made = build.store();
  made.python_functions.Append({.file = build.Text(kTrain),
                                .name = build.Text("f"),
                                .first_line = 9,
                                .lines_only = YesNo::kYes});
  for (const uint32_t line : {10u, 11u}) {
    made.python_lines.Append(
        {.function = PythonFunctionId::At(0), .line = line, .hits = 1, .time_ns = 150});
  }
  const ResultTable table = MakePythonLinesTable(Overview());
  EXPECT_EQ(NumberOf(table, "line", int64_t{10}, "time"), 150);
  EXPECT_EQ(NumberOf(table, "line", int64_t{10}, "gpu"), 900);
  EXPECT_EQ(NumberOf(table, "line", int64_t{10}, "gpu_forward"), 300);
  EXPECT_EQ(NumberOf(table, "line", int64_t{10}, "gpu_backward"), 600);
  EXPECT_EQ(NumberOf(table, "line", int64_t{10}, "cpu_backward"), 100);
  EXPECT_EQ(NumberOf(table, "line", int64_t{11}, "time"), 150);
  EXPECT_FALSE(NumberOf(table, "line", int64_t{11}, "gpu").has_value());
}

}  // namespace
}  // namespace batchlight

#include "report/tables/people_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/text/utf8.h"

namespace batchlight {
namespace {

ResultTable Table() {
  ResultTable table{.name = "kernels", .title = "Kernels"};
  table.columns = {
      {.name = "Kernel", .type = CellType::kText, .key = "name"},
      {.name = "Calls", .type = CellType::kInteger},
      {.name = "Start", .type = CellType::kInteger, .unit = Unit::kTimestampNs},
      {.name = "Total", .type = CellType::kInteger, .unit = Unit::kTimeNs},
      {.name = "Held", .type = CellType::kInteger, .unit = Unit::kBytes},
      {.name = "Rule", .type = CellType::kText},
  };
  const std::string name = "void at::native::" + std::string(60, 'x') + "_tail";
  table.rows = {CellRow(name, int64_t{1234}, int64_t{7'277'069'203}, int64_t{41'600'000},
                        int64_t{3} << 20, std::string("reduction of a long name")),
                CellRow(std::string("gemm"), int64_t{2}, int64_t{7'277'070'203}, int64_t{1'500},
                        Cell(), std::string("gemm"))};
  return table;
}

TableFormat Column() {
  auto format = ParseTableFormat("column");
  EXPECT_TRUE(format.ok());
  return format.value();
}

size_t WidestLine(const std::string& text) {
  size_t widest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, CharacterCount(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

TEST(SuitUnits, OfTheTypicalNumberOfAColumn) {
  ResultTable table = Table();
  SuitUnits(&table);
  const std::string text = TableText(Column(), RowsOf(table));
  for (const char* part : {"Total (ms)", "41.60", "0.00", "Start (s)", "7.277069", "7.277070",
                           "Held (MiB)", "3.000", "1,234"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST(SuitUnits, OneLongStepDoesNotChooseTheUnitOfAll) {
  ResultTable table{.name = "steps", .title = "Steps"};
  table.columns = {{.name = "Duration", .type = CellType::kInteger, .unit = Unit::kTimeNs}};
  for (const int64_t ns : {1'229'497'108, 6'044'176, 5'017'937, 4'917'000}) {
    table.rows.push_back(CellRow(int64_t{ns}));
  }
  SuitUnits(&table);
  const std::string text = TableText(Column(), RowsOf(table));
  EXPECT_NE(text.find("Duration (ms)"), std::string::npos) << text;
  EXPECT_NE(text.find("1,229.497"), std::string::npos) << text;
}

TEST(FitWidth, CutsNamesInTheMiddleThenLeavesColumnsOut) {
  for (const size_t width : {60u, 80u, 100u, 120u, 200u}) {
    for (const char* name : {"column", "table"}) {
      TableFormat format = ParseTableFormat(name).value();
      ResultTable table = Table();
      SuitUnits(&table);
      const std::vector<std::string> left_out = FitWidth(format, width, &table);
      const std::string text = TableText(format, RowsOf(table));
      EXPECT_LE(WidestLine(text), width) << text;
      EXPECT_EQ(left_out.size() + table.columns.size(), 6u);
      EXPECT_NE(text.find(width == 200 ? "xxx_tail" : "…"), std::string::npos) << text;
      EXPECT_TRUE(width < 120 || left_out.empty()) << width;
    }
  }
}

TEST(FitWidth, KeepsTheNameAndOneNumberHoweverNarrow) {
  ResultTable table = Table();
  const std::vector<std::string> left_out = FitWidth(Column(), 10, &table);
  EXPECT_EQ(left_out, (std::vector<std::string>{"Start", "Total", "Held", "Rule"}));
}

}  // namespace
}  // namespace batchlight

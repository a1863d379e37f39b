#include "report/tables/csv.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(CsvTest, HeaderNamesTheUnitAndNumbersAreRaw) {
  ResultTable table;
  table.columns = {{.name = "Name"},
                   {.name = "Total Time", .type = CellType::kInteger, .unit = Unit::kTimeNs},
                   {.name = "Share", .type = CellType::kReal, .unit = Unit::kPercent},
                   {.name = "Rate", .type = CellType::kReal, .unit = Unit::kRate}};
  table.rows.push_back({std::string("aten::mm"), int64_t{1234567}, 12.5, std::monostate{}});
  EXPECT_EQ(ToCsv(table),
            "Name,Total Time (ns),Share (%),Rate\r\n"
            "aten::mm,1234567,12.5,\r\n");
}

TEST(CsvTest, QuotesWhatWouldBreakARow) {
  std::string out;
  AppendCsvField(out, "say \"hi\", then\nleave");
  EXPECT_EQ(out, "\"say \"\"hi\"\", then\nleave\"");
  out.clear();
  AppendCsvField(out, "plain text");
  EXPECT_EQ(out, "plain text");
}

TEST(CsvTest, ATableWithoutRowsIsItsHeader) {
  ResultTable table;
  table.columns = {{.name = "Name"}};
  EXPECT_EQ(ToCsv(table), "Name\r\n");
}

}  // namespace
}  // namespace batchlight

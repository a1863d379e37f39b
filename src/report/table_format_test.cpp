#include "report/table_format.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

ResultTable Sample() {
  ResultTable table{.name = "r", .title = "Title"};
  table.columns = {{"Total", CellType::kInteger, Unit::kTimeNs, 0, {}},
                   {"Avg", CellType::kReal, Unit::kTimeNs, 1, {}},
                   {"Size", CellType::kReal, Unit::kBytes, 3, {}},
                   {"Name", CellType::kText, Unit::kNone, 0, {}}};
  table.rows = {{int64_t{1234567}, 0.5, int64_t{2500000}, std::string("a,b")},
                {int64_t{-7}, -1234.5, Cell(), std::string("plain")}};
  return table;
}

std::string Text(std::string_view format_text, TimeUnit unit = TimeUnit::kNanoseconds) {
  auto format = ParseTableFormat(format_text);
  EXPECT_TRUE(format.ok()) << format_text;
  format.value().time_unit = unit;
  const ResultTable table = Sample();
  return TableText(format.value(), RowsOf(table));
}

TEST(TableFormat, Csv) {
  EXPECT_EQ(Text("csv"),
            "Total (ns),Avg (ns),Size (MB),Name\n1234567,0.5,2.500,\"a,b\"\n-7,-1234.5,,plain\n");
  EXPECT_EQ(Text("csv:nohdr").find("Total"), std::string::npos);
  EXPECT_EQ(Text("csv", TimeUnit::kMicroseconds).substr(0, 61),
            "Total (us),Avg (us),Size (MB),Name\n1234.567,0.001,2.500,\"a,b\"");
}

TEST(TableFormat, ColumnGroupsDigitsAndAligns) {
  EXPECT_EQ(Text("column"),
            "\n ** Title (r):\n\n"
            " Total (ns)  Avg (ns)  Size (MB)  Name \n"
            " ----------  --------  ---------  -----\n"
            "  1,234,567       0.5      2.500  a,b  \n"
            "         -7  -1,234.5             plain\n");
  EXPECT_NE(Text("column:nofmt").find(" 1234567 "), std::string::npos);
}

TEST(TableFormat, WidthsClipAndHide) {
  const std::string text = Text("column:nohdr:4:0:.:3");
  EXPECT_NE(text.find(" 1,2…      2.500  a,b\n"), std::string::npos) << text;
}

TEST(TableFormat, JsonEscapesUnlessAskedForNsysBytes) {
  ResultTable table = Sample();
  table.rows = {{int64_t{1}, 1.0, 0.0, std::string("a\"b")}};
  auto format = ParseTableFormat("json").value();
  EXPECT_NE(TableText(format, RowsOf(table)).find("\"Name\": \"a\\\"b\""), std::string::npos);
  format.nsys_compat = true;
  EXPECT_NE(TableText(format, RowsOf(table)).find("\"Name\": \"a\"b\""), std::string::npos);
}

TEST(TableFormat, TsvTabs) {
  ResultTable table = Sample();
  table.rows = {{int64_t{1}, 1.0, 0.0, std::string("a\tb")}};
  EXPECT_NE(TableText(ParseTableFormat("tsv").value(), RowsOf(table)).find("\ta b\n"),
            std::string::npos);
  EXPECT_NE(TableText(ParseTableFormat("tsv:esc").value(), RowsOf(table)).find("\ta\\tb\n"),
            std::string::npos);
}

TEST(TableFormat, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"xml", "csv:esc", "json:nohdr", "column:wide", "hdoc:5", ""}) {
    EXPECT_FALSE(ParseTableFormat(text).ok()) << text;
  }
  const auto hdoc = ParseTableFormat("hdoc:title=T:css=http://a/b.css");
  ASSERT_TRUE(hdoc.ok());
  EXPECT_EQ(hdoc.value().title, "T");
  EXPECT_EQ(hdoc.value().css, "http://a/b.css");
}

TEST(TimeUnits, TakesPrefixes) {
  EXPECT_EQ(ParseTimeUnit("nanoseconds").value(), TimeUnit::kNanoseconds);
  EXPECT_EQ(ParseTimeUnit("us").value(), TimeUnit::kMicroseconds);
  EXPECT_EQ(ParseTimeUnit("ms").value(), TimeUnit::kMilliseconds);
  EXPECT_EQ(ParseTimeUnit("milli").value(), TimeUnit::kMilliseconds);
  EXPECT_EQ(ParseTimeUnit("s").value(), TimeUnit::kSeconds);
  EXPECT_FALSE(ParseTimeUnit("weeks").ok());
  EXPECT_FALSE(ParseTimeUnit("").ok());
}

}  // namespace
}  // namespace batchlight

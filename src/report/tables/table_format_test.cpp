#include "report/tables/table_format.h"

#include <gtest/gtest.h>

#include "analysis/result/result_column.h"

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
  DisplayUnits units = kReportUnits;
  units.SetTime(unit);
  const auto format = ParseTableFormat(format_text, units);
  EXPECT_TRUE(format.ok()) << format_text;
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

TEST(TableFormat, FilesHaveBaseUnitsIfNobodyAsksForOthers) {
  const ResultTable table = Sample();
  EXPECT_EQ(TableText(ParseTableFormat("csv:nohdr").value(), RowsOf(table)),
            "1234567,0.5,2500000,\"a,b\"\n-7,-1234.5,,plain\n");
  const std::string json = TableText(ParseTableFormat("json").value(), RowsOf(table));
  EXPECT_NE(json.find("\"Size (B)\": 2500000,"), std::string::npos) << json;
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

TEST(TableFormat, NumbersThatNameSomethingHaveNoSeparators) {
  ResultTable table = Sample();
  table.columns = {CountColumn("pid", "PID", ""), CountColumn("step", "Step", ""),
                   TimeColumn("step", "Step Time", ""), CountColumn("calls", "Calls", "")};
  table.rows = {{int64_t{12242}, int64_t{1500}, int64_t{1500}, int64_t{1500}}};
  TableFormat format = ParseTableFormat("column:nohdr").value();
  EXPECT_NE(TableText(format, RowsOf(table)).find("12242  1500"), std::string::npos);
  EXPECT_NE(TableText(format, RowsOf(table)).find("1,500  1,500"), std::string::npos);
  format.nsys_compat = true;
  EXPECT_NE(TableText(format, RowsOf(table)).find("12,242  1,500"), std::string::npos);
}

TEST(TableFormat, WidthsClipAndHide) {
  const std::string text = Text("column:nohdr:4:0:.:3");
  EXPECT_NE(text.find(" 1,2…      2.500  a,b\n"), std::string::npos) << text;
}

std::string OneName(std::string_view format_text, std::string name, bool nsys_compat) {
  ResultTable table = Sample();
  table.rows = {{int64_t{1}, 1.0, 0.0, std::move(name)}};
  auto format = ParseTableFormat(format_text).value();
  format.nsys_compat = nsys_compat;
  return TableText(format, RowsOf(table));
}

TEST(TableFormat, OddNamesAreValidUnlessAskedForNsysBytes) {
  EXPECT_NE(OneName("json", "a\"\n", false).find(": \"a\\\"\\n\"\n"), std::string::npos);
  EXPECT_NE(OneName("json", "a\"\n", true).find(": \"a\\\"\n\"\n"), std::string::npos);
  EXPECT_NE(OneName("json", "1.5", false).find(": \"1.5\"\n"), std::string::npos);
  EXPECT_NE(OneName("json", "1.5", true).find(": 1.5\n"), std::string::npos);
  EXPECT_NE(OneName("json", "=1", true).find(": \"=1\"\n"), std::string::npos);
  EXPECT_NE(OneName("csv", "a\"b", false).find(",\"a\"\"b\"\n"), std::string::npos);
  EXPECT_NE(OneName("csv", "a\"b", true).find(",a\"b\n"), std::string::npos);
  EXPECT_NE(OneName("csv", "a,\"b", true).find(",\"a,\"b\"\n"), std::string::npos);
  EXPECT_NE(OneName("tsv", "a\nb", false).find("\ta b\n"), std::string::npos);
  EXPECT_NE(OneName("tsv", "a\nb", true).find("\ta\nb\n"), std::string::npos);
  EXPECT_NE(OneName("table", "a\nb", false).find("| a b  |\n"), std::string::npos);
  EXPECT_NE(OneName("htable", "<a> \"b\"", false).find("<td>&lt;a&gt; \"b\"</td>"),
            std::string::npos);
  EXPECT_NE(OneName("markdown", "a|b\nc", false).find("| a\\|b c |"), std::string::npos);
  EXPECT_NE(OneName("markdown", "[a](b)", false).find("[a]\\(b)"), std::string::npos);
}

TEST(TableFormat, ColumnsWithoutNumbersInTheFirstRowsAreText) {
  ResultTable table = Sample();
  table.rows.assign(101, {int64_t{1}, 1.0, Cell(), std::string("x")});
  table.rows.back()[2] = 5e9;
  const std::string text =
      TableText(ParseTableFormat("column", kReportUnits).value(), RowsOf(table));
  EXPECT_NE(text.find("  5000.000   x"), std::string::npos) << text.substr(text.size() - 60);
  const std::string all =
      TableText(ParseTableFormat("column:autolines=0", kReportUnits).value(), RowsOf(table));
  EXPECT_NE(all.find("  5,000.000  x"), std::string::npos) << all.substr(all.size() - 60);
}

TEST(TableFormat, Units) {
  EXPECT_EQ(Text("csv:time=ms:mem=KB").substr(0, 59),
            "Total (ms),Avg (ms),Size (KB),Name\n1.2346,0.0000,2500.00,\"a");
  EXPECT_EQ(Text("csv:noconv").substr(0, 55),
            "Total (ns),Avg (ns),Size (B),Name\n1234567,0.5,2500000,\"");
  EXPECT_EQ(Text("csv:nohdrunit", TimeUnit::kMicroseconds).substr(0, 24),
            "Total,Avg,Size,Name\n1234");
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
  for (const char* text : {"xml", "csv:esc", "json:nohdr", "csv:time=weeks", "csv:colmax=5",
                           "column:wide", "hdoc:5", ""}) {
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
  EXPECT_FALSE(ParseTimeUnit("m").ok());  // milli or micro
  EXPECT_FALSE(ParseTimeUnit("weeks").ok());
  EXPECT_FALSE(ParseTimeUnit("").ok());
}

}  // namespace
}  // namespace batchlight

#include "report/tables/dlprof_files.h"

#include <gtest/gtest.h>

#include <cstring>

#include "report/tensorboard/tensorboard.h"

namespace batchlight {
namespace {

ResultTable Table() {
  ResultTable table{.name = "tensor_core", .title = "Tensor Core Report"};
  table.columns = {{.name = "Op Name", .type = CellType::kText},
                   {.name = "TC GPU Time", .type = CellType::kInteger, .unit = Unit::kTimeNs},
                   {.name = "TC Utilization (%)", .type = CellType::kReal}};
  table.rows = {{std::string("a \"b\""), int64_t{1200}, 33.333}, {std::string("c"), Cell{}, 0.0}};
  return table;
}

TEST(DlprofFiles, CsvHasTitleHeaderAndQuotedText) {
  EXPECT_EQ(DlprofCsv(Table()),
            "Tensor Core Report\n"
            "\"Op Name\",\"TC GPU Time (ns)\",\"TC Utilization (%)\"\n"
            "\"a \"\"b\"\"\",1200,33.3\n"
            "\"c\",,0.0\n");
}

TEST(DlprofFiles, JsonIsKeyedByTitleAndColumn) {
  const std::string json = DlprofJson(Table());
  EXPECT_EQ(json.find("{\n\"Tensor Core Report\": ["), 0u);
  EXPECT_NE(json.find("\"TC GPU Time (ns)\": 1200"), std::string::npos);
  EXPECT_NE(json.find("\"TC GPU Time (ns)\": \"\""), std::string::npos);  // no value
}

TEST(DlprofFiles, JsonSurvivesInvalidUtf8) {
  ResultTable table = Table();
  table.rows = {{std::string("\xff\xfe"), int64_t{1}, 0.0}};
  EXPECT_FALSE(DlprofJson(table).empty());
}

TEST(TensorBoard, Crc32cOfTheStandardCheckString) { EXPECT_EQ(Crc32c("123456789"), 0xe3069283u); }

TEST(TensorBoard, RecordsAreFramed) {
  TensorBoardWriter writer(1000);
  const size_t head = writer.bytes().size();
  writer.AddScalar("step time (ms)", 3, 1.5f);
  uint64_t length = 0;
  std::memcpy(&length, writer.bytes().data() + head, sizeof length);
  EXPECT_EQ(writer.bytes().size(), head + 8 + 4 + length + 4);
  writer.AddText("summary", "| a | b |");
  EXPECT_NE(writer.bytes().find("| a | b |"), std::string::npos);
}

}  // namespace
}  // namespace batchlight

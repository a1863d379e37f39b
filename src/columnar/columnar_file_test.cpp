// That files are what readers take them for is tested with readers: tests/e2e/sql_test.py. Here is
// what these do not show.
#include "columnar/columnar_file.h"

#include <gtest/gtest.h>

#include "columnar/arrow_file.h"
#include "columnar/parquet_file.h"
#include "columnar/text_codes.h"

namespace batchlight {
namespace {

ColumnarSchema OneText() {
  return {
      .table = "names", .fields = {{"name", ColumnarType::kText, "", "what it is"}}, .facts = {}};
}

ColumnarBatch Texts(const std::vector<std::string>& texts) {
  ColumnarBatch batch{.rows = texts.size(), .columns = {}};
  batch.columns.resize(1);
  TextCodes codes(batch.columns[0]);
  for (const std::string& text : texts) batch.columns[0].codes.push_back(codes.CodeOfCopy(text));
  return batch;
}

ByteSink Into(std::string& bytes) {
  return [&bytes](std::string_view more) {
    bytes += more;
    return Status();
  };
}

size_t CountOf(std::string_view part, const std::string& bytes) {
  size_t count = 0;
  for (size_t at = bytes.find(part); at != std::string::npos; at = bytes.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ColumnarFileTest, BeginsAndEndsAsItsReadersWant) {
  for (const auto& [format, begin, end] :
       {std::tuple(ColumnarFormat::kParquet, "PAR1", "PAR1"),
        std::tuple(ColumnarFormat::kArrow, "ARROW1", "ARROW1")}) {
    for (const size_t rows : {0, 1, 1000}) {
      std::string bytes;
      const auto file = ColumnarFile::Create(format, OneText(), Into(bytes));
      ASSERT_TRUE(file->Write(Texts(std::vector<std::string>(rows, "a"))).ok());
      ASSERT_TRUE(file->Finish().ok());
      EXPECT_TRUE(bytes.starts_with(begin));
      EXPECT_TRUE(bytes.ends_with(end));
      EXPECT_EQ(CountOf("batchlight.table", bytes), format == ColumnarFormat::kArrow ? 2u : 1u);
    }
  }
}

TEST(ColumnarFileTest, ATextThatNoReaderCouldHoldIsRefused) {
  std::string bytes;
  ParquetFile parquet(OneText(), Into(bytes), {.text_bytes = 10});
  EXPECT_TRUE(parquet.Write(Texts({"0123456789"})).ok());
  const Status refused = parquet.Write(Texts({"short", "0123456789a"}));
  EXPECT_EQ(refused.kind(), ErrorKind::kOutput);
  EXPECT_NE(refused.message().find("a text of 11 bytes in column name"), std::string::npos);
  ArrowFile arrow(OneText(), Into(bytes), {.text_bytes = 10});
  EXPECT_EQ(arrow.Write(Texts({"0123456789a"})).kind(), ErrorKind::kOutput);
}

TEST(ColumnarFileTest, ABatchOfArrowIsCutBeforeItsOffsetsOverflow) {
  const std::string marker = "\xff\xff\xff\xff";
  std::string whole, cut;
  for (auto [bytes, limit] : {std::pair(&whole, 1000), std::pair(&cut, 20)}) {
    ArrowFile file(OneText(), Into(*bytes), {.batch_text_bytes = size_t(limit)});
    ASSERT_TRUE(file.Write(Texts({"0123456789", "0123456789", "0123456789",
                                  "01234567890123456789"
                                  "0"}))
                    .ok());
    ASSERT_TRUE(file.Finish().ok());
  }
  EXPECT_EQ(CountOf(marker, whole), 3u);  // schema, batch, end
  EXPECT_EQ(CountOf(marker, cut), 5u);    // two rows, one, and the one that is too long by itself
}

TEST(ColumnarFileTest, TextsBeyondADictionaryStandOneAfterTheOther) {
  const std::string name(200, 'x');
  const std::vector<std::string> texts(50, name);
  std::string with, without;
  ParquetFile first(OneText(), Into(with));
  ParquetFile second(OneText(), Into(without), {.page_bytes = 1000, .dictionary_bytes = 100});
  for (ParquetFile* file : {&first, &second}) {
    ASSERT_TRUE(file->Write(Texts(texts)).ok());
    ASSERT_TRUE(file->Finish().ok());
  }
  EXPECT_LT(with.size(), without.size());
}

TEST(ColumnarFileTest, AFullDiskIsSaid) {
  for (const ColumnarFormat format : {ColumnarFormat::kParquet, ColumnarFormat::kArrow}) {
    const auto file = ColumnarFile::Create(format, OneText(),
                                           [](std::string_view) { return OutputError("no room"); });
    EXPECT_EQ(file->Write(Texts({"a"})).message(), "no room");
    EXPECT_EQ(file->Finish().message(), "no room");
  }
}

TEST(ColumnarFileTest, NamesBecomeUtf8) {
  ColumnarBatch batch = Texts({"good",
                               "b\xff"
                               "d"});
  MakeUtf8(batch.columns[0]);
  EXPECT_EQ(batch.columns[0].texts[1],
            "b\xef\xbf\xbd"
            "d");
}

}  // namespace
}  // namespace batchlight

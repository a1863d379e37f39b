#include "columnar/parquet_chunk.h"

#include <algorithm>
#include <vector>

#include "columnar/compress.h"
#include "columnar/level_runs.h"
#include "columnar/parquet_encoding.h"
#include "columnar/raw_bytes.h"

namespace batchlight {
namespace {

// Numbers of parquet.thrift.
enum Type : int32_t { kBoolean = 0, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum PageType : int32_t { kDataPage = 0, kDictionaryPage = 2 };

void AppendText(std::string_view text, std::string& out) {
  AppendRaw(static_cast<uint32_t>(text.size()), out);
  out += text;
}

class ChunkEncoder {
 public:
  ChunkEncoder(const ColumnarField& field, const ColumnarValues& values, size_t rows,
               const ParquetLimits& limits)
      : field_(field), values_(values), rows_(rows), limits_(limits) {}

  Result<ParquetChunk> Run() {
    for (size_t row = 0; row < rows_; ++row) chunk_.null_count += values_.IsPresent(row) ? 0 : 1;
    if (HoldsText(field_.type)) {
      RETURN_IF_ERROR(CheckTexts());
      chunk_.dictionary = SuitsDictionary();
      if (chunk_.dictionary) WriteDictionary();
    } else {
      FindExtremes();
    }
    chunk_.first_data = static_cast<int64_t>(chunk_.bytes.size());
    for (size_t row = 0; row < rows_;) row = WriteDataPage(row);
    return std::move(chunk_);
  }

 private:
  Status CheckTexts() const {
    for (const std::string_view text : values_.texts) {
      if (text.size() <= limits_.text_bytes) continue;
      return OutputError("a text of " + std::to_string(text.size()) + " bytes in column " +
                         field_.name +
                         " is longer than Parquet's pages; leave its table out with "
                         "--tables");
    }
    return {};
  }

  bool SuitsDictionary() const {
    size_t distinct_bytes = 0;
    for (const std::string_view text : values_.texts) distinct_bytes += text.size() + 4;
    if (distinct_bytes > limits_.dictionary_bytes || values_.texts.empty()) return false;
    size_t plain_bytes = 0;
    for (size_t row = 0; row < rows_; ++row) plain_bytes += TextBytes(row);
    return distinct_bytes + rows_ < plain_bytes;
  }

  size_t TextBytes(size_t row) const {
    return values_.IsPresent(row) ? values_.texts[values_.codes[row]].size() + 4 : 0;
  }

  void WriteDictionary() {
    std::string page;
    for (const std::string_view text : values_.texts) AppendText(text, page);
    const auto count = static_cast<int64_t>(values_.texts.size());
    WritePage(kDictionaryPage, 7, ThriftStruct().Int32(1, count).Int32(2, kPlain), page);
  }

  // Rows from `begin` on, as many as a page should have. Returns where the next begins.
  size_t WriteDataPage(size_t begin) {
    size_t end = begin;
    for (size_t bytes = 0; end < rows_ && bytes < limits_.page_bytes; ++end) bytes += RowBytes(end);
    std::vector<uint32_t> levels;
    levels.reserve(end - begin);
    for (size_t row = begin; row < end; ++row) levels.push_back(values_.IsPresent(row) ? 1 : 0);
    std::string runs;
    AppendRuns(levels, 1, runs);
    std::string page;
    AppendRaw(static_cast<uint32_t>(runs.size()), page);
    page += runs;
    AppendValues(begin, end, page);
    WritePage(kDataPage, 5,
              ThriftStruct()
                  .Int32(1, static_cast<int64_t>(end - begin))
                  .Int32(2, chunk_.dictionary ? kRleDictionary : kPlain)
                  .Int32(3, kRle)
                  .Int32(4, kRle),
              page);
    return end;
  }

  size_t RowBytes(size_t row) const {
    return HoldsText(field_.type) && !chunk_.dictionary ? TextBytes(row) + 1 : sizeof(int64_t);
  }

  void AppendValues(size_t begin, size_t end, std::string& page) const {
    if (chunk_.dictionary) return AppendCodes(begin, end, page);
    if (field_.type == ColumnarType::kBool) return AppendBits(begin, end, page);
    for (size_t row = begin; row < end; ++row) {
      if (!values_.IsPresent(row)) continue;
      if (HoldsText(field_.type)) {
        AppendText(values_.texts[values_.codes[row]], page);
      } else if (field_.type == ColumnarType::kReal) {
        AppendRaw(values_.reals[row], page);
      } else {
        AppendRaw(values_.numbers[row], page);
      }
    }
  }

  void AppendCodes(size_t begin, size_t end, std::string& page) const {
    std::vector<uint32_t> codes;
    codes.reserve(end - begin);
    for (size_t row = begin; row < end; ++row) {
      if (values_.IsPresent(row)) codes.push_back(values_.codes[row]);
    }
    const int bits = std::max(1, BitsFor(static_cast<uint32_t>(values_.texts.size() - 1)));
    page += static_cast<char>(bits);
    AppendRuns(codes, bits, page);
  }

  void AppendBits(size_t begin, size_t end, std::string& page) const {
    size_t count = 0;
    for (size_t row = begin; row < end; ++row) {
      if (!values_.IsPresent(row)) continue;
      if (count % 8 == 0) page += '\0';
      if (values_.numbers[row] != 0) page.back() = static_cast<char>(page.back() | 1 << count % 8);
      ++count;
    }
  }

  void WritePage(PageType type, int header_field, const ThriftStruct& header,
                 const std::string& page) {
    const std::string stored = Compressed(page);
    const std::string head = ThriftStruct()
                                 .Int32(1, type)
                                 .Int32(2, static_cast<int64_t>(page.size()))
                                 .Int32(3, static_cast<int64_t>(stored.size()))
                                 .Struct(header_field, header)
                                 .Encoded();
    chunk_.plain_bytes += static_cast<int64_t>(head.size() + page.size());
    chunk_.bytes += head;
    chunk_.bytes += stored;
  }

  // Readers leave row groups out by them. Of texts none are told.
  void FindExtremes() {
    if (field_.type == ColumnarType::kReal) {
      Extremes(values_.reals);
    } else if (field_.type == ColumnarType::kUnsigned) {
      Extremes<int64_t, uint64_t>(values_.numbers);
    } else if (field_.type != ColumnarType::kBool) {
      Extremes(values_.numbers);
    }
  }
  template <typename T, typename As = T>
  void Extremes(const std::vector<T>& values) {
    bool any = false;
    As least{}, most{};
    for (size_t row = 0; row < rows_; ++row) {
      if (!values_.IsPresent(row)) continue;
      const As value = static_cast<As>(values[row]);
      least = any ? std::min(least, value) : value;
      most = any ? std::max(most, value) : value;
      any = true;
    }
    // Zero has two signs in a double, and the order of Parquet does not say which is less.
    if (!any || least == As{} || most == As{}) {
      if (!any || std::is_same_v<As, double>) return;
    }
    AppendRaw(least, chunk_.least);
    AppendRaw(most, chunk_.most);
  }

  const ColumnarField& field_;
  const ColumnarValues& values_;
  const size_t rows_;
  const ParquetLimits& limits_;
  ParquetChunk chunk_;
};

}  // namespace

int32_t ParquetTypeOf(ColumnarType type) {
  switch (type) {
    case ColumnarType::kBool:
      return kBoolean;
    case ColumnarType::kReal:
      return kDouble;
    case ColumnarType::kText:
    case ColumnarType::kBytes:
      return kByteArray;
    case ColumnarType::kInteger:
    case ColumnarType::kUnsigned:
    case ColumnarType::kTimestampNs:
      return kInt64;
  }
  return kInt64;
}

Result<ParquetChunk> EncodeParquetChunk(const ColumnarField& field, const ColumnarValues& values,
                                        size_t rows, const ParquetLimits& limits) {
  return ChunkEncoder(field, values, rows, limits).Run();
}

}  // namespace batchlight

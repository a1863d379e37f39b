// What a columnar file holds: named, typed columns with units, and their values in batches of rows.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace batchlight {

enum class ColumnarType : uint8_t {
  kInteger,      // 64 bits
  kUnsigned,     // 64 bits
  kReal,         // double
  kBool,         //
  kText,         // UTF-8
  kBytes,        // any bytes
  kTimestampNs,  // ns since 1970, UTC
};

inline bool HoldsText(ColumnarType type) {
  return type == ColumnarType::kText || type == ColumnarType::kBytes;
}

struct ColumnarField {
  std::string name;
  ColumnarType type = ColumnarType::kInteger;
  std::string unit;  // "ns", "bytes", "%"; "": none
  std::string help;
};

struct ColumnarSchema {
  std::string table;  // its name
  std::vector<ColumnarField> fields;
  std::vector<std::pair<std::string, std::string>> facts;  // of the file: key, value
};

// The values of one column of a batch, one for each row; where one is missing, any.
struct ColumnarValues {
  std::vector<int64_t> numbers;         // kInteger, kUnsigned (its bits), kBool, kTimestampNs
  std::vector<double> reals;            // kReal; none that is not finite
  std::vector<uint32_t> codes;          // kText, kBytes: rows of `texts`
  std::vector<std::string_view> texts;  // distinct, each used; of kText valid UTF-8
  std::vector<uint8_t> present;         // 0: missing. Empty: none is
  std::deque<std::string> kept;         // texts that are nowhere else

  bool IsPresent(size_t row) const { return present.empty() || present[row] != 0; }
};

struct ColumnarBatch {
  size_t rows = 0;
  std::vector<ColumnarValues> columns;  // by field
};

}  // namespace batchlight

// Formats parquet and arrow: cells become columns.
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "columnar/columnar_file.h"
#include "columnar/text_codes.h"
#include "report/tables/csv.h"
#include "report/tables/table_writers.h"

namespace batchlight {
namespace {

// Rows that are made at a time: cells take much more room than columns.
constexpr size_t kRowsAtOnce = kColumnarBatchRows;
constexpr size_t kBlockRows = 4096;

ColumnarField FieldOf(const ResultColumn& column) {
  const ColumnarType type = column.type == CellType::kText   ? ColumnarType::kText
                            : column.type == CellType::kReal ? ColumnarType::kReal
                                                             : ColumnarType::kInteger;
  return {CsvHeading(column), type, std::string(BaseUnit(column.unit)), column.help};
}

template <typename Number>
std::string TextOf(Number number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

// One column of a batch being filled.
class ColumnFiller {
 public:
  explicit ColumnFiller(ColumnarType type) : type_(type) {}

  void Add(const Cell& cell) {
    if (type_ == ColumnarType::kText) {
      AddText(cell);
    } else if (type_ == ColumnarType::kReal) {
      const double* real = std::get_if<double>(&cell);
      const int64_t* integer = std::get_if<int64_t>(&cell);
      const bool known = integer != nullptr || (real != nullptr && std::isfinite(*real));
      values_.reals.push_back(!known ? 0 : real != nullptr ? *real : double(*integer));
      values_.present.push_back(known ? 1 : 0);
    } else {
      AddInteger(cell);
    }
  }

  ColumnarValues Take() {
    if (type_ == ColumnarType::kText) MakeUtf8(values_);
    return std::move(values_);
  }

 private:
  void AddInteger(const Cell& cell) {
    constexpr double kMost = 9.2e18;
    const double* real = std::get_if<double>(&cell);
    const int64_t* integer = std::get_if<int64_t>(&cell);
    const bool known =
        integer != nullptr || (real != nullptr && std::isfinite(*real) && std::abs(*real) < kMost);
    values_.numbers.push_back(!known               ? 0
                              : integer != nullptr ? *integer
                                                   : static_cast<int64_t>(std::llround(*real)));
    values_.present.push_back(known ? 1 : 0);
  }
  void AddText(const Cell& cell) {
    values_.present.push_back(std::holds_alternative<std::monostate>(cell) ? 0 : 1);
    uint32_t code = 0;
    if (const auto* text = std::get_if<std::string>(&cell)) {
      code = codes_.CodeOfCopy(*text);
    } else if (const auto* integer = std::get_if<int64_t>(&cell)) {
      code = codes_.CodeOfCopy(TextOf(*integer));
    } else if (const auto* real = std::get_if<double>(&cell)) {
      code = codes_.CodeOfCopy(TextOf(*real));
    }
    values_.codes.push_back(code);
  }

  const ColumnarType type_;
  ColumnarValues values_;
  TextCodes codes_{values_};
};

using Cells = std::vector<std::vector<Cell>>;

ColumnarBatch BatchOf(const RowSource& source, const ColumnarSchema& schema, size_t begin,
                      size_t end) {
  Cells rows(end - begin, std::vector<Cell>(source.columns.size()));
  ParallelFor((rows.size() + kBlockRows - 1) / kBlockRows, [&](size_t block) {
    const size_t last = std::min(rows.size(), (block + 1) * kBlockRows);
    for (size_t i = block * kBlockRows; i < last; ++i) source.fill(begin + i, rows[i]);
  });
  ColumnarBatch batch{.rows = rows.size(), .columns = {}};
  batch.columns.resize(schema.fields.size());
  ParallelFor(batch.columns.size(), [&](size_t column) {
    ColumnFiller filler(schema.fields[column].type);
    for (const std::vector<Cell>& row : rows) filler.Add(row[column]);
    batch.columns[column] = filler.Take();
  });
  return batch;
}

}  // namespace

Status WriteColumnar(ColumnarFormat format, const RowSource& source, const TextSink& sink) {
  ColumnarSchema schema{.table = source.name, .fields = {}, .facts = {{"title", source.title}}};
  for (const ResultColumn& column : source.columns) schema.fields.push_back(FieldOf(column));
  const auto file = ColumnarFile::Create(format, schema, sink);
  for (size_t begin = 0; begin < source.row_count; begin += kRowsAtOnce) {
    const size_t end = std::min(source.row_count, begin + kRowsAtOnce);
    RETURN_IF_ERROR(file->Write(BatchOf(source, schema, begin, end)));
  }
  return file->Finish();
}

}  // namespace batchlight

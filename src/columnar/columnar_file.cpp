#include "columnar/columnar_file.h"

#include <utility>

#include "columnar/arrow_file.h"
#include "columnar/parquet_file.h"

namespace batchlight {

std::unique_ptr<ColumnarFile> ColumnarFile::Create(ColumnarFormat format, ColumnarSchema schema,
                                                   ByteSink sink) {
  if (format == ColumnarFormat::kArrow) {
    return std::make_unique<ArrowFile>(std::move(schema), std::move(sink));
  }
  return std::make_unique<ParquetFile>(std::move(schema), std::move(sink));
}

std::string_view NameOf(ColumnarFormat format) {
  return format == ColumnarFormat::kArrow ? "arrow" : "parquet";
}

}  // namespace batchlight

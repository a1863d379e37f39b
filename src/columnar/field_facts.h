// What a file says of itself beside its columns: which table it is, units, what a column is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columnar/table_schema.h"

namespace batchlight {

// Key and value, each of the keys with "batchlight." before it; the table's name first.
std::vector<std::pair<std::string, std::string>> FileFacts(const ColumnarSchema& schema);

// {"start_ns":{"unit":"ns","help":"..."},...} of the fields that have either, for formats without
// facts of a field.
std::string FieldsAsJson(const std::vector<ColumnarField>& fields);

}  // namespace batchlight

// The ENUM_* tables of an nsys export: numbers of columns with their names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace batchlight {

struct NsysEnumValue {
  int64_t id;
  std::string_view name;
  std::string_view label;
};

struct NsysEnum {
  std::string_view table;
  std::vector<NsysEnumValue> values;
};

std::vector<NsysEnum> NsysEnums();  // in the order of an export

}  // namespace batchlight

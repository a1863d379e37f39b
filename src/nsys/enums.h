// The coded values of nsys's file that the store has no kinds for, and the ENUM_* tables, which
// explain all coded numbers. Both expand from enums.def.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nsys/table.h"

namespace batchlight::nsys {

// clang-format off
#define ENUM_BEGIN(Name, table) enum class Name : int64_t {
#define ENUM_VALUE(Identifier, number, name, label) k##Identifier = number,
#define ENUM_END(Name) };
#define ENUM_KIND(Kind)
// clang-format on
#include "nsys/enums.def"
#undef ENUM_BEGIN
#undef ENUM_VALUE
#undef ENUM_END
#undef ENUM_KIND

// A row of such a table.
struct EnumValue {
  int64_t id = 0;
  std::string_view name;
  std::string_view label;
};

constexpr auto EnumTable(std::string_view name) {
  return Table{name, kNothing, Field<&EnumValue::id>{"id!P"}, Field<&EnumValue::name>{"name"},
               Field<&EnumValue::label>{"label"}};
}

struct Enum {
  std::string_view table;
  std::vector<EnumValue> values;
};

std::vector<Enum> Enums();  // in the order of an export

}  // namespace batchlight::nsys

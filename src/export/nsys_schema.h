// The tables of an nsys SQLite export, shaped as schema 3.25 with NVTX_EVENTS.eventId of 3.28:
// names, columns, types. Written from nsys's documented schema.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace batchlight {

inline constexpr std::string_view kNsysSchemaVersion = "3.25.0";

struct NsysTableShape {
  std::string_view name;
  // "start! text:T doubleValue:R id!P": INTEGER unless :T (TEXT) or :R (REAL); ! NOT NULL; P the
  // primary key.
  std::string_view columns;
};

std::span<const NsysTableShape> NsysTables();
const NsysTableShape* FindNsysTable(std::string_view name);  // null if there is none

// CREATE TABLE statement.
std::string CreateStatement(const NsysTableShape& table);

}  // namespace batchlight

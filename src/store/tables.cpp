#include "store/tables.h"

namespace batchlight {
namespace {

template <typename T>
[[gnu::noinline]] void ReserveColumn(std::vector<T>& column, size_t rows) {
  column.reserve(rows);
}
template <typename T>
[[gnu::noinline]] void ClearColumn(std::vector<T>& column) {
  column = {};
}

}  // namespace

#define TABLE_END(Name) }

// Every table's rows are counted by its first column, whatever its name.
#define TABLE_BEGIN(Name, member, doc) size_t Name##Table::size() const {
#define COLUMN(type, name, doc) return name.size();
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN

#define TABLE_BEGIN(Name, member, doc) void Name##Table::Append(const Name##Row& row) {
#define COLUMN(type, name, doc) name.push_back(row.name);
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN

#define TABLE_BEGIN(Name, member, doc) void Name##Table::Reserve(size_t rows) {
#define COLUMN(type, name, doc) ReserveColumn(name, rows);
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN

#define TABLE_BEGIN(Name, member, doc) void Name##Table::Reorder(std::span<const uint32_t> order) {
#define COLUMN(type, name, doc) ReorderColumn(name, order);
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN

#define TABLE_BEGIN(Name, member, doc) void Name##Table::Clear() {
#define COLUMN(type, name, doc) ClearColumn(name);
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

#define TABLE_BEGIN(Name, member, doc)             \
  Name##Row Name##Table::Row(size_t index) const { \
    Name##Row row;
#define COLUMN(type, name, doc) row.name = name[index];
#define TABLE_END(Name) \
  return row;           \
  }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

#define TABLE_BEGIN(Name, member, doc)         \
  size_t Name##Table::resident_bytes() const { \
    size_t sum_of_columns = 0;
#define COLUMN(type, name, doc) sum_of_columns += name.capacity() * sizeof(type);
#define TABLE_END(Name)  \
  return sum_of_columns; \
  }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

}  // namespace batchlight

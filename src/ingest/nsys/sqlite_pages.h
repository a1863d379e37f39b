// Rows of a table straight from the pages of an SQLite file, which is several times as fast as
// stepping through a statement. Format: https://www.sqlite.org/fileformat2.html. The bytes are not
// trusted. The caller holds SQLite's lock on the file while it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"

namespace batchlight {

// The mapped file.
class SqlitePages {
 public:
  // Null if the file is not an SQLite database or cannot be mapped.
  static std::shared_ptr<const SqlitePages> Map(const std::string& path);
  SqlitePages(const SqlitePages&) = delete;
  SqlitePages& operator=(const SqlitePages&) = delete;

  // Numbered from 1; null if there is no such page.
  const uint8_t* Page(uint32_t number) const {
    if (number == 0 || number > page_count_) return nullptr;
    return bytes_ + size_t{number - 1} * page_bytes_;
  }
  // False for a write-ahead log or UTF-16, which only SQLite itself can read.
  bool readable() const { return readable_; }
  uint32_t page_count() const { return page_count_; }
  // How many bytes the header promises beyond the end of the file, which was then cut.
  uint64_t missing_bytes() const { return missing_bytes_; }
  size_t usable_bytes() const { return usable_bytes_; }  // of a page
  size_t file_bytes() const { return size_; }
  // Drops pages from memory until they are needed again: a file may be larger than memory.
  void Forget(uint32_t first, uint32_t last) const;
  // Whether the page starts a table with row ids, which is what SqliteRows reads.
  bool IsTable(uint32_t root) const;

 private:
  explicit SqlitePages(MappedFile file)
      : file_(std::move(file)), bytes_(file_.bytes().data()), size_(file_.bytes().size()) {}
  bool ReadHeader();

  MappedFile file_;
  const uint8_t* bytes_;
  size_t size_;
  size_t page_bytes_ = 0;
  size_t usable_bytes_ = 0;
  uint32_t page_count_ = 0;
  uint64_t missing_bytes_ = 0;
  bool readable_ = false;
};

// One value of a row. `type` is SQLite's serial type, reduced to the kind of value.
struct SqliteField {
  enum Type : uint8_t { kNull = 0, kReal = 7, kZero = 8, kOne = 9, kBlob = 12, kText = 13 };
  const uint8_t* bytes = nullptr;
  uint32_t size = 0;
  uint8_t type = kNull;  // 1 to 6: a whole number of as many bytes as kIntegerBytes says

  bool IsInteger() const { return type != kNull && type <= kOne && type != kReal; }
  int64_t Integer() const;  // if IsInteger()
  double Real() const;      // if type == kReal
  std::string_view Text() const { return {reinterpret_cast<const char*>(bytes), size}; }
};

// The rows of one table in the order of their row ids.
class SqliteRows {
 public:
  // Decodes the first `field_count` columns of each row.
  SqliteRows(std::shared_ptr<const SqlitePages> pages, uint32_t root, size_t field_count);

  bool Next();  // false: at the end, or damaged()
  bool damaged() const { return damaged_; }
  uint64_t count() const { return count_; }  // of all rows
  int64_t row_id() const { return row_id_; }
  // Valid until Next(). A column that the row does not have is null.
  const SqliteField& field(size_t column) const { return fields_[column]; }

 private:
  bool CollectLeaves(uint32_t page, int depth);
  void ForgetLeaves(size_t end);
  bool DecodeCell(const uint8_t* page, const uint8_t* cell);
  bool DecodeRecord(const uint8_t* record, size_t size);
  const uint8_t* Gather(const uint8_t* local, size_t local_size, size_t size);

  std::shared_ptr<const SqlitePages> pages_;
  std::vector<uint32_t> leaves_;
  uint32_t visited_ = 0;
  uint64_t count_ = 0;
  uint64_t decoded_bytes_ = 0;  // of all rows so far
  bool damaged_ = false;

  size_t next_leaf_ = 0;
  const uint8_t* page_ = nullptr;
  size_t cell_ = 0;
  size_t cells_ = 0;
  int64_t row_id_ = 0;
  std::vector<SqliteField> fields_;
  std::vector<uint8_t> gathered_;  // a row that reaches into overflow pages
};

inline int64_t SqliteField::Integer() const {
  if (type >= kZero) return type - kZero;  // without bytes
  uint64_t value = bytes[0];
  switch (type) {
    case 1:
      return static_cast<int8_t>(value);
    case 2:
      return static_cast<int16_t>(value << 8 | bytes[1]);
    case 6:
      __builtin_memcpy(&value, bytes, sizeof value);
      return static_cast<int64_t>(__builtin_bswap64(value));
    default:
      break;
  }
  value |= value & 0x80 ? ~uint64_t{0xff} : 0;  // the sign
  for (uint32_t i = 1; i < size; ++i) value = value << 8 | bytes[i];
  return static_cast<int64_t>(value);
}

}  // namespace batchlight

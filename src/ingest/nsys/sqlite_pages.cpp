#include "ingest/nsys/sqlite_pages.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace batchlight {
namespace {

constexpr size_t kFileHeaderBytes = 100;
constexpr uint8_t kInteriorPage = 5;
constexpr uint8_t kLeafPage = 13;
constexpr int kMaxDepth = 32;
constexpr ptrdiff_t kForgetLeaves = 4096;
constexpr uint64_t kCellBytes = 4;  // the least that a row takes beside its record
constexpr uint8_t kFixedBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};  // of serial types 0 to 9

uint32_t Load16(const uint8_t* p) { return uint32_t{p[0]} << 8 | p[1]; }
uint32_t Load32(const uint8_t* p) { return Load16(p) << 16 | Load16(p + 2); }

// Where the header of a page's tree begins: page 1 starts with the file's header.
size_t HeaderPlace(uint32_t page) { return page == 1 ? kFileHeaderBytes : 0; }

// Null at the end of the bytes.
const uint8_t* ReadVarint(const uint8_t* p, const uint8_t* end, uint64_t& value) {
  if (p < end && *p < 0x80) {
    value = *p;
    return p + 1;
  }
  value = 0;
  for (int i = 0; i < 9; ++i, ++p) {
    if (p >= end) return nullptr;
    if (i == 8) {
      value = value << 8 | *p;
      return p + 1;
    }
    value = value << 7 | (*p & 0x7f);
    if (*p < 0x80) return p + 1;
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const SqlitePages> SqlitePages::Map(const std::string& path) {
  auto file = MappedFile::OpenBesideLocks(path);
  if (!file.ok() || file->bytes().size() <= kFileHeaderBytes) return nullptr;
  const std::shared_ptr<SqlitePages> pages(new SqlitePages(std::move(file).value()));
  return pages->ReadHeader() ? pages : nullptr;
}

bool SqlitePages::ReadHeader() {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (std::memcmp(bytes_, kMagic.data(), kMagic.size()) != 0) return false;
  page_bytes_ = Load16(bytes_ + 16);
  if (page_bytes_ == 1) page_bytes_ = 65536;
  if (page_bytes_ < 512 || !std::has_single_bit(page_bytes_)) return false;
  usable_bytes_ = page_bytes_ - bytes_[20];
  const bool rollback_journal = bytes_[18] == 1 && bytes_[19] == 1;
  const bool utf8 = Load32(bytes_ + 56) == 1;
  page_count_ = static_cast<uint32_t>(std::min<size_t>(size_ / page_bytes_, UINT32_MAX - 1));
  readable_ = rollback_journal && utf8 && usable_bytes_ >= 480;
  // The count is valid if the two change counters agree.
  const uint64_t promised = uint64_t{Load32(bytes_ + 28)} * page_bytes_;
  if (Load32(bytes_ + 24) == Load32(bytes_ + 92) && promised > size_) {
    missing_bytes_ = promised - size_;
  }
  return true;
}

void SqlitePages::Forget(uint32_t first, uint32_t last) const {
  const size_t begin = (size_t{first} - 1) * page_bytes_;
  ForgetPages(bytes_ + begin, size_t{last} * page_bytes_ - begin);
}

bool SqlitePages::IsTable(uint32_t root) const {
  const uint8_t* page = Page(root);
  if (page == nullptr) return false;
  const uint8_t type = page[HeaderPlace(root)];
  return type == kInteriorPage || type == kLeafPage;
}

double SqliteField::Real() const {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return std::bit_cast<double>(__builtin_bswap64(bits));
}

SqliteRows::SqliteRows(std::shared_ptr<const SqlitePages> pages, uint32_t root, size_t field_count)
    : pages_(std::move(pages)), fields_(field_count) {
  damaged_ = !CollectLeaves(root, 0);
  count_ = std::min<uint64_t>(count_, pages_->file_bytes() / kCellBytes);  // pages may claim any
}

bool SqliteRows::CollectLeaves(uint32_t number, int depth) {
  const uint8_t* page = pages_->Page(number);
  // More pages than the file has: the tree contains a cycle.
  if (page == nullptr || depth > kMaxDepth || ++visited_ > pages_->page_count()) return false;
  const uint8_t* header = page + HeaderPlace(number);
  const size_t cells = Load16(header + 3);
  if (header[0] == kLeafPage) {
    leaves_.push_back(number);
    count_ += cells;
    return true;
  }
  if (header[0] != kInteriorPage) return false;
  const size_t usable = pages_->usable_bytes();
  const uint8_t* places = header + 12;
  if (places + 2 * cells > page + usable) return false;
  for (size_t i = 0; i < cells; ++i) {
    const size_t place = Load16(places + 2 * i);
    if (place + 4 > usable || !CollectLeaves(Load32(page + place), depth + 1)) return false;
  }
  return CollectLeaves(Load32(header + 8), depth + 1);
}

// The last kForgetLeaves leaves before `end` have been read. The leaves of a table usually lie
// close together; where they do not, forgetting them gains nothing.
void SqliteRows::ForgetLeaves(size_t end) {
  const auto begin = leaves_.begin() + static_cast<ptrdiff_t>(end - kForgetLeaves);
  const auto [first, last] = std::minmax_element(begin, begin + kForgetLeaves);
  if (*last - *first < 2 * kForgetLeaves) pages_->Forget(*first, *last);
}

bool SqliteRows::Next() {
  if (damaged_) return false;
  while (cell_ == cells_) {
    if (next_leaf_ == leaves_.size()) return false;
    if (next_leaf_ > 0 && next_leaf_ % size_t{kForgetLeaves} == 0) ForgetLeaves(next_leaf_);
    const uint32_t number = leaves_[next_leaf_++];
    page_ = pages_->Page(number);
    const uint8_t* header = page_ + HeaderPlace(number);
    cells_ = Load16(header + 3);
    cell_ = 0;
    if (header + 8 + 2 * cells_ > page_ + pages_->usable_bytes()) {
      damaged_ = true;
      return false;
    }
  }
  const size_t header = HeaderPlace(leaves_[next_leaf_ - 1]);
  const size_t place = Load16(page_ + header + 8 + 2 * cell_++);
  damaged_ = place >= pages_->usable_bytes() || !DecodeCell(page_, page_ + place);
  return !damaged_;
}

bool SqliteRows::DecodeCell(const uint8_t* page, const uint8_t* cell) {
  const size_t usable = pages_->usable_bytes();
  const uint8_t* end = page + usable;
  uint64_t size = 0;
  uint64_t row_id = 0;
  cell = ReadVarint(cell, end, size);
  if (cell == nullptr) return false;
  cell = ReadVarint(cell, end, row_id);
  if (cell == nullptr) return false;
  row_id_ = static_cast<int64_t>(row_id);
  // No two rows lie in the same place, so that all of them fit into the file: a page may name one
  // cell again and again, and the pages of a long row may follow each other in a circle.
  if (size > pages_->file_bytes()) return false;
  decoded_bytes_ += size + kCellBytes;
  if (decoded_bytes_ > pages_->file_bytes()) return false;
  const size_t max_local = usable - 35;
  if (size <= max_local) {
    return size <= static_cast<size_t>(end - cell) && DecodeRecord(cell, size);
  }
  const size_t min_local = (usable - 12) * 32 / 255 - 23;
  const size_t fitting = min_local + (size - min_local) % (usable - 4);
  const size_t local = fitting <= max_local ? fitting : min_local;
  if (local + 4 > static_cast<size_t>(end - cell)) return false;
  const uint8_t* record = Gather(cell, local, size);
  return record != nullptr && DecodeRecord(record, size);
}

// Gathers a row that begins in its page; the number of its first overflow page follows those bytes.
const uint8_t* SqliteRows::Gather(const uint8_t* local, size_t local_size, size_t size) {
  gathered_.assign(local, local + local_size);
  uint32_t number = Load32(local + local_size);
  while (gathered_.size() < size) {
    const uint8_t* page = pages_->Page(number);
    if (page == nullptr) return nullptr;
    const size_t count = std::min(size - gathered_.size(), pages_->usable_bytes() - 4);
    gathered_.insert(gathered_.end(), page + 4, page + 4 + count);
    number = Load32(page);
  }
  return gathered_.data();
}

bool SqliteRows::DecodeRecord(const uint8_t* record, size_t size) {
  const uint8_t* end = record + size;
  uint64_t header_size = 0;
  const uint8_t* types = ReadVarint(record, end, header_size);
  if (types == nullptr || header_size > size) return false;
  const uint8_t* types_end = record + header_size;
  const uint8_t* body = types_end;
  for (SqliteField& field : fields_) {
    if (types >= types_end) {
      field = {};
      continue;
    }
    uint64_t type = 0;
    types = ReadVarint(types, types_end, type);
    if (types == nullptr) return false;
    uint64_t bytes = 0;
    if (type < std::size(kFixedBytes)) {
      bytes = kFixedBytes[type];
    } else if (type >= SqliteField::kBlob) {
      bytes = (type - SqliteField::kBlob) / 2;
      type = type % 2 == 0 ? SqliteField::kBlob : SqliteField::kText;
    } else {
      return false;
    }
    if (bytes > static_cast<size_t>(end - body) || bytes > INT32_MAX) return false;
    field = {body, static_cast<uint32_t>(bytes), static_cast<uint8_t>(type)};
    body += bytes;
  }
  return true;
}

}  // namespace batchlight

#include "native/module.h"

#include <sys/auxv.h>

#include <algorithm>

namespace batchlight::native {
namespace {

constexpr uint32_t kNothing = UINT32_MAX;
constexpr size_t kMostKeptRows = 200'000;  // of half a KB each
constexpr size_t kLeastKeptRows = 64;      // of a module, however many there are
constexpr size_t kVdsoBytes = 8192;  // at least its code and tables; the kernel maps whole pages

}  // namespace

std::span<const uint8_t> VdsoImage() {
  const auto address = getauxval(AT_SYSINFO_EHDR);
  if (address == 0) return {};
  return {reinterpret_cast<const uint8_t*>(address), kVdsoBytes};
}

Module::Module(std::string path, size_t& kept_rows)
    : path_(std::move(path)), kept_rows_(kept_rows) {
  file_ = path_ == kVdso ? ElfFile::Of(VdsoImage()) : ElfFile::Open(path_);
}

const std::string& Module::build_id() const {
  static const std::string kNone;
  return file_ ? file_->build_id() : kNone;
}

const UnwindRow* Module::RowAt(uint64_t address, uint64_t& work_left) {
  if (!file_) return nullptr;
  // A program that means harm runs through a file without an end.
  if (kept_rows_ >= kMostKeptRows && row_of_.size() > kLeastKeptRows) {
    kept_rows_ -= row_of_.size();
    row_of_.clear();
    rows_.clear();
  }
  const auto [place, added] = row_of_.try_emplace(address, kNothing);
  if (added) {
    ++kept_rows_;
    uint64_t read_bytes = 0;
    const auto row = file_->tables().RowAt(address, &read_bytes);
    work_left -= std::min(work_left, read_bytes);
    if (row) {
      place->second = static_cast<uint32_t>(rows_.size());
      rows_.push_back(*row);
    }
  }
  return place->second == kNothing ? nullptr : &rows_[place->second];
}

FunctionNames::FunctionNames(const ElfFile& file, const ElfFile* debug_file, uint64_t& symbols_left)
    : functions_(file.Functions(symbols_left)) {
  if (debug_file == nullptr) return;
  std::vector<Function> more = debug_file->Functions(symbols_left);
  if (more.size() > functions_.size()) functions_ = std::move(more);
}

const Function* FunctionNames::Find(uint64_t address) const {
  const auto after = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](uint64_t value, const Function& function) { return value < function.begin; });
  if (after == functions_.begin()) return nullptr;
  const Function& function = *std::prev(after);
  return address < function.end ? &function : nullptr;
}

}  // namespace batchlight::native

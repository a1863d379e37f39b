#include "native/address_space.h"

#include <utility>

namespace batchlight::native {
namespace {

// Each is mapped, and the kernel maps 65,530 for a process.
constexpr size_t kMostModules = 10'000;
// Likewise: when it has been told of so many, most are gone.
constexpr size_t kMostMappings = 300'000;

// "/dev/zero (deleted)", "//anon", "[heap]", "/memfd:...": memory whose code no file holds.
bool IsFile(const std::string& path) {
  if (path == kVdso) return true;
  return path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/memfd:") &&
         !path.ends_with(" (deleted)");
}

}  // namespace

Module* Modules::Find(const std::string& path) {
  if (!IsFile(path)) return nullptr;
  const auto found = modules_.find(path);
  if (found != modules_.end()) return found->second.get();
  if (modules_.size() >= kMostModules) return nullptr;
  return modules_.emplace(path, std::make_unique<Module>(path, kept_rows_)).first->second.get();
}

void AddressSpace::Map(uint64_t begin, uint64_t bytes, uint64_t file_offset, Module* module) {
  const uint64_t end = begin + bytes;
  if (bytes == 0 || end < begin) return;
  if (mappings_.size() >= kMostMappings) mappings_.clear();
  // What the new one covers goes, in part or as a whole.
  auto at = mappings_.upper_bound(begin);
  if (at != mappings_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != mappings_.end() && at->first < end) {
    const uint64_t old_begin = at->first;
    const Mapping old = at->second;
    at = mappings_.erase(at);
    if (old_begin < begin) {
      mappings_[old_begin] = {begin, old.to_address, old.module};
    }
    if (old.end > end) at = mappings_.emplace(end, old).first;
  }
  uint64_t to_address = 0;
  if (module != nullptr) {
    const uint64_t address =
        module->file() != nullptr ? module->file()->AddressOf(file_offset) : UINT64_MAX;
    // A file that cannot be read: its frames count from the file's beginning.
    to_address = (address != UINT64_MAX ? address : file_offset) - begin;
  }
  mappings_[begin] = {end, to_address, module};
}

bool AddressSpace::Find(uint64_t pc, CodePlace* place) const {
  const auto after = mappings_.upper_bound(pc);
  if (after == mappings_.begin()) return false;
  const Mapping& mapping = std::prev(after)->second;
  if (pc >= mapping.end) return false;
  *place = {mapping.module, pc + mapping.to_address};
  return true;
}

}  // namespace batchlight::native

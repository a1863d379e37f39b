#include "native/debug_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace batchlight::native {
namespace {

struct DebugLink {
  std::string name;
  uint32_t checksum = 0;
};

std::string BuildIdPath(const std::string& root, const std::string& build_id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string path = root + "/.build-id/";
  for (size_t i = 0; i < build_id.size(); ++i) {
    const auto byte = static_cast<unsigned char>(build_id[i]);
    path += kDigits[byte >> 4];
    path += kDigits[byte & 15];
    if (i == 0) path += '/';
  }
  return path + ".debug";
}

// A name, zeros up to a multiple of four bytes, a checksum.
DebugLink LinkOf(const ElfFile& file) {
  for (const ElfFile::Section& section : file.Sections()) {
    if (section.name != ".gnu_debuglink" || section.is_packed) continue;
    const auto* const begin = reinterpret_cast<const char*>(section.bytes.data());
    const size_t length = section.bytes.empty() ? 0 : strnlen(begin, section.bytes.size());
    const size_t sum_at = (length + 4) / 4 * 4;
    if (length == 0 || sum_at + sizeof(uint32_t) > section.bytes.size()) return {};
    DebugLink link{{begin, length}};
    std::memcpy(&link.checksum, section.bytes.data() + sum_at, sizeof link.checksum);
    return link.name.find('/') == std::string::npos ? link : DebugLink();
  }
  return {};
}

uint32_t ChecksumOf(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

std::unique_ptr<ElfFile> OpenLinked(const ElfFile& file, const DebugLink& link,
                                    const std::string& path, DwarfBudget& budget) {
  auto found = ElfFile::Open(path);
  if (!found) return nullptr;
  if (!file.build_id().empty() && !found->build_id().empty()) {
    return found->build_id() == file.build_id() ? std::move(found) : nullptr;
  }
  if ((budget.sums_left -= static_cast<int64_t>(found->bytes().size())) < 0) return nullptr;
  return ChecksumOf(found->bytes()) == link.checksum ? std::move(found) : nullptr;
}

}  // namespace

std::unique_ptr<ElfFile> FindDebugFile(const ElfFile& file, const std::string& path,
                                       DwarfBudget& budget, const std::string& root) {
  if (file.build_id().size() >= 2) {
    auto found = ElfFile::Open(BuildIdPath(root, file.build_id()));
    if (found && found->build_id() == file.build_id()) return found;
  }
  const size_t slash = path.rfind('/');
  const DebugLink link = LinkOf(file);
  if (link.name.empty() || slash == std::string::npos) return nullptr;
  const std::string folder = path.substr(0, slash);
  for (const std::string& place : {folder + "/" + link.name, folder + "/.debug/" + link.name,
                                   root + folder + "/" + link.name}) {
    if (auto found = OpenLinked(file, link, place, budget)) return found;
  }
  return nullptr;
}

}  // namespace batchlight::native

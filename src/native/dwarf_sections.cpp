#include "native/dwarf_sections.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace batchlight::native {
namespace {

constexpr uint32_t kZlib = 1;
constexpr uint32_t kZstd = 2;
// zlib packs at most to a thousandth: what claims more means harm. zstd may, and no section does.
constexpr uint64_t kMostRatio = 1100;
constexpr uint64_t kWorkPiece = 1 << 20;
constexpr uint64_t kMostWorkPiece = uint64_t{1} << 40;

bool Unpack(uint32_t how, std::span<const uint8_t> packed, std::vector<uint8_t>& unpacked) {
  if (how == kZlib) {
    uLongf size = unpacked.size();
    return uncompress(unpacked.data(), &size, packed.data(), packed.size()) == Z_OK &&
           size == unpacked.size();
  }
  return ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed.size()) ==
         unpacked.size();
}

}  // namespace

bool DwarfWork::TakeMore(uint64_t bytes) {
  if (is_used_up_) return false;
  const auto wanted = static_cast<int64_t>(std::clamp(bytes, kWorkPiece, kMostWorkPiece));
  if (bytes > kMostWorkPiece || budget_.work_left.fetch_sub(wanted) < wanted) {
    if (bytes <= kMostWorkPiece) budget_.work_left += wanted;
    is_used_up_ = true;
    return false;
  }
  left_ += wanted;
  return true;
}

bool DwarfWork::TakeCalls(size_t count) {
  const auto wanted = static_cast<int64_t>(count);
  if (budget_.calls_left.fetch_sub(wanted) >= wanted) return true;
  budget_.calls_left += wanted;
  is_used_up_ = true;
  return false;
}

DwarfSections::~DwarfSections() { budget_.memory_left += held_; }

std::span<const uint8_t> DwarfSections::Unpacked(std::span<const uint8_t> packed, DwarfWork& work) {
  Elf64_Chdr head;
  if (packed.size() < sizeof head) return {};
  std::memcpy(&head, packed.data(), sizeof head);
  packed = packed.subspan(sizeof head);
  if (head.ch_type != kZlib && head.ch_type != kZstd) return {};
  if (head.ch_size == 0 || head.ch_size / kMostRatio > packed.size()) return {};
  const auto size = static_cast<int64_t>(std::min<uint64_t>(head.ch_size, int64_t{1} << 60));
  if (!work.Take(head.ch_size)) {
    is_cut = true;
    return {};
  }
  if (budget_.memory_left.fetch_sub(size) < size) {
    budget_.memory_left += size;
    is_cut = true;
    return {};
  }
  held_ += size;
  std::vector<uint8_t> unpacked(head.ch_size);
  if (!Unpack(head.ch_type, packed, unpacked)) return {};
  return unpacked_.emplace_back(std::move(unpacked));
}

std::unique_ptr<DwarfSections> DwarfSections::Of(const ElfFile& file, DwarfBudget& budget,
                                                 DwarfWork& work) {
  std::unique_ptr<DwarfSections> found(new DwarfSections(budget));
  const struct {
    std::string_view name;
    std::span<const uint8_t> DwarfSections::*place;
  } wanted[] = {{".debug_info", &DwarfSections::info},
                {".debug_abbrev", &DwarfSections::abbreviations},
                {".debug_ranges", &DwarfSections::ranges},
                {".debug_rnglists", &DwarfSections::range_lists},
                {".debug_str", &DwarfSections::texts},
                {".debug_line_str", &DwarfSections::line_texts},
                {".debug_str_offsets", &DwarfSections::text_offsets},
                {".debug_addr", &DwarfSections::addresses}};
  const std::vector<ElfFile::Section> sections = file.Sections();
  for (const auto& [name, place] : wanted) {
    const auto section = std::find_if(sections.begin(), sections.end(),
                                      [&](const auto& one) { return one.name == name; });
    if (section == sections.end()) continue;
    (*found).*place = section->is_packed ? found->Unpacked(section->bytes, work) : section->bytes;
  }
  const bool has_any = found->is_cut || !(found->info.empty() || found->abbreviations.empty());
  return has_any ? std::move(found) : nullptr;
}

}  // namespace batchlight::native

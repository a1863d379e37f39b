#include "native/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace batchlight::native {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#endif

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kMostNameBytes = 16 << 10;
constexpr size_t kMostBuildIdBytes = 64;
// Of a file that means harm. The largest libraries have a dozen segments and a few notes.
constexpr size_t kMostSegments = 256;
constexpr size_t kMostNoteBytes = 64 << 10;  // of a segment
constexpr size_t kMostNoteSegments = 16;
constexpr size_t kMostSectionName = 64;
constexpr size_t kMostUnderscores = 8;  // that are counted

// Of several names of one function: what other files call it, then the plainest.
bool IsBetterName(const Function& a, const Function& b) {
  if (a.is_global != b.is_global) return a.is_global;
  const auto underscores = [](std::string_view name) {
    return name.substr(0, kMostUnderscores).find_first_not_of('_');
  };
  if (underscores(a.name) != underscores(b.name)) return underscores(a.name) < underscores(b.name);
  return a.name.size() < b.name.size();
}

// Ends of functions: what begins later ends the one before, and assembler gives no sizes.
void SortFunctions(std::vector<Function>& functions) {
  std::stable_sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
    return a.begin != b.begin ? a.begin < b.begin : IsBetterName(a, b);
  });
  const auto last =
      std::unique(functions.begin(), functions.end(),
                  [](const Function& a, const Function& b) { return a.begin == b.begin; });
  functions.erase(last, functions.end());
  for (size_t i = 0; i + 1 < functions.size(); ++i) {
    Function& function = functions[i];
    const uint64_t next = functions[i + 1].begin;
    if (function.end <= function.begin || function.end > next) function.end = next;
  }
  if (!functions.empty() && functions.back().end <= functions.back().begin) {
    functions.back().end = functions.back().begin + 1;
  }
}

}  // namespace

std::unique_ptr<ElfFile> ElfFile::Open(const std::string& path) {
  auto mapped = MappedFile::Open(path);
  if (!mapped.ok()) return nullptr;
  std::unique_ptr<ElfFile> elf(new ElfFile);
  elf->file_.emplace(std::move(mapped).value());
  elf->bytes_ = elf->file_->bytes();
  return elf->Read() ? std::move(elf) : nullptr;
}

std::unique_ptr<ElfFile> ElfFile::Of(std::span<const uint8_t> image) {
  std::unique_ptr<ElfFile> elf(new ElfFile);
  elf->bytes_ = image;
  return elf->Read() ? std::move(elf) : nullptr;
}

std::span<const uint8_t> ElfFile::Part(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_.size() || bytes > bytes_.size() - offset) return {};
  return bytes_.subspan(offset, bytes);
}

template <typename T>
bool ElfFile::ReadAt(uint64_t offset, T* value) const {
  const auto part = Part(offset, sizeof(T));
  if (part.empty()) return false;
  std::memcpy(value, part.data(), sizeof(T));
  return true;
}

bool ElfFile::Read() {
  Elf64_Ehdr header;
  if (!ReadAt(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachine) {
    return false;
  }
  Stretch unwind_header;
  size_t note_segments = 0;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!ReadAt(header.e_phoff + uint64_t{i} * header.e_phentsize, &segment)) break;
    if (segment.p_type == PT_LOAD && segments_.size() < kMostSegments) {
      segments_.push_back(
          {segment.p_vaddr, segment.p_offset, segment.p_filesz, (segment.p_flags & PF_X) != 0});
    } else if (segment.p_type == PT_GNU_EH_FRAME) {
      unwind_header = {Part(segment.p_offset, segment.p_filesz), segment.p_vaddr};
    } else if (segment.p_type == PT_NOTE && note_segments++ < kMostNoteSegments) {
      const auto notes = Part(segment.p_offset, segment.p_filesz);
      ReadNotes(notes.first(std::min(notes.size(), kMostNoteBytes)));
    }
  }
  if (!unwind_header.bytes.empty()) {
    tables_ = UnwindTables(unwind_header, {this, [](const void* file, uint64_t address) {
                                             return static_cast<const ElfFile*>(file)->At(address);
                                           }});
  }
  return true;
}

void ElfFile::ReadNotes(std::span<const uint8_t> notes) {
  Elf64_Nhdr note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t name = (uint64_t{note.n_namesz} + 3) / 4 * 4;
    const uint64_t content = (uint64_t{note.n_descsz} + 3) / 4 * 4;
    if (sizeof note + name + content > notes.size()) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        note.n_descsz <= kMostBuildIdBytes &&
        std::memcmp(notes.data() + sizeof note, "GNU", 4) == 0) {
      build_id_.assign(reinterpret_cast<const char*>(notes.data() + sizeof note + name),
                       note.n_descsz);
    }
    notes = notes.subspan(sizeof note + name + content);
  }
}

uint64_t ElfFile::AddressOf(uint64_t offset) const {
  for (const Segment& segment : segments_) {
    // Whole pages are mapped, so the first of a segment may begin before it.
    if (segment.is_code && offset + kPageBytes > segment.offset &&
        (offset < segment.offset || offset - segment.offset < segment.bytes)) {
      return segment.address + offset - segment.offset;
    }
  }
  return UINT64_MAX;
}

Stretch ElfFile::At(uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address >= segment.bytes) continue;
    return Stretch{Part(segment.offset, segment.bytes), segment.address}.From(address);
  }
  return {};
}

std::vector<ElfFile::Section> ElfFile::Sections() const {
  std::vector<Section> sections;
  Elf64_Ehdr header;
  if (!ReadAt(0, &header)) return sections;
  std::vector<uint32_t> names;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!ReadAt(header.e_shoff + uint64_t{i} * header.e_shentsize, &section)) break;
    const bool is_stored = section.sh_type != SHT_NOBITS;
    sections.push_back({.type = section.sh_type,
                        .link = section.sh_link,
                        .is_packed = (section.sh_flags & SHF_COMPRESSED) != 0,
                        .bytes = is_stored ? Part(section.sh_offset, section.sh_size)
                                           : std::span<const uint8_t>()});
    names.push_back(section.sh_name);
  }
  if (header.e_shstrndx >= sections.size()) return sections;
  const auto texts = sections[header.e_shstrndx].bytes;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] >= texts.size()) continue;
    const auto* const name = reinterpret_cast<const char*>(texts.data() + names[i]);
    sections[i].name = {name, strnlen(name, std::min(texts.size() - names[i], kMostSectionName))};
  }
  return sections;
}

std::vector<Function> ElfFile::Functions(uint64_t& symbols_left) const {
  std::vector<Function> functions;
  const std::vector<Section> sections = Sections();
  // A file has one table of each kind. In one that means harm thousands lie over each other.
  bool had_symbols = false, had_dynamic_symbols = false;
  for (const Section& section : sections) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    bool& had = section.type == SHT_SYMTAB ? had_symbols : had_dynamic_symbols;
    if (std::exchange(had, true) || section.link >= sections.size()) continue;
    const auto names = sections[section.link].bytes;
    const uint64_t count = std::min(section.bytes.size() / sizeof(Elf64_Sym), symbols_left);
    symbols_left -= count;
    for (uint64_t i = 0; i < count; ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, section.bytes.data() + i * sizeof symbol, sizeof symbol);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
      if (symbol.st_name >= names.size()) continue;
      const auto* name = reinterpret_cast<const char*>(names.data() + symbol.st_name);
      const size_t most = std::min(names.size() - symbol.st_name, kMostNameBytes);
      const size_t length = strnlen(name, most);
      if (length == 0) continue;
      functions.push_back({symbol.st_value,
                           symbol.st_value + symbol.st_size,
                           {name, length},
                           ELF64_ST_BIND(symbol.st_info) != STB_LOCAL});
    }
  }
  SortFunctions(functions);
  return functions;
}

}  // namespace batchlight::native

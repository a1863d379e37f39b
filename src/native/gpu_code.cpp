#include "native/gpu_code.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "native/byte_reader.h"

namespace batchlight::native {
namespace {

constexpr uint16_t kCudaMachine = 190;
constexpr size_t kMostSections = 65535;
constexpr size_t kMostRows = 4 << 20;
constexpr size_t kMostFiles = 65536;
constexpr size_t kMostCubinNameBytes = 16 << 10;
constexpr size_t kMostPathBytes = 4096;
// Of the names of all functions and files: thousands may lie over each other in the image.
constexpr size_t kMostTextBytes = 64 << 20;

using Bytes = std::span<const uint8_t>;

struct Section {
  std::string_view name;
  Bytes bytes;
  uint32_t link = 0;
};

Bytes Part(Bytes image, uint64_t offset, uint64_t bytes) {
  if (offset > image.size() || bytes > image.size() - offset) return {};
  return image.subspan(offset, bytes);
}

std::string_view TextAt(Bytes texts, uint64_t at) {
  if (at >= texts.size()) return {};
  const auto* const begin = reinterpret_cast<const char*>(texts.data()) + at;
  return {begin, strnlen(begin, std::min<uint64_t>(texts.size() - at, kMostCubinNameBytes))};
}

std::vector<Section> SectionsOf(Bytes image) {
  std::vector<Section> sections;
  Elf64_Ehdr head;
  if (image.size() < sizeof head) return sections;
  std::memcpy(&head, image.data(), sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != kCudaMachine ||
      head.e_ident[EI_CLASS] != ELFCLASS64) {
    return sections;
  }
  std::vector<Elf64_Shdr> heads;
  for (size_t i = 0; i < std::min<size_t>(head.e_shnum, kMostSections); ++i) {
    const Bytes part = Part(image, head.e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    if (part.empty()) break;
    std::memcpy(&heads.emplace_back(), part.data(), sizeof(Elf64_Shdr));
  }
  const auto bytes_of = [&](size_t i) {
    if (i >= heads.size() || heads[i].sh_type == SHT_NOBITS) return Bytes();
    return Part(image, heads[i].sh_offset, heads[i].sh_size);
  };
  const Bytes names = bytes_of(head.e_shstrndx);
  for (size_t i = 0; i < heads.size(); ++i) {
    sections.push_back({TextAt(names, heads[i].sh_name), bytes_of(i), heads[i].sh_link});
  }
  return sections;
}

const Section* Find(const std::vector<Section>& sections, std::string_view name) {
  for (const Section& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

// At which place of .debug_line the address of which function is filled in.
struct Start {
  std::string_view function;
  uint64_t offset;  // in the function
};

std::map<uint64_t, Start> StartsOf(const std::vector<Section>& sections) {
  std::map<uint64_t, Start> starts;
  const Section* const relocations = Find(sections, ".rela.debug_line");
  if (relocations == nullptr || relocations->link >= sections.size()) return starts;
  const Section& symbols = sections[relocations->link];
  if (symbols.link >= sections.size()) return starts;
  constexpr std::string_view kText = ".text.";
  for (size_t at = 0; at + sizeof(Elf64_Rela) <= relocations->bytes.size();
       at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation;
    std::memcpy(&relocation, relocations->bytes.data() + at, sizeof relocation);
    const uint64_t number = ELF64_R_SYM(relocation.r_info);
    const Bytes part = Part(symbols.bytes, number * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
    if (part.empty()) continue;
    Elf64_Sym symbol;
    std::memcpy(&symbol, part.data(), sizeof symbol);
    std::string_view name = TextAt(sections[symbols.link].bytes, symbol.st_name);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_SECTION && symbol.st_shndx < sections.size()) {
      name = sections[symbol.st_shndx].name;
    }
    if (name.starts_with(kText)) name.remove_prefix(kText.size());
    starts[relocation.r_offset] = {name, static_cast<uint64_t>(relocation.r_addend)};
  }
  return starts;
}

std::string_view Text(ByteReader& reader) {
  const Bytes rest = reader.rest();
  const auto* const begin = reinterpret_cast<const char*>(rest.data());
  const std::string_view text(begin, strnlen(begin, rest.size()));
  reader.Skip(text.size() + 1);
  return text.substr(0, kMostPathBytes);
}

}  // namespace

// One table of .debug_line, of DWARF 2 to 4: https://dwarfstd.org, 6.2.
class LineProgram {
 public:
  LineProgram(GpuCode& code, const std::map<uint64_t, Start>& starts, uint64_t place, Bytes table)
      : code_(code), starts_(starts), place_(place), reader_(table, 0) {}

  void Run() {
    if (!ReadHead()) return;
    while (!reader_.at_end() && row_count_ < kMostRows) Step();
  }

 private:
  enum Opcode : uint8_t {
    kCopy = 1,
    kAdvancePc = 2,
    kAdvanceLine = 3,
    kSetFile = 4,
    kConstAddPc = 8,
    kFixedAdvancePc = 9,
  };
  enum Extended : uint8_t { kEndSequence = 1, kSetAddress = 2 };

  bool ReadHead();
  void ReadFiles();
  void Step();
  void StepExtended();
  void StepSpecial(uint8_t opcode) {
    const uint8_t adjusted = static_cast<uint8_t>(opcode - opcode_base_);
    address_ += uint64_t{adjusted} / line_range_ * least_instruction_;
    line_ += static_cast<uint32_t>(line_base_ + adjusted % line_range_);
    AddRow(line_);
  }
  void AddRow(uint32_t line) {
    if (rows_ == nullptr) return;
    const uint32_t file = file_ < file_numbers_.size() ? file_numbers_[file_] : 0;
    rows_->push_back({address_, file, line});
    ++row_count_;
  }

  GpuCode& code_;
  const std::map<uint64_t, Start>& starts_;
  const uint64_t place_;  // of the table in the section
  ByteReader reader_;
  uint8_t least_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  uint8_t opcode_base_ = 1;
  std::vector<uint8_t> argument_counts_;
  std::vector<uint32_t> file_numbers_ = {0};   // in code_.files_, from 1
  std::vector<GpuCode::Row>* rows_ = nullptr;  // of the function, once it is known
  uint64_t address_ = 0;
  uint32_t file_ = 1;
  uint32_t line_ = 1;
  size_t row_count_ = 0;
};

bool LineProgram::ReadHead() {
  const auto version = reader_.Read<uint16_t>();
  if (version < 2 || version > 4) return false;
  const auto head_bytes = reader_.Read<uint32_t>();
  const uint64_t program = reader_.place() + uint64_t{head_bytes};
  least_instruction_ = reader_.Read<uint8_t>();
  if (version == 4) reader_.Skip(1);  // operations an instruction
  reader_.Skip(1);                    // is_stmt
  line_base_ = reader_.Read<int8_t>();
  line_range_ = std::max<uint8_t>(1, reader_.Read<uint8_t>());
  opcode_base_ = std::max<uint8_t>(1, reader_.Read<uint8_t>());
  for (unsigned i = 1; i < opcode_base_; ++i) {
    argument_counts_.push_back(reader_.Read<uint8_t>());
  }
  ReadFiles();
  if (!reader_.ok() || program < reader_.place()) return false;
  reader_.Skip(program - reader_.place());
  return reader_.ok();
}

void LineProgram::ReadFiles() {
  std::vector<std::string_view> folders = {""};
  while (!reader_.at_end()) {
    const std::string_view folder = Text(reader_);
    if (folder.empty()) break;
    folders.push_back(folder);
  }
  while (!reader_.at_end() && code_.files_.size() < kMostFiles) {
    const std::string_view name = Text(reader_);
    if (name.empty()) break;
    const uint64_t folder = reader_.Uleb();
    reader_.Uleb();  // time
    reader_.Uleb();  // bytes
    std::string path(name);
    if (!name.starts_with('/') && folder < folders.size() && !folders[folder].empty()) {
      path = std::string(folders[folder]) + "/" + path;
    }
    if (!code_.HasRoomFor(path.size())) break;
    file_numbers_.push_back(static_cast<uint32_t>(code_.files_.size()));
    code_.files_.push_back(std::move(path));
  }
}

void LineProgram::Step() {
  const auto opcode = reader_.Read<uint8_t>();
  if (opcode >= opcode_base_) return StepSpecial(opcode);
  switch (opcode) {
    case 0:
      return StepExtended();
    case kCopy:
      return AddRow(line_);
    case kAdvancePc:
      address_ += reader_.Uleb() * least_instruction_;
      return;
    case kAdvanceLine:
      line_ += static_cast<uint32_t>(reader_.Sleb());
      return;
    case kSetFile:
      file_ = static_cast<uint32_t>(std::min<uint64_t>(reader_.Uleb(), UINT32_MAX));
      return;
    case kConstAddPc:
      address_ +=
          uint64_t{static_cast<uint8_t>(255 - opcode_base_)} / line_range_ * least_instruction_;
      return;
    case kFixedAdvancePc:
      address_ += reader_.Read<uint16_t>();
      return;
    default:
      for (uint8_t i = 0; i < argument_counts_[opcode - 1]; ++i) reader_.Uleb();
  }
}

void LineProgram::StepExtended() {
  const uint64_t bytes = reader_.Uleb();
  const uint64_t begin = reader_.place();
  if (bytes == 0) return;
  const auto opcode = reader_.Read<uint8_t>();
  if (opcode == kEndSequence) {
    AddRow(0);
    rows_ = nullptr;
    address_ = 0;
    file_ = line_ = 1;
  } else if (opcode == kSetAddress) {
    const auto start = starts_.find(place_ + reader_.place());
    rows_ = start == starts_.end() ? nullptr : code_.RowsOf(start->second.function);
    address_ = start == starts_.end() ? 0 : start->second.offset;
  }
  if (begin + bytes >= reader_.place()) reader_.Skip(begin + bytes - reader_.place());
}

GpuCode::GpuCode(std::span<const uint8_t> image) : files_(1) {
  const std::vector<Section> sections = SectionsOf(image);
  const Section* const lines = Find(sections, ".debug_line");
  if (lines == nullptr) return;
  const std::map<uint64_t, Start> starts = StartsOf(sections);
  for (uint64_t at = 0; at + sizeof(uint32_t) <= lines->bytes.size();) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, lines->bytes.data() + at, sizeof bytes);
    at += sizeof bytes;
    const Bytes table = Part(lines->bytes, at, bytes);
    if (table.empty()) break;
    LineProgram(*this, starts, at, table).Run();
    at += bytes;
  }
  for (auto& [name, rows] : functions_) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.offset < b.offset; });
  }
}

bool GpuCode::HasRoomFor(size_t text_bytes) {
  if (text_bytes > kMostTextBytes - text_bytes_) return false;
  text_bytes_ += text_bytes;
  return true;
}

std::vector<GpuCode::Row>* GpuCode::RowsOf(std::string_view function) {
  const auto found = functions_.find(function);
  if (found != functions_.end()) return &found->second;
  if (!HasRoomFor(function.size())) return nullptr;
  return &functions_[std::string(function)];
}

SourceLine GpuCode::LineOf(std::string_view function, uint64_t offset) const {
  const auto found = functions_.find(function);
  if (found == functions_.end()) return {};
  const std::vector<Row>& rows = found->second;
  const auto after = std::upper_bound(rows.begin(), rows.end(), offset,
                                      [](uint64_t at, const Row& row) { return at < row.offset; });
  if (after == rows.begin() || std::prev(after)->line == 0) return {};
  const Row& row = *std::prev(after);
  return {files_[row.file], row.line};
}

}  // namespace batchlight::native

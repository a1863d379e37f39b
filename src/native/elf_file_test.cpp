#include "native/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace batchlight::native {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#endif

// A file with a note, and sections that are all symbol tables.
class Image {
 public:
  Image() : bytes_(sizeof(Elf64_Ehdr)) {
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_machine = kMachine;
    header_.e_shentsize = sizeof(Elf64_Shdr);
    header_.e_phentsize = sizeof(Elf64_Phdr);
  }

  void AddBuildId(size_t size) {
    const Elf64_Nhdr note{
        .n_namesz = 4, .n_descsz = static_cast<uint32_t>(size), .n_type = NT_GNU_BUILD_ID};
    Elf64_Phdr segment{};
    segment.p_type = PT_NOTE;
    std::string all(reinterpret_cast<const char*>(&note), sizeof note);
    all += std::string("GNU\0", 4) + std::string(size, 'i');
    segment.p_offset = Append(all.data(), all.size());
    segment.p_filesz = bytes_.size() - segment.p_offset;
    header_.e_phoff = Append(&segment, sizeof segment);
    header_.e_phnum = 1;
  }

  // Segments of notes that all lie over the same bytes.
  void AddNotes(size_t bytes, uint16_t segments) {
    const std::vector<uint8_t> zeros(bytes);
    Elf64_Phdr segment{};
    segment.p_type = PT_NOTE;
    segment.p_offset = Append(zeros.data(), bytes);
    segment.p_filesz = bytes;
    const std::vector<Elf64_Phdr> all(segments, segment);
    header_.e_phoff = Append(all.data(), all.size() * sizeof segment);
    header_.e_phnum = segments;
  }

  // One segment of code, which as many program headers are said to be.
  void AddSegments(uint16_t count) {
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_vaddr = 0x1000;
    segment.p_filesz = 4096;
    header_.e_phoff = Append(&segment, sizeof segment);
    header_.e_phnum = count;
    header_.e_phentsize = 0;
  }

  void AddFunction(uint32_t table_type, uint64_t address, const std::string& name,
                   size_t times = 1) {
    const uint64_t names = Append(name.c_str(), name.size() + 1);
    Elf64_Sym symbol{};
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = address;
    symbol.st_size = 16;
    Elf64_Shdr table{};
    table.sh_type = table_type;
    const std::vector<Elf64_Sym> symbols(times, symbol);
    table.sh_offset = Append(symbols.data(), times * sizeof symbol);
    table.sh_size = times * sizeof symbol;
    table.sh_link = static_cast<uint32_t>(sections_.size()) + 1;
    sections_.push_back(table);
    Elf64_Shdr texts{};
    texts.sh_type = SHT_STRTAB;
    texts.sh_offset = names;
    texts.sh_size = name.size() + 1;
    sections_.push_back(texts);
  }

  std::vector<uint8_t> Bytes() {
    header_.e_shoff = Append(sections_.data(), sections_.size() * sizeof(Elf64_Shdr));
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    return bytes_;
  }

 private:
  uint64_t Append(const void* data, size_t size) {
    const uint64_t at = bytes_.size();
    bytes_.resize(at + (size + 7) / 8 * 8);
    if (size > 0) std::memcpy(bytes_.data() + at, data, size);
    return at;
  }

  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<uint8_t> bytes_;
};

std::vector<Function> FunctionsOf(const ElfFile& file) {
  uint64_t symbols_left = kMostSymbols;
  return file.Functions(symbols_left);
}

// Thousands of tables over each other would be read for minutes, and take all memory.
TEST(ElfFile, HasOneTableOfEachKind) {
  Image image;
  image.AddFunction(SHT_SYMTAB, 0x100, "first");
  image.AddFunction(SHT_SYMTAB, 0x200, "again");
  image.AddFunction(SHT_DYNSYM, 0x300, "dynamic");
  image.AddFunction(SHT_DYNSYM, 0x400, "again_dynamic");
  const std::vector<uint8_t> bytes = image.Bytes();
  const auto file = ElfFile::Of(bytes);
  ASSERT_NE(file, nullptr);
  const std::vector<Function> functions = FunctionsOf(*file);
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions[0].name, "first");
  EXPECT_EQ(functions[1].name, "dynamic");
}

TEST(ElfFile, NamesAreCut) {
  Image image;
  image.AddFunction(SHT_SYMTAB, 0x100, std::string(100'000, 'n'));
  const std::vector<uint8_t> bytes = image.Bytes();
  const auto functions = FunctionsOf(*ElfFile::Of(bytes));
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].name.size(), size_t{16} << 10);
}

TEST(ElfFile, ABuildIdIsShort) {
  for (const size_t size : {20U, 64U, 65U, 100'000U}) {
    Image image;
    image.AddBuildId(size);
    const std::vector<uint8_t> bytes = image.Bytes();
    EXPECT_EQ(ElfFile::Of(bytes)->build_id().size(), size <= 64 ? size : 0);
  }
}

// 65,535 segments of 2.8 million notes would be read for an hour.
TEST(ElfFile, NotesOverEachOtherAreNotReadForEver) {
  Image image;
  image.AddNotes(32 << 20, UINT16_MAX);
  const std::vector<uint8_t> bytes = image.Bytes();
  EXPECT_EQ(ElfFile::Of(bytes)->build_id(), "");
}

// 65,535 segments that are all the one in the file: two MB for each of ten thousand such files.
TEST(ElfFile, SegmentsOverEachOtherAreKeptToADozenDozen) {
  Image image;
  image.AddSegments(UINT16_MAX);
  const std::vector<uint8_t> bytes = image.Bytes();
  const auto file = ElfFile::Of(bytes);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->segment_count(), 256u);
  EXPECT_EQ(file->AddressOf(0x10), 0x1010u);
}

// One file under thousands of names is read as often.
TEST(ElfFile, AllFilesTogetherHaveSoManySymbols) {
  Image image;
  image.AddFunction(SHT_SYMTAB, 0x100, "one", 1000);
  const std::vector<uint8_t> bytes = image.Bytes();
  const auto file = ElfFile::Of(bytes);
  uint64_t symbols_left = 1500;
  EXPECT_EQ(file->Functions(symbols_left).size(), 1u);
  EXPECT_EQ(symbols_left, 500u);
  EXPECT_EQ(file->Functions(symbols_left).size(), 1u);
  EXPECT_EQ(symbols_left, 0u);
  EXPECT_EQ(file->Functions(symbols_left).size(), 0u);
}

// Names of one address are compared: not all of each, where there are many.
TEST(ElfFile, LongNamesOfOneFunctionAreToldApartSoon) {
  Image image;
  image.AddFunction(SHT_SYMTAB, 0x100, std::string(16'000, '_'), 200'000);
  const std::vector<uint8_t> bytes = image.Bytes();
  EXPECT_EQ(FunctionsOf(*ElfFile::Of(bytes)).size(), 1U);
}

}  // namespace
}  // namespace batchlight::native

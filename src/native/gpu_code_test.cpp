#include "native/gpu_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/file.h"

namespace batchlight::native {
namespace {

std::vector<uint8_t> Scale() {
  const auto text = ReadWholeFile(BATCHLIGHT_SOURCE_DIR "/tests/cuda/scale.cubin");
  EXPECT_TRUE(text.ok());
  return text.ok() ? std::vector<uint8_t>(text->begin(), text->end()) : std::vector<uint8_t>();
}

constexpr std::string_view kScale = "_Z5scalePfPKfi";

TEST(GpuCode, LinesOfWhatTheCompilerMade) {
  const GpuCode code(Scale());
  EXPECT_TRUE(code.has_lines());
  EXPECT_EQ(code.LineOf(kScale, 0).file, "/tmp/scale/scale.cu");
  EXPECT_EQ(code.LineOf(kScale, 0).line, 2u);
  EXPECT_EQ(code.LineOf(kScale, 0x10).line, 3u);
  EXPECT_EQ(code.LineOf(kScale, 0x50).line, 4u);
  EXPECT_EQ(code.LineOf(kScale, 0x80).line, 5u);
  EXPECT_EQ(code.LineOf(kScale, 0x8f).line, 5u) << "within an instruction";
  EXPECT_EQ(code.LineOf(kScale, 0x200).line, 0u) << "after the function";
  EXPECT_EQ(code.LineOf("_Z5sinesPf", 0x20).line, 9u);
  EXPECT_EQ(code.LineOf("_Z5other", 0).line, 0u);
}

TEST(GpuCode, DamagedFilesHaveFewerLines) {
  const std::vector<uint8_t> whole = Scale();
  for (size_t bytes = 0; bytes < whole.size(); bytes += 61) {
    const std::span<const uint8_t> part(whole.data(), bytes);
    const GpuCode code(part);
    (void)code.LineOf(kScale, 0x80);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    const GpuCode code(bytes);
    (void)code.LineOf(kScale, random() % 1024);
  }
}

// An image of sections that the test fills; their names lie in one section.
class Image {
 public:
  Image() : bytes_(sizeof(Elf64_Ehdr)) {
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_machine = 190;
  }

  uint64_t Put(const std::string& bytes) {
    const uint64_t at = bytes_.size();
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return at;
  }

  uint32_t AddSection(const std::string& name, const std::string& bytes, uint32_t link = 0) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<uint32_t>(names_.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_link = link;
    section.sh_offset = Put(bytes);
    section.sh_size = bytes.size();
    names_ += name + std::string(1, '\0');
    sections_.push_back(section);
    return static_cast<uint32_t>(sections_.size() - 1);
  }
  std::vector<uint8_t> Bytes() {
    header_.e_shstrndx = static_cast<uint16_t>(AddSection("", names_));
    sections_.back().sh_size = names_.size();
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    header_.e_shoff = bytes_.size();
    const auto* const heads = reinterpret_cast<const uint8_t*>(sections_.data());
    bytes_.insert(bytes_.end(), heads, heads + sections_.size() * sizeof(Elf64_Shdr));
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    return bytes_;
  }

 private:
  Elf64_Ehdr header_{};
  std::string names_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<uint8_t> bytes_;
};

template <typename T>
std::string BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string TableOf(const std::string& after_lengths, const std::string& program) {
  const std::string head = std::string("\x01\x01\xff\x0e\x01", 5) + after_lengths;
  const std::string table =
      BytesOf(uint16_t{2}) + BytesOf(static_cast<uint32_t>(head.size())) + head + program;
  return BytesOf(static_cast<uint32_t>(table.size())) + table;
}

// Each file of a table may lie in a folder, whose name is written once.
TEST(GpuCode, PathsAreNoLongerThanPathsMayBe) {
  std::string files = std::string(4 << 20, 'd') + std::string(2, '\0');
  for (int i = 0; i < 60'000; ++i) files += std::string("f\0\1\0\0", 5);
  Image image;
  image.AddSection(".debug_line", TableOf(files + std::string(1, '\0'), ""));
  const std::vector<uint8_t> bytes = image.Bytes();  // 4.3 MB, of 250 GB of paths
  EXPECT_FALSE(GpuCode(bytes).has_lines());
}

// Each relocation may name a function, and all names lie over each other.
TEST(GpuCode, NamesOverEachOtherAreCut) {
  constexpr uint32_t kCount = 150'000;
  const std::string endless(4 << 20, 'n');
  std::string symbols, relocations, program;
  const std::string set_address = std::string("\0\x09\x02", 3) + std::string(8, '\0');
  const uint64_t first = 4 + 2 + 4 + 5 + 2 + 3;
  for (uint32_t i = 0; i < kCount; ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = i;
    symbols += BytesOf(symbol);
    Elf64_Rela relocation{};
    relocation.r_offset = first + i * set_address.size();
    relocation.r_info = ELF64_R_INFO(uint64_t{i}, 0);
    relocations += BytesOf(relocation);
    program += set_address;
  }
  Image image;
  const uint32_t names = image.AddSection(".strtab", endless);
  const uint32_t table = image.AddSection(".symtab", symbols, names);
  image.AddSection(".rela.debug_line", relocations, table);
  image.AddSection(".debug_line", TableOf(std::string(2, '\0'), program));
  const std::vector<uint8_t> bytes = image.Bytes();  // 13 MB, of 600 GB of names
  const GpuCode code(bytes);
  EXPECT_TRUE(code.has_lines());
  EXPECT_EQ(code.LineOf(std::string(16 << 10, 'n'), 0).line, 0u);
}

TEST(GpuCode, OtherFilesHaveNone) {
  const auto text = ReadWholeFile("/proc/self/exe");
  ASSERT_TRUE(text.ok());
  EXPECT_FALSE(GpuCode(std::vector<uint8_t>(text->begin(), text->end())).has_lines());
}

}  // namespace
}  // namespace batchlight::native

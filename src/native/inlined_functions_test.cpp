// Files that the compiler makes here, against what addr2line says of each of their bytes.
#include "native/inlined_functions.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zstd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "base/demangled.h"
#include "native/debug_file.h"

namespace batchlight::native {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCpp = R"(
#include <algorithm>
#include <cstdlib>
#include <vector>
#define IN inline __attribute__((always_inline))
volatile int sink;
namespace {
template <typename T> IN T Mix(T value) { sink = int(value); return value * 3 ^ (value >> 3); }
IN int Middle(int value) { return Mix<int>(value) + Mix<long>(value); }
struct Box { struct Lid { static IN int Shut(int value) { return Middle(value) * sink; } int own; IN int Own() { return Middle(own); } }; };
}
namespace outer { namespace inner { IN int Named(int value) { return Box::Lid::Shut(value) + Box::Lid{value}.Own(); } } }
static IN int Static(int value) { return outer::inner::Named(value) - 1; }
IN int Outer(int value) { return Static(value) + 1; }
IN int Twice(int value) { return Outer(value) + Outer(value + sink); }
__attribute__((noinline)) int Recursive(int depth) {
  if (depth == 0) return Twice(depth);
  return Recursive(depth - 1) * Outer(depth) + Recursive(depth - sink % 2 - 1);
}
__attribute__((noinline)) int Lambda(std::vector<int>& values, int key) {
  const auto less = [key](int a, int b) { return Static(a ^ key) < Static(b ^ key); };
  std::sort(values.begin(), values.end(), less);
  struct Local { static IN int Of(int value) { return Middle(value) + sink; } };
  return Local::Of(values[0]);
}
int main(int count, char**) {
  std::vector<int> values(100);
  for (int& value : values) value = Twice(std::rand() + count);
  return Lambda(values, count) + Recursive(count + 3);
}
)";

constexpr const char* kC = R"(
#define IN static inline __attribute__((always_inline))
volatile int sink;
IN int deep(int value) { sink = value; return value * 7 ^ sink; }
IN int deeper(int value) { if (value % 3) return deep(value) + sink; return deep(value + 1); }
IN int deepest(int value) { for (int i = 0; i < value; ++i) sink += deeper(i); return sink; }
static int plain(int value) { return deepest(value) + deeper(value); }
int main(int count, char** words) { return plain(count) + (words[0][0] == 'x' ? deep(count) : 0); }
)";

class InlinedFunctionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "inlined_functions_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  bool Run(const std::string& command) const {
    return std::system((command + " > " + Path("said") + " 2>&1").c_str()) == 0;
  }
  // False: this compiler does not know the flags.
  bool Compile(const char* source, const std::string& flags, const std::string& name = "program") {
    const bool is_c = source == kC;
    std::ofstream(Path(is_c ? "program.c" : "program.cpp")) << source;
    return Run(std::string("cd ") + folder_.string() + " && " + BATCHLIGHT_CXX +
               (is_c ? " -x c program.c " : " -x c++ program.cpp ") + flags + " -o " + name);
  }
  std::unique_ptr<ElfFile> Open(const std::string& name = "program") const {
    return ElfFile::Open(Path(name));
  }

  static std::vector<uint64_t> PlacesOf(const ElfFile& file) {
    std::vector<uint64_t> places;
    uint64_t symbols_left = kMostSymbols;
    for (const Function& function : file.Functions(symbols_left)) {
      for (uint64_t at = function.begin; at < function.end; at += 3) places.push_back(at);
    }
    return places;
  }

  // By place, innermost first, with the function that the code is of. What is asked says the place,
  // then two lines for each function.
  std::vector<std::vector<std::string>> By(const std::string& command,
                                           const std::vector<uint64_t>& places) const {
    std::ofstream asked(Path("asked"));
    for (const uint64_t place : places) asked << std::hex << "0x" << place << '\n';
    asked.close();
    EXPECT_EQ(std::system((command + " < " + Path("asked") + " > " + Path("answer")).c_str()), 0);
    std::vector<std::vector<std::string>> stacks;
    std::ifstream answer(Path("answer"));
    for (std::string line; std::getline(answer, line);) {
      if (line.empty()) continue;
      if (line.starts_with("0x")) {
        stacks.emplace_back();
      } else {
        stacks.back().push_back(DemangledName(line));
        std::getline(answer, line);
      }
    }
    return stacks;
  }

  // addr2line gives functions of one file alone without scopes, and for one of these that is
  // innermost the symbol at the address: the function that the code is of.
  static bool IsSame(const std::vector<std::string>& calls, const std::vector<std::string>& said) {
    if (calls.size() + 1 != said.size()) return false;
    for (size_t i = 0; i < calls.size(); ++i) {
      const bool has_no_symbol = !calls[i].ends_with(')') || calls[i].ends_with("operator()");
      const bool has_symbols_name = i == 0 && said[0].starts_with(said.back()) && has_no_symbol;
      if (calls[i] != said[i] && !calls[i].ends_with("::" + said[i]) && !has_symbols_name)
        return false;
    }
    return true;
  }

  // What was found is what addr2line says.
  void Compare(const InlinedFunctions& found, const std::vector<uint64_t>& places,
               const std::string& command) const {
    const auto stacks = By(command, places);
    ASSERT_EQ(stacks.size(), places.size());
    ASSERT_EQ(found.calls.size(), places.size());
    size_t inlined = 0, deepest = 0, wrong = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      std::vector<std::string> calls;
      for (const uint32_t call : found.calls[i]) calls.insert(calls.begin(), found.names[call]);
      inlined += calls.empty() ? 0 : 1;
      deepest = std::max(deepest, calls.size());
      if (IsSame(calls, stacks[i]) || ++wrong > 5) continue;
      std::ostringstream text;
      for (const std::string& call : calls) text << call << " < ";
      text << "but: ";
      for (const std::string& call : stacks[i]) text << call << " < ";
      ADD_FAILURE() << std::hex << places[i] << ": " << text.str();
    }
    EXPECT_EQ(wrong, 0u) << "of " << places.size();
    EXPECT_GT(inlined, places.size() / 4);
    EXPECT_GE(deepest, 3u);
  }

  void CompareAll(const std::string& command = BATCHLIGHT_ADDR2LINE " -a -i -f -e ") const {
    const auto file = Open();
    ASSERT_NE(file, nullptr);
    const std::vector<uint64_t> places = PlacesOf(*file);
    DwarfBudget budget;
    const InlinedFunctions found = FindInlinedFunctions(*file, nullptr, places, budget);
    EXPECT_EQ(found.left_out, 0u);
    Compare(found, places, command + Path("program"));
  }

  // Names of all that is inlined anywhere.
  std::vector<std::string> NamesIn(const std::string& name = "program") const {
    const auto file = Open(name);
    DwarfBudget budget;
    std::vector<std::string> names =
        FindInlinedFunctions(*file, nullptr, PlacesOf(*file), budget).names;
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder_;
};

class EveryFlag : public InlinedFunctionsTest, public testing::WithParamInterface<const char*> {};

TEST_P(EveryFlag, CppIsAsAddr2lineSays) {
  if (!Compile(kCpp, GetParam())) GTEST_SKIP() << "not known to this compiler";
  CompareAll();
}

TEST_P(EveryFlag, CIsAsAddr2lineSays) {
  if (!Compile(kC, GetParam())) GTEST_SKIP() << "not known to this compiler";
  CompareAll();
}

INSTANTIATE_TEST_SUITE_P(Dwarf, EveryFlag,
                         testing::Values("-O2 -gdwarf-5", "-O2 -gdwarf-4", "-O2 -gdwarf-3",
                                         "-O3 -g -fPIC -pie", "-O2 -g -no-pie",
                                         "-O1 -gdwarf-4 -ffunction-sections -Wl,--gc-sections",
                                         "-O2 -gdwarf-5 -gz=zlib", "-O2 -gdwarf-4 -gz=zlib",
                                         "-O2 -g -flto"));

// What is in the file, by place: the names of calls, outermost first.
using Calls = std::vector<std::vector<std::string>>;

Calls CallsIn(const ElfFile& file, const ElfFile* debug_file, const std::vector<uint64_t>& places) {
  DwarfBudget budget;
  const InlinedFunctions found = FindInlinedFunctions(file, debug_file, places, budget);
  EXPECT_EQ(found.left_out, 0u);
  Calls all;
  for (const auto& calls : found.calls) {
    auto& names = all.emplace_back();
    for (const uint32_t call : calls) names.push_back(found.names[call]);
  }
  return all;
}

// What addr2line does not read right says the same of the same code.
TEST_F(InlinedFunctionsTest, FormsOfDebugInformationDoNotMatter) {
  if (!Compile(kCpp, "-O2 -g")) GTEST_SKIP() << "no compiler";
  const auto plain = Open();
  const std::vector<uint64_t> places = PlacesOf(*plain);
  const Calls expected = CallsIn(*plain, nullptr, places);
  for (const char* flags : {"-O2 -g -gdwarf64", "-O2 -g -fdebug-types-section",
                            "-O2 -g -gdwarf-4 -fdebug-types-section"}) {
    if (!Compile(kCpp, flags, "other")) continue;
    EXPECT_EQ(CallsIn(*Open("other"), nullptr, places), expected) << flags;
  }
}

// Texts, addresses and ranges by number, and no siblings. Of these addr2line reads not all.
TEST_F(InlinedFunctionsTest, ClangsIsAsItsOwnToolSays) {
  if (!Run("llvm-symbolizer --version")) GTEST_SKIP() << "no llvm-symbolizer";
  for (const char* flags : {"-O2 -gdwarf-5", "-O2 -gdwarf-4"}) {
    std::ofstream(Path("program.cpp")) << kCpp;
    if (!Run("cd " + folder_.string() + " && clang++ program.cpp " + flags + " -o program")) {
      GTEST_SKIP() << "no clang";
    }
    CompareAll("llvm-symbolizer -a --inlines --no-demangle -e ");
  }
}

TEST_F(InlinedFunctionsTest, NamesAreWhole) {
  if (!Compile(kCpp, "-O2 -g")) GTEST_SKIP() << "no compiler";
  const std::vector<std::string> names = NamesIn();
  for (const char* name :
       {"(anonymous namespace)::Mix<int>", "(anonymous namespace)::Middle",
        "(anonymous namespace)::Box::Lid::Shut", "(anonymous namespace)::Box::Lid::Own",
        "outer::inner::Named(int)", "Static", "Outer(int)", "Twice(int)", "Lambda::Local::Of"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

// By the linker's build id, or by name and checksum.
TEST_F(InlinedFunctionsTest, AreInASeparateFile) {
  for (const char* id : {"", " -Wl,--build-id=none"}) {
    if (!Compile(kCpp, std::string("-O2 -g -Wl,--build-id") + id, "whole")) GTEST_SKIP();
    const std::string objcopy = BATCHLIGHT_OBJCOPY;
    fs::create_directories(Path(".debug"));
    ASSERT_TRUE(
        Run(objcopy + " --only-keep-debug " + Path("whole") + " " + Path(".debug/stripped.debug")));
    ASSERT_TRUE(Run("cd " + Path(".debug") + " && " + objcopy +
                    " --strip-all --add-gnu-debuglink=stripped.debug ../whole ../stripped"));
    const auto whole = Open("whole");
    const auto stripped = Open("stripped");
    const std::vector<uint64_t> places = PlacesOf(*whole);
    EXPECT_TRUE(CallsIn(*stripped, nullptr, places).empty());
    DwarfBudget budget;
    const auto debug_file = FindDebugFile(*stripped, Path("stripped"), budget, Path("none"));
    ASSERT_NE(debug_file, nullptr) << id;
    EXPECT_EQ(CallsIn(*stripped, debug_file.get(), places), CallsIn(*whole, nullptr, places));
    // Its checksum alone says that it belongs to the file: not more of such are read than is good.
    for (int i = 0; i < 3; ++i) FindDebugFile(*stripped, Path("stripped"), budget, Path("none"));
    const auto bytes = static_cast<int64_t>(debug_file->bytes().size());
    EXPECT_EQ(budget.sums_left.load(), DwarfBudget().sums_left - (*id == '\0' ? 0 : 4 * bytes));
    budget.sums_left = bytes - 1;
    EXPECT_EQ(FindDebugFile(*stripped, Path("stripped"), budget, Path("none")) == nullptr,
              *id != '\0');
    budget.sums_left = DwarfBudget().sums_left.load();

    // What is of another build is none.
    ASSERT_TRUE(Compile(kC, std::string("-O2 -g -Wl,--build-id") + id, ".debug/stripped.debug"));
    EXPECT_EQ(FindDebugFile(*stripped, Path("stripped"), budget, Path("none")), nullptr);
    fs::remove_all(Path(".debug"));
    EXPECT_EQ(FindDebugFile(*stripped, Path("stripped"), budget, Path("none")), nullptr);
  }
}

TEST_F(InlinedFunctionsTest, AreInTheFileOfTheBuildId) {
  if (!Compile(kC, "-O2 -g -Wl,--build-id=0xabcdef0123", "whole")) GTEST_SKIP() << "no compiler";
  fs::create_directories(Path("debug/.build-id/ab"));
  const std::string objcopy = BATCHLIGHT_OBJCOPY;
  ASSERT_TRUE(Run(objcopy + " --only-keep-debug " + Path("whole") + " " +
                  Path("debug/.build-id/ab/cdef0123.debug")));
  ASSERT_TRUE(Run(objcopy + " --strip-debug " + Path("whole") + " " + Path("stripped")));
  const auto stripped = Open("stripped");
  DwarfBudget budget;
  const auto debug_file = FindDebugFile(*stripped, Path("stripped"), budget, Path("debug"));
  ASSERT_NE(debug_file, nullptr);
  const std::vector<uint64_t> places = PlacesOf(*stripped);
  EXPECT_EQ(CallsIn(*stripped, debug_file.get(), places), CallsIn(*Open("whole"), nullptr, places));
}

// Their inlined functions are in files of the compiler's.
TEST_F(InlinedFunctionsTest, SplitFilesHaveNone) {
  for (const char* flags : {"-O2 -gdwarf-5 -gsplit-dwarf", "-O2 -gdwarf-4 -gsplit-dwarf"}) {
    if (!Compile(kCpp, flags)) GTEST_SKIP() << "no compiler";
    const auto file = Open();
    for (const auto& calls : CallsIn(*file, nullptr, PlacesOf(*file))) EXPECT_TRUE(calls.empty());
  }
}

TEST_F(InlinedFunctionsTest, WhatIsTooMuchIsLeftOutAndCounted) {
  if (!Compile(kCpp, "-O2 -g")) GTEST_SKIP() << "no compiler";
  const auto file = Open();
  const std::vector<uint64_t> places = PlacesOf(*file);
  DwarfBudget little_work;
  little_work.work_left = 1000;
  const InlinedFunctions found = FindInlinedFunctions(*file, nullptr, places, little_work);
  EXPECT_EQ(found.left_out, places.size());
  EXPECT_EQ(little_work.work_left, 1000);
}

TEST_F(InlinedFunctionsTest, PackedSectionsTakeTheirShareOfMemory) {
  if (!Compile(kCpp, "-O2 -g -gz=zlib")) GTEST_SKIP() << "no compiler";
  const auto file = Open();
  const std::vector<uint64_t> places = PlacesOf(*file);
  DwarfBudget budget;
  const int64_t memory = budget.memory_left;
  EXPECT_EQ(FindInlinedFunctions(*file, nullptr, places, budget).left_out, 0u);
  EXPECT_EQ(budget.memory_left, memory);
  budget.memory_left = 1000;
  EXPECT_EQ(FindInlinedFunctions(*file, nullptr, places, budget).left_out, places.size());
  EXPECT_EQ(budget.memory_left, 1000);
}

// Debian 12's compiler cannot.
std::vector<uint8_t> PackedByZstd(const ElfFile& file) {
  std::vector<uint8_t> bytes(file.bytes().begin(), file.bytes().end());
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::vector<ElfFile::Section> sections = file.Sections();
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto plain = sections[i].bytes;
    if (!sections[i].name.starts_with(".debug_")) continue;
    const uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + at, sizeof section);
    const Elf64_Chdr head{.ch_type = 2, .ch_size = plain.size(), .ch_addralign = 1};
    std::vector<uint8_t> packed(sizeof head + ZSTD_compressBound(plain.size()));
    std::memcpy(packed.data(), &head, sizeof head);
    packed.resize(sizeof head + ZSTD_compress(packed.data() + sizeof head,
                                              packed.size() - sizeof head, plain.data(),
                                              plain.size(), 1));
    section.sh_flags |= SHF_COMPRESSED;
    section.sh_offset = bytes.size();
    section.sh_size = packed.size();
    std::memcpy(bytes.data() + at, &section, sizeof section);
    bytes.insert(bytes.end(), packed.begin(), packed.end());
  }
  return bytes;
}

TEST_F(InlinedFunctionsTest, SectionsPackedByZstdAreRead) {
  if (!Compile(kC, "-O2 -g")) GTEST_SKIP() << "no compiler";
  const auto file = Open();
  const std::vector<uint64_t> places = PlacesOf(*file);
  const std::vector<uint8_t> packed = PackedByZstd(*file);
  EXPECT_EQ(CallsIn(*ElfFile::Of(packed), nullptr, places), CallsIn(*file, nullptr, places));
}

std::string Repeated(const std::string& bytes, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

// Units that all read one table, whose first number has no end.
TEST_F(InlinedFunctionsTest, NumbersWithoutAnEndAreReadNoFurther) {
  ASSERT_TRUE(Compile(kC, "-O1"));
  std::ofstream(Path("abbrev")) << std::string(8 << 20, '\x80');
  std::ofstream(Path("info")) << Repeated(std::string("\x08\0\0\0\4\0\0\0\0\0\x08\1", 12), 1 << 16);
  ASSERT_TRUE(Run("cd " + folder_.string() +
                  " && objcopy --add-section .debug_abbrev=abbrev --add-section .debug_info=info "
                  "program hostile"));
  const auto file = Open("hostile");
  ASSERT_NE(file, nullptr);
  DwarfBudget budget;
  const auto begin = std::chrono::steady_clock::now();
  const InlinedFunctions found = FindInlinedFunctions(*file, nullptr, PlacesOf(*file), budget);
  EXPECT_TRUE(found.names.empty());
  // Half a terabyte took minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// 1 = a unit with ranges; all of them cover all of the code.
TEST_F(InlinedFunctionsTest, RangesThatLieOnEachOtherTakeNoMemory) {
  ASSERT_TRUE(Compile(kC, "-O1"));
  const std::string range("\x10\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0", 16);
  std::ofstream(Path("ranges")) << Repeated(range, 1 << 20) << std::string(16, '\0');
  std::ofstream(Path("abbrev")) << std::string("\1\x11\0\x55\x17\x11\1\0\0\0", 10);
  std::ofstream(Path("info")) << std::string("\x14\0\0\0\4\0\0\0\0\0\x08\1", 12)
                              << std::string(12, '\0');
  ASSERT_TRUE(Run("cd " + folder_.string() +
                  " && objcopy --add-section .debug_abbrev=abbrev --add-section .debug_info=info "
                  "--add-section .debug_ranges=ranges program hostile"));
  const auto file = Open("hostile");
  ASSERT_NE(file, nullptr);
  std::vector<uint64_t> places = PlacesOf(*file);
  ASSERT_GE(places.size(), 100u);
  places.resize(100);
  DwarfBudget budget;
  const auto most_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before_kib = most_kib();
  FindInlinedFunctions(*file, nullptr, places, budget);
  EXPECT_LT(most_kib() - before_kib, 150 << 10);
}

// Bytes of all sections that are read, changed at random.
TEST_F(InlinedFunctionsTest, ChangedFilesAreReadToAnEnd) {
  for (const char* flags : {"-O2 -gdwarf-5", "-O2 -gdwarf-4", "-O2 -gdwarf-5 -gz=zlib"}) {
    if (!Compile(kC, flags)) GTEST_SKIP() << "no compiler";
    const auto file = Open();
    const std::vector<uint64_t> places = PlacesOf(*file);
    const std::vector<uint8_t> whole(file->bytes().begin(), file->bytes().end());
    std::vector<std::pair<size_t, size_t>> parts;
    for (const auto& section : file->Sections()) {
      if (section.name.starts_with(".debug_") && !section.bytes.empty()) {
        parts.emplace_back(section.bytes.data() - file->bytes().data(), section.bytes.size());
      }
    }
    std::mt19937 random(7);
    for (int round = 0; round < 1000; ++round) {
      std::vector<uint8_t> changed = whole;
      for (int i = 0; i <= round % 8; ++i) {
        const auto& [begin, size] = parts[random() % parts.size()];
        changed[begin + random() % size] = static_cast<uint8_t>(random());
      }
      DwarfBudget budget;
      const auto changed_file = ElfFile::Of(changed);
      ASSERT_NE(changed_file, nullptr);
      const auto found = FindInlinedFunctions(*changed_file, nullptr, places, budget);
      for (const auto& calls : found.calls) ASSERT_LE(calls.size(), kMostInlinedCalls);
    }
  }
}

}  // namespace
}  // namespace batchlight::native

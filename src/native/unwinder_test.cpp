// Walks this process's own stack, whose code and tables are those of real files.
#include "native/unwinder.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "native/module.h"
#include "tests/support/own_stack.h"

namespace batchlight::native {
namespace {

constexpr size_t kMaxFrames = 512;

struct Walked {
  WalkEnd end = WalkEnd::kNoTables;
  std::vector<CodePlace> frames;
  std::vector<uint64_t> expected;  // return addresses, as the compiler's unwinder has them
};

class UnwinderTest : public testing::Test {
 protected:
  UnwinderTest() : stack_end_(testing_support::MapOwnCode(modules_, space_)) { current_ = this; }

  // Called where the stack is to be looked at.
  static void Look() { current_->walked_ = current_->Walk(); }

  __attribute__((noinline)) Walked Walk() {
    Walked walked;
    void* addresses[kMaxFrames];
    const int count = backtrace(addresses, kMaxFrames);
    for (int i = 0; i < count; ++i) {
      walked.expected.push_back(reinterpret_cast<uint64_t>(addresses[i]));
    }
    ucontext_t context;
    getcontext(&context);
    const Registers registers = testing_support::RegistersOf(context);
    const uint64_t top = registers.values[kStackPointer];
    const size_t bytes = std::min<size_t>(copied_bytes_, stack_end_ - top);
    const auto* memory = reinterpret_cast<const uint8_t*>(top);
    const std::vector<uint8_t> copy(memory, memory + bytes);
    walked.end = WalkStack(space_, registers, {copy, top}, kMaxFrames, walked.frames, work_left_);
    return walked;
  }

  // All frames but the innermost, which is Walk() itself at another place.
  void ExpectAsTheCompilersUnwinder(const Walked& walked) {
    EXPECT_EQ(walked.end, WalkEnd::kWhole);
    ASSERT_GE(walked.frames.size(), 4u);
    // backtrace() ends before or behind _start.
    ASSERT_GE(walked.frames.size() + 1, walked.expected.size());
    for (size_t i = 1; i + 1 < walked.expected.size(); ++i) {
      CodePlace place;
      ASSERT_TRUE(space_.Find(walked.expected[i] - 1, &place)) << i;
      const bool after_signal =
          place.module == walked.frames[i].module && place.address + 1 == walked.frames[i].address;
      EXPECT_TRUE(after_signal || place.address == walked.frames[i].address)
          << "frame " << i << ": " << std::hex << place.address << " is not "
          << walked.frames[i].address;
    }
  }

  std::vector<std::string> NamesOf(const Walked& walked) const {
    std::vector<std::string> names;
    for (const CodePlace& frame : walked.frames) {
      std::string name = "?";
      if (frame.module != nullptr && frame.module->file() != nullptr) {
        uint64_t symbols_left = kMostSymbols;
        const FunctionNames functions(*frame.module->file(), nullptr, symbols_left);
        if (const Function* function = functions.Find(frame.address)) name = function->name;
      }
      names.push_back(name);
    }
    return names;
  }

  static bool Has(const std::vector<std::string>& names, std::string_view part) {
    for (const std::string& name : names) {
      if (name.find(part) != std::string::npos) return true;
    }
    return false;
  }

  static UnwinderTest* current_;
  Modules modules_;
  AddressSpace space_;
  const uint64_t stack_end_;
  size_t copied_bytes_ = 1 << 20;
  uint64_t work_left_ = UINT64_MAX;
  Walked walked_;
};
UnwinderTest* UnwinderTest::current_ = nullptr;

TEST_F(UnwinderTest, FindsTheSameFramesAsTheCompilersUnwinder) {
  ExpectAsTheCompilersUnwinder(Walk());
}

TEST_F(UnwinderTest, GoesThroughALibrary) {
  int values[] = {2, 1};
  qsort(values, 2, sizeof values[0], [](const void*, const void*) {
    Look();
    return 0;
  });
  ExpectAsTheCompilersUnwinder(walked_);
  EXPECT_TRUE(Has(NamesOf(walked_), "qsort"));
  EXPECT_TRUE(Has(NamesOf(walked_), "main"));
}

TEST_F(UnwinderTest, GoesThroughASignalHandler) {
  struct sigaction action {};
  action.sa_handler = [](int) { Look(); };
  struct sigaction before {};
  sigaction(SIGUSR1, &action, &before);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  ExpectAsTheCompilersUnwinder(walked_);
  EXPECT_TRUE(Has(NamesOf(walked_), "raise") || Has(NamesOf(walked_), "kill"));
}

__attribute__((noinline)) int Recurse(int depth, void (*look)()) {
  volatile char room[512];
  room[0] = static_cast<char>(depth);
  if (depth == 0) {
    look();
    return room[0];
  }
  return Recurse(depth - 1, look) + room[0];
}

TEST_F(UnwinderTest, AStackDeeperThanTheCopySaysSo) {
  copied_bytes_ = 16 << 10;
  Recurse(100, &Look);
  EXPECT_EQ(walked_.end, WalkEnd::kDeep);
  EXPECT_GT(walked_.frames.size(), 10u);
  EXPECT_LT(walked_.frames.size(), 60u);
  copied_bytes_ = 1 << 20;
  Recurse(100, &Look);
  ExpectAsTheCompilersUnwinder(walked_);
  EXPECT_GT(walked_.frames.size(), 100u);
}

// What somebody waits for: tables that mean harm run 16 KB for each of 512 frames.
TEST_F(UnwinderTest, AWalkEndsWithTheWorkThatMayBeDone) {
  const size_t frames = Walk().frames.size();
  EXPECT_LT(work_left_, UINT64_MAX - 100);  // the tables are read once
  const uint64_t read_once = work_left_;
  (void)Walk();
  EXPECT_GT(work_left_, read_once - 1000);
  work_left_ = 0;
  const Walked walked = Walk();
  EXPECT_EQ(walked.end, WalkEnd::kNoTables);
  EXPECT_EQ(walked.frames.size(), 1u);
  EXPECT_GT(frames, 3u);
}

TEST_F(UnwinderTest, CodeOfNoFileEndsTheStack) {
  const std::vector<uint8_t> copy(64);
  Registers registers;
  registers.pc = 0x1000;
  registers.Set(kStackPointer, 0x2000);
  std::vector<CodePlace> frames;
  EXPECT_EQ(WalkStack(space_, registers, {copy, 0x2000}, kMaxFrames, frames, work_left_),
            WalkEnd::kNoTables);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].module, nullptr);
  EXPECT_EQ(frames[0].address, 0x1000u);
}

TEST_F(UnwinderTest, AnythingMayBeOnTheStack) {
  ucontext_t context;
  getcontext(&context);
  Registers registers = testing_support::RegistersOf(context);
  uint64_t random = 88172645463325252u;
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> copy(4096);
    for (size_t i = 0; i + 8 <= copy.size(); i += 8) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      // Words that look like code or stack, and others.
      const uint64_t word = random % 3 == 0   ? registers.pc + random % 100000 - 50000
                            : random % 3 == 1 ? registers.values[kStackPointer] + random % 4096
                                              : random;
      std::memcpy(copy.data() + i, &word, sizeof word);
    }
    std::vector<CodePlace> frames;
    (void)WalkStack(space_, registers, {copy, registers.values[kStackPointer]}, kMaxFrames, frames,
                    work_left_);
    EXPECT_LE(frames.size(), kMaxFrames);
  }
}

TEST(AddressSpace, ALaterMappingTakesThePlaceOfAnEarlierOne) {
  Modules modules;
  AddressSpace space;
  Module* first = modules.Find("/nowhere/first.so");
  Module* second = modules.Find("/nowhere/second.so");
  EXPECT_EQ(modules.Find("/memfd:code (deleted)"), nullptr);
  space.Map(0x1000, 0x3000, 0x500, first);
  space.Map(0x2000, 0x1000, 0, second);
  CodePlace place;
  ASSERT_TRUE(space.Find(0x1010, &place));
  EXPECT_EQ(place.module, first);
  EXPECT_EQ(place.address, 0x510u);
  ASSERT_TRUE(space.Find(0x2010, &place));
  EXPECT_EQ(place.module, second);
  EXPECT_EQ(place.address, 0x10u);
  ASSERT_TRUE(space.Find(0x3010, &place));
  EXPECT_EQ(place.module, first);
  EXPECT_EQ(place.address, 0x2510u);
  EXPECT_FALSE(space.Find(0x4000, &place));
  EXPECT_FALSE(space.Find(0xfff, &place));
}

// What follows is kept of a program that maps and runs code without an end.
TEST(AddressSpace, KeepsSoManyMappings) {
  constexpr uint64_t kCount = 300'001;
  AddressSpace space;
  for (uint64_t i = 1; i <= kCount; ++i) space.Map(i << 12, 0x1000, 0, nullptr);
  CodePlace place;
  EXPECT_FALSE(space.Find(1 << 12, &place));  // of the kernel's 65,530 none is that old
  EXPECT_TRUE(space.Find(kCount << 12, &place));
}

TEST(Modules, AreSoMany) {
  Modules modules;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_NE(modules.Find("/nowhere/" + std::to_string(i)), nullptr) << i;
  }
  EXPECT_EQ(modules.Find("/nowhere/one_more"), nullptr);
  EXPECT_NE(modules.Find("/nowhere/7"), nullptr);
}

TEST(Module, AllTogetherKeepSoManyRows) {
  size_t kept_rows = 0;
  uint64_t work_left = UINT64_MAX;
  Module first("/proc/self/exe", kept_rows);
  Module second("/proc/self/exe", kept_rows);
  size_t most = 0;
  for (uint64_t address = 0; address < 300'000; ++address) {
    (void)first.RowAt(address, work_left);
    (void)second.RowAt(address, work_left);
    most = std::max(most, kept_rows);
  }
  EXPECT_GT(most, 190'000u);
  EXPECT_LE(most, 200'100u);
}

TEST(ElfFile, RefusesWhatIsNone) {
  EXPECT_EQ(ElfFile::Open("/etc/passwd"), nullptr);
  EXPECT_EQ(ElfFile::Open("/nowhere"), nullptr);
  const auto self = ElfFile::Open("/proc/self/exe");
  ASSERT_NE(self, nullptr);
  EXPECT_GE(self->build_id().size(), 8u);
  EXPECT_FALSE(self->tables().empty());
}

// As symbols have them, but for the padding between two.
TEST(ElfFile, TablesKnowWhereFunctionsBeginAndEnd) {
  const auto self = ElfFile::Open("/proc/self/exe");
  ASSERT_NE(self, nullptr);
  uint64_t symbols_left = kMostSymbols;
  size_t same = 0, others = 0;
  for (const Function& function : self->Functions(symbols_left)) {
    const auto extent = self->tables().ExtentAt(function.begin);
    if (!extent) continue;  // written in assembly
    const auto at_end = self->tables().ExtentAt(function.end - 1);
    const bool is_same = extent->begin == function.begin && extent->end >= function.end && at_end &&
                         at_end->begin == function.begin;
    ++(is_same ? same : others);
  }
  EXPECT_GT(same, 100u);
  EXPECT_LT(others, same / 20);
  EXPECT_FALSE(self->tables().ExtentAt(0));
  EXPECT_FALSE(self->tables().ExtentAt(UINT64_MAX));
  EXPECT_FALSE(UnwindTables().ExtentAt(1));
}

// No byte of a damaged file leads outside of it.
TEST(ElfFile, AnyByteMayBeDamaged) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string bytes(64 << 10, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  uint32_t random = 12345;
  for (int round = 0; round < 500; ++round) {
    std::vector<uint8_t> image(bytes.begin(), bytes.end());
    for (int i = 0; i < 8; ++i) {
      random = random * 1664525 + 1013904223;
      image[(random >> 8) % (i < 4 ? 1024 : image.size())] = static_cast<uint8_t>(random);
    }
    const auto elf = ElfFile::Of(image);
    if (elf == nullptr) continue;
    uint64_t symbols_left = kMostSymbols;
    (void)elf->Functions(symbols_left);
    for (uint64_t address = 0; address < image.size(); address += 997) {
      (void)elf->tables().RowAt(address);
      (void)elf->tables().ExtentAt(address);
    }
  }
}

}  // namespace
}  // namespace batchlight::native

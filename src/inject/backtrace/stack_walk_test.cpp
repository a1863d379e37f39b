#include "inject/backtrace/stack_walk.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "inject/backtrace/loaded_modules.h"
#include "inject/backtrace/stack_row.h"

namespace batchlight::inject::backtrace {
namespace {

struct Seen {
  WalkedStack walked{};
  std::vector<uintptr_t> expected;  // return addresses, as the C library walks them
  bool known = false;
};

[[gnu::noinline]] void Look(Seen& seen, size_t most_frames) {
  static thread_local OwnStack own;
  Guard guard;
  seen.known = WalkOwnStack(guard, own, most_frames, seen.walked);
  void* addresses[256];
  const int count = ::backtrace(addresses, 256);
  for (int i = 0; i < count; ++i) {
    seen.expected.push_back(reinterpret_cast<uintptr_t>(addresses[i]));
  }
}

// Frames of different shapes: with room for arrays, aligned beyond what the stack is, with arrays
// of a size known at run time only.
[[gnu::noinline]] void Deeper(Seen& seen, int depth, size_t most_frames) {
  if (depth == 0) return Look(seen, most_frames);
  volatile char* room = static_cast<char*>(__builtin_alloca(static_cast<size_t>(depth) * 24));
  room[0] = 1;
  alignas(128) volatile char aligned[256];
  aligned[0] = room[0];
  Deeper(seen, depth - 1, most_frames);
  aligned[1] = aligned[0];
}

// The callers of Look(), of both walks.
void ExpectSame(const Seen& seen) {
  ASSERT_TRUE(seen.known);
  ASSERT_GT(seen.walked.count, 3u);
  std::vector<uintptr_t> callers;
  for (size_t i = 2; i < seen.walked.count; ++i) callers.push_back(seen.walked.frames[i] + 1);
  // Sanitizers put a function of theirs between Look() and the C library.
  const auto first = std::find(seen.expected.begin(), seen.expected.end(), callers.front());
  ASSERT_NE(first, seen.expected.end());
  std::vector<uintptr_t> expected(first, seen.expected.end());
  expected.resize(std::min(expected.size(), callers.size()));
  EXPECT_EQ(callers, expected);
}

TEST(StackWalkTest, FindsTheCallersThatTheCLibraryFinds) {
  Seen seen;
  Deeper(seen, 20, WalkedStack::kMostFrames);
  ExpectSame(seen);
  EXPECT_GE(seen.walked.count + 2, seen.expected.size());
}

TEST(StackWalkTest, FindsThemInAThread) {
  Seen seen;
  std::thread([&] { Deeper(seen, 5, WalkedStack::kMostFrames); }).join();
  ExpectSame(seen);
}

TEST(StackWalkTest, KeepsTheInnermostFrames) {
  Seen seen;
  Deeper(seen, 30, 8);
  EXPECT_EQ(seen.walked.count, 8u);
  ExpectSame(seen);
}

TEST(StackWalkTest, TellsStacksApart) {
  // The compiler may make several calls of the one in the loop.
  constexpr size_t kTimes = 8;
  std::vector<Seen> same(kTimes);
  for (Seen& seen : same) Deeper(seen, 3, WalkedStack::kMostFrames);
  std::set<uint64_t> hashes;
  for (const Seen& seen : same) hashes.insert(seen.walked.hash);
  EXPECT_LT(hashes.size(), kTimes);
  Seen deep;
  Deeper(deep, 4, WalkedStack::kMostFrames);
  EXPECT_FALSE(hashes.contains(deep.walked.hash));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
Seen* g_seen;

TEST(StackWalkTest, LeavesOtherStacksAlone) {
  Seen seen;
  g_seen = &seen;
  // Between pages that must not be read, wherever it lies.
  constexpr size_t kBytes = 256 << 10, kGuard = 64 << 10;
  char* memory = static_cast<char*>(
      mmap(nullptr, kBytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(memory + kGuard, kBytes, PROT_READ | PROT_WRITE), 0);
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = memory + kGuard;
  there.uc_stack.ss_size = kBytes;
  there.uc_link = &here;
  makecontext(
      &there, [] { Deeper(*g_seen, 3, WalkedStack::kMostFrames); }, 0);
  ASSERT_EQ(swapcontext(&here, &there), 0);
  EXPECT_FALSE(seen.known);
  munmap(memory, kBytes + 2 * kGuard);
}
#endif

TEST(LoadedModulesTest, ForgetsWhatWasUnloaded) {
  void* library = dlopen("libbz2.so.1.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "no libbz2";
  const auto code = reinterpret_cast<uintptr_t>(dlsym(library, "BZ2_bzlibVersion"));
  LoadedModules modules;
  modules.Refresh();
  const LoadedModule* found = modules.Find(code);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(std::string_view(found->path).find("libbz2"), std::string_view::npos);
  const uint32_t generation = modules.generation();
  dlclose(library);
  if (dlopen("libbz2.so.1.0", RTLD_NOW | RTLD_NOLOAD) != nullptr) GTEST_SKIP() << "it stays";
  modules.Refresh();
  EXPECT_EQ(modules.Find(code), nullptr);
  EXPECT_NE(modules.generation(), generation);
}

TEST(StackRowTest, TakesWhatFitsAWord) {
  using native::RegisterRule;
  native::UnwindRow row;
  row.cfa = native::UnwindRow::Cfa::kRegisterPlusOffset;
  row.cfa_register = native::kStackPointer;
  row.cfa_offset = 1 << 20;
  row.rules[native::kReturnAddress] = {RegisterRule::Kind::kAtOffset, -8};
  row.rules[native::kFramePointer] = {RegisterRule::Kind::kAtOffset, -16};
  const StackRow fits = Shorten(row);
  EXPECT_EQ(fits.kind, StackRow::kByStackPointer);
  EXPECT_EQ(fits.frame_bytes(), 1u << 20);
  EXPECT_EQ(fits.return_bytes(), uintptr_t{0} - 8);
  EXPECT_EQ(fits.pointer_bytes(), uintptr_t{0} - 16);
  row.cfa_offset = int64_t{1} << 30;
  EXPECT_EQ(Shorten(row).kind, StackRow::kUnknown);
  row.cfa_offset = 12;  // no whole word
  EXPECT_EQ(Shorten(row).kind, StackRow::kUnknown);
  row.rules[native::kReturnAddress] = {RegisterRule::Kind::kUndefined};
  EXPECT_EQ(Shorten(row).kind, StackRow::kOutermost);
}

}  // namespace
}  // namespace batchlight::inject::backtrace

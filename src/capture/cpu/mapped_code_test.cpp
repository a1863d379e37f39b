#include "capture/cpu/mapped_code.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "capture/cpu/timer_slots.h"

namespace batchlight::capture {
namespace {

TEST(MappedCode, KnowsFilesByTheLinesOfTheKernel) {
  native::Modules modules;
  const native::AddressSpace space = ReadMaps(
      "1000-3000 r--p 00000000 fe:00 12                         /opt/a b.so\n"
      "3000-5000 r-xp 00002000 fe:00 12                         /opt/a b.so\n"
      "7000-8000 r-xp 00000000 00:00 0 \n"
      "junk\n"
      "9000-8000 r-xp 00000000 fe:00 12                         /opt/a b.so\n"
      "a000-b000 r-xp 00000000 00:00 0                          [vdso]",
      modules);
  native::CodePlace place;
  EXPECT_FALSE(space.Find(0x1000, &place));  // no code
  ASSERT_TRUE(space.Find(0x3010, &place));
  EXPECT_EQ(place.module, modules.Find("/opt/a b.so"));
  EXPECT_EQ(place.address, 0x2010u);
  ASSERT_TRUE(space.Find(0x7000, &place));
  EXPECT_EQ(place.module, nullptr);  // of no file
  ASSERT_TRUE(space.Find(0xa000, &place));
  EXPECT_EQ(place.module, modules.Find("[vdso]"));
}

TEST(MappedCode, ReadsAProcessOnceAndAgainLater) {
  native::Modules modules;
  std::atomic<uint32_t> unloads{0};
  MappedCode code(modules, unloads);
  const auto self = static_cast<uint32_t>(getpid());
  const auto here = reinterpret_cast<uint64_t>(&ReadMaps);
  native::CodePlace place;
  EXPECT_FALSE(code.Of(self, 1, 0, 0).Find(here, &place));  // it does not sample itself

  char name[] = "/tmp/bl_maps_XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const auto live_folder = LiveFolder::Create(std::string(name) + "/run.batchlight.live", false);
  ASSERT_TRUE(live_folder.ok());
  auto slots = TimerSlots::Create(live_folder.value(), {.samples = true, .period_ns = 5'000'000});
  ASSERT_TRUE(slots.ok()) << slots.status().message();
  ASSERT_TRUE(code.Of(self, 2, 0, 0).Find(here, &place));
  EXPECT_NE(place.module, nullptr);
  EXPECT_FALSE(code.Renew(self, 0, 10));                             // it was read just now
  EXPECT_FALSE(code.Renew(self, 0, 60'000'000));                     // nothing new
  EXPECT_FALSE(code.Renew(self, 0, 120'000'000));                    // so it waits longer
  EXPECT_FALSE(code.Of(1'000'000'000, 1, 0, 0).Find(here, &place));  // there is no such process

  // A library that takes the place of another one.
  const auto map = [&](const char* file, void* at) {
    const std::string path = std::string(name) + "/" + file;
    std::ofstream(path) << std::string(4096, 'x');
    const int fd = open(path.c_str(), O_RDONLY);
    void* const memory =
        mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at != nullptr ? MAP_FIXED : 0), fd, 0);
    close(fd);
    return memory;
  };
  void* const library = map("a", nullptr);
  if (library == MAP_FAILED) GTEST_SKIP() << "no code from this file system";
  const auto there = reinterpret_cast<uint64_t>(library);
  ASSERT_TRUE(code.Renew(self, 0, 1'000'000'000));
  ASSERT_TRUE(code.Of(self, 2, 0, 0).Find(there, &place));
  EXPECT_EQ(place.module, modules.Find(std::string(name) + "/a"));
  unloads += 2;
  map("b", library);
  ASSERT_TRUE(code.Of(self, 2, 0, 0).Find(there, &place));  // a sample of before
  EXPECT_EQ(place.module, modules.Find(std::string(name) + "/a"));
  EXPECT_FALSE(code.Renew(self, 0, 10'000'000'000));
  ASSERT_TRUE(code.Of(self, 2, 2, 0).Find(there, &place));
  EXPECT_EQ(place.module, modules.Find(std::string(name) + "/b"));
  EXPECT_FALSE(code.Of(self, 2, 1, 0).Find(there, &place));  // between: of either
  EXPECT_TRUE(code.Of(self, 2, 1, 0).Find(here, &place));
  munmap(library, 4096);
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace batchlight::capture

#include "capture/cpu/mapped_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

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
  MappedCode code(modules);
  const auto self = static_cast<uint32_t>(getpid());
  const auto here = reinterpret_cast<uint64_t>(&ReadMaps);
  native::CodePlace place;
  EXPECT_FALSE(code.Of(self, 1, 0).Find(here, &place));  // it does not sample itself

  char name[] = "/tmp/bl_maps_XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const auto live_folder = LiveFolder::Create(std::string(name) + "/run.batchlight.live", false);
  ASSERT_TRUE(live_folder.ok());
  auto slots = TimerSlots::Create(live_folder.value(), {.samples = true, .period_ns = 5'000'000});
  ASSERT_TRUE(slots.ok()) << slots.status().message();
  ASSERT_TRUE(code.Of(self, 2, 0).Find(here, &place));
  EXPECT_NE(place.module, nullptr);
  EXPECT_FALSE(code.Renew(self, 10));                             // it was read just now
  EXPECT_FALSE(code.Renew(self, 60'000'000));                     // nothing new
  EXPECT_FALSE(code.Renew(self, 120'000'000));                    // so it waits longer
  EXPECT_FALSE(code.Of(1'000'000'000, 1, 0).Find(here, &place));  // there is no such process
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace batchlight::capture

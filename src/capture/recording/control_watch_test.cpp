#include "capture/recording/control_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "capture/recording/live_folder.h"

namespace batchlight::capture {
namespace {

TEST(ControlWatch, OtherMachinesSeeThatItIsInUse) {
  char name[] = "/tmp/bl_watch_XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string base = name;
  const std::string page = base + "/run.batchlight.live/control";
  {
    const LiveFolder folder = LiveFolder::Create(base + "/run.batchlight.live", false).value();
    Control control = Control::Create(folder, [](format::ControlPage&) {}).value();
    const timespec long_ago[] = {{1'000, 0}, {1'000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, page.c_str(), long_ago, 0), 0);
    EventLoop loop;
    ASSERT_TRUE(loop.Open().ok());
    bool told = false;
    ControlWatch watch(loop, control);
    ASSERT_TRUE(watch.Open([&] { told = true; }).ok());
    while (!told) loop.Wait(-1);
    struct stat info {};
    ASSERT_EQ(stat(page.c_str(), &info), 0);
    EXPECT_GT(info.st_mtime, time(nullptr) - 60);
  }
  std::filesystem::remove_all(base);
}

}  // namespace
}  // namespace batchlight::capture

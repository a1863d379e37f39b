#include "capture/monitor/metrics_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace batchlight::capture {
namespace {

namespace fs = std::filesystem;

class MetricsFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakePrivateFolder(testing::TempDir() + "metrics");
    ASSERT_TRUE(made.ok());
    path_ = made.value();
  }
  void TearDown() override { fs::remove_all(path_); }
  std::string path_;
};

TEST_F(MetricsFileTest, IsReplacedAndRemoved) {
  const std::string path = path_ + "/job.prom";
  const auto file = MetricsFile::Open(path);
  ASSERT_TRUE(file.ok());
  for (const char* text : {"one", "two"}) {
    ASSERT_TRUE(file->Write(text).ok());
    EXPECT_EQ(ReadWholeFile(path).value(), text);
  }
  file->Remove();
  EXPECT_TRUE(fs::is_empty(path_));
}

// It would be replaced by a file, and removed at the end: /dev/null, for one.
TEST_F(MetricsFileTest, NoDeviceOrPipeOrFolderIsTaken) {
  const std::string pipe = path_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, path_, path_ + "/", std::string("/dev/null")}) {
    const auto file = MetricsFile::Open(path);
    EXPECT_EQ(file.status().exit_code(), 4) << path;
  }
  EXPECT_NE(MetricsFile::Open(pipe).status().message().find(pipe + " is no file"),
            std::string::npos);
  EXPECT_EQ(MetricsFile::Open(path_ + "/none/job.prom").status().exit_code(), 4);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(MetricsFileTest, AFolderThatIsExchangedGetsNothing) {
  const std::string mine = path_ + "/mine", precious = path_ + "/precious";
  fs::create_directory(mine);
  fs::create_directory(precious);
  ASSERT_TRUE(WriteWholeFile(precious + "/job.prom", "precious").ok());
  const auto file = MetricsFile::Open(mine + "/job.prom");
  ASSERT_TRUE(file.ok());
  fs::rename(mine, path_ + "/moved");
  fs::create_directory_symlink(precious, mine);
  ASSERT_TRUE(file->Write("metrics").ok());
  EXPECT_EQ(ReadWholeFile(precious + "/job.prom").value(), "precious");
  EXPECT_EQ(ReadWholeFile(path_ + "/moved/job.prom").value(), "metrics");
  file->Remove();
  EXPECT_TRUE(fs::exists(precious + "/job.prom"));
}

}  // namespace
}  // namespace batchlight::capture

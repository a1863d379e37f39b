#include "capture/recording/output_name.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace batchlight::capture {
namespace {

std::string MakeFolder() {
  std::string folder = testing::TempDir() + "output_name_XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

TEST(ExpandOutputName, KnowsPidHostVariableAndPercent) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  setenv("OUTPUT_NAME_TEST", "rank3", 1);
  EXPECT_EQ(ExpandOutputName("a%p-%h", 42).value(), "a42-" + std::string(host));
  EXPECT_EQ(ExpandOutputName("run_%q{OUTPUT_NAME_TEST}%%", 1).value(), "run_rank3%");
  EXPECT_EQ(ExpandOutputName("x.batchlight", 1).value(), "x");
}

TEST(ExpandOutputName, RefusesWhatItDoesNotKnow) {
  for (const char* pattern : {"%x", "%", "%q", "%q{OPEN", "%q{NO_SUCH_VARIABLE_HERE}", ""}) {
    const auto name = ExpandOutputName(pattern, 1);
    ASSERT_FALSE(name.ok()) << pattern;
    EXPECT_EQ(name.status().kind(), ErrorKind::kUsage);
  }
}

TEST(NextFreeName, SkipsRecordingsSeriesAndLiveFolders) {
  const std::string folder = MakeFolder() + "/";
  EXPECT_EQ(NextFreeName(folder + "report"), folder + "report1");
  ASSERT_TRUE(WriteWholeFile(folder + "report1.batchlight", "").ok());
  ASSERT_TRUE(WriteWholeFile(folder + "report2.1.batchlight", "").ok());
  ASSERT_EQ(mkdir((folder + "report3.batchlight.live").c_str(), 0777), 0);
  EXPECT_EQ(NextFreeName(folder + "report"), folder + "report4");
  EXPECT_EQ(ExpandOutputName(folder, 1).value(), folder + "report4");
}

TEST(NextFreeName, SkipsLinksToNothing) {
  const std::string folder = MakeFolder() + "/";
  ASSERT_EQ(symlink("nowhere", (folder + "report1.batchlight").c_str()), 0);
  EXPECT_EQ(NextFreeName(folder + "report"), folder + "report2");
  EXPECT_EQ(CheckOutputIsFree(folder + "report1", false).kind(), ErrorKind::kOutput);
}

TEST(CheckOutputIsFree, LooksAtTheFirstOfASeries) {
  const std::string name = MakeFolder() + "/run";
  EXPECT_TRUE(CheckOutputIsFree(name, true).ok());
  ASSERT_TRUE(WriteWholeFile(name + ".1.batchlight", "").ok());
  EXPECT_TRUE(CheckOutputIsFree(name, false).ok());
  EXPECT_EQ(CheckOutputIsFree(name, true).kind(), ErrorKind::kOutput);
  EXPECT_EQ(RecordingPath("a/b", 0), "a/b.batchlight");
  EXPECT_EQ(RecordingPath("a/b", 12), "a/b.12.batchlight");
}

}  // namespace
}  // namespace batchlight::capture

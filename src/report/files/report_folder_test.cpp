#include "report/files/report_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/testing/sample_run.h"
#include "base/file.h"

namespace batchlight {
namespace {

namespace fs = std::filesystem;

class ReportFolderTest : public ::testing::Test {
 protected:
  ReportFolderTest() : store_(testing::MakeSampleRun()), overview_(BuildOverview(store_)) {
    above_ = fs::temp_directory_path() / ("bl_report_" + std::to_string(getpid()));
    fs::create_directories(above_);
  }
  ~ReportFolderTest() override {
    fs::permissions(above_, fs::perms::owner_all);
    fs::remove_all(above_);
  }
  std::string Folder(const std::string& name) const { return (above_ / name).string(); }
  Result<std::vector<std::string>> Write(const std::string& folder, bool overwrite = false) const {
    return WriteReportFolder(overview_,
                             {.folder = folder, .overwrite = overwrite, .version = "test"});
  }

  Store store_;
  RunOverview overview_;
  fs::path above_;
};

TEST_F(ReportFolderTest, WritesPagePictureSnippetAndTables) {
  const auto written = Write(Folder("deep/new"));
  ASSERT_TRUE(written.ok()) << written.status().message();
  for (const char* name :
       {"index.html", "top10.png", "README_snippet.md", "steps.csv", "phases.csv", "modules.csv",
        "operators.csv", "nvtx_ranges.csv", "processes.csv"}) {
    EXPECT_TRUE(FileExists(Folder("deep/new/") + name)) << name;
  }
  for (const std::string& path : written.value()) EXPECT_TRUE(FileExists(path)) << path;
  for (const auto& entry : fs::recursive_directory_iterator(above_)) {
    EXPECT_EQ(entry.path().string().find("partial"), std::string::npos) << entry.path();
  }
}

TEST_F(ReportFolderTest, ARunWithAGpuHasAPictureOfItsKernels) {
  const Store store = testing::MakeSampleRun({.gpu = true});
  const auto written =
      WriteReportFolder(BuildOverview(store), {.folder = Folder("gpu"), .version = "test"});
  ASSERT_TRUE(written.ok()) << written.status().message();
  for (const char* name :
       {"top10.png", "top10_kernels.png", "kernels.csv", "gpukernsum.csv", "cudaapisum.csv"}) {
    EXPECT_TRUE(FileExists(Folder("gpu/") + name)) << name;
  }
  const std::string snippet = ReadWholeFile(Folder("gpu/README_snippet.md")).value();
  EXPECT_NE(snippet.find("![Top 3 kernels](top10_kernels.png)"), std::string::npos);
  EXPECT_NE(snippet.find("`nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT`"), std::string::npos);
}

TEST_F(ReportFolderTest, AnExistingFolderNeedsForceAndKeepsForeignFiles) {
  fs::create_directory(above_ / "mine");
  std::ofstream(above_ / "mine/notes.txt") << "keep";
  const auto refused = Write(Folder("mine"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().kind(), ErrorKind::kOutput);
  EXPECT_NE(refused.status().message().find("-f"), std::string::npos);
  EXPECT_FALSE(FileExists(Folder("mine/index.html")));
  EXPECT_TRUE(Write(Folder("mine"), true).ok());
  EXPECT_TRUE(FileExists(Folder("mine/index.html")));
  EXPECT_EQ(ReadWholeFile(Folder("mine/notes.txt")).value(), "keep");
}

TEST_F(ReportFolderTest, AnEmptyFolderMayBeUsed) {
  fs::create_directory(above_ / "empty");
  EXPECT_TRUE(Write(Folder("empty/")).ok());
}

TEST_F(ReportFolderTest, AFileInTheWayIsAnError) {
  std::ofstream(above_ / "file") << "x";
  const auto written = Write(Folder("file"), true);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.status().kind(), ErrorKind::kOutput);
  EXPECT_EQ(ReadWholeFile(Folder("file")).value(), "x");
}

TEST_F(ReportFolderTest, AFolderThatCannotBeMadeIsAnErrorAndLeavesNothing) {
  const auto written = Write("/proc/nowhere/report");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.status().kind(), ErrorKind::kOutput);
  EXPECT_NE(written.status().message().find("/proc/nowhere/report"), std::string::npos);
}

TEST_F(ReportFolderTest, ARunWithNothingInItStillHasAPage) {
  const Store empty;
  const auto written =
      WriteReportFolder(BuildOverview(empty), {.folder = Folder("nothing"), .version = "test"});
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_TRUE(FileExists(Folder("nothing/index.html")));
  EXPECT_FALSE(FileExists(Folder("nothing/top10.png")));
}

}  // namespace
}  // namespace batchlight

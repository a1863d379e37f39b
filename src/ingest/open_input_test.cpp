#include "ingest/open_input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace batchlight {
namespace {

class OpenInputTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_open_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  InputFormat FormatOf(std::string_view bytes) {
    const std::string path = folder_ + "/file.batchlight";
    EXPECT_TRUE(WriteWholeFile(path, bytes).ok());
    Result<InputFormat> found = DetectFormat(path);
    EXPECT_TRUE(found.ok());
    return found.value();
  }
  std::string folder_;
};

TEST_F(OpenInputTest, ContentDecidesNotTheName) {
  EXPECT_EQ(FormatOf(std::string_view("SQLite format 3\0....", 20)), InputFormat::kNsysSqlite);
  EXPECT_EQ(FormatOf("BLIGHT1\n rest"), InputFormat::kSealedRecording);
  EXPECT_EQ(FormatOf("\xef\xbb\xbf \n {\"traceEvents\": []}"), InputFormat::kKinetoJson);
  EXPECT_EQ(FormatOf("[{}]"), InputFormat::kKinetoJson);
  EXPECT_EQ(FormatOf("\x1f\x8b\x08"), InputFormat::kKinetoJson);
  EXPECT_EQ(FormatOf("plain text"), InputFormat::kUnknown);
  EXPECT_EQ(FormatOf(""), InputFormat::kUnknown);
}

TEST_F(OpenInputTest, MissingPathIsAnInputError) {
  const Result<Store> store = OpenInput(folder_ + "/none.batchlight");
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.status().exit_code(), 3);
  EXPECT_NE(store.status().message().find("none.batchlight"), std::string::npos);
}

TEST_F(OpenInputTest, UnknownBytesAreAnInputError) {
  const std::string path = folder_ + "/a.batchlight";
  ASSERT_TRUE(WriteWholeFile(path, "hello").ok());
  EXPECT_EQ(OpenInput(path).status().exit_code(), 3);
}

TEST_F(OpenInputTest, NamesAreTakenAsProfileTakesThem) {
  const auto place = [&](const std::string& name) {
    return PlaceOfInput(folder_ + "/" + name).value().substr(folder_.size() + 1);
  };
  EXPECT_EQ(place("run"), "run");
  std::filesystem::create_directory(folder_ + "/run.batchlight.live");
  EXPECT_EQ(place("run"), "run.batchlight.live");
  EXPECT_EQ(place("run.batchlight"), "run.batchlight.live");
  ASSERT_TRUE(WriteWholeFile(folder_ + "/run.batchlight", "BLIGHT1").ok());
  EXPECT_EQ(place("run"), "run.batchlight");
  EXPECT_EQ(place("run.batchlight"), "run.batchlight");
}

TEST_F(OpenInputTest, NoLinkOfOthersIsFollowedThatNobodyNamed) {
  ASSERT_TRUE(WriteWholeFile(folder_ + "/private", "BLIGHT1").ok());
  ASSERT_TRUE(WriteWholeFile(folder_ + "/run.nsys-rep", "x").ok());
  for (const char* name : {"/run.sqlite", "/run.batchlight"}) {
    std::filesystem::create_symlink(folder_ + "/private", folder_ + name);
  }
  EXPECT_TRUE(PlaceOfInput(folder_ + "/run.nsys-rep").ok());
  EXPECT_EQ(PlaceOfInput(folder_ + "/run").value(), folder_ + "/run.batchlight");
  for (const char* name : {"/run.sqlite", "/run.batchlight"}) {
    if (lchown((folder_ + name).c_str(), 65534, 65534) != 0) GTEST_SKIP() << "not root";
  }
  EXPECT_FALSE(PlaceOfInput(folder_ + "/run.nsys-rep").ok());
  EXPECT_EQ(PlaceOfInput(folder_ + "/run").value(), folder_ + "/run");
}

}  // namespace
}  // namespace batchlight

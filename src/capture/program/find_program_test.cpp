#include "capture/program/find_program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace batchlight::capture {
namespace {

class FindProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "find_program_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  std::string Make(const std::string& name, mode_t mode) {
    std::string path = folder_ + "/" + name;
    EXPECT_TRUE(WriteWholeFile(path, "#!/bin/sh\n").ok());
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string folder_;
};

TEST_F(FindProgramTest, LooksAlongThePath) {
  const std::string path = Make("tool", 0755);
  EXPECT_EQ(FindProgram("tool", "/nowhere:" + folder_ + ":/usr/bin").path, path);
  EXPECT_EQ(FindProgram(path, "").path, path);
}

TEST_F(FindProgramTest, TellsMissingFromNotExecutable) {
  const std::string script = Make("train.py", 0644);
  EXPECT_EQ(FindProgram("no-such", folder_).exit_code, kExitNotFound);
  EXPECT_EQ(FindProgram(folder_ + "/no-such", "").exit_code, kExitNotFound);
  EXPECT_EQ(FindProgram("", folder_).exit_code, kExitNotFound);
  EXPECT_EQ(FindProgram("train.py", folder_).exit_code, kExitNotExecutable);
  const FoundProgram found = FindProgram(script, "");
  EXPECT_EQ(found.exit_code, kExitNotExecutable);
  EXPECT_NE(found.problem.find("`python3 " + script), std::string::npos) << found.problem;
  EXPECT_EQ(FindProgram(folder_ + "/", "").exit_code, kExitNotExecutable);
}

TEST_F(FindProgramTest, SaysWhatWasMeant) {
  EXPECT_NE(FindProgram("python", folder_).problem.find("no such program in PATH"),
            std::string::npos);
  Make("python3", 0755);
  const std::string python = FindProgram("python", folder_).problem;
  EXPECT_NE(python.find("did you mean python3?"), std::string::npos) << python;
  Make("gan.py", 0644);
  Make("tool", 0755);
  ASSERT_EQ(chdir(folder_.c_str()), 0);
  const std::string script = FindProgram("gan.py", "/nowhere").problem;
  EXPECT_NE(script.find("did you mean `python3 gan.py`?"), std::string::npos) << script;
  const std::string tool = FindProgram("tool", "/nowhere").problem;
  EXPECT_NE(tool.find("did you mean ./tool?"), std::string::npos) << tool;
}

}  // namespace
}  // namespace batchlight::capture

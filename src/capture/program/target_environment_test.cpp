#include "capture/program/target_environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "base/trusted_path.h"

namespace batchlight::capture {
namespace {

namespace fs = std::filesystem;

TEST(MakeTargetEnvironment, PutsOurLibraryFirst) {
  setenv("LD_PRELOAD", "/lib/user.so", 1);
  EnvironmentOptions options;
  options.preload = "/opt/inject.so";
  const auto environment = MakeTargetEnvironment(options);
  unsetenv("LD_PRELOAD");
  EXPECT_STREQ(FindVariable(environment, "LD_PRELOAD"), "/opt/inject.so:/lib/user.so");
  EXPECT_STREQ(FindVariable(environment, "NVTX_INJECTION64_PATH"), "/opt/inject.so");
  EXPECT_STREQ(FindVariable(environment, "CUDA_INJECTION64_PATH"), "/opt/inject.so");
  EXPECT_NE(FindVariable(environment, "PATH"), nullptr);
}

TEST(MakeTargetEnvironment, ShimsComeBeforeTheRestOfOurs) {
  EnvironmentOptions options;
  options.inherit = false;
  options.variables = {"LD_PRELOAD=/lib/user.so"};
  options.preload = "/opt/inject.so";
  options.shims = {"/opt/osrt.so", "/opt/memory.so"};
  const auto environment = MakeTargetEnvironment(options);
  EXPECT_STREQ(FindVariable(environment, "LD_PRELOAD"),
               "/opt/osrt.so:/opt/memory.so:/opt/inject.so:/lib/user.so");
  EXPECT_STREQ(FindVariable(environment, "NVTX_INJECTION64_PATH"), "/opt/inject.so");
}

TEST(MakeTargetEnvironment, LevelsOfLibrariesAreTheUsersFirst) {
  EnvironmentOptions options;
  options.inherit = false;
  options.variables = {"CUBLAS_NVTX_LEVEL=1"};
  options.preload = "/opt/inject.so";
  options.levels = {"CUBLAS_NVTX_LEVEL=2", "CUDNN_NVTX_LEVEL=2"};
  const auto environment = MakeTargetEnvironment(options);
  EXPECT_STREQ(FindVariable(environment, "CUBLAS_NVTX_LEVEL"), "1");
  EXPECT_STREQ(FindVariable(environment, "CUDNN_NVTX_LEVEL"), "2");
  options.preload.clear();
  EXPECT_EQ(FindVariable(MakeTargetEnvironment(options), "CUDNN_NVTX_LEVEL"), nullptr);
}

TEST(MakeTargetEnvironment, ToolInsideARecordedProgramStartsAfresh) {
  setenv("LD_PRELOAD", "/opt/inject.so:/lib/user.so", 1);
  setenv("BATCHLIGHT_SESSION_DIR", "/tmp/outer.batchlight.live", 1);
  EnvironmentOptions options;
  options.preload = "/opt/inject.so";
  const auto environment = MakeTargetEnvironment(options);
  unsetenv("LD_PRELOAD");
  unsetenv("BATCHLIGHT_SESSION_DIR");
  EXPECT_STREQ(FindVariable(environment, "LD_PRELOAD"), "/opt/inject.so:/lib/user.so");
  EXPECT_EQ(FindVariable(environment, "BATCHLIGHT_SESSION_DIR"), nullptr);
}

TEST(ReplacedInjections, NamesTheToolThatGivesWay) {
  EnvironmentOptions options;
  options.preload = "/opt/inject.so";
  setenv("NVTX_INJECTION64_PATH", "/opt/inject.so", 1);
  setenv("CUDA_INJECTION64_PATH", "/opt/other.so", 1);
  const auto lines = ReplacedInjections(options);
  options.cuda = false;
  EXPECT_TRUE(ReplacedInjections(options).empty());
  unsetenv("NVTX_INJECTION64_PATH");
  unsetenv("CUDA_INJECTION64_PATH");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("/opt/other.so"), std::string::npos);
}

TEST(MakeTargetEnvironment, InheritsOnlyIfAsked) {
  EnvironmentOptions options;
  options.inherit = false;
  options.cuda = false;
  options.variables = {"A=1", "B=x=y", "A=2"};
  options.preload = "/opt/inject.so";
  const auto environment = MakeTargetEnvironment(options);
  EXPECT_EQ(environment, (std::vector<std::string>{"A=2", "B=x=y", "LD_PRELOAD=/opt/inject.so",
                                                   "ASAN_OPTIONS=verify_asan_link_order=0",
                                                   "NVTX_INJECTION64_PATH=/opt/inject.so"}));
}

TEST(MakeTargetEnvironment, SanitizersOptionsStay) {
  EnvironmentOptions options;
  options.inherit = false;
  options.preload = "/opt/inject.so";
  options.variables = {"ASAN_OPTIONS=detect_leaks=0"};
  EXPECT_STREQ(FindVariable(MakeTargetEnvironment(options), "ASAN_OPTIONS"),
               "detect_leaks=0:verify_asan_link_order=0");
  options.variables = {"ASAN_OPTIONS=verify_asan_link_order=1"};
  EXPECT_STREQ(FindVariable(MakeTargetEnvironment(options), "ASAN_OPTIONS"),
               "verify_asan_link_order=1");
}

std::string TargetOf(const std::string& link) {
  std::error_code error;
  return std::filesystem::read_symlink(link, error);
}

class PreloadPathTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folders = TemporaryPlaces();
    folders.push_back(fs::current_path());
    const auto trusted = FirstTrustedPlace(folders);
    if (!trusted.ok()) GTEST_SKIP() << trusted.status().message();
    std::string name = trusted.value() + "/bl_preload_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = name;
    for (const std::string& path : {Places().own, Places().shared}) fs::create_directory(path);
    Allow(Places().own, 0700);
    Allow(Places().shared, 01777);
    named_ = Places().shared + "/batchlight-links-" + std::to_string(geteuid());
  }
  void TearDown() override {
    if (!base_.empty()) fs::remove_all(base_);
  }
  LinkPlaces Places() const { return {base_ + "/own", base_ + "/shared"}; }
  std::string Link(const LinkPlaces& places) const { return PreloadPath(kSpaced, places).value(); }
  static void Allow(const std::string& path, mode_t mode) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  static constexpr char kSpaced[] = "/opt/bl test/inject.so";
  std::string base_;
  std::string named_;  // what anybody could make first
};

// What names it later, as a kept environment does, finds the library and nobody else's.
TEST_F(PreloadPathTest, LinksWhatLdPreloadCannotHoldForGood) {
  EXPECT_EQ(PreloadPath("/opt/inject.so").value(), "/opt/inject.so");
  std::set<std::string> links;
  for (const char* library : {kSpaced, "/opt/bl:test/inject.so"}) {
    const std::string link = PreloadPath(library, Places()).value();
    EXPECT_TRUE(link.starts_with(base_ + "/own/batchlight/")) << link;
    EXPECT_EQ(link.find_first_of(" :"), std::string::npos);
    EXPECT_EQ(TargetOf(link), library);
    EXPECT_EQ(PreloadPath(library, Places()).value(), link);
    EXPECT_EQ(WhyNotTrusted(link.substr(0, link.rfind('/'))), "");
    links.insert(link);
  }
  EXPECT_EQ(links.size(), 2U);
}

// Whoever could exchange the link would choose what the program loads.
TEST_F(PreloadPathTest, MakesNoLinkWhereOthersCouldExchangeIt) {
  Allow(Places().own, 0777);
  EXPECT_TRUE(Link(Places()).starts_with(named_ + "/")) << Link(Places());
  EXPECT_TRUE(fs::is_empty(Places().own));
  Allow(Places().shared, 0777);
  EXPECT_NE(PreloadPath(kSpaced, Places()).status().message().find("own can be written by other"),
            std::string::npos);
}

TEST_F(PreloadPathTest, WhoMakesTheNameFirstKeepsNoProgramFromRunning) {
  const std::string trap = base_ + "/trap";
  fs::create_directory(trap);
  const auto others = [&](const char* kind) {
    fs::remove_all(named_);
    if (kind == std::string("file")) std::ofstream(named_) << "text";
    if (kind == std::string("link")) fs::create_directory_symlink(trap, named_);
    if (kind == std::string("folder")) {
      fs::create_directory(named_);
      Allow(named_, 0777);
    }
  };
  for (const char* kind : {"file", "link", "folder"}) {
    others(kind);
    const std::string link = Link({"", Places().shared});
    EXPECT_TRUE(link.starts_with(named_ + "-")) << link;
    EXPECT_EQ(TargetOf(link), kSpaced);
    EXPECT_EQ(WhyNotTrusted(link.substr(0, link.rfind('/'))), "");
  }
  EXPECT_TRUE(fs::is_empty(trap));
}

TEST_F(PreloadPathTest, AnotherUsersProgramGetsThroughRootsFolders) {
  if (geteuid() != 0) GTEST_SKIP() << "others' programs are root's to start";
  const fs::path folder = fs::path(Link(Places())).parent_path();
  for (const fs::path& path : {folder, folder.parent_path()}) Allow(path, 0700);
  EXPECT_EQ(fs::path(Link(Places())).parent_path(), folder);
  for (const fs::path& path : {folder, folder.parent_path()}) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms{0755}) << path;
  }
}

}  // namespace
}  // namespace batchlight::capture

#include "capture/program/target_environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/trusted_path.h"

namespace batchlight::capture {
namespace {

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

// What names it later, as a kept environment does, finds the library and nobody else's.
TEST(PreloadPath, LinksWhatLdPreloadCannotHoldForGood) {
  EXPECT_EQ(PreloadPath("/opt/inject.so").value(), "/opt/inject.so");
  std::set<std::string> links;
  for (const char* library : {"/opt/bl test/inject.so", "/opt/bl:test/inject.so"}) {
    const std::string link = PreloadPath(library).value();
    EXPECT_EQ(link.find_first_of(" :"), std::string::npos);
    EXPECT_EQ(TargetOf(link), library);
    EXPECT_EQ(PreloadPath(library).value(), link);
    EXPECT_EQ(WhyNotTrusted(link.substr(0, link.rfind('/'))), "");
    links.insert(link);
  }
  EXPECT_EQ(links.size(), 2U);
  for (const std::string& link : links) {
    std::filesystem::remove_all(std::filesystem::path(link).parent_path());
  }
}

// Whoever could exchange the link would choose what the program loads.
TEST(PreloadPath, MakesNoLinkWhereOthersCouldExchangeIt) {
  if (geteuid() == 0) GTEST_SKIP() << "root's are in /run";
  char shared[] = "/tmp/bl_preload_XXXXXX";
  ASSERT_NE(mkdtemp(shared), nullptr);
  ASSERT_EQ(chmod(shared, 0777), 0);
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", shared, 1);
  const std::string link = PreloadPath("/opt/bl test/inject.so").value();
  before != nullptr ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  EXPECT_FALSE(link.starts_with(shared)) << link;
  EXPECT_EQ(rmdir(shared), 0);
  std::filesystem::remove_all(std::filesystem::path(link).parent_path());
}

}  // namespace
}  // namespace batchlight::capture

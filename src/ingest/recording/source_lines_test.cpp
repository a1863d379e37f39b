#include "ingest/recording/source_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace batchlight {
namespace {

class SourceLinesTest : public ::testing::Test {
 protected:
  SourceLinesTest() { store_.duration_ns = INT64_MAX; }  // the file is not newer
  ~SourceLinesTest() override { std::filesystem::remove(path_); }

  // The text of a line of a file; "": not known.
  std::string TextOf(const std::string& source, uint32_t line) {
    std::ofstream(path_) << source;
    return LineThere(line);
  }
  std::string LineThere(uint32_t line) {
    store_.python_frames.Append({.file = store_.strings.Intern(path_), .line = line});
    ReadSourceLines(store_, {});
    return std::string(store_.Text(store_.python_frames.text.back()));
  }

  Store store_;
  const std::string path_ = ::testing::TempDir() + "source_lines_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".py";
};

TEST_F(SourceLinesTest, ALineIsTheText) {
  EXPECT_EQ(TextOf("import torch\n  x = y @ z \t\n", 2), "x = y @ z");
}

TEST_F(SourceLinesTest, AGeneratedLineSaysWhatItIsFor) {
  EXPECT_EQ(TextOf("buf0 = empty((64, 64))\n"
                   "    # Topologically Sorted Source Nodes: [y], Original ATen: [aten.mm]\n"
                   "    extern_kernels.mm(a, b, out=buf0)\n",
                   3),
            "extern_kernels.mm(a, b, out=buf0)  # [y], Original ATen: [aten.mm]");
}

TEST_F(SourceLinesTest, ALaunchOfTritonAsksForItsStreamFirst) {
  EXPECT_EQ(TextOf("# Topologically Sorted Source Nodes: [z, relu], Original ATen: [aten.relu]\n"
                   "stream0 = get_raw_stream(0)\n"
                   "triton_poi_fused_0.run(buf0, 4096, stream=stream0)\n",
                   3),
            "triton_poi_fused_0.run(buf0, 4096, stream=stream0)  # [z, relu], Original ATen: "
            "[aten.relu]");
}

TEST_F(SourceLinesTest, RemarksOfLinesFurtherAboveAreOthers) {
  EXPECT_EQ(TextOf("# Topologically Sorted Source Nodes: [y], Original ATen: [aten.mm]\n"
                   "extern_kernels.mm(a, b, out=buf0)\n"
                   "cpp_fused_0(buf0, buf1)\n",
                   3),
            "cpp_fused_0(buf0, buf1)");
}

// A recording may name anything: what it shows of must be Python's.
TEST_F(SourceLinesTest, ALinkIsFollowedToPythonsFilesAlone) {
  namespace fs = std::filesystem;
  const std::string target = path_ + ".target";
  for (const std::string& name : {target + ".py", target}) {
    std::ofstream(name) << "secret = 1\n";
    fs::create_symlink(name, path_);
    EXPECT_EQ(LineThere(1), name == target ? "" : "secret = 1");
    const size_t files = ReadSourceFiles(store_).size();
    EXPECT_EQ(files, name == target ? 0u : 1u);
    fs::remove(path_);
    fs::remove(name);
  }
  fs::create_directory(path_);
  EXPECT_EQ(LineThere(1), "");
}

TEST_F(SourceLinesTest, FilesAreReadWithTheRightsThatAreTaken) {
  int held = 0, taken = 0;
  ReadSourcesWith([&] {
    ++held, ++taken;
    return SourceRights(
        &held, [](const void* count) { --*const_cast<int*>(static_cast<const int*>(count)); });
  });
  EXPECT_EQ(TextOf("x = 1\n", 1), "x = 1");
  EXPECT_EQ(ReadSourceFiles(store_).size(), 1u);
  StallSamples samples{.names = {"", path_}};
  samples.samples.push_back({.file = 1, .line = 1});
  ReadKernelSources(store_, samples);
  ReadSourcesWith(nullptr);
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(held, 0);
}

// Whoever reads it may be able to read more than the user who says what names are in it.
TEST_F(SourceLinesTest, WhatAnotherUsersRecordingNamesIsThatUsersToRead) {
  namespace fs = std::filesystem;
  const auto own = static_cast<uint32_t>(geteuid()), other = own + 1;
  std::ofstream(path_) << "secret = 1\n";
  const auto shown = [&](const std::set<uint32_t>& owners) {
    Store store;
    store.duration_ns = INT64_MAX;
    store.python_frames.Append({.file = store.strings.Intern(path_), .line = 1});
    ReadSourceLines(store, owners);
    StallSamples samples{.names = {"", path_}, .owners = owners};
    samples.samples.push_back({.file = 1, .line = 1});
    ReadKernelSources(store, samples);
    const bool line = !store.Text(store.python_frames.text.back()).empty();
    EXPECT_EQ(samples.samples[0].source != 0, line);
    return line;
  };
  fs::permissions(path_, fs::perms(0604));
  EXPECT_TRUE(shown({own}));
  EXPECT_TRUE(shown({own, other}));
  fs::permissions(path_, fs::perms(0640));
  EXPECT_TRUE(shown({own}));
  EXPECT_FALSE(shown({other}));
  EXPECT_FALSE(shown({own, other}));
  EXPECT_FALSE(shown({UINT32_MAX}));
}

TEST_F(SourceLinesTest, LinesOfKernelsAreThoseOfTheirFiles) {
  const std::string cuda = path_ + ".cu", secret = path_ + ".txt";
  for (const std::string& name : {path_, cuda, secret}) {
    std::ofstream(name) << "first\n  of " + name.substr(name.rfind('.')) + " \n";
  }
  StallSamples samples{.names = {"", path_, cuda, secret, "scale.cu"}};
  const auto add = [&samples](uint32_t file, uint32_t line) {
    samples.samples.push_back({.file = file, .line = line});
  };
  for (uint32_t file = 1; file <= 4; ++file) add(file, 2);
  add(2, 2);
  add(2, 9);
  add(0, 0);
  ReadKernelSources(store_, samples);
  std::vector<std::string> texts;
  for (const StallSample& sample : samples.samples) texts.push_back(samples.names[sample.source]);
  EXPECT_EQ(texts, (std::vector<std::string>{"of .py", "of .cu", "", "", "of .cu", "", ""}));

  store_.duration_ns = 1;  // the files are newer
  for (StallSample& sample : samples.samples) sample.source = 0;
  ReadKernelSources(store_, samples);
  for (const StallSample& sample : samples.samples) EXPECT_EQ(sample.source, 0u);
  std::filesystem::remove(cuda);
  std::filesystem::remove(secret);
}

TEST_F(SourceLinesTest, LinesThatAreNotThereHaveNone) { EXPECT_EQ(TextOf("one\n", 2), ""); }

}  // namespace
}  // namespace batchlight

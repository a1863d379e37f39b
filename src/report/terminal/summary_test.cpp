#include "report/terminal/summary.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analysis/testing/store_builder.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

// Forty steps of 20 ms: a warm-up, a slow one, a validation; modules, operators and ranges.
Store SampleStore() {
  StoreBuilder build;
  const ProcessId process = build.Process(4711, "train.py");
  const ThreadId thread = build.Thread(process);
  build.Property("session.command", "python3 examples/train.py --epochs 1 --batch-size 64");
  build.Property("python.version", "3.11.2");
  build.Property("torch.version", "2.1.0");
  build.Property("machine.cpu", "AMD EPYC 9R14");
  build.Property("cost.range_ns", "51.0");
  build.Property("cost.module_ns", "280.0");
  build.Property("cost.operator_ns", "110.0");
  int64_t at = 5 * kMs;
  for (int i = 0; i < 40; ++i) {
    const int64_t slow = i == 0 ? 3 : i == 30 ? 2 : 1;
    auto phase = [&](Phase kind, const char* name, int64_t from, int64_t to) {
      build.Phase(thread, kind, name, at + from * slow * kMs / 10, at + to * slow * kMs / 10);
    };
    if (i == 20) {
      phase(Phase::kValidation, "validate", 0, 500);
      at += 50 * kMs;
    }
    phase(Phase::kDataLoaderNext, "DataLoader", 0, 20);
    build.Range(thread, "batch_to_device", at + 2 * slow * kMs, at + 3 * slow * kMs);
    build.Module(thread, "Net", "Net", at + 3 * slow * kMs, at + 8 * slow * kMs);
    build.Module(thread, "encoder.layers.0.linear1", "Linear", at + 4 * slow * kMs,
                 at + 6 * slow * kMs);
    build.Operator(thread, "aten::linear", at + 4 * slow * kMs, at + 6 * slow * kMs, i, 0,
                   OperatorScope::kFunction);
    build.Operator(thread, "aten::addmm", at + 9 * slow * kMs / 2, at + 6 * slow * kMs, i, 0,
                   OperatorScope::kFunction);
    phase(Phase::kBackward, "backward", 80, 160);
    build.Operator(thread, "AddmmBackward0", at + 9 * slow * kMs, at + 15 * slow * kMs, i, 1,
                   OperatorScope::kBackward);
    phase(Phase::kOptimizerStep, "AdamW.step", 170, 200);
    at += 20 * slow * kMs;
  }
  build.store().losses.Append({.process = process, .counter = 1, .value = 12345});
  build.store().reasons.Append({.process = process,
                                .feature = build.Text("torch_ops"),
                                .text = build.Text("no C++ compiler was found")});
  build.store().source = "train.batchlight";
  return build.Build();
}

std::string Golden(const std::string& name) {
  std::ifstream file(BATCHLIGHT_SOURCE_DIR "/tests/golden/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// UPDATE_GOLDEN=1 rewrites the file.
void ExpectGolden(const std::string& name, const std::string& text) {
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(BATCHLIGHT_SOURCE_DIR "/tests/golden/" + name) << text;
  }
  EXPECT_EQ(text, Golden(name)) << name;
}

size_t WidestLine(const std::string& text) {
  std::istringstream lines(text);
  size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, CharacterCount(line));
  }
  return widest;
}

// A look every 5 ms at the thread that runs the steps.
void AddPythonSamples(Store& store, int64_t end_ns) {
  for (const auto& [function, line] : {std::pair{"train", 3u}, std::pair{"metric", 12u}}) {
    store.python_frames.Append({.file = store.strings.Intern("/u/train.py"),
                                .function = store.strings.Intern(function),
                                .first_line = line,
                                .line = line + 1});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1),
         .parent = line == 3 ? PythonStackId::None() : PythonStackId::At(0)});
  }
  for (int64_t at = 0; at < end_ns; at += 5 * kMs) {
    store.python_samples.Append({.start_ns = at,
                                 .end_ns = at + 5 * kMs,
                                 .thread = ThreadId::At(0),
                                 .python_stack = PythonStackId::At(at % (20 * kMs) == 0 ? 0 : 1),
                                 .samples = 1,
                                 .cpu_ns = 4 * kMs});
  }
}

TEST(Summary, NamesTheFunctionsThatSamplesFoundPerStep) {
  Store store = SampleStore();
  AddPythonSamples(store, 900 * kMs);
  const std::string text = SummaryAsText(BuildOverview(store), {});
  EXPECT_NE(text.find("Python functions by samples, per step  own ms  with callees ms  of step\n"
                      "  train.py:12(metric)"),
            std::string::npos)
      << text;
}

std::string SummaryOfSamples(int64_t end_ns) {
  StoreBuilder build;
  build.Thread(build.Process(4711, "work.py"));
  AddPythonSamples(build.store(), end_ns);
  const Store store = build.Build();
  return SummaryAsText(BuildOverview(store), {});
}

TEST(Summary, NamesTheFunctionsThatSamplesFoundWithoutSteps) {
  const std::string text = SummaryOfSamples(200 * kMs);
  for (const char* row :
       {"processor time, whole run", "  train.py:12(metric) ", " 120.00           120.00  75.0 %",
        "  train.py:3(train) ", " 40.00           160.00  25.0 %"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
  const std::string few_looks = SummaryOfSamples(50 * kMs);
  EXPECT_EQ(few_looks.find("by samples"), std::string::npos) << few_looks;
}

TEST(Summary, LooksAsItShould) {
  const Store store = SampleStore();
  const RunOverview overview = BuildOverview(store);
  ExpectGolden("summary_60.txt", SummaryAsText(overview, {.style = {.width = 60}}));
  ExpectGolden("summary_80.txt", SummaryAsText(overview, {.style = {.width = 80}}));
  ExpectGolden("summary_120.txt", SummaryAsText(overview, {.style = {.width = 120}}));
  ExpectGolden("summary_ascii.txt",
               SummaryAsText(overview, {.style = {.width = 80, .unicode = false}}));
  ExpectGolden("summary_color.txt",
               SummaryAsText(overview, {.style = {.width = 80, .color = true}}));
  ExpectGolden("summary.json", SummaryAsJson(overview));
}

// Six steps that copy, compute twice and wait.
Store GpuStore() {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.store().gpus.Append({.name = build.Text("NVIDIA H200")});
  for (int i = 0; i < 6; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs);
    build.Operator(thread, "aten::linear", at + kMs, at + 2 * kMs);
    build.Kernel(thread, "nvjet_hsh_128x128", at + kMs, at + 2 * kMs, at + 6 * kMs);
    build.Kernel(thread, "vectorized_elementwise_kernel", at + 3 * kMs, at + 6 * kMs, at + 7 * kMs);
    build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
               12'000'000, at + kMs / 2, at + kMs, at + 2 * kMs);
    build.ApiCall(thread, "cudaStreamSynchronize_v3020", at + 7 * kMs, at + 9 * kMs);
  }
  return build.Build();
}

TEST(Summary, ShowsTheGpu) {
  const Store store = GpuStore();
  const RunOverview overview = BuildOverview(store);
  ExpectGolden("summary_gpu.txt", SummaryAsText(overview, {.style = {.width = 100}}));
  for (int width = 51; width <= 120; ++width) {
    EXPECT_LE(WidestLine(SummaryAsText(overview, {.style = {.width = width}})), size_t(width));
  }
}

TEST(Summary, ListsTheRanks) {
  StoreBuilder build;
  for (int rank = 0; rank < 2; ++rank) {
    const ThreadId thread = build.Thread(build.Process(uint32_t(70 + rank), "train.py", rank));
    for (int i = 0; i < 5; ++i) {
      const int64_t at = i * 10 * kMs;
      build.Range(thread, "step", at, at + (8 + rank) * kMs);
      build.Range(thread, "forward", at, at + 5 * kMs);
    }
  }
  const Store store = build.Build();
  const std::string text = SummaryAsText(BuildOverview(store), {});
  EXPECT_NE(text.find("rank 0 (pid 70)"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 1 (pid 71)"), std::string::npos) << text;
  EXPECT_NE(text.find("What a step is made of, rank 0"), std::string::npos) << text;
}

TEST(Summary, KeepsToTheWidth) {
  const Store store = SampleStore();
  const RunOverview overview = BuildOverview(store);
  for (int width = 51; width <= 120; ++width) {
    EXPECT_LE(WidestLine(SummaryAsText(overview, {.style = {.width = width}})), size_t(width));
  }
}

TEST(Summary, WithoutUnicodeIsPlainAscii) {
  const Store store = SampleStore();
  const RunOverview overview = BuildOverview(store);
  for (const char c : SummaryAsText(overview, {.style = {.unicode = false}})) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F)) << int(c);
  }
}

TEST(Summary, ShowsLossesFirst) {
  const Store store = SampleStore();
  const std::string text = SummaryAsText(BuildOverview(store), {});
  EXPECT_LT(text.find("12,345 events dropped"), text.find("Steps"));
  EXPECT_LT(text.find("raise --buffer-budget"), text.find("Steps"));
}

TEST(Summary, OfAnEmptyRecordingSaysSo) {
  const Store store;
  const std::string text = SummaryAsText(BuildOverview(store), {});
  EXPECT_NE(text.find("no steps: the recording holds no ranges"), std::string::npos) << text;
}

TEST(Summary, WithoutStepsShowsTheRanges) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "tool"));
  build.Range(thread, "load", 0, 5 * kMs);
  build.Range(thread, "evil \x1b[31m\xff name", 5 * kMs, 6 * kMs);
  const Store store = build.Build();
  const std::string text = SummaryAsText(BuildOverview(store), {});
  EXPECT_NE(text.find("NVTX ranges"), std::string::npos);
  EXPECT_NE(text.find("load"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "names never reach the terminal raw";
  EXPECT_LE(WidestLine(SummaryAsText(BuildOverview(store), {.style = {.width = 60}})), 60u);
}

TEST(Summary, OnAFileHasNoColour) {
  FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(TerminalStyle::Of(file).color);
  EXPECT_EQ(TerminalStyle::Of(file).width, 80);
  std::fclose(file);
}

}  // namespace
}  // namespace batchlight

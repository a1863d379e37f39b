#include "probe/gpu_result.h"

#include <gtest/gtest.h>

#include <string>

namespace batchlight::probe {
namespace {

// Two hosts of the same kind; of the second one GPU is slow.
std::string Host(const std::string& name, double bf16, double link) {
  return R"({"kind": "batchlight-gpu-probe", "version": 1, "host": ")" + name +
         R"(", "torch": "2.11.0", "cuda": "13.0", "driver": "580.1", "gpus": [
    {"index": 0, "name": "NVIDIA H200", "measurements":
        {"gemm_bf16_tflops": 742.05, "memory_gbps": 4100, "launch_us": 4.0, "unknown": 1}},
    {"index": 1, "name": "NVIDIA H200", "measurements":
        {"gemm_bf16_tflops": )" +
         std::to_string(bf16) + R"(, "memory_gbps": 4090, "launch_us": 4.2, "gemm_fp8_tflops": 0}}],
  "links": [{"from": 0, "to": 1, "gbps": )" +
         std::to_string(link) +
         R"(, "peer": true}, {"from": 1, "to": 0, "gbps": 370, "peer": true}],
  "all_reduce": [{"gpus": 2, "bytes": 67108864, "gbps": 320.5}],
  "notes": ["GPU 1: fp8 not measured: no kernel"]})";
}

GpuResult Parsed(const std::string& json) {
  const auto result = ParseGpuResult("x.json", json);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result.value() : GpuResult();
}

TEST(GpuResult, FiguresStandBesideTheDataSheet) {
  const GpuResult result = Parsed(Host("a", 740, 371));
  EXPECT_EQ(result.gpus.size(), 2U);
  EXPECT_EQ(result.figures.size(), 3U + 3 + 2 + 1);
  EXPECT_EQ(result.versions, "PyTorch 2.11.0, CUDA 13.0, driver 580.1");
  const std::string text = GpuText({result}, nullptr);
  EXPECT_NE(text.find("742 TFLOPS"), std::string::npos) << text;
  EXPECT_NE(text.find("75.0 % of 989 TFLOPS"), std::string::npos) << text;
  EXPECT_NE(text.find("85.4 % of 4,800 GB/s"), std::string::npos) << text;
  EXPECT_NE(text.find("NCCL all-reduce of 64 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("No GPU and no link is slower than its like."), std::string::npos) << text;
  EXPECT_NE(text.find("Note: GPU 1: fp8 not measured"), std::string::npos) << text;
  EXPECT_EQ(GpuTable({result}).rows.size(), result.figures.size());
}

TEST(GpuResult, ASlowGpuIsNamedByItsHost) {
  const std::vector<SlowFigure> slow =
      FindSlow({Parsed(Host("a", 740, 371)), Parsed(Host("b", 540, 371))});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].figure.host, "b");
  EXPECT_EQ(slow[0].figure.subject, "GPU 1");
  EXPECT_NEAR(slow[0].share, 540.0 / 741, 0.002);
}

TEST(GpuResult, ASlowLinkIsNamed) {
  const std::vector<SlowFigure> slow = FindSlow({Parsed(Host("a", 740, 25))});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].figure.subject, "GPU 0 to 1");
  EXPECT_EQ(slow[0].typical, 370);
}

TEST(GpuResult, SlowerThanBefore) {
  const GpuResult before = Parsed(Host("a", 740, 371));
  const GpuResult now = Parsed(Host("a", 660, 300));
  const std::vector<SlowFigure> slower = FindSlower(now, before);
  ASSERT_EQ(slower.size(), 2U);
  EXPECT_EQ(slower[0].figure.subject, "GPU 0 to 1") << "slowest first";
  EXPECT_NE(GpuText({now}, &before).find("Slower than in the stored result"), std::string::npos);
  EXPECT_TRUE(FindSlower(before, before).empty());
  EXPECT_NE(GpuText({before}, &before).find("Nothing is slower than in the stored result"),
            std::string::npos);
}

TEST(GpuResult, OtherFilesAreRefused) {
  for (const char* wrong : {"", "[]", "{}", "{\"kind\": 3}", "{\"kind\": \"batchlight-gpu-prob"}) {
    const auto result = ParseGpuResult("x.json", wrong);
    ASSERT_FALSE(result.ok()) << wrong;
    EXPECT_EQ(result.status().message(), "x.json is no result of `batchlight probe gpu -f json`");
  }
}

TEST(GpuResult, ANumberThatNothingHasIsNoIndex) {
  const std::string json = R"({"kind": "batchlight-gpu-probe", "version": 1, "host": "a", "gpus": [
    {"index": 15555555555555555555, "name": "B", "measurements": {"memory_gbps": 1}},
    {"index": -1e300, "name": "B", "measurements": {"memory_gbps": 1}}]})";
  const std::string text = GpuText({Parsed(json)}, nullptr);
  EXPECT_NE(text.find("GPU ?"), std::string::npos) << text;
}

// Each figure was compared with all others of its kind: a file of 6 MB, with 200,000, took half an
// hour.
TEST(GpuResult, AFileOfManyFiguresIsReadSoon) {
  std::string links;
  for (int i = 0; i < 60'000; ++i) {
    links += std::string(i > 0 ? "," : "") +
             "{\"from\": 0, \"to\": 1, \"gbps\": " + (i % 4 == 0 ? "50" : "100") + "}";
  }
  const GpuResult result = Parsed(R"({"kind": "batchlight-gpu-probe", "links": [)" + links +
                                  R"(], "all_reduce": [{"bytes": 1e300, "gbps": 1}]})");
  EXPECT_EQ(FindSlow({result}).size(), 15'000U);
  EXPECT_EQ(FindSlower(result, result).size(), 0U);
  EXPECT_NE(result.figures.back().measure.find("of ? MiB"), std::string::npos);
}

TEST(GpuResult, WhatIsOfAnotherTypeIsLeftOut) {
  const GpuResult result = Parsed(
      R"({"kind": "batchlight-gpu-probe", "host": 7, "gpus": [3, {"name": [], "measurements": []},
      {"measurements": {"launch_us": "x"}}], "links": {}, "all_reduce": [null, {"gbps": -1}],
      "notes": [1, null]})");
  EXPECT_TRUE(result.figures.empty());
  EXPECT_TRUE(result.notes.empty());
  EXPECT_NE(GpuText({result}, nullptr), "");
}

}  // namespace
}  // namespace batchlight::probe

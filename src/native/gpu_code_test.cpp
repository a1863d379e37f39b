#include "native/gpu_code.h"

#include <gtest/gtest.h>

#include <random>

#include "base/file.h"

namespace batchlight::native {
namespace {

std::vector<uint8_t> Scale() {
  const auto text = ReadWholeFile(BATCHLIGHT_SOURCE_DIR "/tests/cuda/scale.cubin");
  EXPECT_TRUE(text.ok());
  return text.ok() ? std::vector<uint8_t>(text->begin(), text->end()) : std::vector<uint8_t>();
}

constexpr std::string_view kScale = "_Z5scalePfPKfi";

TEST(GpuCode, LinesOfWhatTheCompilerMade) {
  const GpuCode code(Scale());
  EXPECT_TRUE(code.has_lines());
  EXPECT_EQ(code.LineOf(kScale, 0).file, "/tmp/scale/scale.cu");
  EXPECT_EQ(code.LineOf(kScale, 0).line, 2u);
  EXPECT_EQ(code.LineOf(kScale, 0x10).line, 3u);
  EXPECT_EQ(code.LineOf(kScale, 0x50).line, 4u);
  EXPECT_EQ(code.LineOf(kScale, 0x80).line, 5u);
  EXPECT_EQ(code.LineOf(kScale, 0x8f).line, 5u) << "within an instruction";
  EXPECT_EQ(code.LineOf(kScale, 0x200).line, 0u) << "after the function";
  EXPECT_EQ(code.LineOf("_Z5sinesPf", 0x20).line, 9u);
  EXPECT_EQ(code.LineOf("_Z5other", 0).line, 0u);
}

TEST(GpuCode, DamagedFilesHaveFewerLines) {
  const std::vector<uint8_t> whole = Scale();
  for (size_t bytes = 0; bytes < whole.size(); bytes += 61) {
    const std::span<const uint8_t> part(whole.data(), bytes);
    const GpuCode code(part);
    (void)code.LineOf(kScale, 0x80);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    const GpuCode code(bytes);
    (void)code.LineOf(kScale, random() % 1024);
  }
}

TEST(GpuCode, OtherFilesHaveNone) {
  const auto text = ReadWholeFile("/proc/self/exe");
  ASSERT_TRUE(text.ok());
  EXPECT_FALSE(GpuCode(std::vector<uint8_t>(text->begin(), text->end())).has_lines());
}

}  // namespace
}  // namespace batchlight::native

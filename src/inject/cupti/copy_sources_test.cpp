#include "inject/cupti/copy_sources.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace batchlight::inject::cupti {
namespace {

constexpr size_t kNumbers = 1 << 18;

std::vector<float> Numbers() {
  std::vector<float> numbers(kNumbers);
  std::iota(numbers.begin(), numbers.end(), 0.5F);
  return numbers;
}

uint64_t SampleOf(const std::vector<float>& numbers) {
  return SampleOfMemory(numbers.data(), numbers.size() * sizeof(float));
}

std::string TextOf(const CopySources& sources) {
  char text[256];
  sources.Tell(text, sizeof text);
  return text;
}

TEST(CopySources, TheSameNumbersComeAgain) {
  CopySources sources;
  std::vector<float> numbers = Numbers();
  EXPECT_EQ(sources.Take(numbers.data(), 1 << 20, SampleOf(numbers)), 0U);
  EXPECT_EQ(sources.Take(numbers.data(), 1 << 20, SampleOf(numbers)), 1U);
  EXPECT_EQ(sources.Take(numbers.data(), 1 << 20, SampleOf(numbers)), 2U);
  EXPECT_EQ(TextOf(sources), "2 3 1048576");
}

TEST(CopySources, ABatchAtTheSameAddressIsAnother) {
  CopySources sources;
  std::vector<float> numbers = Numbers();
  for (int step = 0; step < 5; ++step) {
    for (float& number : numbers) number += 1;
    EXPECT_EQ(sources.Take(numbers.data(), 1 << 20, SampleOf(numbers)), 0U) << step;
  }
  EXPECT_EQ(TextOf(sources), "");
}

TEST(CopySources, OthersOfThatSizeAreCounted) {
  CopySources sources;
  for (uintptr_t step = 1; step <= 3; ++step) {
    sources.Take(reinterpret_cast<void*>(4096), 1 << 20, 7);
    sources.Take(reinterpret_cast<void*>(8192), 1 << 20, step);
  }
  EXPECT_EQ(TextOf(sources), "2 6 1048576");
}

TEST(CopySources, WhatCameAgainStaysKnown) {
  CopySources sources;
  for (int round = 0; round < 3; ++round) {
    sources.Take(reinterpret_cast<void*>(4096), 1 << 20, 7);
    sources.Take(reinterpret_cast<void*>(4096), 1 << 20, 7);
    for (uintptr_t other = 1; other <= 2 * CopySources::kMost; ++other) {
      sources.Take(reinterpret_cast<void*>(other << 20), 1 << 21, other);
    }
  }
  EXPECT_EQ(TextOf(sources), "5 6 1048576");
}

// Batches that are never at an address again: forgotten one by one, but counted.
TEST(CopySources, ForgottenOnesOfThatSizeStayCounted) {
  CopySources sources;
  for (uintptr_t step = 1; step <= 4 * CopySources::kMost; ++step) {
    sources.Take(reinterpret_cast<void*>(4096), 1 << 20, 7);
    sources.Take(reinterpret_cast<void*>(step << 20), 1 << 20, step);
  }
  EXPECT_EQ(TextOf(sources), "255 512 1048576");
}

TEST(CopySources, MemoryThatIsNoneIsNotRead) {
  EXPECT_EQ(SampleOfMemory(reinterpret_cast<void*>(4096), 1 << 20), 0U);
  EXPECT_EQ(SampleOf(std::vector<float>(kNumbers, 1.0F)), 0U) << "a mask of ones";
  EXPECT_NE(SampleOf(Numbers()), 0U);
}

}  // namespace
}  // namespace batchlight::inject::cupti

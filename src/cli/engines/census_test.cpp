#include "cli/engines/census.h"

#include <gtest/gtest.h>

namespace batchlight::cli {
namespace {

SeenInput File(const std::string& path, uint64_t bytes = 1) {
  return {.path = path, .bytes = bytes, .changed_ns = 5};
}

std::string Text(const Views& views) {
  std::string text;
  for (const EngineInput& input : InputsOf(views)) {
    text += input.seen.path + ' ' + std::to_string(input.seen.bytes);
    for (const std::string& place : input.places) text += ' ' + place;
    text += '\n';
  }
  return text;
}

TEST(Census, OfASharedFileSystem) {
  const Views views = {
      {"", {File("b"), File("a")}}, {"n1", {File("a"), File("b")}}, {"n2", {File("b"), File("a")}}};
  EXPECT_FALSE(ViewsDiffer(views));
  EXPECT_EQ(Text(views), "b 1 n1 n2\na 1 n1 n2\n");  // in the order of this machine
}

TEST(Census, OfDisksOfTheNodes) {
  const Views views = {{"n1", {File("r0")}}, {"n2", {File("r1")}}};
  EXPECT_FALSE(ViewsDiffer(views));
  EXPECT_EQ(Text(views), "r0 1 n1\nr1 1 n2\n");
}

TEST(Census, TwoFilesOfOneName) {
  const Views views = {{"n1", {File("r", 1)}}, {"n2", {File("r", 2)}}};
  EXPECT_TRUE(ViewsDiffer(views));  // or a file system that lags
  EXPECT_EQ(Text(views), "r 1 n1\nr 2 n2\n");
}

TEST(Census, WhatThisMachineAloneSees) {
  const Views views = {{"", {File("a"), File("new")}}, {"n1", {File("a")}}};
  EXPECT_TRUE(ViewsDiffer(views));
  EXPECT_EQ(Text(views), "a 1 n1\nnew 1\n");
}

TEST(Census, ANodeThatIsBehindIsNotAsked) {
  const Views views = {{"", {File("a")}}, {"n1", {File("a")}}, {"n2", {}}};
  EXPECT_FALSE(ViewsDiffer(views));
  EXPECT_EQ(Text(views), "a 1 n1\n");
}

}  // namespace
}  // namespace batchlight::cli

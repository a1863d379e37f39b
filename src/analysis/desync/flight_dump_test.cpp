#include "analysis/desync/flight_dump.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/desync/pickle.h"

namespace batchlight {
namespace {

std::string Text(std::string_view text) {
  std::string bytes = "X";
  for (size_t i = 0; i < 4; ++i) bytes += static_cast<char>(text.size() >> 8 * i & 0xff);
  return bytes + std::string(text);
}

std::string Int(uint8_t value) { return std::string("K") + static_cast<char>(value); }

// As PyTorch's writer does: protocol 2, texts and frames once, then by their number.
std::string SamplePickle() {
  const std::string list = "ctorch.jit._pickle\nbuild_intlist\nq\x01(](" + Int(8) + Int(4) + "etR";
  const std::string frame = "}(" + Text("name") + Text("main") + Text("filename") +
                            Text("/home/me/train.py") + Text("line") + Int(23) + "u";
  const std::string inner = "}(" + Text("name") + Text("all_reduce") + Text("filename") +
                            Text("/usr/lib/torch/distributed/c10d.py") + Text("line") + Int(9) +
                            "u";
  const std::string entry =
      "}(" + Text("frames") + "](" + inner + frame + "e" + Text("process_group") + "(" + Text("0") +
      "q\x05" + Text("default_pg") + "t" + Text("collective_seq_id") + Int(7) +
      Text("profiling_name") + Text("nccl:all_reduce") + Text("input_sizes") + "](" + list + "e" +
      Text("input_dtypes") + "](" + Text("Float") + "e" + Text("state") + Text("started") +
      Text("time_created_ns") + std::string("\x8a\x08\0\0\0\0\0\x01\0\0", 10) + Text("is_p2p") +
      "\x89" + Text("timeout_ms") + std::string("G\x40\x24\0\0\0\0\0\0", 9) + Text("retired") +
      "Nu";
  return "\x80\x02}(" + Text("pg_config") + "}(h\x63" + "u" + Text("entries") + "](" + entry +
         "eu.";
}

// The same without the group's configuration, whose memo is not there.
std::string Pickle() {
  std::string bytes = SamplePickle();
  const std::string config = Text("pg_config") + "}(h\x63u";
  const std::string whole = Text("pg_config") + "}(" + Text("0") + "}(" + Text("name") + Text("0") +
                            Text("desc") + Text("default_pg") + Text("ranks") + Text("[0, 1, 5]") +
                            "uu";
  return bytes.replace(bytes.find(config), config.size(), whole);
}

void IsTheSample(const FlightDump& dump) {
  ASSERT_EQ(dump.groups.size(), 1u);
  EXPECT_EQ(dump.groups[0].description, "default_pg");
  EXPECT_EQ(dump.groups[0].ranks, (std::vector<int32_t>{0, 1, 5}));
  ASSERT_EQ(dump.calls.size(), 1u);
  EXPECT_EQ(dump.calls[0].operation, "all_reduce");
  EXPECT_EQ(dump.calls[0].number, 7u);
  EXPECT_EQ(dump.calls[0].elements, 32u);
  EXPECT_EQ(dump.calls[0].type, "Float");
  EXPECT_EQ(dump.calls[0].state, FlightState::kStarted);
  EXPECT_FALSE(dump.calls[0].between_two);
}

TEST(FlightDump, OfPyTorchsPickle) {
  ASSERT_TRUE(IsFlightDump(Pickle()));
  const auto dump = ReadFlightDump(Pickle());
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  IsTheSample(dump.value());
  EXPECT_EQ(dump.value().calls[0].place, "train.py:23 (main)");
  EXPECT_EQ(dump.value().calls[0].created_ns, int64_t{1} << 40);
}

TEST(FlightDump, OfJson) {
  const std::string text = R"({ "entries": [{"process_group": ["0", "default_pg"],
    "collective_seq_id": 7, "profiling_name": "nccl:all_reduce", "input_sizes": [[8, 4]],
    "input_dtypes": ["Float"], "state": "started", "time_created_ns": 12, "is_p2p": false}],
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 5]"}}})";
  ASSERT_TRUE(IsFlightDump(text));
  const auto dump = ReadFlightDump(text);
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  IsTheSample(dump.value());
  EXPECT_FALSE(IsFlightDump(R"({"traceEvents": []})"));
  EXPECT_FALSE(IsFlightDump("[1]"));
  EXPECT_FALSE(IsFlightDump(""));
  EXPECT_FALSE(ReadFlightDump(R"({"entries": 3})").ok());
  EXPECT_FALSE(ReadFlightDump(R"({"entries": [)").ok());
  EXPECT_FALSE(
      ReadFlightDump("{\"entries\": " + std::string(5000, '[') + std::string(5000, ']') + "}")
          .ok());
}

TEST(FlightDump, TheRankIsInTheName) {
  EXPECT_EQ(RankInName("/tmp/nccl_trace_rank_13"), 13);
  EXPECT_EQ(RankInName("rank3.json"), 3);
  EXPECT_EQ(RankInName("trace.7"), 7);
  EXPECT_EQ(RankInName("/run5/trace"), -1);
  EXPECT_EQ(RankInName("99999999999999999999"), -1);
}

std::string WhyNot(std::string_view bytes) {
  const auto tree = ReadPickle(bytes, 1000);
  return tree.ok() ? "it was read" : tree.status().message();
}

TEST(Pickle, RunsNothing) {
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string system =
      "\x80\x02"
      "cos\nsystem\n" +
      Text("rm -rf /") + "\x85R.";
  EXPECT_TRUE(has(WhyNot(system), "it would import os.system")) << WhyNot(system);
  const std::string called = "\x80\x02]" + Text("x") + "\x85R.";
  EXPECT_TRUE(has(WhyNot(called), "it would call something")) << WhyNot(called);
  for (const char* opcode : {"\x81", "b", "i", "o", "P", "Q", "\x93", "\x82"}) {
    EXPECT_TRUE(has(WhyNot("\x80\x02]]" + std::string(opcode) + "."), "not only data")) << opcode;
  }
  EXPECT_TRUE(has(WhyNot(SamplePickle()), "a value is named that never was"));
}

TEST(Pickle, WhatIsDamagedIsAnError) {
  const std::string bytes = Pickle();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadPickle(bytes.substr(0, size), 1000).ok()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {  // whatever comes, it is no crash
    for (const char other : {'\0', '(', 't', 'e', 'u', 'R', 'h', '.', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = other;
      (void)ReadFlightDump(damaged);
    }
  }
  EXPECT_FALSE(ReadPickle("\x80\x02"
                          "e.",
                          1000)
                   .ok());
  EXPECT_FALSE(ReadPickle("\x80\x02(a.", 1000).ok());
  EXPECT_FALSE(ReadPickle("\x80\x02](}]u.", 1000).ok());
}

TEST(Pickle, ListsThatHoldThemselvesAreRead) {
  // A list that is its own item, and one that names another thousands of times.
  const auto own = ReadPickle(
      "\x80\x02]q\x01h\x01"
      "a.",
      1000);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own.value().root().At(0).At(0).At(0).size(), 1u);
  std::string bytes = "\x80\x02]q\x01";
  for (int depth = 0; depth < 60; ++depth) bytes += "(h\x01h\x01lq\x01";
  bytes = "\x80\x02(" + bytes.substr(2) + "l.";
  EXPECT_TRUE(ReadPickle(bytes, 1000).ok());
  bytes = "\x80\x02(" + std::string(101, ']') + "l.";
  EXPECT_FALSE(ReadPickle(bytes, 100).ok());
  EXPECT_TRUE(ReadPickle(bytes, 200).ok());
}

// --- small files that ask for much
// ----------------------------------------------------------------

std::string Times(std::string_view text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

// A call that is named `count` times, in the bytes of a reference each.
std::string DumpOfOneCall(std::string_view fields, size_t count) {
  const std::string entry =
      "}(" + Text("process_group") + Text("0") + "\x85" + std::string(fields) + "uq\x63";
  return "\x80\x02}(" + Text("rank") + Int(0) + Text("entries") + "](" + entry +
         Times("h\x63", count) + "eu.";
}

std::string WhyNoDump(std::string_view bytes, size_t most_values = kMostFlightValues) {
  const auto dump = ReadFlightDump(bytes, most_values);
  return dump.ok() ? "it was read" : dump.status().message();
}

// As the attacker of a job's folder would write it: 300 GB by a file of 1.6 MB.
TEST(FlightDumpBomb, ATextThatAllCallsShareIsCut) {
  const std::string name = Text("profiling_name") + Text(std::string(1'000'000, 'x'));
  EXPECT_EQ(WhyNoDump(DumpOfOneCall(name, 190'000)), "its values name each other too often");
  const auto dump = ReadFlightDump(DumpOfOneCall(name, 2));
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  EXPECT_EQ(dump.value().calls[2].operation, std::string(1024, 'x'));
  const std::string kilobyte = Text("profiling_name") + Text(std::string(1024, 'x'));
  EXPECT_EQ(WhyNoDump(DumpOfOneCall(kilobyte, 190'000)), "it has over 33554432 bytes of names");
}

TEST(FlightDumpBomb, CallsAreCounted) {
  EXPECT_EQ(WhyNoDump(DumpOfOneCall("", 199'999)), "it was read");
  EXPECT_EQ(WhyNoDump(DumpOfOneCall("", 200'000)), "it has over 200000 calls");
}

TEST(FlightDumpBomb, GroupsThatShareADescriptionAreCounted) {
  std::string bytes = "\x80\x02}(" + Text("rank") + Int(0) + Text("entries") + "]" +
                      Text("pg_config") + "}(" + Text("first") + "}(" + Text("desc") +
                      Text(std::string(20'000'000, 'y')) + "uq\x01";
  for (int i = 0; i < 5000; ++i) bytes += Text(std::to_string(i)) + "h\x01";
  EXPECT_EQ(WhyNoDump(bytes + "uu."), "its values name each other too often");
}

TEST(FlightDumpBomb, RanksOfGroupsAreCounted) {
  const std::string ranks = Text("ranks") + Text("[" + Times("7, ", 1000) + "7]");
  std::string bytes = "\x80\x02}(" + Text("rank") + Int(0) + Text("entries") + "]" +
                      Text("pg_config") + "}(" + Text("first") + "}(" + ranks + "uq\x01";
  for (int i = 0; i < 1000; ++i) bytes += Text(std::to_string(i)) + "h\x01";
  EXPECT_EQ(WhyNoDump(bytes + "uu."), "it has over 1000000 ranks of groups");
}

// Sizes of sizes of calls: 8e12 of them in 120 KB.
TEST(FlightDumpBomb, ListsOfReferencesEnd) {
  const size_t count = 20'000;
  const std::string inner = "](K\x01q\x01" + Times("h\x01", count) + "eq\x02";
  const std::string sizes = Text("input_sizes") + "](" + inner + Times("h\x02", count) + "e";
  EXPECT_EQ(WhyNoDump(DumpOfOneCall(sizes, count)), "its values name each other too often");
}

TEST(FlightDumpBomb, DictionariesOfReferencesEnd) {
  const std::string frame = "}(" + Times("h\x02h\x01", 20'000) + "uq\x03";
  const std::string frames =
      Text("x") + "K\x01q\x01q\x02" + Text("frames") + "](" + frame + Times("h\x03", 20'000) + "e";
  EXPECT_EQ(WhyNoDump(DumpOfOneCall(frames, 20'000)), "its values name each other too often");
}

TEST(FlightDumpBomb, EachReferenceIsAValue) {
  const std::string bytes = "\x80\x02](K\x01q\x01" + Times("h\x01", 150) + "e.";
  EXPECT_TRUE(ReadPickle(bytes, 200).ok());
  const auto tree = ReadPickle(bytes, 100);
  ASSERT_FALSE(tree.ok());
  EXPECT_NE(tree.status().message().find("it has over 100 values"), std::string::npos);
  const auto far = ReadPickle("\x80\x02]r\xff\xff\xff\x7f.", 100);
  ASSERT_FALSE(far.ok());
  EXPECT_NE(far.status().message().find("it has over 100 values"), std::string::npos);
  const auto deep = ReadPickle("\x80\x02" + std::string(2000, '('), 100'000);
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.status().message().find("too deep"), std::string::npos);
}

TEST(FlightDumpBomb, JsonIsCountedWhileItIsRead) {
  const std::string many = R"({"entries": [)" + Times("[],", 200) + "[]]}";
  EXPECT_EQ(WhyNoDump(many, 1000), "it was read");
  EXPECT_EQ(WhyNoDump(many, 100), "it has over 100 values");
  EXPECT_EQ(WhyNoDump(R"({"entries": [)" + Times("[", 40) + Times("]", 40) + "]}"),
            "its lists lie too deep in each other");
  EXPECT_EQ(WhyNoDump(R"({"entries": [)"), "it is damaged JSON at byte 14");
}

}  // namespace
}  // namespace batchlight

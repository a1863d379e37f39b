// Goldens: tests/kineto/<name>.json and the tables it gives, <name>.store (UPDATE_GOLDEN=1).
#include "ingest/kineto/kineto_json.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "ingest/kineto/kineto_event.h"
#include "tests/support/store_text.h"

namespace batchlight {
namespace {

const std::string kFolder = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/kineto/";

std::string TempPath(const std::string& name) {
  const bool in_memory = access("/dev/shm", W_OK) == 0;
  return (in_memory ? "/dev/shm/" : "/tmp/") + name + std::to_string(getpid());
}

Result<Store> Import(std::string_view text) {
  const std::string path = TempPath("bl_kineto");
  std::ofstream(path, std::ios::binary).write(text.data(), text.size());
  Result<Store> store = ImportKinetoJson(path);
  std::filesystem::remove(path);
  return store;
}

std::string Sample() { return ReadWholeFile(kFolder + "training.json").value(); }

std::string Notices(const Store& store) {
  std::string text;
  for (const StringId id : store.reasons.text) text += std::string(store.Text(id)) + "\n";
  return text;
}

TEST(KinetoJson, Goldens) {
  for (const char* name : {"training", "autograd_array"}) {
    SCOPED_TRACE(name);
    const Result<Store> store = ImportKinetoJson(kFolder + name + ".json");
    ASSERT_TRUE(store.ok()) << store.status().message();
    const std::string found = testing_support::StoreText(store.value());
    const std::string path = kFolder + name + ".store";
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(WriteWholeFile(path, found).ok());
    }
    EXPECT_EQ(found, ReadWholeFile(path).value());
  }
}

TEST(KinetoJson, GzipGivesTheSame) {
  const std::string path = TempPath("bl_kineto_gz");
  const std::string text = Sample();
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  const Result<Store> packed = ImportKinetoJson(path);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  const Result<Store> plain = Import(text);
  EXPECT_EQ(testing_support::StoreText(packed.value()), testing_support::StoreText(plain.value()));

  const std::string whole = ReadWholeFile(path).value();
  std::ofstream(path, std::ios::binary).write(whole.data(), whole.size() / 2);
  const Result<Store> cut = ImportKinetoJson(path);
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  EXPECT_GT(cut->operator_calls.size(), 0u);
  EXPECT_NE(Notices(cut.value()).find("gzip data is damaged"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(KinetoJson, CutAnywhereGivesWhatIsWholeOrAnError) {
  const std::string text = Sample();
  size_t most = 0;
  for (size_t size = 0; size < text.size() - 3; ++size) {
    const Result<Store> store = Import(std::string_view(text).substr(0, size));
    if (!store.ok()) {
      ASSERT_EQ(store.status().exit_code(), 3);
      ASSERT_EQ(most, 0u) << size;
      continue;
    }
    ASSERT_NE(Notices(store.value()).find("ends in the middle"), std::string::npos) << size;
    const size_t rows = store->operator_calls.size() + store->kernels.size();
    ASSERT_GE(rows, most);
    most = rows;
  }
  EXPECT_EQ(most, 5u);
}

TEST(KinetoJson, BrokenQuotesCostOneEvent) {
  std::string text = Sample();
  const std::string_view good = "\"name\": \"aten::addmm\"";
  text.replace(text.find(good), good.size(), "\"name\": \"aten::addmm \"x\" y\"");
  const Result<Store> store = Import(text);
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_EQ(store->operator_calls.size(), 2u);
  EXPECT_EQ(store->kernels.size(), 2u);
  EXPECT_NE(Notices(store.value()).find("1 event(s) are not valid JSON"), std::string::npos);
}

TEST(KinetoJson, BadUtf8IsKept) {
  std::string text = Sample();
  text.replace(text.find("aten::linear"), 12, "aten::\xff\xc3near");
  const Result<Store> store = Import(text);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->Text(store->operator_calls.name[0]), "aten::\xff\xc3near");
}

TEST(KinetoJson, OtherJsonIsAnInputError) {
  for (const char* text : {"{}", "[]", "{\"a\": 1}", "[1, 2]", "\"text\"", "{\"traceEvents\": 5}",
                           "{\"traceEvents\": [", "{", ""}) {
    const Result<Store> store = Import(text);
    ASSERT_FALSE(store.ok()) << text;
    EXPECT_EQ(store.status().exit_code(), 3) << text;
  }
}

TEST(KinetoJson, OddNumbersAreNoTrouble) {
  const Result<Store> store = Import(
      R"({"traceEvents": [)"
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1.5e3, "dur": 9e300},)"
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 9223372036854775807},)"
      R"({"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": -8e15, "dur": -5},)"
      R"({"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": -7, "ts": 2, "dur": 1,)"
      R"( "args": {"grid": [1, 99999999999999999999], "stream": "x", "bytes": -1}}]})");
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->operator_calls.size(), 0u);
  EXPECT_EQ(store->kernels.size(), 1u);
  EXPECT_NE(Notices(store.value()).find("3 event(s) have a ts or dur that is not a number"),
            std::string::npos);
}

constexpr std::string_view kGoodEvent =
    R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2})";

// A trace of `good` good events, this one, and one more good one.
std::string TraceAround(std::string_view event, int good = 2) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < good; ++i) text += std::string(kGoodEvent) + ",\n";
  return text + std::string(event) + ",\n" + std::string(kGoodEvent) +
         R"(], "baseTimeNanoseconds": 1759276800000000000})";
}

TEST(KinetoJson, WrongValuesCostTheirEventAndAreSaid) {
  const auto event = [](std::string_view members) {
    return R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0,)"
           R"( "tid": 7, )" +
           std::string(members) + "}";
  };
  const struct {
    std::string event;
    const char* notice;
  } kCases[] = {
      {event(R"("ts": "abc", "dur": 1)"), "1 event(s) have a ts or dur that is not a number"},
      {event(R"("ts": 1e300, "dur": 1)"), "1 event(s) have a ts or dur that is not a number"},
      {event(R"("ts": null, "dur": 1)"), "1 event(s) have a ts or dur that is not a number"},
      {event(R"("ts": 1, "dur": -5)"),
       "1 event(s) have a ts or dur that is not a number, negative"},
      {event(R"("ts": 1, "dur": 9e15)"), "negative or out of range and are left out"},
      {event(R"("dur": 1)"), "1 event(s) have no ts and are left out"},
      {event(R"("ts": 1, "dur": 1, "args": {"bytes": -1})"), "1 event(s) have a number of bytes"},
      {event(R"("ts": 1, "dur": 1, "args": {"bytes": 9223372036854775807})"),
       "1 event(s) have a number of bytes that cannot be and are left out"},
  };
  for (const auto& wrong : kCases) {
    SCOPED_TRACE(wrong.event);
    const std::string text = TraceAround(wrong.event);
    const Result<Store> store = Import(text);
    ASSERT_TRUE(store.ok()) << store.status().message();
    EXPECT_EQ(store->operator_calls.size(), 3u);
    EXPECT_EQ(store->memcpys.size(), 0u);
    EXPECT_NE(Notices(store.value()).find(wrong.notice), std::string::npos)
        << Notices(store.value());
    const std::string place = "(first: at byte " + std::to_string(text.find(wrong.event)) + ")";
    EXPECT_NE(Notices(store.value()).find(place), std::string::npos) << Notices(store.value());
  }
  const Result<Store> store = Import(TraceAround(event(R"("ts": 1)")));
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->memcpys.size(), 1u);
  EXPECT_NE(Notices(store.value()).find("1 event(s) have no dur: it is taken as 0"),
            std::string::npos);
}

TEST(KinetoJson, SumsStayWithin64Bits) {
  std::string text = "[";
  for (int i = 0; i < 3000; ++i) {
    text += i > 0 ? "," : "";
    text +=
        R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 1,)"
        R"( "dur": 9000000000000, "args": {"bytes": 9000000000000000}})";
  }
  const Result<Store> store = Import(text + "]");
  ASSERT_TRUE(store.ok()) << store.status().message();
  int64_t total_ns = 0;
  int64_t total_bytes = 0;
  for (size_t row = 0; row < store->memcpys.size(); ++row) {
    const int64_t duration_ns = store->memcpys.end_ns[row] - store->memcpys.start_ns[row];
    ASSERT_FALSE(__builtin_add_overflow(total_ns, duration_ns, &total_ns));
    const auto bytes = static_cast<int64_t>(store->memcpys.bytes[row]);
    ASSERT_FALSE(__builtin_add_overflow(total_bytes, bytes, &total_bytes));
  }
  EXPECT_GT(store->memcpys.size(), 100u);
  EXPECT_NE(Notices(store.value()).find("are left out"), std::string::npos);
}

TEST(KinetoJson, WhatCannotBeReadIsToldFromACut) {
  constexpr std::string_view kQuotes =
      R"({"ph": "X", "cat": "cpu_op", "name": "a "b" c", "pid": 1, "tid": 1, "ts": 1, "dur": 2})";
  // Swallows the text up to the next quote, again and again.
  constexpr std::string_view kNested =
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2,)"
      R"( "args": {"Input type": ["float", "x" y"]}})";
  for (const std::string_view event : {kQuotes, kNested}) {
    const std::string text = TraceAround(event);
    const Result<Store> store = Import(text);
    ASSERT_TRUE(store.ok());
    EXPECT_EQ(store->operator_calls.size(), 3u);
    const std::string notices = Notices(store.value());
    EXPECT_EQ(notices, "1 event(s) are not valid JSON and are left out (first: at byte " +
                           std::to_string(text.find(event)) + ")\n");
  }
  // What follows the events is read even if the last event is broken.
  std::string text = TraceAround(kGoodEvent);
  text.replace(text.rfind("\"a\""), 3, "\"a \"b\" c\"");
  const Result<Store> store = Import(text);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->operator_calls.size(), 3u);
  EXPECT_EQ(Notices(store.value()).find("ends in the middle"), std::string::npos);
  EXPECT_NE(Notices(store.value()).find("1 event(s) are not valid JSON"), std::string::npos);
  EXPECT_GT(store->session_start_utc_ns, 0);
}

TEST(KinetoJson, LongMembersBesideTheEventsArePassedOver) {
  const std::string event(kGoodEvent);
  const std::string stacks = "{\"a]\": [\"}\\\"\", " + std::string(40 << 20, '1') + "], \"b\": {}}";
  const std::string text = '"' + std::string(17 << 20, 'x') + "\\\"]\"";
  for (const std::string& value : {stacks, text}) {
    const std::string member = "\"stackFrames\": " + value;
    for (const std::string& trace : {"{" + member + ", \"traceEvents\": [" + event + "]}",
                                     "{\"traceEvents\": [" + event + "], " + member + "}"}) {
      const Result<Store> store = Import(trace);
      ASSERT_TRUE(store.ok()) << store.status().message();
      EXPECT_EQ(store->operator_calls.size(), 1u);
      EXPECT_EQ(Notices(store.value()), "");
    }
  }
  const Result<Store> endless = Import("{\"traceEvents\": [" + event + "], \"stackFrames\": [\"" +
                                       std::string(17 << 20, 'x') + "]}");
  ASSERT_TRUE(endless.ok());
  EXPECT_NE(Notices(endless.value()).find("longer than 16 MiB does not end"), std::string::npos);
}

TEST(KinetoJson, ACutSaysWhereAndHowManyEventsAreKept) {
  const std::string text = TraceAround(kGoodEvent, 3);
  const size_t size = text.rfind("\"tid\"");
  const Result<Store> store = Import(std::string_view(text).substr(0, size));
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(Notices(store.value()), "the file ends in the middle of an event, at byte " +
                                        std::to_string(size) +
                                        ": 4 events before that were kept\n");
}

TEST(KinetoJson, WithoutAnEventThatCanBeShownItIsAnInputError) {
  const struct {
    std::string text;
    const char* why;
  } kCases[] = {
      {R"({"schemaVersion": 1, "traceEvents": []})", "a trace without events"},
      {R"([{"ph": "X", "cat": "kernel", "name": "k", "ts": "abc", "dur": 1}])", "ts or dur"},
      {R"([{"ph": "X", "name": "k" x", "ts": 1, "dur": 1}])", "not valid JSON"},
      {R"({"traceEvents": [{"ph": "X", "name": "k")", "before the first whole event"},
  };
  for (const auto& empty : kCases) {
    const Result<Store> store = Import(empty.text);
    ASSERT_FALSE(store.ok()) << empty.text;
    EXPECT_EQ(store.status().exit_code(), 3);
    EXPECT_NE(store.status().message().find(empty.why), std::string::npos)
        << store.status().message();
  }
}

TEST(MicrosecondsToNs, IsExact) {
  int64_t ns = 0;
  EXPECT_TRUE(MicrosecondsToNs("5000000000123.456", &ns));
  EXPECT_EQ(ns, 5000000000123456);
  EXPECT_TRUE(MicrosecondsToNs("-0.5", &ns) && MicrosecondsToNs("-1.5", &ns));
  EXPECT_EQ(ns, -1500);
  EXPECT_TRUE(MicrosecondsToNs("2", &ns));
  EXPECT_EQ(ns, 2000);
  EXPECT_FALSE(MicrosecondsToNs("9223372036854775807", &ns));
  EXPECT_FALSE(MicrosecondsToNs("x", &ns));
  EXPECT_FALSE(MicrosecondsToNs("", &ns));
}

}  // namespace
}  // namespace batchlight

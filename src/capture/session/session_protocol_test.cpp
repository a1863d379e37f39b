#include "capture/session/session_protocol.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

TEST(SessionProtocol, StartRequestComesBack) {
  CaptureOptions options;
  options.output = "/tmp/a name\nwith a line break=%p";
  options.replace = true;
  options.trigger = format::CaptureTrigger::kNvtx;
  options.range_end = RangeEnd::kRepeatShutdown;
  options.repeat = 4;
  options.range_message = "step";
  options.range_domain = "*";
  options.stop_on_exit = false;
  options.stats = true;
  options.exports = {"sqlite", "chrome"};
  const CaptureOptions back =
      ReadStartRequest(Request::Decode(MakeStartRequest(options).Encode()).value()).value();
  EXPECT_EQ(back.output, options.output);
  EXPECT_EQ(back.replace, true);
  EXPECT_EQ(back.trigger, format::CaptureTrigger::kNvtx);
  EXPECT_EQ(back.range_end, RangeEnd::kRepeatShutdown);
  EXPECT_EQ(back.repeat, 4u);
  EXPECT_EQ(back.range_message, "step");
  EXPECT_EQ(back.range_domain, "*");
  EXPECT_EQ(back.stop_on_exit, false);
  EXPECT_EQ(back.stats, true);
  EXPECT_EQ(back.exports, options.exports);
}

TEST(SessionProtocol, AnythingButAWholeRequestIsRefused) {
  std::string whole = MakeStartRequest({}).Encode();
  ASSERT_TRUE(Request::Decode(whole).ok());
  EXPECT_FALSE(Request::Decode("").ok());
  EXPECT_FALSE(Request::Decode("start").ok());
  EXPECT_FALSE(Request::Decode(whole.substr(0, whole.size() / 2)).ok());
  EXPECT_FALSE(Request::Decode(whole + "junk" + '\0').ok());
  EXPECT_TRUE(ReadStartRequest({"start", {{"trigger", "3"}}}).ok());
  EXPECT_FALSE(ReadStartRequest({"start", {{"trigger", "4"}}}).ok());
  EXPECT_FALSE(ReadStartRequest({"start", {{"range_end", "99"}}}).ok());
}

TEST(SessionProtocol, ReplyKeepsKindAndText) {
  const Reply reply = Reply::Decode(Reply{ErrorKind::kUsage, "on\nalready"}.Encode());
  EXPECT_EQ(reply.ToStatus().kind(), ErrorKind::kUsage);
  EXPECT_EQ(reply.text, "on\nalready");
  EXPECT_TRUE(Reply::Decode(Reply{ErrorKind::kNone, "x"}.Encode()).ToStatus().ok());
  EXPECT_FALSE(Reply::Decode("garbage").ToStatus().ok());
}

TEST(SessionProtocol, NamesAreFileNames) {
  EXPECT_TRUE(CheckSessionName("train-3.b_1").ok());
  for (const char* name : {"", "a/b", "../x", ".hidden", "a b", "x\n"}) {
    EXPECT_EQ(CheckSessionName(name).kind(), ErrorKind::kUsage) << name;
  }
}

}  // namespace
}  // namespace batchlight::capture

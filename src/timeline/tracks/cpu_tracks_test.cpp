#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

class CpuTracks : public ::testing::Test {
 protected:
  // A function of native code in its caller.
  NativeStackId Frame(const char* function, NativeStackId caller = {}) {
    Store& store = build_.store();
    store.native_frames.Append({.function = store.strings.Intern(function)});
    store.native_stacks.Append(
        {.frame = NativeFrameId::At(store.native_frames.size() - 1), .parent = caller});
    return NativeStackId::At(store.native_stacks.size() - 1);
  }
  void Sample(int64_t at_ns, int64_t cpu_ns, NativeStackId stack) {
    build_.store().cpu_samples.Append(
        {.start_ns = at_ns, .thread = thread_, .cpu_ns = cpu_ns, .native_stack = stack});
  }
  void Switch(int64_t at_ns, SwitchKind kind) {
    build_.store().cpu_switches.Append({.start_ns = at_ns, .thread = thread_, .kind = kind});
  }
  // "main 0-30, inner 10-20": the events of the track, row by row.
  std::string EventsOf(TrackKind kind) {
    const Store store = build_.Build();
    const auto timeline = BuildTimeline(store);
    const Events& events = timeline->events();
    std::ostringstream text;
    for (const Track& track : timeline->tracks()) {
      if (track.kind != kind) continue;
      for (const EventRow& row : track.rows) {
        for (const uint32_t ref : row.refs()) {
          text << (text.tellp() > 0 ? ", " : "") << timeline->names().Text(events.Name(ref)) << ' '
               << events.Start(ref) << '-' << events.End(ref);
        }
      }
    }
    return text.str();
  }

  StoreBuilder build_;
  ThreadId thread_ = build_.Thread(build_.Process(100, "train.py"));
};

TEST_F(CpuTracks, FunctionsThatStayAreOneEvent) {
  const NativeStackId main = Frame("main");
  const NativeStackId read = Frame("read", main);
  const NativeStackId write = Frame("write", main);
  Sample(10, 10, read);
  Sample(20, 10, read);
  Sample(30, 10, write);
  Sample(40, 10, main);
  EXPECT_EQ(EventsOf(TrackKind::kNative), "main 0-40, read 0-20, write 20-30");
}

TEST_F(CpuTracks, TimeWithoutAProcessorIsInNoFunction) {
  const NativeStackId main = Frame("main");
  Sample(10, 10, main);
  Sample(100, 10, main);
  EXPECT_EQ(EventsOf(TrackKind::kNative), "main 0-10, main 90-100");
}

TEST_F(CpuTracks, ASampleWithoutAStackEndsWhatWasOpen) {
  const NativeStackId main = Frame("main");
  Sample(10, 10, main);
  Sample(20, 10, {});
  Sample(30, 10, main);
  EXPECT_EQ(EventsOf(TrackKind::kNative), "main 0-10, main 20-30");
}

TEST_F(CpuTracks, AThreadHasAProcessorOrWaits) {
  Switch(10, SwitchKind::kOn);
  Switch(20, SwitchKind::kPreempted);
  Switch(30, SwitchKind::kOn);
  Switch(50, SwitchKind::kBlocked);
  Switch(90, SwitchKind::kOn);
  EXPECT_EQ(EventsOf(TrackKind::kSwitches),
            "on a processor 10-20, waits for a processor 20-30, on a processor 30-50, waits for "
            "something 50-90");
}

}  // namespace
}  // namespace batchlight::timeline

#include "capture/session/session_state.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "capture/loop/timer.h"

namespace batchlight::capture {
namespace {

Life After(const std::vector<LifeEvent>& events, const LifeFacts& facts) {
  Life life = Life::kRunning;
  for (const LifeEvent event : events) life = Next(life, event, facts);
  return life;
}

TEST(Life, EndsWithTheProgram) {
  EXPECT_EQ(After({LifeEvent::kReaped}, {}), Life::kRunning);
  EXPECT_EQ(After({LifeEvent::kProgramEnded}, {}), Life::kOver);
}

TEST(Life, WaitsForProcessesThatTheProgramLeft) {
  const LifeFacts children{.waits_for_children = true};
  const Life waiting = After({LifeEvent::kProgramEnded, LifeEvent::kReaped}, children);
  EXPECT_EQ(waiting, Life::kLingering);
  EXPECT_TRUE(MayCollect(waiting));
  EXPECT_TRUE(WaitsAfterProgram(waiting));
  EXPECT_EQ(Next(waiting, LifeEvent::kReaped, {}), Life::kOver);
  EXPECT_EQ(Next(waiting, LifeEvent::kInterrupted, children), Life::kOver);
  EXPECT_EQ(Next(waiting, LifeEvent::kSessionEnded, children), Life::kOver);
}

TEST(Life, LastsForTheDurationIfToldSo) {
  const LifeFacts duration{.waits_for_duration = true};
  EXPECT_EQ(After({LifeEvent::kProgramEnded, LifeEvent::kReaped}, duration), Life::kLingering);
  EXPECT_EQ(After({LifeEvent::kProgramEnded, LifeEvent::kSessionEnded}, duration), Life::kOver);
}

TEST(Life, EndsTheProgramOrLeavesItRunning) {
  EXPECT_EQ(After({LifeEvent::kSessionEnded}, {}), Life::kLeftRunning);
  EXPECT_TRUE(IsOver(Life::kLeftRunning));
  const LifeFacts ends{.ends_program = true};
  EXPECT_EQ(After({LifeEvent::kSessionEnded}, ends), Life::kEnding);
  EXPECT_FALSE(IsOver(Life::kEnding) || MayCollect(Life::kEnding));
  EXPECT_EQ(After({LifeEvent::kSessionEnded, LifeEvent::kSessionEnded}, ends), Life::kEnding);
  EXPECT_EQ(After({LifeEvent::kSessionEnded, LifeEvent::kProgramEnded}, ends), Life::kOver);
}

// The signal goes to the program's process group: others may outlive it.
TEST(Life, WaitsForWhatOutlivesTheSignal) {
  // The duration was over when the session ended, or it never will be.
  const LifeFacts children{
      .waits_for_children = true, .waits_for_duration = true, .ends_program = true};
  const Life rest = After({LifeEvent::kSessionEnded, LifeEvent::kProgramEnded}, children);
  EXPECT_EQ(rest, Life::kEndingRest);
  EXPECT_FALSE(MayCollect(rest));
  EXPECT_TRUE(WaitsAfterProgram(rest));
  EXPECT_EQ(Next(rest, LifeEvent::kSessionEnded, children), Life::kEndingRest);
  EXPECT_EQ(Next(rest, LifeEvent::kInterrupted, children), Life::kOver);
  EXPECT_EQ(Next(rest, LifeEvent::kReaped, {.waits_for_duration = true}), Life::kOver);
}

TEST(Life, OverIsOver) {
  for (const Life over : {Life::kLeftRunning, Life::kOver}) {
    for (const LifeEvent event : {LifeEvent::kProgramEnded, LifeEvent::kReaped,
                                  LifeEvent::kSessionEnded, LifeEvent::kInterrupted}) {
      EXPECT_EQ(Next(over, event, {.waits_for_children = true, .ends_program = true}), over);
    }
  }
}

TEST(Collection, IsStartedByToolClientAndProcesses) {
  EXPECT_EQ(Next(Collection::kDelayed, CollectionEvent::kStarted), Collection::kOn);
  EXPECT_EQ(Next(Collection::kLaunched, CollectionEvent::kStarted), Collection::kOn);
  EXPECT_EQ(Next(Collection::kLaunched, CollectionEvent::kArmed), Collection::kArmed);
  EXPECT_EQ(Next(Collection::kArmed, CollectionEvent::kBegan), Collection::kOn);
  EXPECT_EQ(Next(Collection::kStopped, CollectionEvent::kBegan), Collection::kOn);
}

TEST(Collection, Ends) {
  EXPECT_EQ(Next(Collection::kOn, CollectionEvent::kEnded), Collection::kStopped);
  // A capture that began and ended between two looks.
  EXPECT_EQ(Next(Collection::kArmed, CollectionEvent::kEnded), Collection::kStopped);
  EXPECT_EQ(Next(Collection::kLaunched, CollectionEvent::kEnded), Collection::kLaunched);
  EXPECT_EQ(Next(Collection::kDelayed, CollectionEvent::kEnded), Collection::kDelayed);
}

// Also while the delay runs: what a client cancels does not begin later.
TEST(Collection, ClientPutsItAway) {
  for (const Collection before :
       {Collection::kDelayed, Collection::kArmed, Collection::kOn, Collection::kStopped}) {
    EXPECT_EQ(Next(before, CollectionEvent::kPutAway), Collection::kLaunched);
  }
}

TEST(Timer, IsDueOnce) {
  Timer timer, other;
  EXPECT_EQ(Timer::TimeoutMs({&timer, &other}), -1);
  EXPECT_FALSE(timer.Due());
  timer.Start(3600);
  EXPECT_FALSE(timer.Due());
  EXPECT_GT(Timer::TimeoutMs({&timer, &other}), 3'500'000);
  timer.Start(0.001);
  EXPECT_LE(Timer::TimeoutMs({&other, &timer}), 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(timer.Due());
  EXPECT_FALSE(timer.Due() || timer.running());
  timer.Start(0.001);
  timer.Stop();
  EXPECT_EQ(Timer::TimeoutMs({&timer}), -1);
}

}  // namespace
}  // namespace batchlight::capture

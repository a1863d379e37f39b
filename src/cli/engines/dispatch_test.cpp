#include "cli/engines/dispatch.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "cli/engines/work_lines.h"

namespace batchlight::cli {
namespace {

// Machines that answer at once, in the order of their calls, but for those that are told to fail.
class ScriptedWorkers : public Workers {
 public:
  Result<std::vector<WorkPlace>> Open() override { return std::vector<WorkPlace>(); }

  Status Begin(size_t call, const std::string& place,
               const std::vector<std::string>& words) override {
    ++calls[place];
    most_at_once = std::max(most_at_once, ++running_[place]);
    const bool dies = dead.contains(place);
    size_t at = 0;
    for (size_t i = 3; i < words.size(); ++i, ++at) {  // work partial -- INPUT...
      const auto input = ReadInputWord(words[i]);
      if (!input || dies) continue;
      if (poison == input->path) {
        events_.push_back({call, true, "", "killed"});
        places_[call] = place;
        return {};
      }
      const bool behind = lagging == place;
      WorkAnswer answer{.at = at, .sees_other = behind};
      answer.bytes = behind ? Result<std::string>(InputError("sees another file"))
                            : Result<std::string>(input->path + "'s");
      events_.push_back({call, false, AnswerLine(answer), ""});
      read_by[input->path] = place;
    }
    events_.push_back({call, true, "", dies ? "killed" : ""});
    places_[call] = place;
    return {};
  }

  Result<Event> Next() override {
    Event event = std::move(events_.front());
    events_.pop_front();
    if (event.ended) --running_[places_[event.call]];
    return event;
  }

  std::set<std::string> dead;
  std::string poison;   // ends each call that reads it
  std::string lagging;  // a place
  std::map<std::string, size_t> calls;
  std::map<std::string, std::string> read_by;
  size_t most_at_once = 0;

 private:
  std::deque<Event> events_;
  std::map<std::string, size_t> running_;
  std::map<size_t, std::string> places_;
};

class DispatchTest : public testing::Test {
 protected:
  void Inputs(size_t count, const std::vector<std::string>& places) {
    for (size_t i = 0; i < count; ++i) {
      which_.push_back(inputs_.size());
      inputs_.push_back({.seen = {.path = "r" + std::to_string(inputs_.size())}, .places = places});
    }
  }

  // "r0's r1's ..." or the errors, by input.
  std::vector<std::string> Run(ScriptedWorkers& workers) {
    std::vector<std::string> taken(inputs_.size());
    const Work work{.words = {"partial"}, .run = {}};
    const Status status = Dispatch(workers, {{.name = "n1"}, {.name = "n2", .slots = 2}}, inputs_,
                                   which_, work, [&](size_t i, Result<std::string> bytes) {
                                     EXPECT_EQ(taken[i], "") << "taken twice";
                                     taken[i] =
                                         bytes.ok() ? bytes.value() : bytes.status().message();
                                   });
    EXPECT_TRUE(status.ok()) << status.message();
    return taken;
  }

  std::vector<EngineInput> inputs_;
  std::vector<size_t> which_;
};

TEST_F(DispatchTest, EachInputOnce) {
  Inputs(100, {"n1", "n2"});
  ScriptedWorkers workers;
  const auto taken = Run(workers);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], "r" + std::to_string(i) + "'s");
  EXPECT_GT(workers.calls["n1"], 0u);
  EXPECT_LE(workers.most_at_once, 2u);
  EXPECT_LE(workers.calls["n1"] + workers.calls["n2"], 14u);
}

TEST_F(DispatchTest, GoesWhereTheFilesAre) {
  Inputs(5, {"n1"});
  Inputs(5, {"n2"});
  ScriptedWorkers workers;
  Run(workers);
  for (const auto& [path, place] : workers.read_by) EXPECT_EQ(place, path < "r5" ? "n1" : "n2");
}

TEST_F(DispatchTest, WorkOfADeadMachineIsDoneByAnother) {
  Inputs(100, {"n1", "n2"});
  ScriptedWorkers workers;
  workers.dead = {"n2"};
  const auto taken = Run(workers);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], "r" + std::to_string(i) + "'s");
  EXPECT_LE(workers.calls["n2"], 4u);
}

TEST_F(DispatchTest, WhatNoMachineReadsIsSaid) {
  Inputs(3, {"n1", "n2"});
  Inputs(1, {"n2"});
  ScriptedWorkers workers;
  workers.dead = {"n1", "n2"};
  for (const std::string& text : Run(workers)) EXPECT_NE(text.find("killed"), text.npos) << text;
}

TEST_F(DispatchTest, OneInputThatKillsDoesNotTakeOthersAlong) {
  Inputs(40, {"n1", "n2"});
  ScriptedWorkers workers;
  workers.poison = "r7";
  const auto taken = Run(workers);
  for (size_t i = 0; i < taken.size(); ++i) {
    if (i == 7) continue;
    EXPECT_EQ(taken[i], "r" + std::to_string(i) + "'s");
  }
  EXPECT_NE(taken[7].find("cannot read r7: n"), std::string::npos) << taken[7];
}

TEST_F(DispatchTest, AMachineWhoseViewLagsIsNotAskedAgain) {
  Inputs(10, {"n1", "n2"});
  ScriptedWorkers workers;
  workers.lagging = "n1";
  const auto taken = Run(workers);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], "r" + std::to_string(i) + "'s");
}

}  // namespace
}  // namespace batchlight::cli

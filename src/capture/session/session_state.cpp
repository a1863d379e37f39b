#include "capture/session/session_state.h"

namespace batchlight::capture {
namespace {

Life AfterProgram(Life waiting, const LifeFacts& facts) {
  const bool waits =
      facts.waits_for_children || (waiting == Life::kLingering && facts.waits_for_duration);
  return waits ? waiting : Life::kOver;
}

}  // namespace

Life Next(Life life, LifeEvent event, const LifeFacts& facts) {
  switch (life) {
    case Life::kRunning:
      if (event == LifeEvent::kProgramEnded) return AfterProgram(Life::kLingering, facts);
      if (event == LifeEvent::kSessionEnded) {
        return facts.ends_program ? Life::kEnding : Life::kLeftRunning;
      }
      return life;
    case Life::kEnding:
      if (event == LifeEvent::kProgramEnded) return AfterProgram(Life::kEndingRest, facts);
      return life;
    case Life::kLingering:
      if (event == LifeEvent::kReaped) return AfterProgram(life, facts);
      return Life::kOver;
    case Life::kEndingRest:
      if (event == LifeEvent::kReaped) return AfterProgram(life, facts);
      return event == LifeEvent::kInterrupted ? Life::kOver : life;
    case Life::kLeftRunning:
    case Life::kOver:
      return life;
  }
  return life;
}

Collection Next(Collection collection, CollectionEvent event) {
  switch (event) {
    case CollectionEvent::kStarted:
    case CollectionEvent::kBegan:
      return Collection::kOn;
    case CollectionEvent::kArmed:
      return Collection::kArmed;
    case CollectionEvent::kEnded: {
      const bool expected = collection == Collection::kOn || collection == Collection::kArmed;
      return expected ? Collection::kStopped : collection;
    }
    case CollectionEvent::kPutAway:
      return Collection::kLaunched;
  }
  return collection;
}

const char* NameOf(Collection collection) {
  switch (collection) {
    case Collection::kLaunched:
      return "launched";
    case Collection::kDelayed:
    case Collection::kArmed:
      return "waiting";
    case Collection::kOn:
      return "collecting";
    case Collection::kStopped:
      return "stopped";
  }
  return "";
}

}  // namespace batchlight::capture

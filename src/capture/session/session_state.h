// The states of a session and what leads from one to the next. Two machines run side by side: the
// life of the session, and collection, which recorded processes switch on and off as well.
#pragma once

namespace batchlight::capture {

enum class Life {
  kRunning,      // the program runs
  kLingering,    // the program has ended; the session waits for its processes or for the duration
  kEnding,       // the session ended first and has told the program to end
  kEndingRest,   // the same, and the program has ended; processes it left have not
  kLeftRunning,  // over: the program keeps running, unrecorded
  kOver,
};

enum class LifeEvent {
  kProgramEnded,
  kReaped,        // LifeFacts may have changed: children ended, a client gave other options
  kSessionEnded,  // the duration is over, the last range has ended, a client shut the session down
  kInterrupted,   // Ctrl-C after the program's end
};

// What a transition depends on besides the state.
struct LifeFacts {
  bool waits_for_children = false;  // --wait=all, and there are some
  bool waits_for_duration = false;  // --stop-on-exit=false
  bool ends_program = false;        // --kill
};

Life Next(Life life, LifeEvent event, const LifeFacts& facts);

inline bool IsOver(Life life) { return life == Life::kLeftRunning || life == Life::kOver; }
// Whether events may be collected. The timers of delay and duration live in these states.
inline bool MayCollect(Life life) { return life == Life::kRunning || life == Life::kLingering; }
// Whether processes that the program left behind are waited for. Saying so is these states' timer.
inline bool WaitsAfterProgram(Life life) {
  return life == Life::kLingering || life == Life::kEndingRest;
}

enum class Collection {
  kLaunched,  // off until a client starts it
  kDelayed,   // off until the delay is over
  kArmed,     // off until a range or step of the program begins a capture
  kOn,
  kStopped,  // a capture was taken; a range may begin another
};

enum class CollectionEvent {
  kStarted,  // by the tool: the delay is over, a client said so
  kArmed,    // a client started captures that ranges begin
  kBegan,    // a process began a capture
  kEnded,    // a process or the tool ended it
  kPutAway,  // a client had the captures sealed or dropped
};

Collection Next(Collection collection, CollectionEvent event);

// As `sessions list` calls it.
const char* NameOf(Collection collection);

}  // namespace batchlight::capture

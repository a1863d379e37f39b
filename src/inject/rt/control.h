// This process's view of the session: is there one, is it collecting, what did the user ask for.
#pragma once

#include <atomic>
#include <cstdint>

#include "format/control.h"

namespace batchlight::inject {

// The session's ControlPage::state, or a constant 0 in a process without a session.
extern std::atomic<const std::atomic<uint32_t>*> g_state;

inline uint32_t SessionState() {
  return g_state.load(std::memory_order_relaxed)->load(std::memory_order_relaxed);
}

// True while events are to be recorded. Two relaxed loads; false without a session.
inline bool Collecting() { return (SessionState() & format::kStateCollecting) != 0; }

// The mapped control page; nullptr without a session. Everything but the atomics is constant.
format::ControlPage* Control();

// True if the user asked for a kTrace* source.
bool Traces(uint32_t trace_bit);

// Folder of the live recording, "" without a session, and the user whose it is.
const char* SessionDir();
uint32_t SessionOwner();

// Tells the tool that the page says something new.
void WakeTool();

// The live folder, open; -errno if it is not the one that this process attached to any more: what
// took its place could be anybody's.
int OpenSessionDir();

// Maps the control page named by the environment. Anything wrong (no variable, no file, another
// version, a session that ended, a page or folder that another user owns or may write): false, and
// this process behaves as if nothing had been injected.
bool MapControlPage();

}  // namespace batchlight::inject

// A timer of its processor time for each thread, whose signal has the thread write down where it
// is.
//
// The signal is SIGURG: its default is to be ignored, so that a program that resets all handlers is
// not ended by a timer; debuggers pass it on; and who uses it must expect it without cause. A
// program that wants it gets it, and is not sampled from there on.
#pragma once

#include <signal.h>

#include <cstdint>

namespace batchlight::inject::timers {

inline constexpr int kSignal = SIGURG;

using SigactionFunction = int(int, const struct sigaction*, struct sigaction*);

// Whether this process, not a child of vfork, samples itself.
bool IsOn();
// Of the calling thread.
void StartThread();
// A thread begins without a timer.
void CountThreadWithout();
// A library is about to be unloaded, or has been.
void CountUnload();
// Ends all sampling in this process, and takes back signals that wait for the calling thread.
void StandAside(const char* why);
// What the program has set for the signal and believes to be in place.
struct sigaction& ProgramsAction();

// The handler of the signal is set by `next`, which is the C library's. Once, before threads are.
// `why_not`: leave the process alone, if not nullptr.
void StartProcess(SigactionFunction* next, const char* why_not);

}  // namespace batchlight::inject::timers

// A process file that somebody cuts short while we have it mapped must not cost the program its
// life: storing into the pages that are gone would raise SIGBUS.
#pragma once

namespace batchlight::inject {

// From here on such pages become memory that nobody reads, and ControlPage::files_cut is counted.
// Does nothing if the program has a handler already; every other SIGBUS ends as it would without
// us.
void SurviveCutFiles();

// Takes that back until it is called again. False: the program has a handler of its own.
bool DieOfCutFiles();

}  // namespace batchlight::inject

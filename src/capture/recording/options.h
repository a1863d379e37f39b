// What a recording session is asked to do: the flags of `profile`, `launch` and `start` as plain
// values.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/program/inherited_descriptors.h"
#include "capture/program/run_as.h"
#include "capture/recording/cpu_options.h"
#include "capture/recording/disk_limits.h"
#include "capture/recording/gpu_sampling.h"
#include "format/control.h"

namespace batchlight::capture {

// --capture-range-end
enum class RangeEnd { kNone, kStop, kStopShutdown, kRepeat, kRepeatShutdown };

// What is collected when: may be given anew with every `start`.
struct CaptureOptions {
  std::string output;    // -o; empty = the next free report#
  bool replace = false;  // -f
  format::CaptureTrigger trigger = format::CaptureTrigger::kNone;
  RangeEnd range_end = RangeEnd::kStopShutdown;
  uint32_t repeat = 0;  // ranges to capture, 0 = no limit
  std::string range_message;
  std::string range_domain;
  std::string windows;              // lines for ControlPage::extra when the trigger is kSteps
  bool windows_start_open = false;  // step 1 is in the first window
  bool stop_on_exit = true;
  bool stats = false;                // --stats
  std::vector<std::string> exports;  // --export
  std::string after_start;           // --after-collection-start, a command
  std::string after_report;          // --after-report-ready

  // Whether one session makes several recordings by itself.
  bool Several() const {
    return trigger != format::CaptureTrigger::kNone &&
           (range_end == RangeEnd::kRepeat || range_end == RangeEnd::kRepeatShutdown);
  }
};

// --monitor: the job is watched while it runs (capture/monitor).
struct MonitorOptions {
  std::string folder;                    // DIR of --monitor; empty: the job is not watched
  std::string metrics_file;              // --metrics-file; empty: none
  std::optional<uint16_t> metrics_port;  // --metrics-port, on loopback; 0: any that is free
  std::string metrics_otlp;              // --metrics-otlp, an address; empty: none
  double slow_factor = 0;                // --slow-step; 0: no window begins by itself
};

struct SessionOptions {
  std::vector<std::string> command;  // program and its arguments
  CaptureOptions capture;
  std::string session_name;     // --session-new
  bool wait_for_start = false;  // collect only when told to: launch, --start-later

  uint32_t trace = 0;  // format::kTrace* bits
  uint32_t budget_bytes = 64u << 20;
  DiskLimits disk;
  bool registered_only = false;      // --nvtx-capture looks at registered strings only
  std::vector<std::string> domains;  // --nvtx-domain-include, or -exclude with exclude_domains
  bool exclude_domains = false;
  std::string functions_trace;  // path of a JSON file
  std::string extra;            // key=value lines for ControlPage::extra
  CpuOptions cpu;
  int64_t python_period_ns = 0;       // between two looks at Python code; 0 = none
  bool python_samples_asked = false;  // by a flag: that there are none is then worth a line
  bool names_program_stacks = false;  // functions of the stacks that the program's threads record
  std::vector<std::string> levels;    // variables, A=B, unless the user has set them: for CUDA's
                                      // libraries, Python's allocator

  double delay_s = 0;
  double duration_s = 0;      // 0 = until the program ends
  int kill_signal = SIGTERM;  // to the program's group when the session ends first; 0 = none
  bool wait_all = true;       // also for processes that the program leaves behind

  bool show_output = true;
  Inherits keeps = Inherits::kAll;  // of what the program inherits, when it runs
  bool inherit_environment = true;
  std::vector<std::string> variables;  // --env-var, A=B
  bool record_environment = false;
  MonitorOptions monitor;
  GpuSampling gpu_sampling;
  std::string tool_version;
  std::optional<RunAs> run_as;                             // --run-as
  std::vector<std::pair<std::string, std::string>> facts;  // further properties to record
  // What is missing from the start: feature and sentence.
  std::vector<std::pair<std::string, std::string>> reasons;
};

}  // namespace batchlight::capture

// A recording session: starts the program, follows it and its children until the end, and seals
// what was recorded. `profile` runs one that collects by itself, `launch` one that is told when.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/status.h"
#include "capture/cpu/cpu_recorder.h"
#include "capture/cpu/program_stacks.h"
#include "capture/cpu/timer_sampler.h"
#include "capture/gpu/gpu_sampler.h"
#include "capture/loop/event_loop.h"
#include "capture/loop/signal_relay.h"
#include "capture/loop/timer.h"
#include "capture/monitor/monitor.h"
#include "capture/program/install.h"
#include "capture/program/program.h"
#include "capture/program/target_environment.h"
#include "capture/python/python_sampler.h"
#include "capture/recording/control_watch.h"
#include "capture/recording/options.h"
#include "capture/recording/process_watch.h"
#include "capture/recording/recording.h"
#include "capture/recording/sealed_recording.h"
#include "capture/session/session_server.h"
#include "capture/session/session_state.h"
#include "capture/session/user_commands.h"
#include "capture/usage/usage_sampler.h"

namespace batchlight::capture {

struct SessionEnd {
  int exit_code = 0;          // of the program, as a shell gives it: 128 + signal if one ended it
  bool program_ran = false;   // false: it could not be started, `problem` says why; or `ended_by`
  int ended_by = 0;           // the signal that asked the tool to end before the program ran
  bool interrupted = false;   // Ctrl-C at the terminal ended it
  bool others_know = false;   // as who is in the tool's group got it as well
  bool left_running = false;  // the session ended first and the program was not to be ended
  std::string problem;
  CaptureOptions capture;          // as last started
  SealedRecordings recordings;     // sealed at the end
  Status sealed;                   // if it failed, the live folder is kept
  std::string live_folder;         // if kept
  bool recording_is_left = false;  // in the live folder: somebody may have emptied it
  size_t processes = 0;            // that recorded
  int64_t wall_ns = 0;             // of the program, from its start to its end
};

class Session : private SessionCommands {
 public:
  using Notice = std::function<void(const std::string&)>;
  using Progress = std::function<void(double)>;
  // `notice` gets single lines for the user, `progress` the share of sealing that is done.
  Session(SessionOptions options, Notice notice, Progress progress);

  // Returns when the session is over. Errors are those before the program started; nothing is left
  // behind then.
  Result<SessionEnd> Run();

 private:
  // session_start.cpp
  // Empty once the program runs; why it cannot be started otherwise.
  Result<std::optional<SessionEnd>> StartProgram();
  // Of a program that does not run, nothing stays.
  void Discard();
  // Everything between the fork and the program's first instruction.
  Status Prepare(pid_t pid, const Install& install, const std::vector<std::string>& environment);
  Status OpenRecording(pid_t pid, const Install& install,
                       const std::vector<std::string>& environment);
  Status GiveRecordingTo(const RunAs& user, const std::string& library);
  Status OpenWatches(pid_t pid);
  // What the kernel refuses is said and missing, no more.
  void OpenCpuRecorder(pid_t pid);
  // The program will sample itself by timers, where the kernel will not.
  Status PreloadTimers(const Install& install);
  Status OpenTimerSampler();
  void SayOfTimers(const std::string& refused);
  void OpenProgramStacks();
  // Who runs the program, if that is not the tool's user.
  std::optional<FileOwner> OtherUser() const;
  void SayOfCpu(const std::string& why);
  void OpenPythonSampler();
  void SayOfPythonSamples(const std::string& why);
  void OpenUsageSampler(pid_t pid);
  Status OpenMonitor();
  void ServeMetrics();
  void SendMetrics();
  // The program will preload this library of shims. `or_else`: what to do if it is not there.
  Status PreloadShims(const std::string& library, const std::string& or_else);
  std::string NameOfLaunched(pid_t pid) const;
  void SayWhatIsLeft();
  Status ChooseOutput(const CaptureOptions& options, pid_t pid);

  // session.cpp: what happens, and the states that follow from it.
  void Note(LifeEvent event);
  void Note(CollectionEvent event);
  void CheckTimers();
  void BeginCapture();
  void ControlChanged();
  // Samples and switches go on and off with collection.
  void FollowWithSamplers();
  // Brings `collection_` up to date with what processes did.
  void FollowControlPage();
  // Runs --after-collection-start for captures that began since the last call.
  void NoteCaptures();
  void Reap();
  void ProgramEnded(int wait_status);
  // Ends the session, which may be before the program's end.
  void End(const std::string& why);

  // session_end.cpp
  SessionEnd Finish();
  void SayOfUnreached();
  void SealAtEnd(SessionEnd& end);
  // Capture `index` into `path`; nothing: all of the recording.
  Status SealCaptures();  // those after first_capture_, each by itself
  Status SealTo(const std::string& path, std::optional<uint32_t> index);

  // session_commands.cpp: what the clients of an interactive session ask for.
  Status Start(const CaptureOptions& options) override;
  Result<std::string> Stop() override;
  Status Cancel() override;
  Status Shutdown(std::optional<int> signal) override;
  std::string Describe() override;

  SessionOptions options_;
  InheritedDescriptors inherited_;
  Notice notice_;
  Progress progress_;
  EventLoop loop_;
  SignalRelay signals_{loop_};
  std::string preload_;
  std::vector<std::string> shims_;
  bool preloads_timers_ = false;
  std::optional<Recording> recording_;
  std::optional<GpuSampler> gpu_sampler_;
  std::unique_ptr<CpuRecorder> cpu_;
  std::unique_ptr<TimerSampler> timer_sampler_;  // where there is no cpu_
  std::optional<ProgramStacks> program_stacks_;
  std::unique_ptr<PythonSampler> python_sampler_;
  std::optional<ProcessWatch> processes_;
  std::unique_ptr<UsageSampler> usage_;
  std::unique_ptr<Monitor> monitor_;
  std::optional<ControlWatch> control_watch_;
  std::optional<SessionServer> server_;
  std::optional<UserCommands> commands_;
  pid_t program_pid_ = -1;

  Life life_ = Life::kRunning;
  Timer memory_look_;   // while the recording lies in memory
  Timer say_waiting_;   // while WaitsAfterProgram()
  Timer stop_waiting_;  // of that, where the job was asked to end
  Collection collection_;
  Timer delay_;     // while kDelayed
  Timer duration_;  // from the first kOn, while MayCollect()

  CaptureOptions capture_;  // of the capture that is on or comes next
  std::string output_;      // its name, without suffix
  // Where it will lie; open from here on, so that it cannot be exchanged while the program runs.
  std::shared_ptr<const Folder> output_folder_;
  uint32_t captures_noted_ = 0;  // by NoteCaptures()
  uint32_t first_capture_ = 0;   // captures before it are sealed or cancelled
  SealedRecordings sealed_;      // files made so far
  bool all_ended_ = false;       // no process writes into the live folder any more

  bool children_left_ = true;
  int64_t program_start_ns_ = 0;
  std::optional<int> wait_status_;   // of the program, once it has ended
  SessionEnd end_;                   // what is known of it so far
  uint64_t program_peak_bytes_ = 0;  // that one of its processes had in RAM; 0: not known
};

}  // namespace batchlight::capture

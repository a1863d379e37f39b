// Who has the processors while the training waits for one.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/cpu/thread_times.h"
#include "analysis/cpu/usage.h"

namespace batchlight::advice {
namespace {

// What was used from the first to the last steady step.
struct Contention {
  double waited = 0;  // share of the time in which the training thread had no processor
  MachineUse machine;
  std::vector<ProcessUse> processes;
  ProcessUse training;

  // Those that the training process may run on.
  double Allowed() const {
    return training.processors > 0 ? std::min<double>(training.processors, machine.processors)
                                   : machine.processors;
  }
};

// By its switches; 0 where they were not recorded.
double ReadyShare(const Store& store, ThreadId thread) {
  if (store.cpu_switches.size() == 0) return 0;
  for (const ThreadTimes& times : MeasureThreads(store)) {
    if (times.thread != thread) continue;
    const auto all_ns = double(times.running_ns + times.ready_ns + times.blocked_ns);
    return all_ns > 0 ? double(times.ready_ns) / all_ns : 0;
  }
  return 0;
}

// Nothing where the training thread did not wait, or it is not known.
bool FindContention(const RunMeasures& run, Contention* found) {
  const Store& store = *run.store;
  const ProcessSteps* main = run.steps.Main();
  const bool has_looks = store.machine_usage.size() > 0 && store.process_usage.size() > 0;
  if (main == nullptr || main->steady.empty() || !has_looks) return false;
  const TimeSpan span{main->steps[main->steady.front()].start_ns,
                      main->steps[main->steady.back()].end_ns};
  found->machine = SumMachineUse(store, span);
  found->processes = SumProcessUse(store, span);
  for (const ProcessUse& use : found->processes) {
    if (use.process == main->process) found->training = use;
  }
  if (found->machine.looked_ns < kProcessorLooksNs || found->machine.processors == 0) return false;
  if (found->training.looked_ns < kProcessorLooksNs) return false;
  const bool is_first = !main->thread.IsNone() && store.threads.tid[main->thread.row()] ==
                                                      store.processes.pid[main->process.row()];
  found->waited = is_first && found->training.first_ran_ns > 0
                      ? found->training.first_waited_ns / found->training.looked_ns
                      : ReadyShare(store, main->thread);
  return found->waited >= kProcessorWait;
}

bool IsFull(double used, double allowed) { return used >= kFullProcessors * allowed; }

// "4", "1.24".
std::string CountOf(double count) {
  const double whole = std::round(count);
  constexpr double kNearly = 0.005;
  return std::abs(count - whole) < kNearly ? std::to_string(static_cast<int64_t>(whole))
                                           : Rounded(count);
}

std::string ProcessorsText(double count) {
  return CountOf(count) + (count == 1 ? " processor" : " processors");
}

std::string WaitText(const Contention& found) {
  return "The training thread could run and had no processor in " + PercentOf(found.waited) +
         " of the time. ";
}

Finding FindingOf(const RunMeasures& run, const Contention& found, double gain_share) {
  const double wait_ns = found.waited * MeanStepNs(run) * CpuExposure(run);
  Finding finding;
  finding.gain_ns = wait_ns * gain_share;
  finding.uncertainty_ns = wait_ns * kProcessorWaitUncertainty;
  finding.evidence = {{.kind = "setting",
                       .name = "processors",
                       .count = uint64_t(found.machine.processors),
                       .per_step_ns = found.waited * MeanStepNs(run)}};
  return finding;
}

// "python3 (4 processes) 2.1, train.py 1.0": by what they use, the three that use most.
std::string UsersText(const Store& store, const std::vector<ProcessUse>& processes) {
  struct User {
    std::string name;
    int count = 0;
    double processors = 0;
  };
  std::map<std::string, User> by_name;
  for (const ProcessUse& use : processes) {
    User& user = by_name[std::string(store.Text(store.processes.name[use.process.row()]))];
    user.name = store.Text(store.processes.name[use.process.row()]);
    user.processors += use.Processors();
    ++user.count;
  }
  std::vector<User> users;
  for (const auto& [name, user] : by_name) users.push_back(user);
  std::sort(users.begin(), users.end(),
            [](const User& a, const User& b) { return a.processors > b.processors; });
  constexpr size_t kMostUsers = 3;
  if (users.size() > kMostUsers) users.resize(kMostUsers);
  std::string text;
  for (const User& user : users) {
    text += (text.empty() ? "" : ", ") + (user.name.empty() ? std::string("a process") : user.name);
    if (user.count > 1) text += " (" + std::to_string(user.count) + " processes)";
    text += " " + CountOf(user.processors);
  }
  return text;
}

}  // namespace

double ProcessorWait(const RunMeasures& run) {
  Contention found;
  return FindContention(run, &found) ? found.waited : 0;
}

void ControlGroupLimit(const RunMeasures& run, Findings* findings) {
  Contention found;
  if (!FindContention(run, &found) || !IsThrottled(found.machine)) return;
  Finding finding = FindingOf(run, found, kProcessorWaitGain);
  finding.title = "A limit of " + ProcessorsText(found.machine.group_limit) +
                  " keeps the training from running";
  finding.seen =
      WaitText(found) + "In " + PercentOf(found.machine.ThrottledShare()) +
      " of its periods the limit of the control group stopped threads; the program used " +
      ProcessorsText(found.machine.Processors(found.machine.program_ns)) + ".";
  finding.why =
      "When threads have used up what a period allows, all of them stand still until the "
      "next one, the training thread too.";
  finding.action =
      "Ask for more processors (Kubernetes: resources.limits.cpu, Docker: --cpus, Slurm: "
      "--cpus-per-task), or use fewer threads and workers than the limit: "
      "torch.set_num_threads(" +
      std::to_string(std::max(1, static_cast<int>(found.machine.group_limit))) + ").";
  findings->push_back(std::move(finding));
}

void ProcessorsTaken(const RunMeasures& run, Findings* findings) {
  Contention found;
  if (!FindContention(run, &found) || !IsCrowded(found.machine)) return;
  if (IsThrottled(found.machine)) return;  // that is the cause
  Finding finding = FindingOf(run, found, kProcessorWaitGain);
  const double others = found.machine.Processors(found.machine.OthersNs());
  finding.kind = FindingKind::kMachine;
  finding.title = "Other programs take " + CountOf(others) + " of the " +
                  ProcessorsText(found.machine.processors);
  finding.seen = WaitText(found) + "The program used " +
                 ProcessorsText(found.machine.Processors(found.machine.program_ns)) +
                 ", programs that are no part of it " + CountOf(others) + ", of " +
                 CountOf(found.machine.processors) + ".";
  finding.why = "The kernel gives each of them its turn; the training waits for its own.";
  finding.action =
      "Look who they are (`top`), and train on a machine or on processors that are yours alone: "
      "whole nodes of a batch system (Slurm: --exclusive), a set of processors (taskset, "
      "cpusets).";
  findings->push_back(std::move(finding));
}

void OwnProcessesInTheWay(const RunMeasures& run, Findings* findings) {
  Contention found;
  if (!FindContention(run, &found)) return;
  if (IsThrottled(found.machine) || IsCrowded(found.machine)) return;
  const double program = found.machine.Processors(found.machine.program_ns);
  const double allowed = found.Allowed();
  const bool all_full = IsFull(program, found.machine.processors);
  // One process may be kept to fewer processors than the others.
  const bool own_full = IsFull(found.training.Processors(), allowed);
  if (!all_full && !own_full) return;
  Finding finding = FindingOf(run, found, kOwnProcessesGain);
  finding.title = "The program's own threads and processes wait for each other's processors";
  finding.seen = WaitText(found) + "Of " +
                 ProcessorsText(all_full ? found.machine.processors : allowed) +
                 ", its processes used: " + UsersText(*run.store, found.processes) + ".";
  finding.why =
      "More threads could run than there are processors, so they take turns, and the "
      "training thread waits for its own.";
  finding.action =
      "Give the job more processors, or let it use fewer: fewer DataLoader workers (num_workers), "
      "fewer computing threads (torch.set_num_threads, OMP_NUM_THREADS), or less work in them.";
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice

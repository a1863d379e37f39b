#include "capture/loop/cpu_limit.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace batchlight::capture {
namespace {

std::atomic<int> g_exit_code = -1;  // the program still runs
std::atomic<const char*> g_what_stays = nullptr;

void End(int) {
  const int exit_code = g_exit_code;
  if (exit_code < 0) return;
  for (const char* text :
       {"batchlight: the limit of processor time (ulimit -t) ends the tool here: ",
        g_what_stays.load(), "\n"}) {
    (void)!write(STDERR_FILENO, text, std::strlen(text));
  }
  _exit(exit_code);
}

}  // namespace

void RaiseCpuLimit() {
  struct sigaction action {};
  action.sa_handler = End;
  action.sa_flags = SA_RESTART;
  sigaction(SIGXCPU, &action, nullptr);
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
  const bool has_end = limit.rlim_max != RLIM_INFINITY;
  limit.rlim_cur = has_end ? std::max<rlim_t>(limit.rlim_max, 2) - 1 : RLIM_INFINITY;
  setrlimit(RLIMIT_CPU, &limit);
}

void EndAtCpuLimit(int exit_code, const char* what_stays) {
  g_what_stays = what_stays;
  g_exit_code = exit_code;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXCPU);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace batchlight::capture

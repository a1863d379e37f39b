// A program that records events and then misbehaves. It knows the recorder only through NVTX and
// native_api.h, found by dlsym, so it runs alone as well.
//
//   fault_program MODE [N] [COUNTER_FILE]
//
// COUNTER_FILE: two words of 8 bytes, mapped and shared: how many operators were recorded, counted
// after each one, so that a test knows how many must be in the recording whenever the program was
// killed; and 1 once the test lets the orphan go on, 2 once that has recorded its operators.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../inject/mini_nvtx.h"
#include "inject/native_api.h"

namespace {

const batchlight_native_api_t* g_api = nullptr;
std::atomic<uint64_t> g_own_words[2] = {0, 1};
std::atomic<uint64_t>* g_recorded = &g_own_words[0];
std::atomic<uint64_t>* g_orphan = &g_own_words[1];

void FindRecorder() {
  using Get = const batchlight_native_api_t* (*)();
  const auto get = reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "batchlight_native_api"));
  if (get != nullptr) g_api = get();
}

void MapCounter(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, 4096) != 0) std::abort();
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) std::abort();
  g_recorded = static_cast<std::atomic<uint64_t>*>(memory);
  g_orphan = g_recorded + 1;
}

// Waits until the condition holds, or for a minute: a loaded machine may leave a process without a
// processor for seconds.
template <typename Condition>
void Until(Condition condition) {
  for (int i = 0; i < 600'000 && !condition(); ++i) usleep(100);
}

bool Begin(const char* name) {
  return g_api != nullptr && g_api->op_begin(name, -1, 0, 0, nullptr, 0) != 0;
}

void Operator(const char* name) {
  if (!Begin(name)) return;
  g_api->op_end();
  g_recorded->fetch_add(1);
}

void Operators(int count) {
  for (int i = 0; i < count; ++i) Operator("fault::step");
}

// About an operator a microsecond, so that recordings stay small enough to be printed as text.
[[noreturn]] void Forever() {
  while (true) {
    Operator("fault::step");
    for (int i = 0; i < 3000; ++i) {
      std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the loop
    }
  }
}

// An operator each millisecond: for tests that look at the recording again and again.
[[noreturn]] void Paced() {
  while (true) {
    Operator("fault::step");
    usleep(1000);
  }
}

// `count` operators in a second or so for 10,000, and a thread that records nothing and counts its
// turns in the second word of the file.
void Beside(int count) {
  std::atomic<bool> done = false;
  std::thread beside([&done] {
    for (; !done; usleep(1000)) g_orphan->fetch_add(1);
  });
  for (int i = 0; i < count; ++i) {
    Operator("fault::step");
    usleep(50);
  }
  done = true;
  beside.join();
}

// `count` children, at most 16 at a time: three of four end by _exit, one becomes /bin/true.
void Children(int count) {
  int running = 0;
  for (int i = 0; i < count; ++i) {
    if (running == 16) {
      wait(nullptr);
      --running;
    }
    const pid_t pid = fork();
    if (pid == 0) {
      Operators(3);
      if (i % 4 == 0) execl("/bin/true", "true", nullptr);
      _exit(i % 4);
    }
    ++running;
  }
  while (wait(nullptr) > 0) {
  }
}

void Threads(int count) {
  for (int started = 0; started < count; started += 8) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([] { Operators(3); });
    for (std::thread& thread : threads) thread.join();
  }
}

// Children that record without end. Every other one is killed at a random moment within 2 ms,
// perhaps before it has begun; the others once they have recorded up to 2,000 operators.
void KilledChildren(int count) {
  srand(1);
  for (int i = 0; i < count; ++i) {
    const uint64_t before = *g_recorded;
    const pid_t pid = fork();
    if (pid == 0) Forever();
    const int random = rand() % 2'000;
    if (i % 2 == 0) {
      usleep(static_cast<useconds_t>(random));
    } else if (g_api != nullptr) {
      Until([&] { return *g_recorded > before + static_cast<uint64_t>(random); });
    }
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

void Nested(int depth) {
  for (int i = 0; i < depth; ++i) Begin("fault::open");
}

void StrangeNames() {
  const std::string long_name(10'000'000, 'x');
  nvtxRangePushA(long_name.c_str());
  nvtxRangePop();
  nvtxRangePushA("\xff\xfe invalid \xc3( utf-8");
  nvtxRangePop();
  nvtxRangePushA("");
  nvtxRangePop();
  nvtxMarkA("line\nbreak \"quoted\" \t tab \x1b[31m");
}

// `count` ranges "step" with a range "inner" each, and "between" after each.
void Steps(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    nvtxRangePushA("inner");
    usleep(2000);
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushA("between");
    usleep(1000);
    nvtxRangePop();
  }
}

// Operators before and after the files of the recording are cut to nothing.
void CutShort(int count) {
  const char* folder = getenv("BATCHLIGHT_SESSION_DIR");
  Operators(count);
  if (folder != nullptr) {
    const std::string command = "for f in " + std::string(folder) + "/*-*.blp; do : > $f; done";
    if (std::system(("LD_PRELOAD= sh -c '" + command + "'").c_str()) != 0) std::abort();
  }
  Operators(count);
}

sigjmp_buf g_back;

void JumpBack(int) { siglongjmp(g_back, 1); }

// Deeper in the stack than where the jump lands.
[[gnu::noinline]] void Deeper(int depth) {
  volatile char room[512];
  room[0] = static_cast<char>(depth);
  if (depth > 0) Deeper(depth - 1);
  Operator("fault::deeper");
  nvtxRangePushA("deeper");
  nvtxRangePop();
  room[1] = room[0];
}

// Without malloc, which must not be left by a jump.
void Register(uint64_t i) {
  const bool is_first = i == 0;
  char name[] = "registered 0000";
  for (size_t digit = 0; digit < 4; ++digit, i /= 10) {
    name[sizeof name - 2 - digit] = static_cast<char>('0' + i % 10);
  }
  nvtxDomainRegisterStringA(nullptr, name);
  if (is_first) nvtxNameCategoryA(7, name);  // each is kept: few
}

void Interrupt(int microseconds) {
  const itimerval timer = {{0, 0}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// `count` times: a timer that fires in the midst of operators, ranges and registrations, and a
// handler that jumps away from there. Then the same, with calls from further in only.
void Jumps(int count) {
  Register(0);  // NVTX is loaded by this
  signal(SIGALRM, JumpBack);
  volatile int left = 2 * count;
  while (left > 0) {
    if (sigsetjmp(g_back, 1) != 0) {
      left = left - 1;
      continue;
    }
    Interrupt(1 + rand() % 300);
    for (uint64_t i = 0;; ++i) {
      if (left > count) {
        Operator("fault::step");
        Register(i);
      }
      Deeper(3);
    }
  }
  Interrupt(0);
}

// Of the calling thread, and of those that it starts.
void BlockAlarms(bool block) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &alarm, nullptr);
}

// The recorder is left by a jump in a thread that never comes back to it, perhaps with a lock in
// its hands; others go on registering.
void JumpsAndOthers(int count) {
  std::atomic<bool> stop{false};
  // Blocked before the thread begins: an alarm in it would jump to this thread's stack.
  BlockAlarms(true);
  std::thread other([&] {
    for (uint64_t i = 0; !stop; ++i) {
      Register(i);
      Operator("fault::other");
      usleep(20);
    }
  });
  BlockAlarms(false);
  Jumps(count);
  stop = true;
  other.join();
  Operators(count);
}

void* UntilCancelled(void*) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (uint64_t i = 0;; ++i) {
    Operator("fault::cancelled");
    Register(i);
  }
}

// `count` threads that are cancelled wherever they are, also inside the recorder.
void CancelledThreads(int count) {
  Register(0);
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, UntilCancelled, nullptr) != 0) std::abort();
    usleep(static_cast<useconds_t>(rand() % 500));
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  Operators(100);
}

// Handlers that record come in the midst of operators, on a stack above the thread's own that is no
// alternate stack any more while they run.
void DisarmedStack(int count) {
  constexpr int kAutoDisarm = static_cast<int>(1u << 31);
  constexpr size_t kBytes = 1 << 20;
  stack_t above = {};
  above.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  above.ss_size = kBytes;
  above.ss_flags = kAutoDisarm;
  BlockAlarms(true);
  std::thread([&] {
    if (syscall(SYS_sigaltstack, &above, nullptr) != 0) std::abort();
    struct sigaction action = {};
    action.sa_handler = [](int) { Operator("fault::handler"); };
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    BlockAlarms(false);
    for (int i = 0; i < count; ++i) {
      if (i % 100 == 0) Interrupt(1 + rand() % 50);
      Operator("fault::step");
    }
    Interrupt(0);
    signal(SIGALRM, SIG_IGN);
  }).join();
}

// A child that is made behind the C library's back and records in threads of its own first, while
// its parent goes on.
void RawFork(int count) {
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([count] { Operators(count); });
  for (std::thread& thread : threads) thread.join();
  Operators(count);
  if (pid == 0) _exit(0);
  int status = 1;
  if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
}

// Uses up all file descriptors, and goes on.
void NoDescriptors(int count) {
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
  Operators(count);
}

// Becomes nobody; then a child of it records.
void OtherUser(int count) {
  if (setuid(65534) != 0) std::abort();
  const pid_t pid = fork();
  if (pid == 0) {
    Operators(count);
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
}

// Confines itself, so that any other system call than to read, write or end kills it.
[[noreturn]] void Strict(int count) {
  Operators(count);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) _exit(9);
  Operators(100'000);  // more than one chunk holds
  syscall(SYS_exit, 5);
  __builtin_unreachable();
}

// Forbids itself a call that it does not make: recording, which reserves disk blocks, does.
void ForbidReserving() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(9);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) _exit(9);
}

constexpr std::pair<const char*, int> kCalls[] = {
#define CALL(name) \
  { #name, SYS_##name }
    CALL(brk),
    CALL(clone),
    CALL(clone3),
    CALL(close),
    CALL(execve),
    CALL(exit),
    CALL(exit_group),
    CALL(fallocate),
    CALL(fstat),
    CALL(fstatfs),
    CALL(ftruncate),
    CALL(futex),
    CALL(getcpu),
    CALL(getpid),
    CALL(getppid),
    CALL(getrandom),
    CALL(geteuid),
    CALL(gettid),
    CALL(ioctl),
    CALL(kill),
    CALL(lseek),
    CALL(madvise),
    CALL(mmap),
    CALL(mprotect),
    CALL(munmap),
    CALL(newfstatat),
    CALL(openat),
    CALL(prctl),
    CALL(prlimit64),
    CALL(pwrite64),
    CALL(read),
    CALL(readlinkat),
    CALL(rseq),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(rt_sigtimedwait),
    CALL(sched_yield),
    CALL(set_robust_list),
    CALL(sigaltstack),
    CALL(tgkill),
    CALL(wait4),
    CALL(write),
    CALL(process_vm_readv),
    CALL(nanosleep),
    CALL(timer_create),
    CALL(timer_delete),
    CALL(timer_settime),
#undef CALL
};

// Forbids itself all calls but those named in the variable CALLS, on pain of death.
void AllowNamedCalls() {
  const std::string wanted = std::string(" ") + getenv("CALLS") + " ";
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const auto& [name, number] : kCalls) {
    if (wanted.find(" " + std::string(name) + " ") == std::string::npos) continue;
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog program{static_cast<uint16_t>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(9);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) _exit(9);
}

// What makes the recorder call the kernel, where little is allowed.
void Confined(int count) {
  AllowNamedCalls();
  Operators(count);
  Threads(8);
  if (const pid_t child = fork(); child == 0) {
    Operators(count);
    exit(3);
  } else {
    waitpid(child, nullptr, 0);
  }
}

int Run(const std::string& mode, int count) {
  Operators(10);
  if (mode == "exit") return count;
  if (mode == "_exit") _exit(count);
  if (mode == "abort") std::abort();
  if (mode == "signal") raise(count);
  if (mode == "forever") Forever();
  if (mode == "paced") Paced();
  if (mode == "operators") Operators(count);
  if (mode == "beside") Beside(count);
  if (mode == "children") Children(count);
  if (mode == "threads") Threads(count);
  if (mode == "killed-children") KilledChildren(count);
  if (mode == "endless-threads") {
    for (int i = 0; i < count; ++i) std::thread(Forever).detach();
    Until([] { return g_api == nullptr || *g_recorded > 5'000; });
  }
  if (mode == "strict") Strict(count);
  if (mode == "forbids") {
    ForbidReserving();
    Operators(count);
  }
  if (mode == "confined") Confined(count);
  if (mode == "jumps") Jumps(count);
  if (mode == "jumps-and-others") JumpsAndOthers(count);
  if (mode == "cancelled-threads") CancelledThreads(count);
  if (mode == "disarmed-stack") DisarmedStack(count);
  if (mode == "raw-fork") RawFork(count);
  if (mode == "other-user") OtherUser(count);
  if (mode == "no-descriptors") NoDescriptors(count);
  if (mode == "cut-short") CutShort(count);
  if (mode == "names") StrangeNames();
  if (mode == "steps") Steps(count);
  if (mode == "open-ranges") {
    for (int i = 0; i < count; ++i) nvtxRangePushA("open");
  }
  if (mode == "unbalanced-pops") {
    for (int i = 0; i < count; ++i) nvtxRangePop();
    nvtxRangePushA("after");
    nvtxRangePop();
  }
  if (mode == "open") Nested(count);
  if (mode == "unbalanced" && g_api != nullptr) {
    for (int i = 0; i < count; ++i) g_api->op_end();
  }
  if (mode == "orphan") {  // leaves a process behind that ends later
    const pid_t parent = getpid();
    if (fork() == 0) {
      Until([&] { return getppid() != parent && *g_orphan == 1; });
      Operators(5);
      *g_orphan = 2;
      _exit(4);
    }
  }
  if (mode == "sleep") usleep(static_cast<useconds_t>(count) * 1000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  FindRecorder();
  if (argc > 3) MapCounter(argv[3]);
  return Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 0);
}

// Waits, reads and locks so often and so long as it says on its output, and does what a profiler of
// the C library must survive: os_calls_test.py runs it. The first argument says what.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr long kMs = 1'000'000;

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s (errno %d)\n", what, errno);
  std::_Exit(3);
}

timespec In(clockid_t clock, long ns) {
  timespec at{};
  clock_gettime(clock, &at);
  at.tv_nsec += ns;
  at.tv_sec += at.tv_nsec / 1'000'000'000;
  at.tv_nsec %= 1'000'000'000;
  return at;
}

void Pause(long ms) {  // not by a call that is counted
  const timespec end = In(CLOCK_MONOTONIC, ms * kMs);
  for (timespec now = In(CLOCK_MONOTONIC, 0);
       now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec);
       now = In(CLOCK_MONOTONIC, 0)) {
  }
}

// Waits until the main thread sleeps, and 20 ms more. By system calls of its own, which are not
// counted.
void PauseWhileItSleeps() {
  const std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/stat";
  for (char state = 0; state != 'S';) {
    char text[128] = {};
    const long file = syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY);
    (void)syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    const char* behind_name = std::strrchr(text, ')');
    if (behind_name != nullptr) state = behind_name[2];
  }
  Pause(20);
}

struct Shared {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore{};
  sem_t ready{};
  int pipe_ends[2] = {-1, -1};
  bool flag = false;
  std::atomic<int> tid{0};
} g_shared;

template <class F>
void WithThread(F body) {
  pthread_t thread{};
  Require(pthread_create(
              &thread, nullptr,
              [](void* function) -> void* {
                g_shared.tid = static_cast<int>(syscall(SYS_gettid));
                (*static_cast<F*>(function))();
                return nullptr;
              },
              &body) == 0,
          "pthread_create");
  while (g_shared.tid == 0) sched_yield();
}

// Each kind of wait, once: 20 ms or more; until a time 100 ms ahead, of which another program may
// have taken some.
void Waits() {
  Require(usleep(20'000) == 0, "usleep");
  const timespec time{0, 20 * kMs};
  Require(nanosleep(&time, nullptr) == 0, "nanosleep");
  Require(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == 0, "clock_nanosleep");

  Require(pipe(g_shared.pipe_ends) == 0, "pipe");
  sem_init(&g_shared.semaphore, 0, 0);
  sem_init(&g_shared.ready, 0, 0);
  WithThread([] {
    pthread_mutex_lock(&g_shared.mutex);
    sem_post(&g_shared.ready);
    PauseWhileItSleeps();
    pthread_mutex_unlock(&g_shared.mutex);
    PauseWhileItSleeps();
    pthread_mutex_lock(&g_shared.mutex);
    g_shared.flag = true;
    pthread_cond_signal(&g_shared.condition);
    pthread_mutex_unlock(&g_shared.mutex);
    PauseWhileItSleeps();
    sem_post(&g_shared.semaphore);
    PauseWhileItSleeps();
    Require(write(g_shared.pipe_ends[1], "x", 1) == 1, "write");
  });
  sem_wait(&g_shared.ready);
  pthread_mutex_lock(&g_shared.mutex);  // held by the thread
  while (!g_shared.flag) pthread_cond_wait(&g_shared.condition, &g_shared.mutex);
  pthread_mutex_unlock(&g_shared.mutex);
  sem_wait(&g_shared.semaphore);
  char byte = 0;
  Require(read(g_shared.pipe_ends[0], &byte, 1) == 1, "read");

  timespec until = In(CLOCK_MONOTONIC, 100 * kMs);
  Require(sem_clockwait(&g_shared.semaphore, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT,
          "sem_clockwait");
  until = In(CLOCK_REALTIME, 100 * kMs);
  Require(sem_timedwait(&g_shared.semaphore, &until) == -1, "sem_timedwait");
  pthread_mutex_lock(&g_shared.mutex);
  until = In(CLOCK_MONOTONIC, 100 * kMs);
  Require(pthread_cond_clockwait(&g_shared.condition, &g_shared.mutex, CLOCK_MONOTONIC, &until) ==
              ETIMEDOUT,
          "pthread_cond_clockwait");
  until = In(CLOCK_REALTIME, 100 * kMs);
  Require(pthread_cond_timedwait(&g_shared.condition, &g_shared.mutex, &until) == ETIMEDOUT,
          "pthread_cond_timedwait");
  pthread_mutex_unlock(&g_shared.mutex);
  int word = 1;
  Require(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &time, nullptr, 0) == -1, "futex");
  pollfd descriptor{g_shared.pipe_ends[0], POLLIN, 0};
  Require(poll(&descriptor, 1, 20) == 0, "poll");
  std::printf("waker %d\n", g_shared.tid.load());
}

// `count` times of short calls, and a file.
void Counts(long count, const char* path) {
  const int zero = open("/dev/zero", O_RDONLY);
  char byte = 0;
  for (long i = 0; i < count; ++i) Require(read(zero, &byte, 1) == 1, "read");
  close(zero);
  for (long i = 0; i < 2 * count; ++i) {
    pthread_mutex_lock(&g_shared.mutex);
    pthread_mutex_unlock(&g_shared.mutex);
  }
  for (long i = 0; i < 3 * count; ++i) sched_yield();
  const std::vector<char> block(4096, 'x');
  const int out = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (long i = 0; i < count; ++i) Require(write(out, block.data(), block.size()) == 4096, "write");
  Require(fsync(out) == 0, "fsync");
  std::vector<char> large(65536);
  lseek(out, 0, SEEK_SET);
  while (read(out, large.data(), large.size()) > 0) {
  }
  close(out);
  FILE* file = std::fopen(path, "r");
  size_t items = 0;
  while (std::fread(large.data(), 16, 64, file) > 0) ++items;
  std::fclose(file);
}

void Errors() {
  char byte = 0;
  const int zero = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 1000; ++i) {
    errno = 77;
    Require(read(zero, &byte, 1) == 1 && errno == 77, "errno after read");
    pthread_mutex_lock(&g_shared.mutex);
    pthread_mutex_unlock(&g_shared.mutex);
    sched_yield();
    Require(errno == 77, "errno after locks");
    Require(read(-1, &byte, 1) == -1 && errno == EBADF, "EBADF");
    Require(open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT, "ENOENT");
    Require(close(4000) == -1 && errno == EBADF, "close");
    Require(open(reinterpret_cast<const char*>(8), O_RDONLY) == -1 && errno == EFAULT, "EFAULT");
    errno = 77;
    FILE* memory = fmemopen(&byte, 1, "r");  // has no descriptor
    errno = 77;
    Require(std::fread(&byte, 1, 1, memory) == 1 && errno == 77, "errno after fread");
    std::fclose(memory);
  }
  sem_init(&g_shared.semaphore, 0, 1);
  errno = 77;
  Require(sem_wait(&g_shared.semaphore) == 0 && errno == 77, "errno after sem_wait");
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t checked;
  pthread_mutex_init(&checked, &kind);
  Require(pthread_mutex_lock(&checked) == 0, "errorcheck");
  Require(pthread_mutex_lock(&checked) == EDEADLK, "EDEADLK");
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t recursive;
  pthread_mutex_init(&recursive, &kind);
  Require(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0, "recursive");
}

// A lock whose owner dies is handed on, and says so.
void Robust() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&g_shared.mutex, &kind);
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_mutex_lock(&g_shared.mutex);
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  Require(pthread_mutex_lock(&g_shared.mutex) == EOWNERDEAD, "EOWNERDEAD");
}

// Threads that are cancelled in a call: cleanup handlers run, locks are right afterwards.
void Cancel() {
  Require(pipe(g_shared.pipe_ends) == 0, "pipe");
  sem_init(&g_shared.semaphore, 0, 0);
  static std::atomic<int> cleaned{0};
  const auto run = [](void* (*body)(void*)) {
    pthread_t thread{};
    pthread_create(&thread, nullptr, body, nullptr);
    Pause(5);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    Require(result == PTHREAD_CANCELED, "cancelled");
  };
  for (int i = 0; i < 20; ++i) {
    run([](void*) -> void* {
      pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
      char byte = 0;
      (void)!read(g_shared.pipe_ends[0], &byte, 1);
      pthread_cleanup_pop(0);
      return nullptr;
    });
    run([](void*) -> void* {
      pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
      sem_wait(&g_shared.semaphore);
      pthread_cleanup_pop(0);
      return nullptr;
    });
    run([](void*) -> void* {
      pthread_mutex_lock(&g_shared.mutex);
      pthread_cleanup_push(
          [](void*) {
            ++cleaned;
            pthread_mutex_unlock(&g_shared.mutex);
          },
          nullptr);
      for (;;) pthread_cond_wait(&g_shared.condition, &g_shared.mutex);
      pthread_cleanup_pop(0);
      return nullptr;
    });
  }
  Require(cleaned == 60, "cleanup handlers");
  Require(pthread_mutex_trylock(&g_shared.mutex) == 0, "the lock is free");
}

sigjmp_buf g_jump;
std::atomic<long> g_handled{0};

// A handler that calls what it interrupts, and sometimes does not come back.
void Handle(int) {
  const int saved = errno;
  const long number = ++g_handled;
  (void)!write(g_shared.pipe_ends[1], "x", 1);
  char byte = 0;
  (void)!read(g_shared.pipe_ends[0], &byte, 1);
  sem_post(&g_shared.semaphore);
  errno = saved;
  if (number % 50 == 0) siglongjmp(g_jump, 1);
}

void Signals() {
  Require(pipe(g_shared.pipe_ends) == 0, "pipe");
  sem_init(&g_shared.semaphore, 0, 0);
  struct sigaction action = {};
  action.sa_handler = Handle;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer = {{0, 500}, {0, 500}};
  const int zero = open("/dev/zero", O_RDONLY);
  sigsetjmp(g_jump, 1);
  setitimer(ITIMER_REAL, &timer, nullptr);
  char byte = 0;
  while (g_handled < 400) {
    const ssize_t got = read(zero, &byte, 1);
    Require(got == 1 || errno == EINTR, "read");
    sched_yield();
  }
  const itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
}

void Vforks(char* program) {
  for (int i = 0; i < 50; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      close(0);
      dup2(2, 0);
      const pid_t inner = vfork();
      if (inner == 0) _exit(4);
      execl(program, program, "quiet", nullptr);
      _exit(5);
    }
    int status = 0;
    Require(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
    Require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child of vfork");
    char byte = 0;
    Require(read(0, &byte, 1) >= 0, "the parent's descriptor");
  }
}

void Forks() {
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const timespec time{0, 2 * kMs};
      nanosleep(&time, nullptr);
      _exit(0);
    }
    int status = 1;
    Require(waitpid(child, &status, 0) == child && status == 0, "the child");
  }
}

// Many threads, and little stack.
void Threads(long count) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32768);
  std::vector<pthread_t> threads(static_cast<size_t>(count));
  for (pthread_t& thread : threads) {
    const int error = pthread_create(
        &thread, &attributes,
        [](void*) -> void* {
          const int file = open("/proc/self/stat", O_RDONLY);
          char text[256];
          (void)!read(file, text, sizeof text);
          close(file);
          return nullptr;
        },
        nullptr);
    Require(error == 0, "pthread_create");
    if ((&thread - threads.data()) % 100 == 99) {
      for (pthread_t* done = &thread - 99; done <= &thread; ++done) pthread_join(*done, nullptr);
    }
  }
}

// Waits with so little left of its stack: what it has is the program's, but for some.
[[gnu::noinline]] void WaitWith(size_t left) {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* stack = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &stack, &bytes);
  pthread_attr_destroy(&attributes);
  char here = 0;
  const auto room = static_cast<size_t>(&here - static_cast<char*>(stack));
  auto* const used = static_cast<volatile char*>(__builtin_alloca(room - left));
  used[0] = here;
  const timespec time{0, 2 * kMs};
  nanosleep(&time, nullptr);
  used[0] = 1;
}

void LittleStack() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_t thread;
  Require(pthread_create(
              &thread, &attributes,
              [](void*) -> void* {
                WaitWith(32768);  // what is called first may take some to be found
                WaitWith(5000);
                return nullptr;
              },
              nullptr) == 0,
          "pthread_create");
  pthread_join(thread, nullptr);
}

// Threads that all live at once, each with a hundred calls.
void Crowd(long count) {
  static std::atomic<long> waiting;
  waiting = count;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32768);
  std::vector<pthread_t> threads(static_cast<size_t>(count));
  for (pthread_t& thread : threads) {
    const int error = pthread_create(
        &thread, &attributes,
        [](void*) -> void* {
          for (int i = 0; i < 100; ++i) sched_yield();
          --waiting;
          while (waiting > 0) usleep(1000);
          return nullptr;
        },
        nullptr);
    Require(error == 0, "pthread_create");
  }
  for (const pthread_t& thread : threads) pthread_join(thread, nullptr);
}

// A handler that makes the call that it interrupts. Says how many were made.
void InHandler() {
  static volatile long in_handler = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    sched_yield();
    in_handler = in_handler + 1;
  };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  long calls = 0;
  for (; in_handler < 5000; ++calls) sched_yield();
  const itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
  std::printf("%ld\n", calls + in_handler);
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "waits") Waits();
  if (what == "counts") Counts(std::atol(words[2]), words[3]);
  if (what == "errors") Errors();
  if (what == "robust") Robust();
  if (what == "cancel") Cancel();
  if (what == "signals") Signals();
  if (what == "vfork") Vforks(words[0]);
  if (what == "fork") Forks();
  if (what == "threads") Threads(std::atol(words[2]));
  if (what == "crowd") Crowd(std::atol(words[2]));
  if (what == "handler") InHandler();
  if (what == "little-stack") LittleStack();
  std::fflush(stdout);
  return 0;
}

// What is typed for a program that gets nothing of the terminal itself, as another user's: by a
// pipe. Who has the terminal's own descriptor reads on when the tool has ended, what root types
// then.
#pragma once

#include <thread>

namespace batchlight::capture {

class KeyRelay {
 public:
  // For standard input that is a terminal. Where others beside the tool read its keys, the
  // program's input is at its end from the beginning.
  explicit KeyRelay(bool others_read);
  KeyRelay(const KeyRelay&) = delete;
  KeyRelay& operator=(const KeyRelay&) = delete;
  ~KeyRelay();

  // For the program's standard input, until Start(); -1: as the tool's, which is no terminal.
  int program_end() const { return program_fd_; }
  // Once the program's process has its end. Reads while the tool's group has the foreground.
  void Start();
  // The keys are the tool's again. From any thread.
  void Stop() const;

 private:
  void Run() const;
  bool Give(const char* keys, size_t count) const;

  int terminal_fd_ = -1;
  int program_fd_ = -1;
  int keys_fd_ = -1;
  int stop_fd_ = -1;
  std::thread thread_;
};

}  // namespace batchlight::capture

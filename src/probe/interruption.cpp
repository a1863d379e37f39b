#include "probe/interruption.h"

#include <cstddef>

namespace batchlight::probe {
namespace {

volatile sig_atomic_t came = 0;

void Note(int signal) { came = signal; }

}  // namespace

Interruption::Interruption() {
  came = 0;
  struct sigaction action = {};
  action.sa_handler = Note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: what blocks returns
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // Under nohup, or in the background of a shell, it stays ignored.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int Interruption::Signal() { return came; }

void Interruption::ForgetInWorker() {
  for (const int signal : kSignals) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == Note) ::signal(signal, SIG_DFL);
  }
}

}  // namespace batchlight::probe

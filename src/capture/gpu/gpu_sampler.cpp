#include "capture/gpu/gpu_sampler.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/child.h"
#include "capture/program/install.h"

namespace batchlight::capture {
namespace {

constexpr int kStopTimeoutMs = 3000;

}  // namespace

void GpuSampler::SayWhyNot(const std::string& why) { log_.AddReason("gpu_metrics", why); }

void GpuSampler::Start(const GpuSampling& options) {
  const auto install = FindInstall();
  int input[2] = {-1, -1};
  int output[2] = {-1, -1};
  if (!install.ok() || pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
    return SayWhyNot("GPU metrics are not sampled: " +
                     (install.ok() ? std::strerror(errno) : install.status().message()));
  }
  ChildSpec spec{.words = {install->host_query, "sample", options.cupti_folder, options.devices,
                           std::to_string(options.interval_ns)},
                 .path = install->host_query};
  spec.words.insert(spec.words.end(), options.metrics.begin(), options.metrics.end());
  spec.input_fd = input[0];
  spec.output_fd = output[1];
  sigset_t none;
  sigemptyset(&none);
  spec.signal_mask = none;
  const Child child = StartChild(spec);
  close(input[0]);
  close(output[1]);
  input_fd_ = input[1];
  output_fd_ = output[0];
  if (child.error != 0) {
    End();
    return SayWhyNot("GPU metrics are not sampled: " + install->host_query + ": " +
                     std::strerror(child.error));
  }
  pid_ = child.pid;
  fcntl(output_fd_, F_SETFL, O_NONBLOCK);
  frames_.on_metric = [this](const GpuMetricDefinition& metric) { log_.DefineGpuMetric(metric); };
  frames_.on_sample = [this](const GpuSample& sample) {
    if (control_.collecting()) log_.AddGpuSample(sample);
  };
  frames_.on_reason = [this](std::string_view text) { log_.AddReason("gpu_metrics", text); };
  frames_.on_lost = [this](uint64_t samples) { lost_ += samples; };
  loop_.Add(output_fd_, [this] { Read(); });
}

void GpuSampler::Read() {
  char bytes[64 * 1024];
  for (;;) {
    const ssize_t got = read(output_fd_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;  // nothing more for now
    if (got == 0) return End();
    if (frames_.Take({bytes, static_cast<size_t>(got)})) continue;
    SayWhyNot("GPU metrics end here: host_query wrote what this batchlight does not know");
    return End();
  }
}

void GpuSampler::Stop() {
  if (output_fd_ < 0) return;
  if (input_fd_ >= 0) close(input_fd_);
  input_fd_ = -1;
  // It writes what it has, and its end of the pipe is closed when it is done.
  while (output_fd_ >= 0) {
    pollfd ready = {output_fd_, POLLIN, 0};
    const int count = poll(&ready, 1, kStopTimeoutMs);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    Read();
  }
  End();
}

bool GpuSampler::NoteEnd(pid_t pid) {
  if (pid_ <= 0 || pid != pid_) return false;
  pid_ = -1;
  return true;
}

void GpuSampler::End() {
  if (output_fd_ >= 0) {
    loop_.Remove(output_fd_);
    close(output_fd_);
  }
  if (input_fd_ >= 0) close(input_fd_);
  output_fd_ = input_fd_ = -1;
  if (pid_ > 0) {
    kill(pid_, SIGKILL);  // has ended by itself, but for one that hangs in the driver
    for (int wait = 0; wait < 100 && waitpid(pid_, nullptr, WNOHANG) == 0; ++wait) usleep(10'000);
    pid_ = -1;
  }
  if (lost_ != 0) log_.AddCounter(format::Counter::kGpuMetricSamplesLost, lost_);
  lost_ = 0;
}

}  // namespace batchlight::capture

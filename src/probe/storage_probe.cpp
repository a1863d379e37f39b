#include "probe/storage_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/folder.h"
#include "base/memory_budget.h"
#include "base/partial_folder.h"
#include "probe/interruption.h"
#include "probe/mount_of.h"
#include "probe/page_cache.h"
#include "probe/storage_work.h"
#include "probe/workers.h"

namespace batchlight::probe {
namespace {

constexpr uint64_t kLeastBytes = 64 * kMiB;      // with less no figure means anything
constexpr uint64_t kLeastDataBytes = 16 * kMiB;  // of the file that is read
constexpr uint64_t kMostWarmBytes = 1024 * kMiB;
constexpr uint64_t kMostSmallFiles = 1024;
constexpr int kWorkersOfPreparation = 16;  // so that their syncs share commits
constexpr double kShareForData = 0.2;      // of the time
constexpr double kShareForSmallFiles = 0.08;
constexpr double kMostForReadAhead = 0.02;  // of the time, after each row of cold sequential reads
constexpr double kWarmWeight = 0.5;         // memory needs less time for a steady figure

Status CheckPath(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    return InputError(path + ": " + std::strerror(errno) +
                      "; name a folder on the storage that is to be measured");
  }
  if (!S_ISDIR(info.st_mode)) {
    return InputError(path + " is no folder; the probe makes files of its own in a folder");
  }
  if (faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return InputError("cannot write below " + path + ": " + std::strerror(errno) +
                      "; name a folder on the same storage that you may write");
  }
  return {};
}

std::vector<int> WorkerCounts(const std::vector<int>& wanted, uint64_t data_bytes) {
  std::set<int> counts(wanted.begin(), wanted.end());
  if (wanted.empty()) {
    counts = {1, 4, 16, static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)))};
  }
  // Each worker reads a part of its own, of at least one block of the largest size.
  std::vector<int> possible;
  for (const int count : counts) {
    if (static_cast<uint64_t>(count) * kMiB <= data_bytes) possible.push_back(count);
  }
  return possible;
}

std::string SizeText(uint64_t bytes) { return std::to_string(bytes / kMiB) + " MiB"; }

class StorageProbe {
 public:
  StorageProbe(const StorageOptions& options, PartialFolder& scratch)
      : options_(options),
        folder_(scratch.held()),
        start_ns_(NowNs()),
        stop_ns_(start_ns_ + static_cast<int64_t>(options.seconds * 1e9)) {
    files_.folder = &folder_;
    found_.path = options.path;
    std::unique_ptr<char, decltype(&std::free)> real(realpath(options.path.c_str(), nullptr),
                                                     &std::free);
    if (real) {
      std::ostringstream mounts;  // files of /proc have no size
      mounts << std::ifstream("/proc/self/mountinfo").rdbuf();
      Mount mount = MountOf(real.get(), mounts.str());
      found_.file_system = std::move(mount.file_system);
      found_.device = std::move(mount.device);
    }
  }

  Result<StorageMeasurements> Run() {
    RETURN_IF_ERROR(ChooseSize());
    RETURN_IF_ERROR(WriteData());
    counts_ = WorkerCounts(options_.workers, found_.warm_bytes);
    if (counts_.empty()) {
      return UsageError("--workers: each worker needs 1 MiB of the file, which has " +
                        SizeText(found_.warm_bytes) + "; fewer workers, or a larger --size");
    }
    RETURN_IF_ERROR(WriteSmall());
    PlanTime();
    for (const bool cold : {true, false}) {
      if (!cold) RETURN_IF_ERROR(WarmUp());
      for (const int workers : counts_) {  // the fewest first, should the time not last
        for (const StorageCase& what : StorageCases()) {
          if (what.reads_data()) RETURN_IF_ERROR(MeasureRead(what, workers, cold));
        }
      }
    }
    RETURN_IF_ERROR(MeasureCheckpoints());
    // At the end, as file systems write what they know of thousands of files long after the call.
    RETURN_IF_ERROR(MeasureMetadata());
    return Finished();
  }

 private:
  Status ChooseSize() {
    struct statvfs space = {};
    if (fstatvfs(folder_.fd(), &space) != 0) {
      return InputError(options_.path +
                        ": cannot find out how much is free: " + std::strerror(errno));
    }
    const uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
    bytes_ = std::min(options_.bytes, free_bytes / 2);  // others write there too
    const bool in_memory = found_.file_system == "tmpfs" || found_.file_system == "ramfs";
    if (in_memory) bytes_ = std::min(bytes_, AvailableMemoryBytes() / 2);
    if (bytes_ >= kLeastBytes) return {};
    if (options_.bytes < kLeastBytes) {
      return UsageError("--size: the probe needs at least " + SizeText(kLeastBytes));
    }
    return InputError(options_.path + " has " + SizeText(free_bytes) +
                      " free; the probe uses at most half of that and needs " +
                      SizeText(kLeastBytes) + ": free some, or name another folder");
  }

  Result<WorkersResult> WriteDataFileOf(uint64_t bytes) {
    Say("writing the file to be read");
    WorkersSpec spec = WriteDataFile(folder_, bytes);
    spec.seconds = options_.seconds * kShareForData;
    spec.grace_seconds = std::max(30.0, options_.seconds);  // its sync
    return RunWorkers("writing " + options_.path, spec);
  }

  // Cuts the file to files_.data_bytes. Where blocks are copied on write a full quota refuses that,
  // too, but not to remove a file.
  Status MakeRoom() {
    const int fd = folder_.OpenFile(kDataName, O_RDWR);
    const bool cut = fd >= 0 && ftruncate(fd, static_cast<off_t>(files_.data_bytes)) == 0;
    if (fd >= 0) close(fd);
    if (cut) return {};
    folder_.Remove(kDataName);
    ASSIGN_OR_RETURN(const WorkersResult written, WriteDataFileOf(files_.data_bytes));
    files_.data_bytes = written.bytes / kMiB * kMiB;
    if (written.error == 0 && files_.data_bytes >= kLeastDataBytes) return {};
    return InputError(options_.path + ": only " + SizeText(files_.data_bytes) +
                      " could be written again" +
                      (written.error != 0 ? std::string(": ") + std::strerror(written.error) : "") +
                      "; free some, or name another folder");
  }

  // The file that is read; in passing, what a single writer gets.
  Status WriteData() {
    ASSIGN_OR_RETURN(const WorkersResult written, WriteDataFileOf(bytes_ * 5 / 8 / kMiB * kMiB));
    write_bytes_per_s_ = written.PerSecond(written.bytes);
    files_.data_bytes = written.bytes / kMiB * kMiB;
    if (written.error != 0) {
      // No room for more: what follows needs some of it.
      files_.data_bytes = files_.data_bytes * 5 / 8 / kMiB * kMiB;
      bytes_ = written.bytes;
      found_.notes.push_back("only " + SizeText(written.bytes) +
                             " could be written: " + std::strerror(written.error));
    }
    if (files_.data_bytes < kLeastDataBytes) {
      return InputError(options_.path + ": only " + SizeText(written.bytes) + " could be written" +
                        (written.error != 0
                             ? std::string(": ") + std::strerror(written.error) +
                                   "; free some, or name another folder"
                             : std::string(" in the time; a longer --duration helps")));
    }
    if (written.error != 0) RETURN_IF_ERROR(MakeRoom());
    data_fd_ = folder_.OpenFile(kDataName, O_RDONLY);
    if (data_fd_ < 0) return InputError(options_.path + ": " + std::strerror(errno));
    found_.file_bytes = files_.data_bytes;
    found_.warm_bytes = std::min({files_.data_bytes, kMostWarmBytes, AvailableMemoryBytes() / 4});
    // As much as is read in a twentieth of the time, if it is read as fast as it was written.
    const auto soon = static_cast<uint64_t>(write_bytes_per_s_ * options_.seconds / 20);
    found_.warm_bytes = std::min(found_.warm_bytes, std::max(kLeastDataBytes, soon)) / kMiB * kMiB;
    return {};
  }

  Status WriteSmall() {
    Say("writing small files");
    const uint64_t count = std::min(kMostSmallFiles, bytes_ / 8 / kSmallFileBytes);
    WorkersSpec spec = WriteSmallFiles(folder_, count);
    spec.workers = kWorkersOfPreparation;
    spec.seconds = options_.seconds * kShareForSmallFiles;
    ASSIGN_OR_RETURN(const WorkersResult written, RunWorkers("writing small files", spec));
    for (const std::string& name : folder_.Names()) {
      struct stat info = {};
      if (name.starts_with("small-") && fstatat(folder_.fd(), name.c_str(), &info, 0) == 0 &&
          static_cast<uint64_t>(info.st_size) == kSmallFileBytes) {
        files_.small_files.push_back(name);
      }
    }
    found_.small_files = files_.small_files.size();
    if (written.error != 0) {
      found_.notes.push_back("small files: only " + std::to_string(found_.small_files) +
                             " could be written: " + std::strerror(written.error));
    }
    return {};
  }

  static double WeightOf(const StorageCase& what, bool cold) {
    return what.weight * (what.reads_data() && !cold ? kWarmWeight : 1);
  }

  void PlanTime() {
    for (const StorageCase& what : StorageCases()) {
      double weight = WeightOf(what, true);
      if (what.reads_data()) weight += WeightOf(what, false);
      weights_left_ += weight * double(counts_.size());
    }
  }

  // The measurement's share of the time that is left; 0: none is.
  double SecondsFor(double weight) {
    const double left_s = double(stop_ns_ - NowNs()) / 1e9;
    const double seconds = left_s * weight / weights_left_;
    weights_left_ = std::max(weights_left_ - weight, 1e-9);
    return left_s > 0 ? std::max(seconds, 0.02) : 0;
  }

  void Say(const std::string& what) const {
    if (!options_.progress) return;
    const double share = double(NowNs() - start_ns_) / double(stop_ns_ - start_ns_);
    options_.progress(what, std::min(1.0, share));
  }

  static std::string TextOf(const StorageCase& what, int workers, bool cold) {
    return std::string(what.reads_data() ? (cold ? "cold " : "warm ") : "") +
           std::string(what.reads_data() ? what.short_name : what.pattern) + ", " +
           WorkersText(workers);
  }

  // Runs the case. Adds a row, unless nothing came of it; then a note.
  Status Measure(const StorageCase& what, const WorkersSpec& spec, StorageMeasurement row) {
    const std::string text = TextOf(what, spec.workers, row.wanted_cold);
    if (spec.seconds <= 0) {
      const std::string pattern = text.substr(0, text.rfind(','));
      if (std::find(skipped_.begin(), skipped_.end(), pattern) == skipped_.end()) {
        skipped_.push_back(pattern);
      }
      return {};
    }
    Say(text);
    ASSIGN_OR_RETURN(const WorkersResult done, RunWorkers(text, spec));
    if (done.error != 0 || done.operations == 0) {
      found_.notes.push_back(text + ": not measured: " +
                             (done.error != 0 ? std::strerror(done.error) : "nothing to do"));
      return {};
    }
    row.what = &what;
    row.workers = spec.workers;
    row.operations = done.operations;
    row.operations_per_s = done.PerSecond(done.operations);
    row.bytes_per_s = done.PerSecond(done.bytes);
    row.p50_ns = done.latencies.Quantile(0.5);
    row.p99_ns = done.latencies.Quantile(0.99);
    row.elapsed_ns = done.elapsed_ns;
    found_.rows.push_back(row);
    return {};
  }

  // Each number of workers makes files, uses them, and removes them before the next.
  Status MeasureMetadata() {
    for (const int workers : counts_) {
      for (const StorageCase& what : StorageCases()) {
        if (what.reads_data() || what.kind == StorageKind::kCheckpoint) continue;
        WorkersSpec spec = StorageWork(what, files_, 0, false);
        spec.workers = workers;
        spec.seconds = SecondsFor(WeightOf(what, true));
        RETURN_IF_ERROR(Measure(what, spec, {}));
        if (what.kind == StorageKind::kCreate) CountCreated(workers);
      }
      WorkersSpec rest = RemoveCreated(files_);
      rest.seconds = 0;
      rest.grace_seconds = 60;
      RETURN_IF_ERROR(RunWorkers("removing files", rest).status());
      files_.created.clear();
    }
    return {};
  }

  void CountCreated(int workers) {
    files_.created.assign(static_cast<size_t>(workers), 0);
    for (const std::string& name : folder_.Names()) {
      if (!name.starts_with("meta-")) continue;
      const auto worker = static_cast<size_t>(std::strtoul(name.c_str() + 5, nullptr, 10));
      if (worker < files_.created.size()) ++files_.created[worker];
    }
  }

  // Bytes of what a read case reads, and how many of them are in memory.
  uint64_t BytesOf(const StorageCase& what, bool cold) const {
    if (what.kind == StorageKind::kSmallFiles) return files_.small_files.size() * kSmallFileBytes;
    return cold ? files_.data_bytes : found_.warm_bytes;
  }

  std::optional<uint64_t> Resident(const StorageCase& what, uint64_t bytes, bool drop) const {
    if (what.kind != StorageKind::kSmallFiles) {
      if (drop) DropFromCache(data_fd_);
      return ResidentBytes(data_fd_, bytes);
    }
    uint64_t resident = 0;
    for (const std::string& name : files_.small_files) {
      const int fd = folder_.OpenFile(name, O_RDONLY);
      if (fd < 0) return std::nullopt;
      if (drop) DropFromCache(fd);
      const auto of_file = ResidentBytes(fd, kSmallFileBytes);
      close(fd);
      if (!of_file.has_value()) return std::nullopt;
      resident += *of_file;
    }
    return resident;
  }

  Status MeasureRead(const StorageCase& what, int workers, bool cold) {
    const uint64_t bytes = BytesOf(what, cold);
    auto resident = Resident(what, bytes, cold);
    // Pages that a reader just used may survive the first request.
    for (int again = 0; cold && again < 3 && resident.value_or(0) > bytes / 100; ++again) {
      resident = Resident(what, bytes, true);
    }
    StorageMeasurement row;
    row.wanted_cold = cold;
    row.cache = CacheStateOf(resident, bytes);
    if (resident.has_value() && bytes > 0) row.resident_share = double(*resident) / double(bytes);
    WorkersSpec spec = StorageWork(what, files_, bytes, cold);
    spec.workers = workers;
    spec.seconds = SecondsFor(WeightOf(what, cold));
    // What cannot be made cold is measured once, as what it is.
    if (cold && row.cache == CacheState::kWarm) return {};
    RETURN_IF_ERROR(Measure(what, spec, row));
    if (cold && what.kind == StorageKind::kSequentialRead) {
      AwaitReadAhead(data_fd_, bytes,
                     static_cast<int64_t>(options_.seconds * kMostForReadAhead * 1e9));
    }
    return {};
  }

  // Reads once what the warm measurements will read, from begin to end as a first epoch would:
  // pages that random reads left behind are small ones, which are slower to copy from.
  Status WarmUp() {
    DropFromCache(data_fd_);
    for (const StorageCase& what : StorageCases()) {
      const bool data = what.kind == StorageKind::kSequentialRead && what.block_bytes == kMiB;
      if (!data && what.kind != StorageKind::kSmallFiles) continue;
      Say("reading into memory");
      WorkersSpec spec = StorageWork(what, files_, BytesOf(what, false), true);
      spec.workers = std::min(4, counts_.back());
      spec.seconds = std::max(0.0, double(stop_ns_ - NowNs()) / 1e9 * 0.3);
      RETURN_IF_ERROR(RunWorkers("reading into memory", spec).status());
    }
    return {};
  }

  Status MeasureCheckpoints() {
    for (const StorageCase& what : StorageCases()) {
      if (what.kind != StorageKind::kCheckpoint) continue;
      for (const int workers : counts_) {
        const double seconds = SecondsFor(WeightOf(what, true));
        // No more than a single writer syncs in the time, as the sync cannot be cut short.
        const auto most = static_cast<uint64_t>(write_bytes_per_s_ * seconds);
        const uint64_t bytes = std::clamp(most, kMiB * static_cast<uint64_t>(workers),
                                          std::max(bytes_ / 4, kMiB * uint64_t(workers)));
        WorkersSpec spec = StorageWork(what, files_, bytes, true);
        spec.workers = workers;
        spec.seconds = seconds;
        spec.grace_seconds = std::max(30.0, options_.seconds);
        RETURN_IF_ERROR(Measure(what, spec, {}));
        for (int worker = 0; worker < workers; ++worker) folder_.Remove(CheckpointName(worker));
      }
    }
    return {};
  }

  StorageMeasurements Finished() {
    if (!skipped_.empty()) {
      std::string text = "not measured with all numbers of workers, as the time was over: ";
      for (size_t i = 0; i < skipped_.size(); ++i) text += (i > 0 ? "; " : "") + skipped_[i];
      found_.notes.push_back(text + ". A longer --duration has them");
    }
    const auto place = [](const StorageMeasurement& row) {
      return std::pair(row.what, !row.wanted_cold);
    };
    std::stable_sort(found_.rows.begin(), found_.rows.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    found_.seconds = double(NowNs() - start_ns_) / 1e9;
    if (found_.Best(StorageKind::kSequentialRead, kMiB, true) == nullptr) {
      found_.notes.push_back(
          "nothing could be read cold: " +
          (found_.file_system.empty() ? std::string("this file system") : found_.file_system) +
          " keeps its files in memory, or does not forget them when asked");
    }
    return std::move(found_);
  }

 public:
  ~StorageProbe() {
    if (data_fd_ >= 0) close(data_fd_);
  }
  StorageProbe(const StorageProbe&) = delete;
  StorageProbe& operator=(const StorageProbe&) = delete;

 private:
  const StorageOptions& options_;
  const Folder& folder_;
  int64_t start_ns_;
  int64_t stop_ns_;
  StorageFiles files_;
  StorageMeasurements found_;
  std::vector<int> counts_;
  std::vector<std::string> skipped_;
  uint64_t bytes_ = 0;
  double write_bytes_per_s_ = 0;
  double weights_left_ = 0;
  int data_fd_ = -1;
};

void RemoveLeftOvers(const std::string& path) {
  const auto folder = Folder::Open(path);
  if (!folder.ok()) return;
  for (const std::string& name : LeftPartialFolders(folder.value())) {
    if (name.starts_with(std::string(kProbeFolder) + ".")) {
      RemovePartialFolder(folder.value(), name);
    }
  }
}

}  // namespace

Result<StorageMeasurements> MeasureStorage(const StorageOptions& options) {
  RETURN_IF_ERROR(CheckPath(options.path));
  const Interruption interruption;
  RemoveLeftOvers(options.path);
  ASSIGN_OR_RETURN(PartialFolder scratch,
                   PartialFolder::Create(options.path + "/" + kProbeFolder, 0700));
  StorageProbe probe(options, scratch);
  return probe.Run();
}

Result<uint64_t> ParseSize(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  if (unit.ends_with("iB")) {
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with("B")) {
    unit.resize(unit.size() - 1);
  }
  constexpr std::string_view kUnits = "KMGT";
  const size_t place = unit.empty() ? 0 : kUnits.find(unit) + 1;
  const unsigned shift = static_cast<unsigned>(10 * place);
  const bool known = unit.size() <= 1 && (unit.empty() || kUnits.find(unit) < kUnits.size());
  if (error != std::errc() || !known || number > (UINT64_MAX >> shift)) {
    return UsageError("\"" + text + "\" is no size; 4GiB, 512M or a number of bytes is one");
  }
  return number << shift;
}

}  // namespace batchlight::probe

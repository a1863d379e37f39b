#include "base/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace batchlight {
namespace {

std::string WhyNotAlone(const std::string& path, bool is_on_the_way) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return path + ": " + std::strerror(errno);
  if (info.st_uid != 0 && info.st_uid != geteuid()) return path + " belongs to another user";
  const bool is_sticky = is_on_the_way && (info.st_mode & S_ISVTX) != 0;
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return others_write && !is_sticky ? path + " can be written by other users" : "";
}

}  // namespace

std::string WhyNotTrusted(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) return path + ": " + std::strerror(errno);
  std::string place = real.get();
  std::string why = WhyNotAlone(place, false);
  while (why.empty() && place.size() > 1) {
    place.resize(std::max<size_t>(1, place.rfind('/')));
    why = WhyNotAlone(place, true);
  }
  return why;
}

}  // namespace batchlight

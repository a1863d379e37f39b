// What of a process's memory is code, and of which file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "native/module.h"

namespace batchlight::native {

// All files that any process mapped, each once.
class Modules {
 public:
  // Null for memory of no file, and after ten thousand files.
  Module* Find(const std::string& path);

 private:
  std::unordered_map<std::string, std::unique_ptr<Module>> modules_;
  size_t kept_rows_ = 0;
};

struct CodePlace {
  Module* module = nullptr;  // null: code of no file
  uint64_t address = 0;      // as the file counts; in memory without a module
};

class AddressSpace {
 public:
  // Code was mapped there; what was there before is gone.
  void Map(uint64_t begin, uint64_t bytes, uint64_t file_offset, Module* module);
  // False if no code is known there.
  bool Find(uint64_t pc, CodePlace* place) const;

 private:
  struct Mapping {
    uint64_t end;
    uint64_t to_address;  // what to add for the file's address, modulo 2^64
    Module* module;
  };
  std::map<uint64_t, Mapping> mappings_;  // by begin
};

}  // namespace batchlight::native

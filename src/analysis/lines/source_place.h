// Whose code a line of Python is: the user's own, an installed package's, PyTorch's or Python's.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/store.h"

namespace batchlight {

// By rising interest to the one who reads: the innermost line of the highest owner is shown.
enum class SourceOwner : uint8_t { kNobody, kPython, kPyTorch, kPackage, kUser };

// Packages may have been installed into other folders than site-packages (pip install --target): a
// recording says which.
SourceOwner OwnerOfSource(const Store& store, std::string_view file);

// What a frame says about those that it calls.
bool IsCheckpointing(std::string_view file);  // replays a forward
bool IsOptimizer(std::string_view file);
bool IsDataLoader(std::string_view file);
bool IsImporting(std::string_view file);
bool IsRecorder(std::string_view file);  // our own code in the program

// The package or module of Python that a file is installed as: "transformers" of
// ".../site-packages/transformers/trainer.py", "zipfile" of ".../python3.12/zipfile/__init__.py";
// "" for others.
std::string_view InstalledModule(const Store& store, std::string_view file);

// "model.py" of "/home/user/model.py"; generated names as they are; of the recorder's
// own modules with the folders that say whose they are, "batchlight/_bridge/_imports.py".
std::string_view ShortFile(std::string_view file);

}  // namespace batchlight

// Marks the library's exported functions; exports.map lists them.
#pragma once

#define BATCHLIGHT_EXPORT extern "C" __attribute__((visibility("default")))

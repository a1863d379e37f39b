// What to do in a forked child.
#pragma once

namespace batchlight::inject {

// `in_child` runs in every child that the C library's fork makes.
void OnForkInChild(void (*in_child)());

}  // namespace batchlight::inject

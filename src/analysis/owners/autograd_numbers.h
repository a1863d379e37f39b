// What the numbers that autograd gives to operators say of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/store.h"

namespace batchlight {

// Whether autograd follows a call of an operator: it then takes the next sequence number, so that
// the operator behind it has another. Without autograd there is none.
bool IsFollowed(const Store& store, uint32_t row);
// Whether the number of an operator call is of the forward's count.
bool HasOwnNumber(const OperatorCallsTable& operators, size_t row);
// Autocast casts weights with gradients on, also under torch.no_grad(): their numbers say nothing
// of the forward that uses them.
bool IsCast(const Store& store, size_t row);

}  // namespace batchlight

// The exceptions of the standard library, as kinds.
#pragma once

#include <span>

#include "trimtab/parcels/archive/exception_kind.hpp"

namespace trimtab::parcels::detail {

std::span<const exception_kind> standard_exceptions() noexcept;

}  // namespace trimtab::parcels::detail

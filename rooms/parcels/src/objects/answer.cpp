#include "trimtab/parcels/objects/answer.hpp"

namespace trimtab::parcels::detail {

std::exception_ptr unanswered_error() {
  return std::make_exception_ptr(
      no_such_object("trimtab: the object was destroyed, or its job has ended, before it answered"));
}

}  // namespace trimtab::parcels::detail

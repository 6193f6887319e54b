// A record of decisions that goes nowhere.
#pragma once

#include "trimtab/steer/record.hpp"

namespace trimtab::openmp {

class made_up_record : public steer::record_target {
 public:
  std::uint32_t add_knob(steer::subject_id, const char*, const char*, const char*) override { return 0; }
  std::uint16_t add_policy(const char*) override { return 0; }
  void decide(const observe::decision&) override {}
  void fact(const char*, const char*) override {}
  void unavailable(const char*, const char*, const char*) override {}
};

}  // namespace trimtab::openmp

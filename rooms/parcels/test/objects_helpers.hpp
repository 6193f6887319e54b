// What tests of objects share: jobs of several sizes, with and without faults.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "local_job.hpp"

namespace trimtab::parcels {

struct objects_setting {
  std::uint32_t size, workers;
  std::uint64_t fault_seed;
};
inline void PrintTo(const objects_setting& setting, std::ostream* out) {
  *out << setting.size << " localities with " << setting.workers << " workers, seed of faults " << setting.fault_seed;
}

inline std::vector<objects_setting> objects_settings() {
  std::vector<objects_setting> settings;
  for (const std::uint32_t size : {1u, 2u, 3u, 5u}) {
    settings.push_back({size, 1, 0});
    settings.push_back({size, 2, 31 * size});
  }
  return settings;
}

inline std::string name_of_objects_setting(const ::testing::TestParamInfo<objects_setting>& info) {
  return std::to_string(info.param.size) + "_of_" + std::to_string(info.param.workers) +
         (info.param.fault_seed != 0 ? "_faulty" : "");
}

class objects_test : public ::testing::TestWithParam<objects_setting> {
 protected:
  static void run(const std::function<void(job&)>& body) {
    run_locally({.size = GetParam().size, .workers = GetParam().workers, .fault_seed = GetParam().fault_seed}, body);
  }
};

// The handle that locality `root` has, on all.
template <class handle>
handle handle_of(job& this_job, const handle& local_handle, locality_number root) {
  handle result = this_job.broadcast(local_handle, root);
  result.bind(this_job.objects());
  return result;
}

// Runs body(job) on each locality; all jobs end by an exception, as after a loss. The last locality leaves first, when
// body(job) returns there, and the others may go on.
inline void run_with_a_loss(std::uint32_t size, const std::function<void(job&)>& body) {
  memory_meeting meeting(size);
  std::vector<std::thread> threads;
  for (locality_number number = 0; number < size; ++number)
    threads.emplace_back([&, number] {
      try {
        job_options options{.runtime = {.workers = 1}};
        options.on_lost = [](locality_number, std::string_view) {};
        job this_job(meeting.open({.number = number, .size = size}).link, options);
        body(this_job);
        this_job.flush();  // the others may wait for what it has sent
        throw std::runtime_error("the locality ends without its job");
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "the locality ends without its job") << "of locality " << number;
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace trimtab::parcels

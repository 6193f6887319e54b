// Jobs whose localities are threads of this process, each with a runtime of its own: for tests of what is above transports.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "faulty_transport.hpp"
#include "memory_transport.hpp"
#include "trimtab/parcels/job/job.hpp"

namespace trimtab::parcels {

struct local_job_options {
  std::uint32_t size = 2;
  std::uint32_t workers = 1;  // of each locality
  job_options options = {};
  // Seeded faults of the transport; 0: none.
  std::uint64_t fault_seed = 0;
  std::optional<server_settings> servers = {};  // communication servers
};

// Runs body(job) on each locality, on threads that are no workers, and ends the jobs. Fails if one throws.
inline void run_locally(const local_job_options& setting, const std::function<void(job&)>& body) {
  memory_meeting meeting(setting.size);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(setting.size);
  for (locality_number number = 0; number < setting.size; ++number)
    threads.emplace_back([&, number] {
      try {
        membership self;
        self.number = number;
        self.size = setting.size;
        opened_transport opened = meeting.open(self);
        if (opened.link == nullptr) throw std::runtime_error(opened.error);
        if (setting.fault_seed != 0)
          opened.link =
              std::make_unique<faulty_transport>(std::move(opened.link), faults{.seed = setting.fault_seed + number});
        if (setting.servers) opened.link = std::make_unique<served_transport>(std::move(opened.link), *setting.servers);
        job_options options = setting.options;
        options.runtime.workers = setting.workers;
        job own(std::move(opened.link), options);
        body(own);
      } catch (const std::exception& error) {
        errors[number] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (locality_number number = 0; number < setting.size; ++number)
    EXPECT_EQ(errors[number], "") << "of locality " << number;
}

}  // namespace trimtab::parcels

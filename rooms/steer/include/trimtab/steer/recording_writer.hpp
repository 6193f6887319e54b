// Writes a recording while the engine runs, each step as a whole, after the engine was told it and before anything is done
// that it decided. By the steering thread. What cannot be written ends the recording, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trimtab/steer/recording.hpp"

namespace trimtab::steer {

class recording_writer {
 public:
  struct into {
    std::function<int(std::string_view)> append;            // 0, or what errno calls the mistake
    std::function<void(const std::string& why)> has_ended;  // once, before its time
  };
  static constexpr std::uint64_t usual_most_bytes = std::uint64_t{256} << 20;

  // The head is written with the first step.
  recording_writer(const recording_head& head, into to, std::uint64_t most_bytes = usual_most_bytes);

  // Of the next step.
  void about(recorded_subject fresh);
  void answered(std::string text);
  void failed(std::string reason);
  // told: with what the clock has said of policies (snapshot::overdue). decided: the number of the latest decision.
  void step(const snapshot& latest_snapshot, decision_number decided);
  // Of the step before.
  void unapplied(decision_number number);

  bool is_over() const noexcept { return m_is_over; }

 private:
  void put(const std::string& text);
  void end(const std::string& reason);

  into m_into;
  std::uint64_t m_left;
  std::string m_head;  // until it is written
  recorded_step m_next;
  decision_number m_decided = 0;
  bool m_is_over = false;
};

}  // namespace trimtab::steer

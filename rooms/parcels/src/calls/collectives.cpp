#include "trimtab/parcels/calls/collectives.hpp"

namespace trimtab::parcels {

namespace {

void receive_letter(const arrival& parcel) {
  reader bytes(parcel.arguments);
  const auto tag = bytes.read<std::uint64_t>();
  parcel.receiver.mail().deliver(parcel.from, tag, bytes.read_bytes(bytes.left()));
}

constexpr parcel_kind letter_kind{
    .signature = 3, .receive = receive_letter, .is_internal = true, .label = "collective operation"};

}  // namespace

void collectives::send(locality_number to, std::uint64_t tag, bytes_view content) {
  static const action& sends_letter = action_registry::of_process().find_or_add(letter_kind, nullptr);
  m_messages.send(to, sends_letter, nullptr, [&](writer& into) {
    into(tag);
    into.write_bytes(content);
  });
}

letter collectives::receive(locality_number from, std::uint64_t tag) {
  tasks::future<letter> awaited = m_messages.mail().await(from, tag);
  if (awaited.ready()) return awaited.get();
  const base::ticks begin = base::now();
  letter result = awaited.get();
  m_messages.note_collective_wait(static_cast<collective_operation>((tag >> operation_bit) - 1), base::now() - begin);
  return result;
}

void collectives::barrier() {
  const std::uint64_t tag = next_tag(collective_operation::barrier);
  const std::uint32_t size = m_messages.size(), self = m_messages.number();
  std::uint64_t round = 0;
  for (std::uint32_t distance = 1; distance < size; distance *= 2, ++round) {
    send((self + distance) % size, tag + round, {});
    receive((self + size - distance % size) % size, tag + round);
  }
}

}  // namespace trimtab::parcels

#include "trimtab/parcels/job/job.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "../counters/counter_printer.hpp"
#include "../counters/traffic_recorder.hpp"
#include "../steering/shared_traffic_steering.hpp"
#include "../steering/shared_tuning.hpp"
#include "../steering/traffic_steering.hpp"
#include "../view/load_gossip.hpp"

namespace trimtab::parcels {

namespace {

base::spin_lock jobs_lock;
std::vector<job*>& open_jobs() {
  static std::vector<job*>& jobs = *new std::vector<job*>;  // never destroyed: a job may be of static storage
  return jobs;
}

void add_open_job(job& added) {
  const std::lock_guard guard(jobs_lock);
  open_jobs().push_back(&added);
}
void remove_open_job(job& removed) {
  const std::lock_guard guard(jobs_lock);
  std::erase(open_jobs(), &removed);
}

}  // namespace

bool locality::is_here() const noexcept { return m_job->here().number() == m_number; }

std::string_view locality::host() const noexcept {
  if (m_job->messages() != nullptr && !is_here()) return m_job->messages()->traffic().host_of(m_number);
  static thread_local char name[256];
  if (gethostname(name, sizeof name) != 0) return "unknown";
  name[sizeof name - 1] = '\0';
  return name;
}

std::int64_t locality::process() const noexcept {
  return m_job->messages() != nullptr && !is_here() ? m_job->messages()->traffic().process_of(m_number) : getpid();
}

job::job(std::unique_ptr<transport> link, const job_options& options)
    : m_options(options), m_exceptions(std::uncaught_exceptions()) {
  open(std::move(link));
}

void job::open(std::unique_ptr<transport> link) {
  std::vector<std::string> printed = counter_printer::take_paths(m_options.runtime.print_counters);
  if (m_options.home == nullptr) m_own_runtime = std::make_unique<tasks::runtime>(m_options.runtime);
  m_home = m_options.home != nullptr ? m_options.home : m_own_runtime.get();
  if (const std::string problem = problem_of(m_options.sharing); !problem.empty())
    throw std::invalid_argument("trimtab: load_sharing_options: " + problem);
  m_values.resize(m_options.sharing.values);
  if (link != nullptr && link->size() > 1) {
    m_size = link->size();
    m_number = link->number();
    m_servers = dynamic_cast<served_transport*>(link.get());
    counter_printer::check(printed, m_number, m_size, m_servers == nullptr ? 0 : m_servers->counts().servers.size());
    m_messages = std::make_shared<dispatcher>(
        *m_home, [this](locality_number which, std::string_view reason) { on_gone(which, reason); });
    m_traffic = std::make_shared<exchange>(std::move(link), m_messages->sink(), tasks::runtime::ns_per_tick(),
                                           m_options.standard, m_options.most_parcel_bytes);
    m_objects = std::make_shared<object_table>(*m_home, m_messages.get());
    m_messages->set_objects(m_objects);
    if (m_options.shares_load) {
      m_sharing =
          std::make_shared<load_gossip>(*m_messages, m_size, m_number, m_options.sharing, m_traffic->longest_queued());
      m_messages->set_gossip(m_sharing);
    }
    m_tuning = std::make_shared<shared_tuning>(m_messages.get(), m_number);
    m_messages->set_tuning(m_tuning);
    m_messages->connect(m_traffic);
    m_collectives = std::make_unique<collectives>(*m_messages);
    // Functions that others call here may ask for the current job as soon as messages arrive.
    add_open_job(*this);
    try {
      m_traffic->start();
    } catch (...) {
      remove_open_job(*this);
      throw;
    }
    // The runtime keeps the dispatcher, too: tasks refer to it.
    m_home->set_background_work({m_messages, m_traffic.get()});
    m_recorder = traffic_recorder::open_if_watched(*this);
    if (m_sharing != nullptr) m_sharing->start();
    if (m_options.tunes_coalescing && m_options.tunes_coalescing_together)
      m_shared_steering = std::make_shared<shared_traffic_steering>(*m_traffic, m_options, m_tuning);
    else if (m_options.tunes_coalescing)
      m_steering = std::make_shared<traffic_steering>(*m_traffic, m_servers, m_options);
  } else {
    counter_printer::check(printed, m_number, m_size, 0);
    m_objects = std::make_shared<object_table>(*m_home, nullptr);
    m_tuning = std::make_shared<shared_tuning>(nullptr, 0);
    add_open_job(*this);
  }
  if (!printed.empty())
    m_printer = std::make_shared<counter_printer>(*this, std::move(printed), m_options.runtime.print_counters_ms);
}

job::~job() {
  if (m_traffic != nullptr)
    end_traffic();
  else
    end_alone();
  // Tasks of calls refer to the dispatcher, and may ask for the current job until the last has ended.
  m_own_runtime.reset();
  remove_open_job(*this);
}

void job::end_alone() {
  // Tasks may still use objects.
  if (std::uncaught_exceptions() == m_exceptions) wait_until_quiet();
  m_tuning->close();
  m_printer.reset();
  m_objects->close();
}

void job::end_traffic() {
  // While the others can still be told that this locality searches no more.
  m_shared_steering.reset();
  if (std::uncaught_exceptions() == m_exceptions) {
    try {
      finish();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "trimtab: locality %u: the job did not end in order: %s\n", m_number, error.what());
    }
  }
  m_is_finishing.store(true, std::memory_order_seq_cst);
  if (m_sharing != nullptr) m_sharing->stop();
  m_steering.reset();
  m_tuning->close();
  m_recorder.reset();
  m_printer.reset();
  m_traffic->abandon();
  m_messages->fail_all("the job has ended here");
  m_objects->close();
}

void job::finish() {
  wait_until_quiet();
  m_is_finishing.store(true, std::memory_order_seq_cst);
  // Nobody leaves while another one still spreads views.
  if (m_sharing != nullptr) m_sharing->stop();
  // After this nobody expects anything from this locality, so it may leave.
  barrier();
  m_traffic->leave(m_options.patience_ns);
}

job& job::current() {
  const std::lock_guard guard(jobs_lock);
  if (open_jobs().empty()) throw std::logic_error("trimtab: there is no job: create a trimtab::job first");
  return *open_jobs().back();
}

locality job::at(locality_number number) {
  if (number >= m_size)
    throw std::out_of_range("trimtab: locality " + std::to_string(number) + " does not exist: the job has " +
                            std::to_string(m_size) + ", numbered from 0");
  return {*this, number};
}

std::vector<locality> job::localities() {
  std::vector<locality> all;
  all.reserve(m_size);
  for (locality_number number = 0; number < m_size; ++number) all.emplace_back(*this, number);
  return all;
}

void job::barrier() {
  if (m_collectives != nullptr) m_collectives->barrier();
}

std::vector<known_load> job::view() const {
  if (m_sharing != nullptr) return m_sharing->known();
  std::vector<known_load> all(m_size);
  for (locality_number number = 0; number < m_size; ++number) all[number].number = number;
  known_load& own = all[m_number];
  own.is_known = true;
  own.tasks = static_cast<double>(m_home->running_and_eligible());
  own.workers = m_home->active_workers();
  const std::lock_guard guard(m_values_lock);
  own.values = m_values;
  return all;
}

void job::set_value(std::uint32_t index, double value) {
  if (index >= m_options.sharing.values)
    throw std::out_of_range("trimtab: value " + std::to_string(index) + " does not exist: job_options::sharing.values is " +
                            std::to_string(m_options.sharing.values));
  if (!std::isfinite(value)) throw std::invalid_argument("trimtab: a value that localities share must be finite");
  if (m_sharing != nullptr) return m_sharing->set_value(index, value);
  const std::lock_guard guard(m_values_lock);
  m_values[index] = value;
}

locality job::choose_by_load() { return {*this, m_sharing != nullptr ? m_sharing->choose() : m_number}; }

void job::set_coalescing(const coalescing& settings) {
  if (m_steering != nullptr) m_steering->leave_to_program();
  if (m_shared_steering != nullptr) m_shared_steering->leave_to_program();
  if (m_traffic != nullptr) m_traffic->set_standard(settings);
}

void job::begin_phase(std::string_view name) {
  if (m_recorder != nullptr) m_recorder->begin_phase(name);
}

void job::flush() {
  if (m_traffic != nullptr) m_traffic->flush_all();
}

void job::on_gone(locality_number which, std::string_view reason) {
  // Who leaves in order has waited for all: so has this one, or it will see that it waits in vain.
  if (reason.empty() || m_is_finishing.load(std::memory_order_seq_cst)) return;
  if (m_options.on_lost) return m_options.on_lost(which, reason);
  const locality lost(*this, which);
  std::fprintf(stderr, "trimtab: locality %u (process %lld on %.*s) was lost: %.*s. Locality %u ends, too.\n", which,
               static_cast<long long>(lost.process()), static_cast<int>(lost.host().size()), lost.host().data(),
               static_cast<int>(reason.size()), reason.data(), m_number);
  std::fflush(stderr);
  _exit(1);
}

// Counts of all localities together.
struct quiet_wave {
  std::uint64_t sent = 0, handled = 0, unfinished = 0;
  template <class archive>
  void serialize(archive& ar) {
    ar(sent, handled, unfinished);
  }
  bool operator==(const quiet_wave&) const = default;
};

bool job::is_quiet(quiet_wave& last, std::uint64_t own_tasks) {
  quiet_wave own;
  if (m_messages != nullptr) {
    // What was handled first: a parcel that is counted as handled is counted as sent, too.
    own.handled = m_messages->handled();
    own.sent = m_messages->sent();
  }
  own.unfinished = m_home->unfinished() - own_tasks;
  const quiet_wave sum = all_reduce(own, [](quiet_wave a, const quiet_wave& b) {
    return quiet_wave{a.sent + b.sent, a.handled + b.handled, a.unfinished + b.unfinished};
  });
  const bool is_same = sum == last;
  last = sum;
  return is_same && sum.unfinished == 0 && sum.sent == sum.handled;
}

void job::wait_until_quiet() {
  constexpr std::chrono::microseconds longest_pause{1000};
  // The caller, if it is a task.
  tasks::worker* const this_worker = tasks::worker::current();
  const std::uint64_t own_tasks = this_worker != nullptr && &this_worker->owner() == m_home ? 1 : 0;
  quiet_wave last{1, 0, 0};
  for (std::chrono::microseconds pause{10}; !is_quiet(last, own_tasks); pause = std::min(2 * pause, longest_pause)) {
    if (own_tasks != 0)
      tasks::this_task::sleep_for(pause);
    else
      std::this_thread::sleep_for(pause);
  }
}

namespace detail {

dispatcher& messages_to(locality where) { return *where.owner().messages(); }

}  // namespace detail

}  // namespace trimtab::parcels

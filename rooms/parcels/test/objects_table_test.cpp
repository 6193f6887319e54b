#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "objects_helpers.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"
#include "trimtab/parcels/objects/object_table.hpp"

namespace trimtab::parcels {

namespace {

class counted_object final : public global_object {
 public:
  explicit counted_object(std::atomic<int>& living) : m_living(living) { m_living += 1; }
  ~counted_object() override { m_living -= 1; }
  void add(answer<std::uint64_t>& reply, std::uint64_t count) { reply.give(m_sum += count); }
  void refuse(answer<void>&, const std::string& text) { throw std::out_of_range(text); }
  void forget(answer<void>& reply) { const answer<void> dropped(std::move(reply)); }

 private:
  std::atomic<int>& m_living;
  std::atomic<std::uint64_t> m_sum{0};
};

class other_object final : public global_object {
 public:
  void poke(answer<void>& reply) { reply.give(); }
};

class counted_handle : public object_handle {
 public:
  counted_handle() = default;
  counted_handle(object_table& table, const global_id& id) : object_handle(table, id) {}
  tasks::future<std::uint64_t> add(std::uint64_t count) const { return call<&counted_object::add>(count); }
  tasks::future<void> refuse(const std::string& text) const { return call<&counted_object::refuse>(text); }
  tasks::future<void> forget() const { return call<&counted_object::forget>(); }
  tasks::future<void> poke() const { return call<&other_object::poke>(); }
  void post_add(std::uint64_t count) const { post<&counted_object::add>(count); }
};

class object_tables : public objects_test {};
INSTANTIATE_TEST_SUITE_P(all, object_tables, ::testing::ValuesIn(objects_settings()), name_of_objects_setting);

counted_handle same_handle(counted_handle handle) { return handle; }

}  // namespace

TEST(global_id, can_be_printed_hashed_and_sent) {
  const global_id id{3, 2, 7};
  std::ostringstream text;
  text << id << ", " << global_id();
  EXPECT_EQ(text.str(), "object 7 (generation 2) of locality 3, no object");
  std::set<std::size_t> hashes;
  for (locality_number home = 0; home < 3; ++home)
    for (std::uint32_t generation = 1; generation < 4; ++generation)
      for (std::uint64_t number = 0; number < 3; ++number) hashes.insert(std::hash<global_id>()({home, generation, number}));
  EXPECT_EQ(hashes.size(), 27u);
  byte_buffer bytes;
  writer{bytes}(id);
  EXPECT_EQ(reader{bytes.view()}.read<global_id>(), id);
}

TEST(object_table, gives_a_number_again_with_another_generation) {
  std::atomic<int> living{0};
  job this_job(nullptr, {.runtime = {.workers = 1}});
  object_table& table = this_job.objects();
  const global_id first = table.add(std::make_shared<counted_object>(living));
  const std::shared_ptr<counted_object> user = table.find<counted_object>(first);
  table.remove(first);
  EXPECT_EQ(living, 1);  // whoever uses it still has it
  const global_id second = table.add(std::make_shared<counted_object>(living));
  EXPECT_EQ(second.number, first.number);
  EXPECT_NE(second, first);
  EXPECT_THROW(table.find<counted_object>(first), no_such_object);
  EXPECT_THROW(table.find<other_object>(second), no_such_object);
  EXPECT_THROW(table.remove(first), no_such_object);
  EXPECT_NE(table.find<counted_object>(second), user);
  EXPECT_THROW(table.remove(object_table::own_object_of(0)), no_such_object);
}

TEST(object_table, of_a_job_that_has_ended_is_empty) {
  std::atomic<int> living{0};
  {
    job this_job(nullptr, {.runtime = {.workers = 1}});
    this_job.objects().add(std::make_shared<counted_object>(living));
    EXPECT_EQ(living, 1);
    EXPECT_EQ(&object_table::current(), &this_job.objects());
  }
  EXPECT_EQ(living, 0);
  EXPECT_THROW(object_table::current(), std::logic_error);
}

TEST_P(object_tables, are_reached_from_everywhere) {
  std::atomic<int> living{0};
  run([&](job& this_job) {
    const counted_handle local_handle(this_job.objects(), this_job.objects().add(std::make_shared<counted_object>(living)));
    EXPECT_EQ(local_handle.add(1).get(), 1u);
    for (locality_number home = 0; home < this_job.size(); ++home) {
      const global_id id = this_job.broadcast(local_handle.id(), home);
      const counted_handle handle(this_job.objects(), id);
      handle.add(1).get();
      for (int i = 0; i < 100; ++i) handle.post_add(1);
      // Through an action the handle belongs to the job where it arrives.
      const counted_handle returned = async(this_job.at(home), same_handle, handle).get();
      EXPECT_EQ(returned, handle);
      returned.add(1).get();
      EXPECT_THROW(handle.refuse("no").get(), std::out_of_range);
      EXPECT_THROW(handle.forget().get(), no_such_object);
      EXPECT_THROW(handle.poke().get(), no_such_object);
    }
    this_job.wait_until_quiet();
    EXPECT_EQ(local_handle.add(0).get(), 1 + this_job.size() * 102);
    this_job.barrier();
    EXPECT_EQ(this_job.objects().failed_posts(), 0u);
  });
  EXPECT_EQ(living, 0);
}

TEST_P(object_tables, remove_objects_while_parcels_for_them_arrive) {
  std::atomic<int> living{0};
  run([&](job& this_job) {
    const counted_handle local_handle(this_job.objects(), this_job.objects().add(std::make_shared<counted_object>(living)));
    const counted_handle next(this_job.objects(), this_job.broadcast(local_handle.id(), this_job.size() - 1));
    const bool is_last = this_job.here().number() == this_job.size() - 1;
    std::vector<tasks::future<std::uint64_t>> results;
    for (std::uint64_t i = 0; i < 200; ++i) {
      results.push_back(next.add(1));
      next.post_add(1);
      if (is_last && i == 100) next.destroy().get();
    }
    std::uint64_t done = 0, refused = 0;
    for (auto& result : results) {
      try {
        result.get();
        done += 1;
      } catch (const no_such_object&) {
        refused += 1;
      }
    }
    EXPECT_EQ(done + refused, 200u);
    this_job.barrier();
    EXPECT_THROW(next.add(1).get(), no_such_object);
    EXPECT_THROW(next.destroy().get(), no_such_object);
    this_job.wait_until_quiet();
    if (is_last) {
      EXPECT_EQ(done, 101u);
      EXPECT_GE(this_job.objects().failed_posts(), 99u);
    }
  });
}

TEST_P(object_tables, say_what_is_wrong_with_a_handle) {
  run([](job& this_job) {
    EXPECT_THROW(counted_handle().add(1), std::logic_error);
    EXPECT_THROW(counted_handle(this_job.objects(), {this_job.size(), 1, 1}).add(1), no_such_object);
    try {
      counted_handle(this_job.objects(), {0, 9, 12}).add(1).get();
      FAIL() << "nothing was thrown";
    } catch (const no_such_object& error) {
      EXPECT_NE(std::string(error.what()).find("object 12 (generation 9) of locality 0"), std::string::npos) << error.what();
    }
  });
}

}  // namespace trimtab::parcels

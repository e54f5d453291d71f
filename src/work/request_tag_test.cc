#include "work/request_tag.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace sonde {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00f067aa0ba902b7";

std::string Traceparent(std::string_view version, std::string_view trace, std::string_view parent,
                        std::string_view rest) {
  std::string text(version);
  return text.append("-").append(trace).append("-").append(parent).append("-").append(rest);
}

TEST(RequestTag, AnIdOfTheClientIsTakenWithinItsBounds) {
  for (const std::string& id : {std::string("7"), std::string("9f2c-A_b.c:d/e+f=@"), std::string(128, 'x')}) {
    EXPECT_EQ(MakeRequestTag(id, "", "own").id, id);
  }
  for (const std::string& no_id :
       {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\nb"), std::string("a\"b"),
        std::string("a\\b"), std::string("\xC3\xA4"), std::string("a,b"), std::string("a\0b", 3)}) {
    EXPECT_EQ(MakeRequestTag(no_id, "", "own").id, "own") << no_id;
  }
}

TEST(RequestTag, TheTraceIsThatOfTraceparent) {
  EXPECT_EQ(TraceIdOf(Traceparent("00", kTrace, kParent, "01")), kTrace);
  EXPECT_EQ(TraceIdOf(Traceparent("cc", kTrace, kParent, "09-what-the-future-brings")), kTrace);
  const RequestTag tag = MakeRequestTag("id", Traceparent("00", kTrace, kParent, "00"), "own");
  EXPECT_EQ(tag.id, "id");
  EXPECT_EQ(tag.trace, kTrace);
}

TEST(RequestTag, WhatIsNoTraceparentIsNoTrace) {
  for (const std::string& wrong :
       {std::string(), std::string("00"), std::string(10'000, '0'),
        Traceparent("00", kTrace, kParent, "01-more"),                         // version 00 has no more
        Traceparent("cc", kTrace, kParent, "01more"),                          // a later one has a dash first
        Traceparent("ff", kTrace, kParent, "01"),                              // no version
        Traceparent("0x", kTrace, kParent, "01"),                              //
        Traceparent("00", std::string(32, '0'), kParent, "01"),                // no trace
        Traceparent("00", kTrace, std::string(16, '0'), "01"),                 // no parent
        Traceparent("00", "4BF92F3577B34DA6A3CE929D0E0E4736", kParent, "01"),  // capitals
        Traceparent("00", "4bf92f3577b34da6a3ce929d0e0e473\"", kParent, "01"),
        Traceparent("00", kTrace, kParent, "0g"), Traceparent("00", kTrace, kParent, "1"),
        std::string("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")}) {
    EXPECT_EQ(TraceIdOf(wrong), "") << wrong.substr(0, 80);
  }
}

class NamedScope final : public RequestScope {
 public:
  explicit NamedScope(std::string id) : id_(std::move(id)) {}
  RequestTag tag() const override { return {.id = id_}; }

 private:
  const std::string id_;
};

TEST(RequestTag, TheInnermostScopeOfAThreadCounts) {
  EXPECT_FALSE(RequestScope::Current().has_value());
  {
    const NamedScope outer("outer");
    {
      const NamedScope inner("inner");
      EXPECT_EQ(RequestScope::Current()->id, "inner");
    }
    EXPECT_EQ(RequestScope::Current()->id, "outer");
    std::thread([] { EXPECT_FALSE(RequestScope::Current().has_value()); }).join();
  }
  EXPECT_FALSE(RequestScope::Current().has_value());
}

}  // namespace
}  // namespace sonde

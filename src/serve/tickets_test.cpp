#include "serve/tickets.h"

#include <gtest/gtest.h>

namespace batchlight::serve {
namespace {

TEST(Tickets, AreTakenOnce) {
  Tickets tickets;
  const std::string ticket = tickets.New(0).value();
  EXPECT_FALSE(tickets.Take(std::string(64, '0'), "", 1));
  EXPECT_FALSE(tickets.Take("", "", 1));
  EXPECT_TRUE(tickets.Take(ticket, "", 1));
  EXPECT_FALSE(tickets.Take(ticket, "", 2));
  for (const char* claim : {"somebody", "nobody"}) EXPECT_FALSE(tickets.Take(ticket, claim, 2));
}

TEST(Tickets, AreTakenAgainByWhoTookThem) {
  Tickets tickets;
  const std::string ticket = tickets.New(0).value();
  EXPECT_TRUE(tickets.Take(ticket, "page", 1));
  EXPECT_TRUE(tickets.Take(ticket, "page", 2));
  EXPECT_FALSE(tickets.Take(ticket, "other", 2));
  EXPECT_FALSE(tickets.Take(ticket, "", 2));
}

TEST(Tickets, LastForMinutesAndAreNotKeptWithoutEnd) {
  Tickets tickets;
  const std::string first = tickets.New(0).value();
  EXPECT_FALSE(tickets.Take(first, "", Tickets::kLifeMs));
  const std::string second = tickets.New(0).value();
  for (size_t i = 0; i + 1 < Tickets::kMost; ++i) (void)tickets.New(0).value();
  EXPECT_TRUE(tickets.Take(second, "page", 1));
  (void)tickets.New(0).value();
  EXPECT_FALSE(tickets.Take(second, "page", 1));
}

}  // namespace
}  // namespace batchlight::serve

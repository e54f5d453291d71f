#include "rpc/message_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace sonde::rpc {
namespace {

using Step = MessageReader::Step;

std::string Framed(const std::string& message, char flags = 0) {
  const size_t bytes = message.size();
  return std::string{flags, static_cast<char>(bytes >> 24), static_cast<char>(bytes >> 16),
                     static_cast<char>(bytes >> 8), static_cast<char>(bytes)} +
         message;
}

// All messages of `pieces`, one after the other; "!" at what is broken, "..." at a rest.
std::vector<std::string> Read(const std::vector<std::string>& pieces) {
  std::vector<std::string> messages;
  MessageReader reader;
  for (std::string_view bytes : pieces) {
    for (Step step = Step::kLength; step != Step::kMore;) {
      step = reader.Next(&bytes);
      if (step == Step::kLength) reader.MakeRoom();
      if (step == Step::kMessage) messages.emplace_back(reader.Take().view());
      if (step == Step::kBroken) {
        messages.emplace_back("!");
        return messages;
      }
    }
    EXPECT_TRUE(bytes.empty());
  }
  if (!reader.IsBetweenMessages()) messages.emplace_back("...");
  return messages;
}

TEST(MessageReader, ReadsMessages) {
  using Messages = std::vector<std::string>;
  EXPECT_EQ(Read({}), Messages({}));
  EXPECT_EQ(Read({""}), Messages({}));
  EXPECT_EQ(Read({Framed("")}), Messages({""}));
  EXPECT_EQ(Read({Framed("abc")}), Messages({"abc"}));
  EXPECT_EQ(Read({Framed("abc") + Framed("") + Framed("d")}), Messages({"abc", "", "d"}));
  EXPECT_EQ(Read({Framed("abc").substr(0, 7)}), Messages({"..."}));
  EXPECT_EQ(Read({Framed("abc").substr(0, 3)}), Messages({"..."}));
  EXPECT_EQ(Read({Framed("abc"), Framed("d", 1)}), Messages({"abc", "!"}));
  EXPECT_EQ(Read({std::string(1, '\x02')}), Messages({"!"}));
}

TEST(MessageReader, StandsAtTheLengthUntilThereIsRoom) {
  MessageReader reader;
  const std::string framed = Framed("abcdef");
  std::string_view bytes = framed;
  EXPECT_EQ(reader.Next(&bytes), Step::kLength);
  EXPECT_EQ(reader.Next(&bytes), Step::kLength);
  EXPECT_EQ(reader.length(), 6);
  EXPECT_EQ(bytes, "abcdef");
  reader.MakeRoom();
  EXPECT_EQ(reader.Next(&bytes), Step::kMessage);
  EXPECT_EQ(reader.Take().view(), "abcdef");
  EXPECT_TRUE(reader.IsBetweenMessages());
}

TEST(MessageReader, ReadsTheSameHoweverItIsDivided) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 2'000; ++trial) {
    std::vector<std::string> messages;
    std::string bytes;
    for (size_t i = random() % 5; i > 0; --i) {
      std::string message(random() % 3 == 0 ? random() % 70'000 : random() % 12, '\0');
      for (char& byte : message) byte = static_cast<char>(random());
      bytes += Framed(message);
      messages.push_back(std::move(message));
    }
    std::vector<std::string> pieces;
    const size_t piece_bytes_max = random() % 2 == 0 ? 3 : 20'000;
    for (size_t at = 0; at < bytes.size();) {
      const size_t piece_bytes = random() % (piece_bytes_max + 1);
      pieces.push_back(bytes.substr(at, piece_bytes));
      at += piece_bytes;
    }
    ASSERT_EQ(Read(pieces), messages) << trial;
  }
}

TEST(MessageReader, TakesAnyBytesWithoutHarm) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 20'000; ++trial) {
    MessageReader reader;
    for (int piece = 0; piece < 8; ++piece) {
      std::string bytes(random() % 9, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
      std::string_view rest = bytes;
      Step step = Step::kLength;
      while (step == Step::kLength || step == Step::kMessage) {
        step = reader.Next(&rest);
        if (step == Step::kLength && reader.length() > 1'000) {
          step = Step::kBroken;
        } else if (step == Step::kLength) {
          reader.MakeRoom();
        } else if (step == Step::kMessage) {
          EXPECT_LE(reader.Take().size(), 1'000);
        }
      }
      if (step == Step::kBroken) break;
    }
  }
}

}  // namespace
}  // namespace sonde::rpc

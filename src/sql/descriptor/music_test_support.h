// A schema bundle for tests: the FileDescriptorSet that protoc --include_imports makes of
//
//   syntax = "proto3";
//   package music;
//   enum Genre { UNKNOWN = 0; JAZZ = 1; ROCK = 2; }
//   message Artist { string name = 1; }
//   message Album {
//     message Track { string title = 1; int32 seconds = 2; }
//     string title = 1;
//     int64 year = 2;
//     Genre genre = 3;
//     Artist artist = 4;
//     repeated Track tracks = 5;
//     repeated string tags = 6;
//     optional double rating = 7;
//     map<string, int64> plays = 8;
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::sql {

inline constexpr std::string_view kMusicHex =
    "0aed030a0b6d757369632e70726f746f12056d75736963221c0a0641727469737412120a046e616d6518012001280952"
    "046e616d652286030a05416c62756d12140a057469746c6518012001280952057469746c6512120a0479656172180220"
    "01280352047965617212220a0567656e726518032001280e320c2e6d757369632e47656e7265520567656e726512250a"
    "0661727469737418042001280b320d2e6d757369632e4172746973745206617274697374122a0a06747261636b731805"
    "2003280b32122e6d757369632e416c62756d2e547261636b5206747261636b7312120a04746167731806200328095204"
    "74616773121b0a06726174696e6718072001280148005206726174696e67880101122d0a05706c61797318082003280b"
    "32172e6d757369632e416c62756d2e506c617973456e7472795205706c6179731a370a05547261636b12140a05746974"
    "6c6518012001280952057469746c6512180a077365636f6e647318022001280552077365636f6e64731a380a0a506c61"
    "7973456e74727912100a036b657918012001280952036b657912140a0576616c7565180220012803520576616c75653a"
    "02380142090a075f726174696e672a280a0547656e7265120b0a07554e4b4e4f574e100012080a044a415a5a10011208"
    "0a04524f434b1002620670726f746f33";

inline std::string MusicDescriptors() {
  const auto digit = [](char c) { return static_cast<uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string bytes;
  for (size_t i = 0; i + 1 < kMusicHex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(kMusicHex[i]) << 4 | digit(kMusicHex[i + 1])));
  }
  return bytes;
}

}  // namespace sonde::sql

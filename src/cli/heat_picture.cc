#include "cli/heat_picture.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr size_t kLabelWidthMax = 30;
constexpr std::string_view kShadeCharacters = " .:-=+*#%@";
// Ten of the terminal's 256 colours, from black over violet and red to yellow.
constexpr std::array<int, 10> kShadeColours = {16, 17, 54, 90, 126, 162, 197, 203, 214, 229};
constexpr std::array<std::array<int, 3>, 7> kRamp = {{{13, 17, 28},
                                                      {28, 36, 92},
                                                      {88, 28, 135},
                                                      {172, 42, 118},
                                                      {232, 89, 72},
                                                      {252, 166, 54},
                                                      {252, 244, 168}}};

void AppendChunk(const char* type, const std::string& data, std::string* png) {
  PutFixed32(png, static_cast<uint32_t>(data.size()));
  const std::string body = type + data;
  png->append(body);
  PutFixed32(png, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()), body.size())));
}

std::string Deflate(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
            bytes.size(), 9);
  packed.resize(size);
  return packed;
}

}  // namespace

std::string_view ShadeCharacters() { return kShadeCharacters; }

double HeatPicture::Scale() const {
  std::vector<double> some;
  for (const double value : values) {
    if (value > 0) some.push_back(value);
  }
  if (some.empty()) return 1;
  const auto at = some.begin() + static_cast<int64_t>(static_cast<double>(some.size() - 1) * 0.995);
  std::nth_element(some.begin(), at, some.end());
  return std::max(*at, 1.0);
}

std::vector<double> HeatPicture::Shades() const {
  const double scale = Scale();
  std::vector<double> shades;
  shades.reserve(values.size());
  for (const double value : values) shades.push_back(std::sqrt(std::min(std::max(value, 0.0) / scale, 1.0)));
  return shades;
}

std::string ToTerminal(const HeatPicture& picture, size_t width, bool colours) {
  size_t label_width = 0;
  for (const std::string& label : picture.row_labels) label_width = std::max(label_width, label.size());
  label_width = std::min(label_width, kLabelWidthMax);
  const size_t columns = std::min(picture.columns, width > label_width + 1 ? width - label_width - 1 : 1);
  const std::vector<double> shades = picture.Shades();
  std::string text;
  for (size_t row = 0; row < picture.rows(); ++row) {
    fmt::format_to(std::back_inserter(text), "{:>{}} ", picture.row_labels[row].substr(0, label_width),
                   label_width);
    for (size_t column = 0; column < columns; ++column) {
      const double shade = shades[column * picture.rows() + row];
      // A value that is not nothing is seen.
      const auto step =
          shade == 0 ? 0 : std::max<size_t>(1, std::lround(shade * (kShadeCharacters.size() - 1)));
      if (colours) {
        fmt::format_to(std::back_inserter(text), "\x1b[48;5;{}m ", kShadeColours[step]);
      } else {
        text.push_back(kShadeCharacters[step]);
      }
    }
    text += colours ? "\x1b[0m\n" : "\n";
  }
  const size_t between = columns > picture.time_left.size() + picture.time_right.size()
                             ? columns - picture.time_left.size() - picture.time_right.size()
                             : 1;
  text += std::string(label_width + 1, ' ') + picture.time_left + std::string(between, ' ') +
          picture.time_right + "\n";
  return text;
}

// PNG (Portable Network Graphics), second edition: 8 bits of red, green and blue, no filter.
std::string ToPng(const HeatPicture& picture, size_t scale) {
  const std::vector<double> shades = picture.Shades();
  std::string pixels;
  for (size_t row = 0; row < picture.rows(); ++row) {
    std::string line(1, '\0');
    for (size_t column = 0; column < picture.columns; ++column) {
      const double at = shades[column * picture.rows() + row] * (kRamp.size() - 1);
      const size_t from = std::min<size_t>(static_cast<size_t>(at), kRamp.size() - 2);
      std::string pixel;
      for (size_t channel = 0; channel < 3; ++channel) {
        const double low = kRamp[from][channel], high = kRamp[from + 1][channel];
        pixel.push_back(
            static_cast<char>(std::lround(low + (high - low) * (at - static_cast<double>(from)))));
      }
      for (size_t i = 0; i < scale; ++i) line += pixel;
    }
    for (size_t i = 0; i < scale; ++i) pixels += line;
  }
  std::string header;
  PutFixed32(&header, static_cast<uint32_t>(picture.columns * scale));
  PutFixed32(&header, static_cast<uint32_t>(picture.rows() * scale));
  header += std::string("\x08\x02\x00\x00\x00", 5);
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk("IHDR", header, &png);
  AppendChunk("IDAT", Deflate(pixels), &png);
  AppendChunk("IEND", "", &png);
  return png;
}

}  // namespace sonde

#include "promql/http/api_answer.h"

#include <fmt/format.h>

#include "base/format.h"
#include "promql/syntax/words.h"
#include "series/http/ingest_service.h"

namespace sonde::promql {
namespace {

constexpr size_t kNoticesMax = 10;

void AppendText(std::string_view text, std::string_view refused, std::string* out) {
  out->push_back('"');
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const Sign sign = SignAt(text, i);
      constexpr char32_t kNoSign = 0xFFFD;
      if (sign.code == kNoSign && sign.bytes == 1) {
        out->append("\xEF\xBF\xBD");
      } else {
        out->append(text.substr(i, sign.bytes));
      }
      i += sign.bytes;
      continue;
    }
    ++i;
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (c == '\t') {
      out->append("\\t");
    } else if (byte < 0x20 || refused.find(c) != std::string_view::npos) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", byte);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void AppendNotices(std::string_view name, std::string_view kind, const std::vector<std::string>& texts,
                   std::string* out) {
  if (texts.empty()) return;
  fmt::format_to(std::back_inserter(*out), ",\"{}\":[", name);
  for (size_t i = 0; i < texts.size() && i < kNoticesMax; ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonTextForHtml(texts[i], out);
  }
  if (texts.size() > kNoticesMax) {
    fmt::format_to(std::back_inserter(*out), ",\"{} more {} annotations omitted\"",
                   texts.size() - kNoticesMax, kind);
  }
  out->push_back(']');
}

struct Refusal {
  std::string_view type;
  int code;
};

Refusal RefusalOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return {"bad_data", 400};
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented:
      return {"execution", 422};
    case absl::StatusCode::kCancelled:
      return {"canceled", 499};
    case absl::StatusCode::kDeadlineExceeded:
      return {"timeout", 503};
    case absl::StatusCode::kUnavailable:
      return {"unavailable", 503};
    case absl::StatusCode::kNotFound:
      return {"not_found", 404};
    default:
      return {"internal", 500};
  }
}

}  // namespace

void AppendJsonText(std::string_view text, std::string* out) { AppendText(text, "", out); }
void AppendJsonTextForHtml(std::string_view text, std::string* out) { AppendText(text, "<>&", out); }

void AppendLabels(const Labels& labels, std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonText(labels[i].first, out);
    out->push_back(':');
    AppendJsonText(labels[i].second, out);
  }
  out->push_back('}');
}

std::string AnswerEnd(const Notices& notices) {
  std::string text;
  AppendNotices("warnings", "warning", notices.warnings, &text);
  AppendNotices("infos", "info", notices.infos, &text);
  text.push_back('}');
  return text;
}

void Answer(std::string_view data, const Notices& notices, HttpResponse* response) {
  response->body = kAnswerBegin;
  response->body.append(data);
  response->body.append(AnswerEnd(notices));
}

absl::Status AnswerError(const absl::Status& status, HttpResponse* response) {
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status)) return status;
  const Refusal refusal = RefusalOf(status.code());
  response->code = refusal.code;
  response->body = fmt::format(R"({{"status":"error","errorType":"{}","error":)", refusal.type);
  AppendJsonTextForHtml(TextOfError(status), &response->body);
  response->body.push_back('}');
  if (absl::IsUnavailable(status)) series::AskToRetry(response);
  return absl::OkStatus();
}

}  // namespace sonde::promql

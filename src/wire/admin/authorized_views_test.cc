#include "wire/admin/authorized_views.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr char kView[] = "projects/p/instances/i/tables/t/authorizedViews/v";

template <typename Message>
Message Text(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

class AuthorizedViewsTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = kTable;
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }

  absl::Status Create(const std::string& view, const std::string& id = "v") {
    auto request = Text<admin::CreateAuthorizedViewRequest>("authorized_view { " + view + " }");
    request.set_parent(kTable);
    request.set_authorized_view_id(id);
    return CreateAuthorizedView(&tables_, operations_.get(), request, &operation_);
  }

  absl::Status Update(const std::string& view, const std::vector<std::string>& paths) {
    auto request = Text<admin::UpdateAuthorizedViewRequest>("authorized_view { " + view + " }");
    if (request.authorized_view().name().empty()) request.mutable_authorized_view()->set_name(kView);
    for (const std::string& path : paths) request.mutable_update_mask()->add_paths(path);
    return UpdateAuthorizedView(&tables_, operations_.get(), request, &operation_);
  }

  admin::AuthorizedView Get(admin::AuthorizedView::ResponseView part = admin::AuthorizedView::FULL) {
    admin::GetAuthorizedViewRequest request;
    request.set_name(kView);
    request.set_view(part);
    admin::AuthorizedView view;
    EXPECT_EQ(GetAuthorizedView(*catalog_, request, &view), absl::OkStatus());
    return view;
  }

  absl::Status Delete(const std::string& etag = "") {
    admin::DeleteAuthorizedViewRequest request;
    request.set_name(kView);
    request.set_etag(etag);
    return DeleteAuthorizedView(catalog_.get(), request);
  }

  ManualClock clock_{1'700'000'000'000'000};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, 1};
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  google::longrunning::Operation operation_;
};

constexpr char kSubset[] =
    "subset_view { row_prefixes: 'a#' row_prefixes: '\\xff' family_subsets { key: 'f' value { qualifiers: "
    "'q' "
    "qualifier_prefixes: '' } } }";

TEST_F(AuthorizedViewsTest, IsMadeAndShownInParts) {
  ASSERT_EQ(Create(kSubset), absl::OkStatus());
  EXPECT_TRUE(operation_.done());
  admin::AuthorizedView made;
  admin::CreateAuthorizedViewMetadata metadata;
  ASSERT_TRUE(operation_.response().UnpackTo(&made));
  ASSERT_TRUE(operation_.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.original_request().authorized_view_id(), "v");
  EXPECT_EQ(metadata.finish_time().seconds(), 1'700'000'000);
  EXPECT_EQ(made.name(), kView);
  EXPECT_EQ(made.SerializeAsString(), Get().SerializeAsString());
  EXPECT_EQ(made.subset_view().row_prefixes(1), "\xff");
  EXPECT_EQ(made.subset_view().family_subsets().at("f").qualifier_prefixes_size(), 1);

  EXPECT_TRUE(Get(admin::AuthorizedView::RESPONSE_VIEW_UNSPECIFIED).has_subset_view());
  const admin::AuthorizedView basic = Get(admin::AuthorizedView::BASIC);
  EXPECT_FALSE(basic.has_subset_view());
  EXPECT_EQ(basic.etag(), made.etag());
  EXPECT_EQ(Get(admin::AuthorizedView::NAME_ONLY).etag(), "");
}

TEST_F(AuthorizedViewsTest, RefusesWhatIsNoView) {
  const auto code = [this](const std::string& view, const std::string& id = "v") {
    return Create(view, id).code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code(""), kInvalid);
  EXPECT_EQ(code(kSubset, ""), kInvalid);
  EXPECT_EQ(code(kSubset, "a/b"), kInvalid);
  EXPECT_EQ(code("subset_view { family_subsets { key: 'f:' value {} } }"), kInvalid);
  EXPECT_EQ(code("subset_view { row_prefixes: '" + std::string(4097, 'x') + "' }"), kInvalid);
  std::string many;
  for (int i = 0; i < 100; ++i) many += " row_prefixes: 'r'";
  EXPECT_EQ(code("subset_view { row_prefixes: '' " + many + "}"), kInvalid);
  EXPECT_EQ(code("subset_view { " + many + " family_subsets { key: 'f' value {} } }"), kInvalid);
  EXPECT_EQ(Create("subset_view { " + many + "}"), absl::OkStatus());
  EXPECT_EQ(code(kSubset), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Create("subset_view {}", "empty"), absl::OkStatus());
}

TEST_F(AuthorizedViewsTest, UpdatesWhatTheMaskNames) {
  ASSERT_EQ(Create(kSubset), absl::OkStatus());
  ASSERT_EQ(Update("deletion_protection: true", {"deletion_protection"}), absl::OkStatus());
  EXPECT_TRUE(Get().deletion_protection());
  EXPECT_EQ(Get().subset_view().row_prefixes_size(), 2);
  // Without a mask: what is set.
  ASSERT_EQ(Update("subset_view { row_prefixes: 'b' }", {}), absl::OkStatus());
  EXPECT_TRUE(Get().deletion_protection());
  EXPECT_EQ(Get().subset_view().row_prefixes_size(), 1);
  EXPECT_EQ(Get().subset_view().family_subsets_size(), 0);
  ASSERT_EQ(Update("subset_view { row_prefixes: 'c' family_subsets { key: 'g' value {} } }",
                   {"subset_view.family_subsets"}),
            absl::OkStatus());
  EXPECT_EQ(Get().subset_view().row_prefixes(0), "b");
  EXPECT_EQ(Get().subset_view().family_subsets().count("g"), 1u);
  // Everything, also what is not set.
  ASSERT_EQ(Update("", {"*"}), absl::OkStatus());
  EXPECT_FALSE(Get().deletion_protection());
  EXPECT_EQ(Get().subset_view().row_prefixes_size(), 0);

  EXPECT_EQ(Update("", {"name"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update("name: 'projects/p/instances/i/tables/t/authorizedViews/x'", {"subset_view"}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Update("name: 'x'", {"subset_view"}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(AuthorizedViewsTest, EtagsGuardChanges) {
  ASSERT_EQ(Create(kSubset), absl::OkStatus());
  const std::string etag = Get().etag();
  EXPECT_FALSE(etag.empty());
  EXPECT_EQ(Update("etag: 'other' deletion_protection: true", {"deletion_protection"}).code(),
            absl::StatusCode::kAborted);
  EXPECT_FALSE(Get().deletion_protection());
  ASSERT_EQ(Update("etag: '" + etag + "' deletion_protection: true", {"deletion_protection"}),
            absl::OkStatus());
  EXPECT_NE(Get().etag(), etag);
  EXPECT_EQ(Update("etag: '" + etag + "'", {"deletion_protection"}).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Delete(etag).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Delete(Get().etag()).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(Update("", {"deletion_protection"}), absl::OkStatus());
  EXPECT_EQ(Delete(Get().etag()), absl::OkStatus());
  EXPECT_EQ(Delete().code(), absl::StatusCode::kNotFound);
}

TEST_F(AuthorizedViewsTest, AreListedInPages) {
  for (const char* id : {"b", "a", "c"}) ASSERT_EQ(Create(kSubset, id), absl::OkStatus());
  const auto list = [this](int page_size, const std::string& token = "") {
    admin::ListAuthorizedViewsRequest request;
    request.set_parent(kTable);
    request.set_page_size(page_size);
    request.set_page_token(token);
    admin::ListAuthorizedViewsResponse response;
    if (absl::Status status = ListAuthorizedViews(*catalog_, request, &response); !status.ok())
      return std::string(status.message());
    std::string text;
    for (const auto& view : response.authorized_views()) {
      EXPECT_EQ(view.etag(), "");
      text += view.name().back();
    }
    return text + "+" + response.next_page_token();
  };
  EXPECT_EQ(list(0), "abc+");
  EXPECT_EQ(list(3), "abc+");
  EXPECT_EQ(list(2), "ab+b");
  EXPECT_EQ(list(2, "b"), "c+");
  EXPECT_THAT(list(-1), testing::HasSubstr("page_size"));
  EXPECT_THAT(list(0, "no token"), testing::HasSubstr("page_token"));
}

}  // namespace
}  // namespace sonde

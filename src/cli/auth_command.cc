// `sonde auth`: who may prove himself to a server, with what.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cli/auth_commands.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"

namespace sonde {
namespace {

constexpr char kAuthFooter[] =
    "The authentication file has the public keys of accounts, the digests of tokens, and the roles that "
    "members have on\n"
    "the server or a project.  No secret is in it, and none is taken from a command line.  A server that "
    "runs reads the\n"
    "file again at SIGHUP.\n\n"
    "Examples:\n"
    "  sonde auth create-key ingest --out key.json --data-dir /var/lib/sonde\n"
    "  sonde auth bind ingest roles/bigtable.user --project p --data-dir /var/lib/sonde\n"
    "  sonde auth list --data-dir /var/lib/sonde";

constexpr char kCreateKeyFooter[] =
    "The file has the format of Google's service-account keys: the official clients take it as it is, and "
    "sign their own\n"
    "tokens with it.  It alone has the private key.  The account may do nothing until `sonde auth bind` "
    "gives it a role.\n\n"
    "Examples:\n"
    "  sonde auth create-key ingest --out key.json --auth /etc/sonde/auth.yaml\n"
    "  sonde auth create-key ingest --out key.json --project p --data-dir /var/lib/sonde --json\n"
    "  GOOGLE_APPLICATION_CREDENTIALS=key.json python3 read.py";

constexpr char kCreateTokenFooter[] =
    "For senders that cannot sign: curl, Influx' and Prometheus' clients.  The token is printed once, to "
    "stdout, and only its\n"
    "digest is kept.  It is sent as `authorization: Bearer TOKEN` or `Token TOKEN`, or as the password of "
    "Basic.\n\n"
    "Examples:\n"
    "  sonde auth create-token grafana --expires 90d --data-dir /var/lib/sonde > token\n"
    "  sonde auth create-token user:a@example.com --expires never --auth /etc/sonde/auth.yaml --json";

constexpr char kListFooter[] =
    "Examples:\n"
    "  sonde auth list --data-dir /var/lib/sonde\n"
    "  sonde auth list --auth /etc/sonde/auth.yaml --json";

constexpr char kRevokeFooter[] =
    "`sonde auth list` has the ids.  A server that runs refuses the key or token once it has read the file "
    "again (SIGHUP),\n"
    "also on connections that are open.\n\n"
    "Examples:\n"
    "  sonde auth revoke 5f0c1d2e3a4b --data-dir /var/lib/sonde";

constexpr char kBindFooter[] =
    "MEMBER is the name of an account, or serviceAccount:EMAIL, user:EMAIL, group:NAME, principal:TEXT.  "
    "ROLE is one of Google's,\n"
    "such as roles/bigtable.reader, or a custom role of the file.\n\n"
    "Examples:\n"
    "  sonde auth bind ingest roles/bigtable.user --data-dir /var/lib/sonde\n"
    "  sonde auth bind group:writers roles/bigtable.user --project p --auth /etc/sonde/auth.yaml";

constexpr char kUnbindFooter[] =
    "Examples:\n"
    "  sonde auth unbind ingest roles/bigtable.user --data-dir /var/lib/sonde\n"
    "  sonde auth unbind group:writers roles/bigtable.user --project p --auth /etc/sonde/auth.yaml";

constexpr char kCheckFooter[] =
    "The value of a header `authorization` comes on stdin, in one line.  The member is printed; exit status "
    "1 and the cause, if the\n"
    "value proves nobody.\n\n"
    "Examples:\n"
    "  (printf 'Bearer '; cat token) | sonde auth check --data-dir /var/lib/sonde";

void AddPlace(CLI::App* command, AuthPlace* place) {
  command->add_option("--auth", place->auth, "the authentication file")->type_name("FILE");
  command->add_option("--data-dir", place->data_dir, "the data directory, whose auth.yaml it is")
      ->type_name("DIR");
  command->add_flag("--json", place->json, "print the result as JSON");
}

void AddAuditLog(CLI::App* command, AuthPlace* place) {
  command
      ->add_option("--audit-log", place->audit_log,
                   "the audit log that changes are written to [audit.log in the data directory]")
      ->type_name("FILE");
}

// A command that is done with these flags.
template <typename Flags>
CLI::App* AddAuth(CLI::App* auth, const char* name, const char* what, const char* footer, int* exit_status,
                  const std::shared_ptr<Flags>& flags, std::function<absl::Status(const Flags&)> run) {
  CLI::App* const command = auth->add_subcommand(name, what);
  command->footer(footer);
  if constexpr (std::is_same_v<Flags, AuthPlace>) {
    AddPlace(command, flags.get());
  } else {
    AddPlace(command, &flags->place);
    AddAuditLog(command, &flags->place);  // those with flags of their own change the file
  }
  command->callback(
      [flags, exit_status, run = std::move(run)] { *exit_status = EndOfCommand("sonde auth", run(*flags)); });
  return command;
}

void AddBind(CLI::App* auth, int* exit_status, const char* name, const char* what, const char* footer,
             absl::Status (*run)(const BindFlags&)) {
  const auto flags = std::make_shared<BindFlags>();
  CLI::App* const command = AddAuth<BindFlags>(auth, name, what, footer, exit_status, flags, run);
  command->add_option("member", flags->member, "the member")->type_name("MEMBER")->required();
  command->add_option("role", flags->role, "the role")->type_name("ROLE")->required();
  command->add_option("--project", flags->project, "on this project alone [the whole server]")
      ->type_name("PROJECT");
}

struct RevokeFlags {
  AuthPlace place;
  std::string id;
};

}  // namespace

void AddAuthCommand(CLI::App& app, int* exit_status) {
  CLI::App* const auth = app.add_subcommand("auth", "Issue, list and revoke keys and tokens; grant roles");
  auth->require_subcommand(1);
  auth->footer(kAuthFooter);

  const auto key = std::make_shared<CreateKeyFlags>();
  CLI::App* const create_key = AddAuth<CreateKeyFlags>(auth, "create-key", "Issue a key file to an account",
                                                       kCreateKeyFooter, exit_status, key, AuthCreateKey);
  create_key->add_option("name", key->name, "the account: NAME@sonde.local")->type_name("NAME")->required();
  create_key->add_option("--out", key->out, "the key file, which must not exist")
      ->type_name("FILE")
      ->required();
  create_key->add_option("--project", key->project, "the project that clients take if they are told none")
      ->type_name("PROJECT")
      ->capture_default_str();

  const auto token = std::make_shared<CreateTokenFlags>();
  CLI::App* const create_token =
      AddAuth<CreateTokenFlags>(auth, "create-token", "Issue a static token to a member", kCreateTokenFooter,
                                exit_status, token, AuthCreateToken);
  create_token->add_option("name", token->name, "an account's name, or a member")
      ->type_name("NAME")
      ->required();
  create_token->add_option("--expires", token->expires, "after which time, such as 90d, or never")
      ->type_name("TIME")
      ->required();

  AddAuth<AuthPlace>(auth, "list", "List keys, tokens and who has which role", kListFooter, exit_status,
                     std::make_shared<AuthPlace>(), AuthList);

  const auto revoke = std::make_shared<RevokeFlags>();
  AddAuth<RevokeFlags>(auth, "revoke", "Revoke a key or a token", kRevokeFooter, exit_status, revoke,
                       [](const RevokeFlags& flags) { return AuthRevoke(flags.place, flags.id); })
      ->add_option("id", revoke->id, "Id of the key or the token")
      ->type_name("ID")
      ->required();

  AddBind(auth, exit_status, "bind", "Give a member a role", kBindFooter, AuthBind);
  AddBind(auth, exit_status, "unbind", "Take a role from a member", kUnbindFooter, AuthUnbind);
  AddAuth<AuthPlace>(auth, "check", "Say whom a token proves, or why nobody", kCheckFooter, exit_status,
                     std::make_shared<AuthPlace>(), AuthCheck);
}

}  // namespace sonde

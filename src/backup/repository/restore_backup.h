// Makes a data directory of a backup.
//
// The files come into DIRECTORY/restore.part first, each compared with its SHA-256 as it is copied.  The caller then opens and checks
// that directory.  Only after this its entries move into DIRECTORY, the file FORMAT last.  So a directory is complete, or it has
// restore.part and no FORMAT, and no server opens it; the next restore begins anew there.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"
#include "backup/repository/transfer.h"

namespace sonde {

// Copies the files of a backup into `directory`, which must be empty.  They are on the disk when this returns OK.  DATA_LOSS: a blob
// is damaged, missing, or of another size.  NOT_FOUND: the backup was removed meanwhile.  Errors of the disk.
absl::Status CopyBackupFiles(const Repository& repository, const Manifest& manifest,
                             const std::string& directory, const TransferOptions& options = {});

// Restores a backup to `directory`, which must be empty but for lost+found and an operator's files (sonde.yaml, ...), or have a
// restore that was broken off.  `check` gets the path of the restored files and may change them; its error ends the restore.  After
// an error the directory is no data directory.  FAILED_PRECONDITION: the directory is not empty.  Otherwise as CopyBackupFiles.
absl::Status RestoreBackup(const Repository& repository, const Manifest& manifest,
                           const std::string& directory,
                           const std::function<absl::Status(const std::string& restored)>& check,
                           const TransferOptions& options = {});

}  // namespace sonde

import ApusCore
import ApusFiles
import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored description of a transfer. Another process continues from this description.
///
/// The record contains the encoded endpoint of the app, but no fields (headers) and no credentials. The only URL in a
/// record is the URL of a complete upload.
struct TransferRecord: StoredRecord, Hashable, Sendable {
  /// The stored part of the error of a failed transfer.
  struct Failure: Codable, Hashable, Sendable {
    let code: String
    let message: String

    init(_ error: CallError) {
      (code, message) = (error.code.rawValue, error.message)
    }

    var error: CallError {
      CallError(CallError.Code(rawValue: code) ?? .refused, message: message)
    }
  }

  private(set) var version = Self.currentVersion
  let description: TransferDescription
  /// The time at which the transfer was added, in milliseconds since 1970. A new process queues transfers in this
  /// order.
  let added: Int64
  var priority: Int
  var isPaused = false
  /// Whether the app has cancelled a transfer that is not removed yet. `nil` in records of earlier versions.
  var isCancelled: Bool?
  var failure: Failure?
  var completed: Int64 = 0
  var total: Int64?
  /// The complete file of a download, stored before the file gets its final name. The size alone would match other
  /// files, too.
  var published: FileVersion?
  /// The complete upload, as soon as its response has arrived.
  var uploaded: CompleteUpload?

  static let currentVersion = 1

  init(_ description: TransferDescription, added: Int64, priority: CallPriority) {
    (self.description, self.added, self.priority) = (description, added, priority.level)
  }
}

/// The parts of a transfer that identify it and do not change.
struct TransferDescription: Codable, Hashable, Sendable {
  let direction: Transfer.Direction
  /// The name of the endpoint's type.
  let name: String
  /// The endpoint as JSON.
  let endpoint: String
  /// The absolute path of the file of a download.
  let path: String?
  /// A hash of the account, because the account may be a name or an address.
  let account: String?

  /// - Throws: an `EncodingError`.
  init<E: TransferEndpoint>(_ direction: Transfer.Direction, _ endpoint: E, path: String?, account: String?) throws {
    let encoder = JSONEncoder()
    // Makes the JSON of an endpoint the same in every process.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    self.direction = direction
    name = E.transferName
    self.endpoint = String(decoding: try encoder.encode(endpoint), as: UTF8.self)
    self.path = path.map { URL(filePath: $0).standardizedFileURL.path }
    self.account = Self.hash(ofAccount: account)
  }

  var id: Transfer.ID {
    Transfer.ID(rawValue: Self.hash(["transfer", direction.rawValue, name, endpoint, path ?? "", account ?? ""]))
  }

  /// The name of the record in the store.
  var recordName: String { Self.recordPrefix + id.rawValue }

  /// The prefix of the names of transfer records, because a store may contain other records.
  static let recordPrefix = "transfer-"

  /// Returns the hash of an account. Records contain this hash.
  static func hash(ofAccount account: String?) -> String? { account.map { hash(["account", $0]) } }

  private static func hash(_ parts: [String]) -> String { Hexadecimal.hash(of: parts, bytes: 16) }
}

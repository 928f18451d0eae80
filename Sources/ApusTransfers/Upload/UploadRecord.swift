import ApusCore
import ApusFiles
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored description of an incomplete upload. Another process continues from this description.
///
/// The record contains the URL of the upload, but no fields (headers), no query of the endpoint and no account.
struct UploadRecord: StoredRecord, Hashable, Sendable {
  var version = Self.currentVersion
  /// The name of the protocol.
  var driver: String
  /// The URL of the endpoint without its query, for diagnosis.
  var endpoint: String
  /// The version of the file; `nil` for bytes in memory.
  var file: FileVersion?
  /// The hash of bytes in memory.
  var hash: String?
  var length: Int64
  var ticket: UploadTicket

  static let currentVersion = 1

  /// Returns the name of an upload's record. The name is the same in every process. Returns `nil` if another process
  /// could not recognize the content.
  static func name(
    _ driver: any UploadDriver, _ message: RequestMessage, _ source: UploadSource, _ options: UploadOptions
  ) -> String? {
    let content: String
    switch source.identity {
    case .file(let path, _): content = "file \(path)"
    case .bytes(let hash): content = "bytes \(hash)"
    case .unknown: return nil
    }
    if let name = name(options) { return name }
    return name(of: ["upload", driver.name, message.head.method.rawValue, message.url, content, options.account ?? ""])
  }

  /// Returns the name of the record of an upload whose options set `resource`; `nil` without a resource.
  private static func name(_ options: UploadOptions) -> String? {
    options.resource.map { name(of: ["named upload", $0, options.account ?? ""]) }
  }

  private static func name(of parts: [String]) -> String { Hexadecimal.hash(of: parts, bytes: 24) }

  /// Removes the record of an upload whose options set `resource`.
  static func remove(_ options: UploadOptions) async throws(TransferError) {
    guard let store = options.store, let name = name(options) else { return }
    let record = try await store.lock(name)
    do throws(TransferError) {
      try await record.write(nil)
    } catch {
      await record.release()
      throw error
    }
    await record.release()
  }

  init(_ driver: any UploadDriver, _ calls: UploadCalls, _ ticket: UploadTicket) {
    self.driver = driver.name
    endpoint = String(Substring(calls.message.url.utf8.prefix { $0 != UInt8(ascii: "?") }))
    (file, hash) = Self.identity(of: calls.source)
    (length, self.ticket) = (calls.length, ticket)
  }

  /// Whether an upload of this content can continue from the record.
  ///
  /// - Parameter now: seconds since 1970.
  func continues(_ driver: any UploadDriver, _ calls: UploadCalls, now: Int64) -> Bool {
    self.driver == driver.name && (file, hash) == Self.identity(of: calls.source) && length == calls.length
      && ticket.expiration ?? .max > now
  }

  private static func identity(of source: UploadSource) -> (FileVersion?, String?) {
    switch source.identity {
    case .file(_, let version): (version, nil)
    case .bytes(let hash): (nil, hash)
    case .unknown: (nil, nil)
    }
  }
}

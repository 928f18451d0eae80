import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The responses that are stored under one key, with their content.
struct CacheEntries: Sendable {
  /// The responses, whose ids are those of their entries.
  private(set) var responses: [StoredResponse] = []
  private var contents: [Data?] = []

  /// Creates an empty value.
  init() {}

  /// Creates a value with one response.
  init(_ response: StoredResponse, _ content: Data?) {
    responses = [response]
    contents = [content]
  }

  var isEmpty: Bool { responses.isEmpty }

  /// Returns the content of a response. `nil`: it has none, as a response to HEAD, or it is not loaded.
  func content(of id: UInt64) -> Data? {
    responses.firstIndex { $0.id == id }.flatMap { contents[$0] }
  }

  /// Adds other responses.
  mutating func append(_ other: CacheEntries) {
    responses += other.responses
    contents += other.contents
  }

  /// Requires that the responses are validated before their next use.
  mutating func invalidate() {
    for index in responses.indices { responses[index].isInvalidated = true }
  }

  /// Replaces the response of a value with one response. The content stays.
  mutating func replace(_ response: StoredResponse) {
    responses = [response]
  }
}

extension StoredResponse {
  /// The approximate number of bytes in memory, without the content.
  var headSize: Int64 {
    var size: Int64 = 1024
    for field in fields { size += Int64(field.name.rawName.utf8.count + field.value.utf8.count) + 64 }
    return size
  }
}

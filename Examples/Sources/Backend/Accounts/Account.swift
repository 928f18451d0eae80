import GRDB

/// A person who signed up.
struct Account: Codable, FetchableRecord, Sendable, Equatable {
  let id: Int64
  let name: String
  let email: String
}

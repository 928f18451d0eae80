import Apus
@_exported import TestSupport
import Testing

/// A model for tests.
struct User: Codable, Sendable, Hashable, Identifiable {
  var id: Int
  var name: String
}

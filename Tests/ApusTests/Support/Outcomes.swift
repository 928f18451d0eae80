import Apus
import Testing

/// The error that a call ended with; `nil` when it ended well. Any other error than a call's fails the test.
func failure(
  at location: SourceLocation = #_sourceLocation, _ call: () async throws -> some Sendable
) async -> CallError? {
  do {
    _ = try await call()
    return nil
  } catch let error as CallError {
    return error
  } catch {
    Issue.record(error, sourceLocation: location)
    return nil
  }
}

/// A model of the tests.
struct User: Codable, Sendable, Hashable, Identifiable {
  var id: Int
  var name: String
}

extension Endpoint where Self == Request<Void> {
  static var ping: Self { .get("/ping") }
}

public import ApusCore
import HTTPTypes
public import Testing

/// Returns the error that a call throws, or `nil` if it succeeds. Any error but a `CallError` fails the test.
public func failure(
  at location: SourceLocation = #_sourceLocation, _ call: () async throws -> some Any
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

/// Returns the joined output of printing, reflecting and dumping a value.
public func texts(of value: Any) -> String {
  var dumped = ""
  dump(value, to: &dumped)
  return [String(describing: value), String(reflecting: value), "\(value)", dumped].joined(separator: "\n")
}

extension Endpoint where Self == Request<Void> {
  /// A GET request that ignores the content of the response.
  public static func get(_ path: RequestPath, query: Query = [:]) -> Self {
    .method(.get, path, query: query)
  }

  /// A GET request that ignores the content of the response.
  public static var ping: Self { .get("/ping") }
}

extension CallEntry {
  /// Whether the call has joined another call's exchange.
  public var hasJoined: Bool {
    trace.events.contains { event in
      if case .coalesced = event.kind { return true }
      return false
    }
  }
}

import ApusCore
import ApusTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A client with a stub that responds to every request with `answer`.
func client(
  at base: BaseURL = "https://api.example.com", answering answer: StubAnswer = .status(200),
  pipeline: Pipeline = Pipeline(), coding: CodingOptions = CodingOptions()
) -> Client {
  let stub = StubTransport()
  stub.onAny(answer: answer)
  var settings = ClientSettings()
  settings.coding = coding
  return Client(environment: Environment(baseURL: base), pipeline: pipeline, transport: stub, settings: settings)
}

/// The message that an endpoint is lowered to; nothing is sent.
func lowered<E: Endpoint>(
  _ endpoint: E, at base: BaseURL = "https://api.example.com", coding: CodingOptions = CodingOptions()
) async throws(CallError) -> RequestMessage {
  try await client(at: base, coding: coding).message(for: endpoint)
}

/// The path and query that an endpoint is lowered to.
func target<E: Endpoint>(
  of endpoint: E, at base: BaseURL = "https://api.example.com", coding: CodingOptions = CodingOptions()
) async throws(CallError) -> String {
  try await lowered(endpoint, at: base, coding: coding).target
}

/// The path and query of a GET request with this path.
func target(
  _ path: RequestPath, query: Query = [:], at base: BaseURL = "https://api.example.com", style: QueryStyle = .standard
) async throws(CallError) -> String {
  var coding = CodingOptions()
  coding.query = style
  let request: Request<Void> = .get(path, query: query)
  return try await target(of: request, at: base, coding: coding)
}

/// The error that the work throws; `nil` if it succeeds.
func failure<Value>(of work: () async throws(CallError) -> Value) async -> CallError? {
  do throws(CallError) {
    _ = try await work()
    return nil
  } catch {
    return error
  }
}

/// The text of content in memory.
func text(of content: MessageContent) -> String? {
  if case .bytes(let data) = content { return String(decoding: data, as: UTF8.self) }
  return nil
}

/// The text of a message's content in memory.
func content(of message: RequestMessage) -> String? { text(of: message.content) }

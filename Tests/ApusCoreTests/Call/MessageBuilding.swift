import ApusCore
import ApusTesting
@_exported import TestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Returns a client whose requests all receive the response `answer`.
func client(
  at base: BaseURL = "https://api.example.com", answering answer: StubReply = .status(200),
  pipeline: Pipeline = Pipeline(), coding: CodingOptions = CodingOptions()
) -> Client {
  let stub = StubTransport()
  stub.onAny(reply: answer)
  var settings = ClientSettings()
  settings.coding = coding
  return Client(environment: Environment(baseURL: base), pipeline: pipeline, transport: stub, settings: settings)
}

/// Returns the message for an endpoint without sending it.
func builtMessage<E: Endpoint>(
  _ endpoint: E, at base: BaseURL = "https://api.example.com", coding: CodingOptions = CodingOptions()
) async throws(CallError) -> RequestMessage {
  try await client(at: base, coding: coding).message(for: endpoint)
}

/// Returns the path and query of the message for an endpoint.
func target<E: Endpoint>(
  of endpoint: E, at base: BaseURL = "https://api.example.com", coding: CodingOptions = CodingOptions()
) async throws(CallError) -> String {
  try await builtMessage(endpoint, at: base, coding: coding).target
}

/// Returns the path and query of the message for a GET request with this path.
func target(
  _ path: RequestPath, query: Query = [:], at base: BaseURL = "https://api.example.com", style: QueryStyle = .default
) async throws(CallError) -> String {
  var coding = CodingOptions()
  coding.query = style
  let request: Request<Void> = .get(path, query: query)
  return try await target(of: request, at: base, coding: coding)
}

/// Returns the bytes of content as text, or `nil` if the content is not in memory.
func text(of content: MessageContent) -> String? {
  if case .bytes(let data) = content { return String(decoding: data, as: UTF8.self) }
  return nil
}

/// Returns the content of a message as text, or `nil` if the content is not in memory.
func content(of message: RequestMessage) -> String? { text(of: message.content) }

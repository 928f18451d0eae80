import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Precedence of coding options") struct CodingPrecedenceTests {
  private struct Item: Codable, Sendable { var longName = 1 }
  private struct Put: Endpoint {
    var coding: JSONCoding?
    var request: Request<Item> {
      let request: Request<Item> = .put("/x", query: ["a": [1, 2]], content: .json(Item()))
      return coding.map { request.json($0) } ?? request
    }
  }

  private func clientCoding() -> CodingOptions {
    var coding = CodingOptions()
    coding.json = .snakeCase
    coding.query = QueryStyle(arrays: .brackets)
    coding.form = QueryStyle(arrays: .joined(","))
    return coding
  }

  @Test("The client's coding applies by default, to requests and responses")
  func ofClient() async throws {
    let api = client(answering: .json(#"{"long_name":2}"#), coding: clientCoding())
    let message = try await api.message(for: Put())
    #expect(content(of: message) == #"{"long_name":1}"#)
    #expect(message.target == "/x?a%5B%5D=1&a%5B%5D=2")
    #expect(try await api.send(Put()).longName == 2)
    let form = try await api.message(for: Request<Void>.post("/x", content: .form(["a": [1, 2]])))
    #expect(content(of: form) == "a=1%2C2")
  }

  @Test("The endpoint's coding overrides the client's")
  func ofEndpoint() async throws {
    let api = client(answering: .json(#"{"longName":2}"#), coding: clientCoding())
    let message = try await api.message(for: Put(coding: .default))
    #expect(content(of: message) == #"{"longName":1}"#)
    #expect(message.target == "/x?a%5B%5D=1&a%5B%5D=2")
    #expect(try await api.send(Put(coding: .default)).longName == 2)
  }

  @Test("The call's coding overrides the endpoint's")
  func ofCall() async throws {
    let api = client(coding: clientCoding())
    let message = try await api.message(
      for: Put(coding: .snakeCase).json(.default).coding { $0.query = QueryStyle(arrays: .indexed) })
    #expect(content(of: message) == #"{"longName":1}"#)
    #expect(message.target == "/x?a%5B0%5D=1&a%5B1%5D=2")
  }

  @Test("Each coding option that is not set falls back separately")
  func over() {
    var near = CodingOptions()
    near.json = .snakeCase
    var far = CodingOptions()
    (far.json, far.query, far.form) = (.default, QueryStyle(nils: .null), QueryStyle(nils: .empty))
    far.envelope = EnvelopeFormat()
    far.format = JSONFormat()
    let both = near.over(far)
    #expect(both.json?.keys == .snakeCase)
    #expect(both.query?.nils == .null && both.form?.nils == .empty)
    #expect(both.envelope != nil && both.format != nil)
    let none = CodingOptions()
    #expect(none.effectiveJSON.keys == .unchanged)
    #expect(none.effectiveQuery.nils == .omitted && none.effectiveForm.nils == .omitted)
    #expect(none.effectiveFormat.mediaType == .json)
    #expect(both.effectiveFormat is JSONFormat)
  }
}

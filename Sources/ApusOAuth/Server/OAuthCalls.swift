#if OAuth
import ApusCore
import ApusJSON
import ApusMiddleware
import HTTPTypes

/// The calls to an authorization server, through the app's client: without its credentials, without redirects, which
/// would send secrets elsewhere, and with bounded responses.
struct OAuthCalls: Sendable {
  /// The maximum length of a response in bytes.
  static let limit = 512 << 10

  let client: Client

  /// A response: its JSON, or the server's error, and its fields.
  struct Answer {
    let json: Result<JSONValue, OAuthError>
    let fields: HTTPFields
  }

  /// Reads a public document.
  func get(_ url: ServerURL, for step: OAuthError.Step) async throws(OAuthError) -> JSONValue {
    let request = Request<Content>(method: .get, path: .url(url.text), mapping: .content)
    do {
      let content = try await client.send(prepared(request.field("Accept", "application/json")).coalesced())
      return try Self.json(content, step)
    } catch {
      throw OAuthError(step, error)
    }
  }

  /// Posts a form.
  ///
  /// - Returns: the server's response, if there is one.
  /// - Throws: if there is no response.
  func post(
    _ url: ServerURL, _ form: [(name: String, value: String)], fields: [RawField], for step: OAuthError.Step
  ) async throws(OAuthError) -> Answer {
    let content = RequestContent.text(FormText.encoded(form), "application/x-www-form-urlencoded")
    var request = Request<Content>(method: .post, path: .url(url.text), content: content, mapping: .content)
      .field("Accept", "application/json").setting(NewConnectionKey.self, true)
    request.fields += fields
    // Calls wait for a refresh, so an app that cancels its calls must not lose the new tokens.
    if step == .refresh { request = request.setting(SharedWorkKey.self, true) }
    do {
      let response = try await client.response(to: prepared(request))
      return Answer(json: Self.judged(response.value, step), fields: response.fields)
    } catch {
      guard error.code == .rejected, let status = error.status else { throw OAuthError(step, error) }
      let json = error.content.flatMap { try? Self.json($0, step) }
      let failure = json.flatMap { Self.failure($0, step, status, error) } ?? OAuthError(step, error)
      return Answer(json: .failure(failure), fields: error.head?.headerFields ?? [:])
    }
  }

  private func prepared(_ request: Request<Content>) -> Request<Content> {
    request.credentials(.none).redirects(.none).contentLimit(Self.limit).setting(ConfidentialContentKey.self, true)
  }

  private static func judged(_ content: Content, _ step: OAuthError.Step) -> Result<JSONValue, OAuthError> {
    // A successful revocation has no content that matters (RFC 7009 §2.2).
    if step == .revocation { return .success(.null) }
    do throws(OAuthError) {
      let json = try json(content, step)
      // Some servers send errors with the status 200.
      if let failure = failure(json, step, content.status, nil) { return .failure(failure) }
      return .success(json)
    } catch {
      return .failure(error)
    }
  }

  private static func failure(
    _ json: JSONValue, _ step: OAuthError.Step, _ status: Int, _ error: CallError?
  ) -> OAuthError? {
    json["error"]?.string.map {
      OAuthError(step, server: $0, message: json["error_description"]?.string, in: (status, error))
    }
  }

  private static func json(_ content: Content, _ step: OAuthError.Step) throws(OAuthError) -> JSONValue {
    do throws(JSONError) {
      let value = try JSONValue(parsing: content.data, limits: JSONLimits(depth: 64, bytes: limit))
      if value.object != nil { return value }
    } catch {
      // The text of the response may be secret.
    }
    throw OAuthError(step, .malformedResponse, "the response is no JSON object")
  }
}
#endif

import ApusCore
import ApusJSON
import ApusMiddleware
import HTTPTypes

/// The calls to an authorization server by the app's client: without the client's credentials, without redirects, and
/// with bounded responses. Redirects could send secrets to another server.
struct OAuthCalls: Sendable {
  /// The maximum length of a response in bytes.
  static let limit = 512 << 10

  let client: Client

  /// A form to post.
  struct Submission: Sendable {
    /// The names of the parameters whose values are masked in logs and errors.
    private static let confidential: Set = [
      "code", "code_verifier", "client_secret", "client_assertion", "refresh_token", "device_code", "token",
    ]

    let url: ServerURL
    let form: [(name: String, value: String)]
    let fields: [RawField]
    /// The client's secret; `nil` if no secret is sent.
    let secret: Secret?

    /// The secrets that a server could repeat in an error.
    fileprivate var secrets: [String] {
      form.filter { Self.confidential.contains($0.name) }.map(\.value) + (secret.map { [$0.value] } ?? [])
    }
  }

  /// A response: its JSON, or the server's error, and its fields.
  struct FormResponse {
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
  /// - Returns: the server's response, even if it is an error.
  /// - Throws: an error if no response arrives.
  func post(_ submission: Submission, for step: OAuthError.Step) async throws(OAuthError) -> FormResponse {
    let content = RequestContent.text(FormText.encoded(submission.form), "application/x-www-form-urlencoded")
    var request = Request<Content>(method: .post, path: .url(submission.url.text), content: content, mapping: .content)
      .field("Accept", "application/json").setting(NewConnectionKey.self, true)
    request.fields += submission.fields
    // Other calls wait for the refresh, so it must not be cancelled with the app's calls: the new tokens would be lost.
    if step == .refresh { request = request.setting(SharedWorkKey.self, true) }
    do {
      let response = try await client.response(to: prepared(request))
      return FormResponse(json: Self.checked(response.value, step, submission.secrets), fields: response.fields)
    } catch {
      guard error.code == .rejected, let status = error.status else { throw OAuthError(step, error) }
      let json = error.content.flatMap { try? Self.jsonOrForm(of: $0, step) }
      let response = json.flatMap {
        ErrorResponse($0, status: status, cause: error, secrets: submission.secrets)
      }
      let failure = response.map { OAuthError(step, $0) } ?? OAuthError(step, error)
      return FormResponse(json: .failure(failure), fields: error.head?.headerFields ?? [:])
    }
  }

  private func prepared(_ request: Request<Content>) -> Request<Content> {
    request.credentials(.none).redirects(.none).contentLimit(Self.limit).setting(ConfidentialContentKey.self, true)
  }

  private static func checked(
    _ content: Content, _ step: OAuthError.Step, _ secrets: [String]
  ) -> Result<JSONValue, OAuthError> {
    // The content of a successful revocation is irrelevant (RFC 7009 §2.2).
    if step == .revocation { return .success(.null) }
    do throws(OAuthError) {
      let json = try jsonOrForm(of: content, step)
      // Some servers send errors with the status 200.
      if let response = ErrorResponse(json, status: content.status, secrets: secrets) {
        return .failure(OAuthError(step, response))
      }
      return .success(json)
    } catch {
      return .failure(error)
    }
  }

  /// Returns the response to a form: JSON, or a form. Some servers send a form regardless of the request.
  private static func jsonOrForm(of content: Content, _ step: OAuthError.Step) throws(OAuthError) -> JSONValue {
    do throws(OAuthError) {
      return try json(content, step)
    } catch {
      guard let members = members(ofForm: content) else { throw error }
      return members
    }
  }

  /// Returns the members of a form, as strings; `nil` if the content is not a form.
  private static func members(ofForm content: Content) -> JSONValue? {
    // Some of these servers state the media type of text.
    guard ["application/x-www-form-urlencoded", "text/plain"].contains(content.mediaType?.essence),
      let text = String(validating: content.data, as: UTF8.self), text.utf8.contains(UInt8(ascii: "="))
    else { return nil }
    let end = text.utf8.lastIndex { $0 > 0x20 } ?? text.startIndex
    return FormText.decoded(text[...end]).map { .object($0.mapValues { .string($0) }) }
  }

  private static func json(_ content: Content, _ step: OAuthError.Step) throws(OAuthError) -> JSONValue {
    do throws(JSONError) {
      let value = try JSONValue(parsing: content.data, limits: JSONLimits(depth: 64, bytes: limit))
      if value.object != nil { return value }
    } catch {
      // The error omits the text of the response, which may be secret.
    }
    throw OAuthError(step, .malformedResponse, "the response is no JSON object")
  }
}

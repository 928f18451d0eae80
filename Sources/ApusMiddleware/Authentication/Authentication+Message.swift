import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Authentication {
  /// Whether credentials may go to where a message goes.
  func allows(_ origin: Origin?, in environment: Environment) -> Bool {
    guard let origin else { return false }
    return origins?.contains(origin) ?? (origin == environment.baseURL.origin)
  }

  /// The credentials there are now.
  ///
  /// - Throws: ``TransportError`` when they cannot be read; a call's own error and its cancellation as they are.
  func read() async throws -> StoredCredential {
    do {
      return try await source.current()
    } catch let error as CallError {
      throw error
    } catch is CancellationError where Task.isCancelled {
      throw CancellationError()
    } catch {
      throw Self.fault("the credentials could not be read: \(type(of: error))", underlying: error)
    }
  }

  /// Whose credentials a call uses; `nil` when it carries none.
  func principal(of context: CallContext) async throws -> UInt64? {
    guard context.values[CredentialUseKey.self] == .automatic else { return nil }
    return try await read().generation
  }

  /// The field that shows the key, in lower case; `nil` for `Authorization` and the query.
  var fieldName: String? {
    if case .keyField(let name) = scheme { return name.lowercased() }
    return nil
  }

  /// The query parameter that shows the key.
  var parameterName: String? {
    if case .keyParameter(let name) = scheme { return name }
    return nil
  }

  /// Whether a message carries credentials of its own in the place of these.
  func isAnticipated(by request: RequestMessage) -> Bool {
    switch scheme {
    case .bearer, .basic: return request.head.headerFields[.authorization] != nil
    case .keyField(let name): return HTTPField.Name(name).map { request.head.headerFields[$0] != nil } ?? false
    case .keyParameter(let name):
      var copy = request
      return (try? copy.addQuery([name: ""])) == false
    }
  }

  /// Puts credentials on a message that carries none of its own.
  ///
  /// - Throws: ``TransportError`` that says what is wrong with the credentials and does not contain them.
  func apply(_ credential: Credential, to request: inout RequestMessage) throws {
    switch (scheme, credential) {
    case (.bearer, .token(let token)):
      request.authorize(by: "Bearer", try Self.checked(token))
    case (.basic, .password(let user, let password)):
      request.authorize(by: "Basic", try Self.pair(user, password))
    case (.keyField(let name), .token(let key)):
      try request.addField(RawField(name, try Self.checked(key), isSensitive: true))
    case (.keyParameter(let name), .token(let key)):
      try request.addQuery([name: try Self.checked(key)])
    case (.basic, .token):
      throw Self.fault("basic authentication needs a name and a password")
    case (_, .password):
      throw Self.fault("a name and a password need basic authentication")
    }
  }

  /// A token of visible ASCII characters. RFC 6750 §2.1 allows fewer, but servers hand out tokens with `|` and `:`.
  private static func checked(_ token: Secret) throws -> String {
    guard !token.value.isEmpty else { throw fault("the token is empty") }
    guard token.value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw fault("the token holds a character that is not allowed")
    }
    return token.value
  }

  /// Name and password in the form of RFC 7617 §2.
  private static func pair(_ user: String, _ password: Secret) throws -> String {
    guard !user.utf8.contains(UInt8(ascii: ":")) else { throw fault("the user name holds a colon") }
    let pair = "\(user):\(password.value)"
    guard pair.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw fault("the user name or the password holds a control character")
    }
    return Data(pair.utf8).base64EncodedString()
  }

  private static func fault(_ detail: String, underlying: (any Error)? = nil) -> TransportError {
    TransportError(.unsupported, requestState: .notSent, detail: detail, underlying: underlying)
  }
}

extension RequestMessage {
  /// Adds checked credentials, marked so that no intermediary stores them and no text shows them.
  fileprivate mutating func authorize(by scheme: String, _ value: String) {
    var field = HTTPField(name: .authorization, value: "\(scheme) \(value)")
    field.indexingStrategy = .disallow
    head.headerFields.append(field)
  }
}

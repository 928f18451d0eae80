import ApusCore
import ApusMiddleware
import ApusTesting

/// Requests that cannot be created.
extension FailingCall {
  static var invalid: [FailingCall] {
    [
      preparing("a field with a line break") {
        $0.change = { $0.field("X-Own", SecretPlace.ownField.secret + "\r\nA: b") }
      },
      preparing("a field's name that is no token") {
        $0.change = { $0.field("my \(SecretPlace.fieldName.secret)", "1") }
      },
      preparing("a path value with a control character") {
        $0.change = { $0.modified { $0.path = "/reset/\(SecretPlace.pathValue.secret + "\n")" } }
      },
      preparing("a path that leads elsewhere") {
        $0.change = { $0.modified { $0.path = "//\(SecretPlace.pathValue.secret)" } }
      },
      preparing("a base URL with a password") {
        $0.setUp = {
          $0.environment.baseURL = BaseURL(stringLiteral: "https://me:\(SecretPlace.baseUser.secret)@api.example.com")
        }
      },
      preparing("an endpoint that throws") { $0.change = { _ in Undescribable().tag("t") } },
      waiting("a common field with a line break") {
        $0.setUp = { $0.environment.setField("X-Tenant-Key", SecretPlace.commonField.secret + "\n") }
      },
      waiting("a middleware that throws") { $0.setUp = { $0.customize = { $0.insert(Throwing(), .before(.retry)) } } },
      FailingCall("what a transport cannot do", (.invalidRequest, .awaitingHead, .notSent)) {
        $0.answer = .failure(TransportError(.invalidRequest, requestState: .notSent, underlying: TellingError()))
      },
    ]
  }

  static var unusableCredentials: [FailingCall] {
    [
      waiting("a token that cannot be sent") {
        $0.setUp = {
          $0.environment.authentication = .bearer(MemoryCredentialsStore(token: SecretPlace.credential.secret + "\n"))
        }
      },
      waiting("a name with a colon") {
        $0.setUp = {
          let secret = Secret(SecretPlace.credential.secret)
          $0.environment.authentication = .basic(
            MemoryCredentialsStore(.password(user: SecretPlace.userName.secret + ":", secret)))
        }
      },
      waiting("a source that throws") {
        $0.setUp = { $0.environment.authentication = .bearer(Unreadable(error: TellingError())) }
      },
    ]
  }

  static var unencodable: [FailingCall] {
    struct Rated: Encodable {
      var password = SecretPlace.requestContent.secret
      var rate = Double.nan
    }
    return [
      encoding("JSON") { $0.change = { $0.content(.json(Rated())) } },
      encoding("a form") { $0.change = { $0.content(.form(Rated())) } },
      encoding("a query") {
        $0.change = { $0.query(["password": SecretPlace.ownParameter.secret, "rate": Double.nan]) }
      },
      encoding("a query of properties") { $0.change = { $0.query(Query(Rated())) } },
      encoding("a file that is missing") {
        $0.change = { $0.content(.file("/nowhere/\(SecretPlace.requestFile.secret)")) }
      },
      encoding("a coder that tells") { $0.change = { $0.content(.json(TellingValue())) } },
      encoding("a value that throws") {
        $0.change = { $0.content(RequestContent(.json) { _ in throw TellingError() }) }
      },
      FailingCall("a common parameter", (.encoding, .waiting, .notSent)) {
        $0.setUp = { $0.environment.query = ["tenant": SecretPlace.commonParameter.secret, "rate": Double.nan] }
      },
    ]
  }

  private static func preparing(_ name: String, _ change: (inout FailingCall) -> Void) -> FailingCall {
    FailingCall(name, (.invalidRequest, .preparing, .notSent), change)
  }

  private static func waiting(_ name: String, _ change: (inout FailingCall) -> Void) -> FailingCall {
    FailingCall(name, (.invalidRequest, .waiting, .notSent), change)
  }

  private static func encoding(_ name: String, _ change: (inout FailingCall) -> Void) -> FailingCall {
    FailingCall(name, (.encoding, .preparing, .notSent), change)
  }
}

private struct Undescribable: Endpoint {
  var request: Request<Film> { get throws { throw TellingError() } }
}

private struct Throwing: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    throw TellingError()
  }
}

/// A credentials store that cannot be read.
struct Unreadable: CredentialsStore {
  let error: any Error
  var key = SecretPlace.source.secret

  func current() throws -> StoredCredential { throw error }
  func set(_ credential: Credential) {}
  func clear() {}
}

/// A value whose encoding error quotes the value.
private struct TellingValue: Encodable {
  func encode(to encoder: any Encoder) throws {
    let secret = SecretPlace.requestContent.secret
    throw EncodingError.invalidValue(
      secret,
      .init(codingPath: encoder.codingPath, debugDescription: "cannot write \(secret)", underlyingError: TellingError())
    )
  }
}

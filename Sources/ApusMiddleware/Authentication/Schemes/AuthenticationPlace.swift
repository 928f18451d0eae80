import ApusCore
import HTTPTypes

/// A ``CredentialPlace``, ready to be looked for in a message.
enum AuthenticationPlace: Sendable {
  /// `nil`: the name is none, which sending it will tell.
  case field(HTTPField.Name?)
  case parameter(String)

  init(_ place: CredentialPlace) {
    switch place {
    case .field(let name): self = .field(HTTPField.Name(name))
    case .parameter(let name): self = .parameter(name)
    }
  }

  /// Whether a message has something there.
  func isTaken(in request: RequestMessage) -> Bool {
    switch self {
    case .field(let name): return name.map { request.head.headerFields[$0] != nil } ?? false
    case .parameter(let name):
      var copy = request
      return (try? copy.addQuery([name: ""])) == false
    }
  }
}

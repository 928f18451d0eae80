import HTTPTypes

/// What is said of a status in logs. A server's own reason phrase is foreign text, which is not shown.
enum StatusText {
  private static let known: [HTTPResponse.Status] = [
    .ok, .created, .accepted, .nonAuthoritativeInformation, .noContent, .resetContent, .partialContent,
    .multipleChoices, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect, .permanentRedirect,
    .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .notAcceptable,
    .proxyAuthenticationRequired, .requestTimeout, .conflict, .gone, .lengthRequired, .preconditionFailed,
    .contentTooLarge, .uriTooLong, .unsupportedMediaType, .rangeNotSatisfiable, .expectationFailed,
    .misdirectedRequest, .unprocessableContent, .tooEarly, .upgradeRequired, .preconditionRequired, .tooManyRequests,
    .requestHeaderFieldsTooLarge, .unavailableForLegalReasons, .internalServerError, .notImplemented, .badGateway,
    .serviceUnavailable, .gatewayTimeout, .httpVersionNotSupported, .networkAuthenticationRequired,
  ]

  /// The status with the phrase of its standard, as in "404 Not Found"; "a response" where there is none.
  static func of(_ status: Int?) -> String {
    guard let status else { return "a response" }
    return known.first { $0.code == status }.map { "\(status) \($0.reasonPhrase)" } ?? "status \(status)"
  }

  /// What to do about a rejection with this status; `nil`: what the server says counts.
  static func advice(for status: Int) -> String? {
    switch status {
    case 401: "Sign in, or renew the credentials."
    case 403: "Use credentials that permit it."
    case 404, 410: "Check the path and the values in it."
    case 409, 412: "Load the present state, and repeat the change."
    case 429, 500...599: "Retry later if the request is idempotent."
    case 400...499: "Correct the request: it would be rejected again."
    default: nil
    }
  }
}

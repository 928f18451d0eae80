import HTTPTypes

/// The reason for rejecting a request, sent as problem details (RFC 9457).
struct Problem: Error, Equatable {
  var status: HTTPResponse.Status
  /// A sentence about this request, for the user.
  var detail: String
  /// The error code that a standard requires besides the status; `nil` if no standard does.
  var error: String?
  /// The errors of single members of the content.
  var errors: [FieldError] = []
  /// Fields of the response, such as `WWW-Authenticate` or `Allow`.
  var fields: HTTPFields = [:]

  init(_ status: HTTPResponse.Status, _ detail: String, errors: [FieldError] = [], fields: HTTPFields = [:]) {
    self.status = status
    self.detail = detail
    self.errors = errors
    self.fields = fields
  }
}

/// An invalid member of the content.
struct FieldError: Error, Equatable, Encodable {
  let field: String
  let message: String
}

extension Problem {
  static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }

  static func notFound(_ detail: String) -> Problem { Problem(.notFound, detail) }

  static func conflict(_ detail: String) -> Problem { Problem(.conflict, detail) }

  /// Creates the problem of content that is well-formed but invalid.
  static func invalid(_ errors: [FieldError]) -> Problem {
    let list = errors.map { "\($0.field) \($0.message)" }.joined(separator: "; ")
    return Problem(.unprocessableContent, "The request is not valid: \(list).", errors: errors)
  }

  /// - Parameter allowed: the methods that the resource supports.
  static func methodNotAllowed(_ allowed: [String]) -> Problem {
    let names = allowed.joined(separator: ", ")
    return Problem(.methodNotAllowed, "This resource supports only \(names).", fields: [.allow: names])
  }

  /// The details omit the cause, which is written to the server's log only.
  static let internalError = Problem(.internalServerError, "The server failed to process the request.")
}

extension Problem {
  /// Creates the problem of a rejected refresh token: the user must sign in again (RFC 6749 §5.2).
  static func invalidGrant(_ detail: String) -> Problem {
    var problem = Problem(.badRequest, detail)
    problem.error = "invalid_grant"
    return problem
  }
}

extension Problem {
  /// The members of `application/problem+json`.
  private struct Details: Encodable {
    let type = "about:blank"
    let title: String
    let status: Int
    let detail: String
    let error: String?
    let errors: [FieldError]?
  }

  /// Returns the response.
  func response() -> Response {
    let details = Details(
      title: status.reasonPhrase, status: status.code, detail: detail, error: error,
      errors: errors.isEmpty ? nil : errors)
    var response = Response.json(details, status: status)
    response.headers[.contentType] = "application/problem+json"
    response.headers.append(contentsOf: fields)
    return response
  }
}

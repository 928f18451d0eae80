import HTTPTypes

/// Why a request was refused: problem details (RFC 9457) in the making.
struct Problem: Error, Equatable {
  var status: HTTPResponse.Status
  /// What was wrong with this very request, for a person to read.
  var detail: String
  /// A code for programs to read, where a standard wants one besides the status.
  var error: String?
  /// What was wrong with single members of the content.
  var errors: [FieldError] = []
  /// Fields that belong to the refusal, such as `WWW-Authenticate` or `Allow`.
  var fields: HTTPFields = [:]

  init(_ status: HTTPResponse.Status, _ detail: String, errors: [FieldError] = [], fields: HTTPFields = [:]) {
    self.status = status
    self.detail = detail
    self.errors = errors
    self.fields = fields
  }
}

/// One member of the content that was not as it should be.
struct FieldError: Error, Equatable, Encodable {
  let field: String
  let message: String
}

extension Problem {
  static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }

  static func notFound(_ detail: String) -> Problem { Problem(.notFound, detail) }

  static func conflict(_ detail: String) -> Problem { Problem(.conflict, detail) }

  /// The content was understood but cannot be taken.
  static func invalid(_ errors: [FieldError]) -> Problem {
    let list = errors.map { "\($0.field) \($0.message)" }.joined(separator: "; ")
    return Problem(.unprocessableContent, "The request is not valid: \(list).", errors: errors)
  }

  /// - Parameter allowed: The methods that the resource does know.
  static func methodNotAllowed(_ allowed: [String]) -> Problem {
    let names = allowed.joined(separator: ", ")
    return Problem(.methodNotAllowed, "This resource knows \(names) only.", fields: [.allow: names])
  }

  /// Says nothing of the cause: that is for the server's own log.
  static let internalError = Problem(.internalServerError, "The server failed; the request may be right.")
}

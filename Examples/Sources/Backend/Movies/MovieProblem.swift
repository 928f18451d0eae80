import HTTPTypes

/// An error in the format of TheMovieDB's API, with that API's codes and messages.
struct MovieProblem: Error, Equatable {
  let status: HTTPResponse.Status
  let code: Int
  let message: String
  var fields: HTTPFields = [:]

  static let invalidKey = MovieProblem(
    status: .unauthorized, code: 7, message: "Invalid API key: You must be granted a valid key.")
  static let notFound = MovieProblem(
    status: .notFound, code: 34, message: "The resource you requested could not be found.")
  static let invalidPage = MovieProblem(
    status: .badRequest, code: 22,
    message: "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.")
  static let invalidParameters = MovieProblem(
    status: .unprocessableContent, code: 5, message: "Invalid parameters: Your request parameters are incorrect.")
  static let internalError = MovieProblem(
    status: .internalServerError, code: 11, message: "Internal error: Something went wrong, contact TMDb.")

  private struct Content: Encodable {
    let statusCode: Int
    let statusMessage: String
    let success = false
  }

  func response() -> Response {
    var response = Response.json(Content(statusCode: code, statusMessage: message), status: status)
    response.headers.append(contentsOf: fields)
    return response
  }
}

extension MovieProblem {
  /// Converts an error of the shared parts of the server.
  init(_ problem: Problem) {
    switch problem.status {
    case .notFound:
      self = .notFound
    case .methodNotAllowed:
      self.init(
        status: .methodNotAllowed, code: 4,
        message: "Invalid format: This service doesn't exist in that format.", fields: problem.fields)
    case .internalServerError:
      self = .internalError
    default:
      self.init(status: problem.status, code: 5, message: problem.detail, fields: problem.fields)
    }
  }
}

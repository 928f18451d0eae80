import HTTPTypes
import Hummingbird

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

  /// The refusal as an answer.
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

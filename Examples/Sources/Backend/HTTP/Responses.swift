import Foundation
import HTTPTypes
import NIOCore

extension Response {
  /// Creates a response with JSON content.
  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // The keys are sorted, so that equal values give equal bytes.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      // Only a number that is not finite cannot be encoded.
      return Response(status: .internalServerError)
    }
    return Response(
      status: status, headers: [.contentType: "application/json"],
      body: ResponseBody(ByteBuffer(bytes: data)))
  }

  /// Creates a response with text as content.
  static func text(_ text: String, type: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: type], body: ResponseBody(ByteBuffer(string: text)))
  }

  /// Creates a response without content.
  static var noContent: Response { Response(status: .noContent) }
}

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
  /// An answer with JSON content.
  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // Sorted, so that equal answers are equal bytes.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      // Only a number that is not finite gets here; a refusal is better than a broken connection.
      return Response(status: .internalServerError)
    }
    return Response(
      status: status, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// An answer with the given text as content, whatever it may be.
  static func text(_ text: String, type: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  /// An answer without content.
  static var noContent: Response { Response(status: .noContent) }
}

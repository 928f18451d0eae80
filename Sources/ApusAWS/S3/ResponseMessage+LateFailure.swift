import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ResponseMessage {
  /// Reads the content of a response into memory if it may describe a failure.
  mutating func collect(for success: S3Route.Success, _ context: CallContext) async throws {
    guard content.bytes == nil, statusCode != 304 else { return }
    let isSuccess = (200..<300).contains(statusCode)
    if isSuccess, success == .object { return }
    let limit = isSuccess ? context.contentLimit : S3Error.limit
    content = ResponseContent(try await content.collect(upTo: limit), trailers: content.trailers)
  }

  /// Returns the response, with the status of a failure if the status is a success but the content is not the result of
  /// the operation. Examples of such content are an error of the server, a page of an intermediary, and no content.
  func withoutFalseSuccess(for success: S3Route.Success, _ context: CallContext) -> ResponseMessage {
    guard (200..<300).contains(statusCode), let status = failure(hiddenBehind: success) else { return self }
    context.record(
      .note("the content is not the result of the operation, which counts as failed, status", Int64(statusCode)))
    var response = self
    response.head.status = status
    return response
  }

  private func failure(hiddenBehind success: S3Route.Success) -> HTTPResponse.Status? {
    guard success != .object, let bytes = content.bytes else { return nil }
    let root = XMLRoot.name(of: bytes)
    if root?.hasPrefix("Error") == true, let error = S3Error(bytes) {
      return error.code == "SlowDown" ? .serviceUnavailable : .internalServerError
    }
    switch success {
    case .object: return nil
    case .document: return root?.hasSuffix("Result") == true ? nil : .badGateway
    case .nothing:
      let type = head.headerFields[.contentType].map { MediaType($0).essence }
      let isPage = root?.lowercased() == "html" || (type == "text/html" && !bytes.isEmpty)
      return isPage ? .badGateway : nil
    }
  }
}

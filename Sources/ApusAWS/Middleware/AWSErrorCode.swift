import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The reason why a server rejected a signature. Only reasons for which a new signature may help are distinguished.
enum AWSErrorCode: Sendable, Hashable {
  /// The clocks of client and server differ.
  case skewedClock
  /// The signature is wrong, possibly because the clocks differ.
  case wrongSignature
  /// The credentials have expired.
  case expiredCredentials
  /// Another reason.
  case other
  /// The content of the response is missing or unreadable.
  case unknown

  private static let names: [(String, AWSErrorCode)] = [
    ("ExpiredToken", .expiredCredentials), ("ExpiredTokenException", .expiredCredentials),
    ("TokenRefreshRequired", .expiredCredentials),
    ("RequestTimeTooSkewed", .skewedClock), ("RequestInTheFuture", .skewedClock), ("RequestExpired", .skewedClock),
    ("SignatureDoesNotMatch", .wrongSignature), ("InvalidSignatureException", .wrongSignature),
    ("AuthFailure", .wrongSignature), ("AccessDenied", .other),
  ]

  /// The maximum number of bytes in which the code is searched.
  private static let searchedLength = 4 << 10

  private static let field = HTTPField.Name("x-amzn-errortype")

  /// Reads the code from the field `x-amzn-errortype`, or from content in XML or JSON.
  init(of response: ResponseMessage) {
    if let name = Self.field, let value = response.head.headerFields[name] {
      // A namespace may follow the code.
      let code = value.utf8.prefix { $0 != UInt8(ascii: ":") }
      self = Self.names.first { $0.0.utf8.elementsEqual(code) }?.1 ?? .other
      return
    }
    guard let content = response.content.bytes, !content.isEmpty else {
      self = .unknown
      return
    }
    self.init(in: content.prefix(Self.searchedLength))
  }

  /// Searches a document for a known code: `<Code>` in XML, `__type` or `code` in JSON.
  private init(in content: Data) {
    for word in content.split(whereSeparator: { !$0.isLetter }) {
      if let found = Self.names.first(where: { $0.0.utf8.elementsEqual(word) }) {
        self = found.1
        return
      }
    }
    self = .other
  }
}

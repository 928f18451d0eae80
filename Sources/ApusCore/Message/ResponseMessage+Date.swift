import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ResponseMessage {
  /// What the server's clock said when it made the answer, to the second (`Date`, RFC 9110 §6.6.1); `nil`: it did not say,
  /// or not so that it can be read.
  public var date: Date? {
    head.headerFields[.date].flatMap(HTTPDate.parse).map { Date(timeIntervalSince1970: Double($0)) }
  }
}

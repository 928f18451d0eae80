import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The limits of an upload that servers state in the field `Upload-Limit` of the IETF draft.
struct UploadLimits: Hashable {
  private let sizes: ClosedRange<Int64>
  private let partSizes: ClosedRange<Int64>?
  /// The number of seconds for which the server keeps the upload.
  private let lifetime: Int64?

  /// Reads the limits. Ignores members that are not sizes, and contradictory ranges.
  init(_ fields: HTTPFields) {
    let members = UploadField.text("Upload-Limit", in: fields).flatMap { DictionaryReader.integers(in: $0) } ?? [:]
    let limit = { (key: String) in members[key].flatMap { $0 >= 0 ? $0 : nil } }
    let range = { (part: String) -> ClosedRange<Int64>? in
      let (minimum, maximum) = (limit("min-\(part)size"), limit("max-\(part)size"))
      guard minimum != nil || maximum != nil, minimum ?? 0 <= maximum ?? .max else { return nil }
      return (minimum ?? 0)...(maximum ?? .max)
    }
    (sizes, partSizes, lifetime) = (range("") ?? 0...(.max), range("append-"), limit("max-age"))
  }

  /// Returns the reason why the server accepts no content of this length, or `nil` if the length is accepted.
  func refusal(of length: Int64) -> TransferError.Problem? {
    if length > sizes.upperBound { return .contentTooLarge(limit: sizes.upperBound) }
    return length < sizes.lowerBound ? .contentTooSmall(minimum: sizes.lowerBound) : nil
  }

  /// Returns a ticket with these limits. Limits that the server has not stated stay unchanged.
  ///
  /// - Parameter preferred: the preferred size of the parts, within the server's limits. `nil`: as large as possible.
  func applied(to ticket: UploadTicket, preferring preferred: Int64?) -> UploadTicket {
    var ticket = ticket
    if let partSizes {
      let size = max(preferred ?? .max, partSizes.lowerBound)
      let maximum = min(size, partSizes.upperBound)
      ticket.maximumPart = maximum == .max ? nil : maximum
    } else {
      ticket.maximumPart = ticket.maximumPart ?? preferred
    }
    if let lifetime { ticket.expiration = Int64(Date().timeIntervalSince1970) + lifetime }
    return ticket
  }
}

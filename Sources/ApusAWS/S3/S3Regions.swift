import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The regions of buckets, as stated by servers.
final class S3Regions: Sendable {
  private let regions = Mutex<[String: String]>([:])

  /// The region of a bucket, if a server has stated it.
  subscript(bucket: String) -> String? {
    get { regions.withLock { $0[bucket] } }
    set {
      regions.withLock { regions in
        if regions.count >= Self.limit { regions.removeAll() }
        regions[bucket] = newValue
      }
    }
  }

  /// The number of buckets beyond which all regions are removed, and learned again.
  private static let limit = 1000

  /// Returns the region that a rejection states for the bucket of its request, or `nil` if the rejection states no
  /// region.
  ///
  /// A server in another region responds with a redirect (301, 307), or with 400 if the signature is for the server's
  /// own region only. The name becomes part of a host, so a name that is not a valid region name is ignored.
  ///
  /// - Parameter content: the content of the response, if it is in memory.
  static func region(in head: HTTPResponse, _ content: Data?) -> String? {
    guard [301, 307, 400].contains(head.status.code) else { return nil }
    let field = head.headerFields.first { $0.name.canonicalName == fieldName }?.value
    return (field ?? content.flatMap { S3Error($0)?.region }).flatMap { RegionName.isValid($0) ? $0 : nil }
  }

  /// The field (header) that contains the region of a bucket.
  static let fieldName = "x-amz-bucket-region"
}

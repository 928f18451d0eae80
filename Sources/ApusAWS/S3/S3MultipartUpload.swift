import ApusCore
import ApusMiddleware
import ApusTransfers
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The multipart upload of S3: numbered parts of one size, each with a checksum and a receipt.
struct S3MultipartUpload: UploadDriver {
  /// The bucket and the key.
  let bucket: S3Bucket
  let key: String
  let checksum: ChecksumAlgorithm?
  let partSize: S3PartSize
  let maximumParallelParts: Int
  /// The fields (headers) of the condition under which the object is stored.
  let conditions: [RawField]
  /// The upload ID that this call has created or continued.
  let identifier = Latest()

  /// The upload ID that was used last.
  final class Latest: Sendable {
    private let value = Mutex<String?>(nil)

    var current: String? {
      get { value.withLock { $0 } }
      set { value.withLock { $0 = newValue } }
    }
  }

  let name = "s3"
  let restartsWhenGone = true
  let cancelsOnlyIncomplete = true

  // MARK: Steps

  func create(
    _ calls: UploadCalls, announce: @escaping @Sendable (UploadTicket) -> Void
  ) async throws(CallError) -> UploadStep {
    var request = calls.withoutContent()
    request.method = .post
    request.fields.removeAll { field in conditions.contains { $0.name == field.name } }
    if let type = calls.message.head.headerFields[.contentType] { request = request.field("Content-Type", type) }
    if let checksum {
      request = request.field("x-amz-checksum-algorithm", checksum.rawValue)
      request = request.field("x-amz-checksum-type", checksum.coversParts ? "FULL_OBJECT" : "COMPOSITE")
    }
    var route = bucket.route(key, [.init("uploads")])
    route.success = .document
    let document = try await read(request.routed(route), calls).document
    guard let id = document?.text(of: "UploadId"), !id.isEmpty else { return .fail(.noLocation) }
    identifier.current = id
    var ticket = UploadTicket(location: id)
    ticket.partSize = partSize.bytes
    return .created(ticket, StoredParts())
  }

  func locate(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    identifier.current = ticket.location
    // The part size may have changed since the record was stored.
    guard ticket.partSize == partSize.bytes else {
      try? await cancel(ticket, calls)
      return .gone
    }
    var (parts, marker, emptyPages) = (StoredParts(), 0, 0)
    while emptyPages < Self.maximumEmptyPages {
      let document: XMLTree?
      do throws(CallError) {
        var route = bucket.route(
          key, [.init("uploadId", ticket.location), .init("part-number-marker", "\(marker)")])
        route.success = .document
        document = try await read(request(.get, route, .empty, calls), calls).document
      } catch {
        guard Self.isGone(error) else { throw error }
        return try await isStored(calls) ? .complete(nil) : .gone
      }
      guard let document else { return .fail(.unusableOffset) }
      let listed = document.all("Part")
      for part in listed { insert(part, into: &parts, length: calls.length) }
      emptyPages = listed.isEmpty ? emptyPages + 1 : 0
      // A marker that does not increase would lead to the same page forever. Unlisted parts are resent.
      guard document.text(of: "IsTruncated") == "true",
        let next = document.text(of: "NextPartNumberMarker").flatMap({ Int($0) }), next > marker,
        next <= S3PartSize.maximumCount
      else { break }
      marker = next
    }
    return .stored(parts)
  }

  func send(_ part: Range<Int64>, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep {
    let digests = S3ContentDigests()
    let number = partSize.number(of: part)
    var route = bucket.route(key, [.init("partNumber", "\(number)"), .init("uploadId", ticket.location)])
    route.checksum = checksum
    let source = calls.source
    let content = RequestContent(nil) { _ in source.part(part) }
    let request = request(.put, route, content, calls).setting(S3DigestsKey.self, digests)
    do throws(CallError) {
      let response = try await calls.send(request, reportingFrom: part.lowerBound)
      guard let tag = response.fields[.eTag] else { return .fail(.unusableOffset) }
      let receipt = S3PartReceipt(entityTag: tag, checksum: digests.checksum)
      return .added(StoredParts.Part(part, receipt: receipt.text))
    } catch {
      if Self.isGone(error) { return .unsure }
      throw error
    }
  }

  func finish(_ parts: StoredParts, of ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) -> UploadStep
  {
    var route = bucket.route(key, [.init("uploadId", ticket.location)])
    route.success = .document
    let content = RequestContent.bytes(document(of: parts), "application/xml")
    var request = request(.post, route, content, calls)
    for condition in conditions { request = request.field(condition.name, condition.value) }
    do throws(CallError) {
      let response = try await calls.send(request)
      // Only the complete document proves that the object exists.
      let document = try? XMLReader.read(response.value.data)
      return document?.name == "CompleteMultipartUploadResult" ? .complete(response) : .unsure
    } catch {
      if Self.isGone(error) { return .unsure }
      throw error
    }
  }

  func cancel(_ ticket: UploadTicket, _ calls: UploadCalls) async throws(CallError) {
    _ = try await calls.send(request(.delete, [.init("uploadId", ticket.location)], calls).idempotent())
  }

  // MARK: Requests

  private func request(
    _ method: HTTPRequest.Method, _ query: [S3Route.Parameter], _ calls: UploadCalls
  ) -> Request<Content> {
    request(method, bucket.route(key, query), .empty, calls)
  }

  private func request(
    _ method: HTTPRequest.Method, _ route: S3Route, _ content: RequestContent, _ calls: UploadCalls
  ) -> Request<Content> {
    var request = Request(method: method, path: route.path, content: content, mapping: .content)
    request.options = calls.request.options
    return request.routed(route)
  }

  private func read(
    _ request: Request<Content>, _ calls: UploadCalls
  ) async throws(CallError) -> (document: XMLTree?, fields: HTTPFields) {
    let response = try await calls.send(request)
    return (try? XMLReader.read(response.value.data), response.fields)
  }

  private static func isGone(_ error: CallError) -> Bool {
    guard error.code == .rejected, error.status == 404 else { return false }
    return error.s3?.code != "NoSuchBucket"
  }

  // MARK: Parts

  /// Adds a listed part if it has an entity tag, and the number and size of a part of this upload.
  private func insert(_ part: XMLTree, into parts: inout StoredParts, length: Int64) {
    guard let number = part.text(of: "PartNumber").flatMap({ Int($0) }), let tag = part.text(of: "ETag"), !tag.isEmpty,
      let range = partSize.range(of: number, length: length),
      part.text(of: "Size").flatMap({ Int64($0) }) == Int64(range.count)
    else { return }
    let receipt = S3PartReceipt(entityTag: tag, checksum: checksum.flatMap { part.text(of: $0.elementName) })
    _ = parts.insert(StoredParts.Part(range, receipt: receipt.text))
  }

  private func document(of parts: StoredParts) -> Data {
    let children = parts.parts.map { part in
      let receipt = part.receipt.flatMap { S3PartReceipt($0) }
      var fields = [
        XMLTree("PartNumber", text: "\(partSize.number(of: part.range))"),
        XMLTree("ETag", text: receipt?.entityTag ?? ""),
      ]
      if let checksum, let value = receipt?.checksum, !value.isEmpty {
        fields.append(XMLTree(checksum.elementName, text: value))
      }
      return XMLTree("Part", children: fields)
    }
    return XMLWriter.document(
      XMLTree("CompleteMultipartUpload", children: children), namespace: S3Document.namespace)
  }

  /// Whether the object exists with this content, because an earlier request completed the upload and its response was
  /// lost. Only a checksum of the whole object proves it.
  private func isStored(_ calls: UploadCalls) async throws(CallError) -> Bool {
    let request = request(.head, [], calls).field("x-amz-checksum-mode", "ENABLED")
    do throws(CallError) {
      let fields = try await calls.send(request).fields
      guard S3ObjectInfo.size(in: fields) == calls.length, let stated = ChecksumAlgorithm.stated(in: fields) else {
        return false
      }
      let values = try? await S3ContentDigests().values(
        of: calls.source.content, S3ContentDigests.Selection(checksum: stated.algorithm))
      return values?.checksum == stated.value
    } catch {
      guard error.status == 404 else { throw error }
      return false
    }
  }

  /// The maximum number of consecutive pages without a part in a list of parts.
  private static let maximumEmptyPages = 100
}

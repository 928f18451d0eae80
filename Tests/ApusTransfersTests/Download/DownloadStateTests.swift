import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("The state of a download")
struct DownloadStateTests {
  private static let known = Representation(validator: .entityTag(#""a""#), total: 100)
  private static let tag = HTTPField(name: .eTag, value: #""a""#)

  private static func head(_ status: Int, _ range: String? = nil, _ fields: HTTPField...) -> HTTPResponse {
    var head = HTTPResponse(status: .init(code: status), headerFields: HTTPFields(fields))
    head.headerFields[.contentRange] = range
    return head
  }

  private func resuming(at kept: Int64 = 40) -> DownloadState {
    var state = DownloadState(DownloadState.Rules(), continuing: Self.known, kept: kept)
    _ = state.next()
    return state
  }

  @Test("A download without bytes requests the complete file; with bytes, it requests the rest")
  func requests() {
    var fresh = DownloadState(DownloadState.Rules())
    #expect(fresh.next() == .whole)
    var resumed = resuming()
    #expect(resumed.next() == .rest(from: 40, ifRange: #""a""#))
    var empty = resuming(at: 0)
    #expect(empty.next() == .whole)
    var unsafe = DownloadState(DownloadState.Rules(permitsRanges: false), continuing: Self.known, kept: 40)
    #expect(unsafe.next() == .whole && unsafe.kept == 0)
    var unknown = DownloadState(
      DownloadState.Rules(), continuing: Representation(validator: .entityTag(#""a""#), total: nil), kept: 40)
    #expect(unknown.next() == .whole && unknown.kept == 0)
  }

  @Test(
    "A response to a request for the rest determines the next step",
    arguments: [
      (head(206, "bytes 40-99/100", tag), .append(at: 40, length: 60)),
      (head(206, "bytes 40-49/100", tag), .append(at: 40, length: 10)),
      (head(206, "bytes 40-99/*", tag), .append(at: 40, length: 60)),
      (head(206, "bytes 40-99/100", tag, HTTPField(name: .contentLength, value: "60")), .append(at: 40, length: 60)),
      (head(206, "bytes 40-99/100", tag, HTTPField(name: .contentLength, value: "61")), .requestWhole),
      (head(206, "bytes 39-99/100", tag), .requestWhole), (head(206, "bytes */100", tag), .requestWhole),
      (head(206, "bytes */*", tag), .requestWhole), (head(206, nil, tag), .requestWhole),
      (head(206, "bytes 40-99/100"), .requestWhole), (head(206, "bytes 40-100/101", tag), .requestWhole),
      (head(206, "bytes 40-100/*", tag), .requestWhole),
      (head(206, "bytes 40-99/100", HTTPField(name: .eTag, value: #""b""#)), .requestWhole),
      (head(206, "bytes 40-99/100", tag, HTTPField(name: .contentEncoding, value: "br")), .requestWhole),
      (head(200, nil, HTTPField(name: .contentLength, value: "7")), .writeWhole(length: 7)),
      (head(200, nil, tag, HTTPField(name: .contentLength, value: "100")), .skip(to: 40, length: 60)),
      (head(200, nil, tag, HTTPField(name: .contentLength, value: "101")), .writeWhole(length: 101)),
      (head(200, nil, tag), .writeWhole(length: nil)),
      (head(200, nil, HTTPField(name: .contentLength, value: "100")), .writeWhole(length: 100)),
      (head(200), .writeWhole(length: nil)), (head(203), .writeWhole(length: nil)),
      (head(200, nil, HTTPField(name: .contentEncoding, value: "br")), .writeWhole(length: nil)),
      (head(204), .requestWhole), (head(304), .requestWhole), (head(400), .requestWhole), (head(501), .requestWhole),
      (head(416, "bytes */100", tag), .requestWhole), (head(416), .requestWhole),
    ] as [(HTTPResponse, DownloadState.Step)])
  func rest(_ head: HTTPResponse, _ step: DownloadState.Step) {
    var state = resuming()
    #expect(state.receive(head) == step)
  }

  @Test(
    "416 completes a download only if all bytes of the same file are on disk",
    arguments: [
      (head(416, "bytes */100"), .complete), (head(416, "bytes */100", tag), .complete),
      (head(416, "bytes */101"), .requestWhole), (head(416, "bytes 0-99/100"), .requestWhole),
      (head(416), .requestWhole),
      (head(416, "bytes */100", HTTPField(name: .eTag, value: #""b""#)), .requestWhole),
    ] as [(HTTPResponse, DownloadState.Step)])
  func unsatisfied(_ head: HTTPResponse, _ step: DownloadState.Step) {
    var state = resuming(at: 100)
    #expect(state.receive(head) == step)
  }

  @Test(
    "A response to a request for the complete file must be the complete file",
    arguments: [
      (head(200), .writeWhole(length: nil)), (head(201), .writeWhole(length: nil)),
      (head(206, "bytes 0-99/100", tag), .fail(.unusableRange)), (head(205), .fail(.unexpectedStatus(205))),
      (head(416), .fail(.unexpectedStatus(416))), (head(404), .fail(.unexpectedStatus(404))),
    ] as [(HTTPResponse, DownloadState.Step)])
  func whole(_ head: HTTPResponse, _ step: DownloadState.Step) {
    var state = DownloadState(DownloadState.Rules())
    _ = state.next()
    #expect(state.receive(head) == step)
  }

  @Test("After an unusable part only the complete file is requested, and the bytes on disk stay")
  func requestWholeKeepingBytes() {
    var state = resuming()
    #expect(state.receive(Self.head(206, nil, Self.tag)) == .requestWhole)
    #expect(state.kept == 40 && state.isResumable && state.next() == .whole)
    // The response does not arrive.
    #expect(state.recordInterruption(isTemporary: true) == nil && state.kept == 40 && state.next() == .whole)
    let length = HTTPField(name: .contentLength, value: "100")
    #expect(state.receive(Self.head(200, nil, Self.tag, length)) == .skip(to: 40, length: 60) && state.kept == 40)
    state.reach(50)
    #expect(state.isResumable && state.recordInterruption(isTemporary: true) == 1 && state.next() == .whole)
    // A changed file could not be continued.
    let other = HTTPField(name: .eTag, value: #""b""#)
    #expect(state.receive(Self.head(200, nil, other, length)) == .writeWhole(length: 100) && state.kept == 0)
    state.reach(70)
    #expect(!state.isResumable && state.recordInterruption(isTemporary: true) == nil && state.next() == .whole)
  }

  @Test("Content that the transport has decoded is neither the file nor a part of it")
  func decoded() {
    var state = resuming()
    #expect(state.receive(Self.head(206, "bytes 40-99/100", Self.tag), isDecoded: true) == .requestWhole)
    _ = state.next()
    #expect(state.receive(Self.head(200), isDecoded: true) == .fail(.contentCoded) && state.kept == 40)
    // The content of a rejected range is irrelevant.
    var rejected = resuming()
    #expect(rejected.receive(Self.head(416), isDecoded: true) == .requestWhole)
  }

  @Test("A file larger than the maximum is refused by its stated length, or else while it arrives")
  func maximum() {
    let reason = TransferError.Problem.fileTooLarge(maximum: 99)
    let rules = DownloadState.Rules(maximumSize: 99)
    var state = DownloadState(rules, continuing: Self.known, kept: 40)
    _ = state.next()
    #expect(state.receive(Self.head(206, "bytes 40-99/100", Self.tag)) == .fail(reason))
    #expect(state.receive(Self.head(206, "bytes 40-99/*", Self.tag)) == .fail(reason))
    #expect(state.receive(Self.head(200, nil, HTTPField(name: .contentLength, value: "100"))) == .fail(reason))
    #expect(state.kept == 40)
    #expect(state.receive(Self.head(200, nil, HTTPField(name: .contentLength, value: "99"))) == .writeWhole(length: 99))
    #expect(state.receive(Self.head(200)) == .writeWhole(length: nil))
    #expect(state.excess(at: 99) == nil && state.excess(at: 100) == reason)
    var complete = DownloadState(rules, continuing: Self.known, kept: 100)
    _ = complete.next()
    #expect(complete.receive(Self.head(416, "bytes */100", Self.tag)) == .fail(reason))
  }

  @Test("Content that ends early or late has the wrong length; after a shorter range the next range is requested")
  func ending() {
    var state = resuming()
    _ = state.receive(Self.head(206, "bytes 40-49/100", Self.tag))
    #expect(state.excess(at: 50) == nil && state.excess(at: 51) == .wrongLength)
    state.reach(45)
    #expect(state.endContent() == .fail(.wrongLength))
    state.reach(50)
    #expect(state.endContent() == .next && state.next() == .rest(from: 50, ifRange: #""a""#))
    _ = state.receive(Self.head(206, "bytes 50-99/100", Self.tag))
    state.reach(100)
    #expect(state.endContent() == .complete)
  }

  @Test("Content of unknown length is complete when it ends")
  func unknownLength() {
    var state = DownloadState(DownloadState.Rules())
    _ = state.next()
    _ = state.receive(Self.head(200, nil, Self.tag))
    state.reach(7)
    #expect(state.excess(at: .max) == nil && state.endContent() == .complete && !state.isResumable)
  }

  @Test("A server cannot make a download send an unbounded number of requests")
  func bounds() {
    var state = resuming()
    for _ in 0..<3 {
      #expect(state.receive(Self.head(416)) == .requestWhole)
      #expect(state.next() == .whole && state.kept == 0)
      _ = state.receive(Self.head(200, nil, Self.tag, HTTPField(name: .contentLength, value: "100")))
      state.reach(1)
      #expect(state.next() == .rest(from: 1, ifRange: #""a""#))
    }
    #expect(state.receive(Self.head(416)) == .fail(.unstable))
    var slow = DownloadState(
      DownloadState.Rules(), continuing: Representation(validator: .entityTag(#""a""#), total: 5000), kept: 1)
    for offset in Int64(1)...1000 {
      _ = slow.next()
      _ = slow.receive(Self.head(206, "bytes \(offset)-\(offset)/5000", Self.tag))
      slow.reach(offset + 1)
      #expect(slow.endContent() == .next)
    }
    _ = slow.next()
    _ = slow.receive(Self.head(206, "bytes 1001-1001/5000", Self.tag))
    slow.reach(1002)
    #expect(slow.endContent() == .fail(.unusableRange))
  }

  @Test("A download continues after interruptions as long as bytes arrive, up to its number of continuations")
  func interruptions() {
    var state = DownloadState(DownloadState.Rules(continuations: 2), continuing: Self.known, kept: 40)
    #expect(state.recordInterruption(isTemporary: true) == nil)
    state.reach(41)
    #expect(state.recordInterruption(isTemporary: false) == nil)
    #expect(state.recordInterruption(isTemporary: true) == 1)
    #expect(state.recordInterruption(isTemporary: true) == nil)
    state.reach(42)
    #expect(state.recordInterruption(isTemporary: true) == 2)
    state.reach(43)
    #expect(state.recordInterruption(isTemporary: true) == nil)
    var weak = DownloadState(DownloadState.Rules())
    _ = weak.receive(Self.head(200))
    weak.reach(1)
    #expect(weak.recordInterruption(isTemporary: true) == nil)
  }

  @Test("Delays double up to 20 seconds and are random below that bound")
  func delays() {
    #expect(Backoff.delay(before: 1, random: 0) == .zero)
    let bounds = (1...8).map { Backoff.delay(before: $0, random: .max) }
    for (delay, bound) in zip(bounds, [0.5, 1, 2, 4, 8, 16, 20, 20]) {
      #expect(delay < .seconds(bound) && delay > .seconds(bound * 0.999))
    }
    #expect(Backoff.delay(before: .max, random: 1 << 63) == .seconds(10))
  }
}

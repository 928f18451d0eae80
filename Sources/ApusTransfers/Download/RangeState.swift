import HTTPTypes

/// The state of a download with several concurrent ranges: selects the range that each lane requests next, interprets
/// responses, and records the bytes on disk. A pure state machine.
///
/// A lane sends one request after the other. Its range ends where the range of another lane begins, and becomes shorter
/// when an idle lane takes over the second half.
struct RangeState {
  /// The step after a response head.
  enum Step: Equatable {
    /// Write the content (body) from this offset on.
    case write(from: Int64)
    /// Discard the response.
    case stop
  }

  /// The step after a piece of content.
  enum Arrival: Equatable {
    /// Write the first bytes of the piece, and continue reading.
    case write(Int)
    /// Write the first bytes of the piece, and discard the rest of the response.
    case last(Int)
  }

  /// The kind of a failed exchange.
  enum Failure {
    /// The same request may succeed later.
    case temporary
    /// The server or the client may limit the number of concurrent calls: this lane ends, and the other lanes continue.
    case rejected
    case permanent
  }

  /// The step after a failed exchange.
  enum Recovery: Equatable {
    /// Request the rest of the range. The value is the number of the lane's continuation, from 1.
    case next(Int)
    /// End the lane. The other lanes take over its range.
    case stop
    /// End the download.
    case fail
  }

  /// The reason why all lanes end.
  enum End: Equatable {
    /// All bytes are on disk.
    case complete
    /// The server does not serve several ranges.
    case sequential
    /// The file has changed on the server, or the server contradicts itself.
    case startOver
    case failed
  }

  struct Rules: Hashable {
    /// The maximum number of lanes.
    var lanes: Int
    /// The minimum length, in bytes, of a range that is split off.
    var minimum: Int64
    /// The number of times that each lane continues after an interruption.
    var continuations: Int
  }

  private struct Lane {
    /// The offset up to which bytes are accounted for.
    var start: Int64 = 0
    /// The offset up to which bytes have arrived.
    var offset: Int64 = 0
    var end: Int64 = 0
    /// The offset at which the present response's content must end. `nil`: no response is being read.
    var contentEnd: Int64?
    /// Whether the present response extends to the end of the file, and no bytes before it are missing.
    var isWhole = false
    var hasProgressed = false
    var interruptions = 0

    var rest: Int64 { end - offset }
  }

  private(set) var representation: Representation
  let total: Int64
  private(set) var end: End?
  /// The bytes on disk.
  private(set) var present: ByteRanges
  private let rules: Rules
  /// The running lanes by number.
  private var lanes: [Int: Lane] = [:]
  /// The missing ranges that no lane has.
  private var pool: [Range<Int64>]
  private var ignoresRanges = false
  private var parts = 0

  /// - Parameter present: the bytes of the file that are on disk.
  init?(_ rules: Rules, _ representation: Representation, present: ByteRanges) {
    guard let total = representation.total, representation.isResumable else { return nil }
    (self.rules, self.representation, self.total, self.present) = (rules, representation, total, present)
    pool = Self.cut(present.gaps(upTo: total), rules)
    for lane in 0..<min(rules.lanes, max(pool.count, 1)) { lanes[lane] = Lane() }
    if pool.isEmpty { end = .complete }
  }

  /// The number of running lanes, which are numbered from 0 at the start.
  var laneCount: Int { lanes.count }

  /// The number of bytes that are written or about to be written.
  var arrived: Int64 { lanes.values.reduce(present.count) { $0 + $1.offset - $1.start } }

  /// Cuts the longest gaps into equal ranges until there is a range for each lane.
  private static func cut(_ gaps: [Range<Int64>], _ rules: Rules) -> [Range<Int64>] {
    var counts = gaps.map { _ in Int64(1) }
    let lengths = gaps.map { $0.upperBound - $0.lowerBound }
    for _ in 0..<max(0, rules.lanes - gaps.count) {
      let next = gaps.indices.max { lengths[$0] / counts[$0] < lengths[$1] / counts[$1] }
      guard let next, lengths[next] / (counts[next] + 1) >= rules.minimum else { break }
      counts[next] += 1
    }
    return gaps.indices.flatMap { index in
      let (start, count) = (gaps[index].lowerBound, counts[index])
      let length = lengths[index] / count
      return (0..<count).map { part in
        start + part * length..<(part == count - 1 ? gaps[index].upperBound : start + (part + 1) * length)
      }
    }
  }

  // MARK: Requests

  /// Assigns the response in progress, and the first range, to the first lane.
  ///
  /// - Parameter contentEnd: the offset at which the response's content ends.
  mutating func adopt(until contentEnd: Int64) {
    guard !pool.isEmpty else { return }
    let range = pool.removeFirst()
    lanes[0] = Lane(
      start: range.lowerBound, offset: range.lowerBound, end: range.upperBound, contentEnd: contentEnd,
      isWhole: contentEnd == total)
  }

  /// Returns the range that a lane requests next, or `nil` if the lane ends.
  mutating func next(for number: Int) -> Range<Int64>? {
    guard end == nil, var lane = lanes[number] else { return nil }
    if lane.rest == 0 {
      guard let range = pool.isEmpty ? split() : pool.removeFirst() else {
        lanes[number] = nil
        return nil
      }
      (lane.start, lane.offset, lane.end) = (range.lowerBound, range.lowerBound, range.upperBound)
      lanes[number] = lane
    }
    return lane.offset..<lane.end
  }

  /// Splits off the second half of the longest range of a lane.
  private mutating func split() -> Range<Int64>? {
    let longest = lanes.max { ($0.value.rest, $1.key) < ($1.value.rest, $0.key) }
    guard !ignoresRanges, let (number, lane) = longest, lane.rest >= 2 * rules.minimum else { return nil }
    let middle = lane.offset + lane.rest / 2
    lanes[number]?.end = middle
    return middle..<lane.end
  }

  // MARK: Responses

  /// - Parameter isDecoded: whether the transport has decoded the content (body), so that its bytes differ from the
  ///   bytes of the server's file.
  mutating func receive(_ head: HTTPResponse, isDecoded: Bool = false, on number: Int) -> Step {
    guard end == nil, let lane = lanes[number] else { return .stop }
    switch head.status.code {
    case 206:
      guard !isDecoded else { return withoutRanges() }
      switch representation.part(head, from: lane.offset) {
      case .content(let range):
        lanes[number]?.contentEnd = range.upperBound
        return .write(from: range.lowerBound)
      case .unusable: return withoutRanges()
      case .other: return startOver()
      }
    case 416: return startOver()
    case 204, 205: return withoutRanges()
    case 200..<300: return receiveWhole(Representation(whole: head))
    default: return withoutRanges()
    }
  }

  private mutating func startOver() -> Step {
    end = .startOver
    return .stop
  }

  /// Handles a response with the complete file: the server ignores the range, or the file has changed.
  private mutating func receiveWhole(_ whole: Representation) -> Step {
    guard whole.validator == representation.validator, whole.total == total, !whole.isCoded else { return startOver() }
    return withoutRanges()
  }

  /// Records that the server does not serve ranges of the file.
  private mutating func withoutRanges() -> Step {
    ignoresRanges = true
    pool = []
    guard let (number, lane) = lanes.first(where: { $0.value.isWhole }) else {
      end = .sequential
      return .stop
    }
    // The response of this lane contains all missing bytes, so all other lanes end.
    lanes = [number: lane]
    lanes[number]?.end = total
    present = present.clipped(to: lane.start)
    return .stop
  }

  // MARK: Content

  /// Records the arrival of a piece of content.
  mutating func arrive(_ count: Int, on number: Int) -> Arrival {
    guard end == nil, var lane = lanes[number], let contentEnd = lane.contentEnd else { return .last(0) }
    guard Int64(count) <= contentEnd - lane.offset else {
      // A part that exceeds its range may begin at another offset than it states.
      end = .startOver
      return .last(0)
    }
    let taken = min(Int64(count), lane.rest)
    lane.offset += taken
    let isLast = lane.rest == 0 && lane.offset < contentEnd
    if isLast { lane.isWhole = false }
    lanes[number] = lane
    return isLast ? .last(Int(taken)) : .write(Int(taken))
  }

  /// Records that a lane has written all bytes before an offset, and no bytes beyond the offset.
  mutating func reach(_ offset: Int64, on number: Int) {
    guard var lane = lanes[number], offset >= lane.start else { return }
    if offset > lane.start { lane.hasProgressed = true }
    present.insert(lane.start..<offset)
    (lane.start, lane.offset) = (offset, offset)
    lanes[number] = lane
    if present.prefix == total { end = end ?? .complete }
  }

  /// Records that a response has ended, or that its rest is discarded.
  ///
  /// - Parameter isWhole: whether all content was read.
  /// - Returns: the reason why the exchange failed; `nil` if it succeeded.
  mutating func endContent(on number: Int, isWhole: Bool) -> TransferError.Problem? {
    guard let lane = lanes[number] else { return nil }
    lanes[number]?.contentEnd = nil
    lanes[number]?.isWhole = false
    guard isWhole, lane.rest > 0, let contentEnd = lane.contentEnd, end == nil else { return nil }
    guard lane.offset == contentEnd else { return .wrongLength }
    // The server may send fewer bytes than requested.
    parts += 1
    return parts <= Self.partLimit ? nil : .unusableRange
  }

  /// Adds digests of the complete file from trailers. Returns `false` if they contradict known digests.
  mutating func add(_ digests: [FileDigest]) -> Bool { representation.add(digests) }

  // MARK: Failures

  /// Records that an exchange of a lane failed.
  mutating func recordInterruption(of number: Int, by failure: Failure) -> Recovery {
    guard end == nil, var lane = lanes[number] else { return .stop }
    (lane.contentEnd, lane.isWhole) = (nil, false)
    if failure == .temporary, lane.hasProgressed, lane.interruptions < rules.continuations {
      lane.interruptions += 1
      lane.hasProgressed = false
      lanes[number] = lane
      return .next(lane.interruptions)
    }
    guard failure != .permanent, lanes.count > 1 else {
      fail()
      return .fail
    }
    if lane.rest > 0 { pool.append(lane.offset..<lane.end) }
    lanes[number] = nil
    return .stop
  }

  /// Ends the download with an error.
  mutating func fail() { end = end ?? .failed }

  /// The maximum number of responses that contain only a part of the requested range.
  private static let partLimit = 1000
}

// Faults are steps of a reply: faults of the response are inserted into the reply, earlier faults are performed alone.

extension Reply {
  /// Returns the reply with the faults that affect the response to `request`.
  func suffering(_ faults: [Fault], of request: RecordedRequest) -> Reply {
    let late = [
      // Inserted from the last point to the first, so that inserted steps do not move a later point.
      faults.first(on: request) { $0 == .end },
      faults.first(on: request) { if case .responseContent = $0 { true } else { false } },
      faults.first(on: request) { $0 == .responseHead },
    ]
    return late.reduce(self) { reply, fault in fault.map { reply.suffering($0) } ?? reply }
  }

  /// Returns the reply with a fault. A fault that precedes the reply changes nothing.
  func suffering(_ fault: Fault) -> Reply {
    guard let point = fault.trigger.point else { return self }
    guard case .flood(let flood, let bound) = fault.effect else {
      return inserting(fault.effect.steps(at: fault.trigger), at: point)
    }
    switch (flood ?? .usual(at: fault.trigger), fault.trigger) {
    case (.fields, .responseHead):
      return Reply(steps: steps.map { $0.addingFields(Fault.Flood.lines(upTo: bound)) })
    case (let flood, .responseContent) where [.content, .chunkExtensions, .trailers].contains(flood):
      return rechunked(upTo: point, followedBy: flood, upTo: bound)
    case (let flood, _):
      return inserting(flood.steps(upTo: bound), at: point)
    }
  }

  /// Returns the head and the content up to a point in chunks, followed by the flood.
  private func rechunked(upTo point: Point, followedBy flood: Fault.Flood, upTo bound: Int) -> Reply {
    var head = setting("Content-Length", to: nil).setting("Transfer-Encoding", to: "chunked")
    head.steps = head.split(at: point).before.flatMap { step -> [Step] in
      switch step {
      case .framing, .lastChunk: []
      default: step.contentLength.map { $0 > 0 ? step.chunk(of: $0) : [] } ?? [step]
      }
    }
    let block = 1 << 14
    let more: [Step] =
      switch flood {
      case .content: (0..<bound / block).flatMap { _ in Step.generated(.counting, 0..<block).chunk(of: block) }
      case .chunkExtensions:
        [.framing(Array("1;".utf8))] + flood.framing(upTo: bound) + Step.content([0]).chunk(of: nil)
      default: []
      }
    let trailers = flood == .trailers ? Fault.Flood.lines(upTo: bound) : []
    return Reply(steps: head.steps + more + [.lastChunk(trailers: FieldLines(trailers))])
  }
}

extension Fault.Effect {
  /// Returns the steps of the effect at a trigger before the reply.
  func steps(at trigger: Fault.Trigger) -> [Reply.Step] {
    switch self {
    case .close: [.close]
    case .halfClose: [.halfClose]
    case .reset: [.reset]
    case .stall(let gate): [gate.map { .wait($0) } ?? .stall]
    case .throttle(let bytes, let interval): [.throttle(bytes: bytes, every: interval)]
    case .truncate(let length): [.truncate(after: length)]
    case .garbage(let length, let seed): [.raw(Self.noise(length, seed: seed))]
    case .flood(let flood, let bound): (flood ?? .usual(at: trigger)).steps(upTo: bound)
    }
  }

  /// Returns bytes of the SplitMix64 generator.
  private static func noise(_ length: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<max(0, length)).map { _ in
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
      return UInt8(truncatingIfNeeded: word ^ (word >> 31))
    }
  }
}

extension Fault.Flood {
  fileprivate static func usual(at trigger: Fault.Trigger) -> Self {
    switch trigger {
    case .connect, .end: .answers
    case .requestHead, .requestContent: .interimResponses
    case .responseHead: .fields
    case .responseContent: .content
    }
  }

  /// Returns the flood as raw bytes, independent of the bytes around it.
  fileprivate func steps(upTo bound: Int) -> [Reply.Step] {
    let unit =
      switch self {
      case .interimResponses: "HTTP/1.1 103 Early Hints\r\n\r\n"
      case .fields, .trailers: "\(Self.line)\r\n"
      case .content, .chunkExtensions: "x"
      case .answers: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
      }
    let count = max(1, (1 << 14) / unit.utf8.count)
    let block = Array(String(repeating: unit, count: count).utf8)
    let rest = bound % block.count / unit.utf8.count * unit.utf8.count
    return Array(repeating: .raw(block), count: bound / block.count) + [.raw(Array(block.prefix(rest)))]
  }

  /// Returns the flood as bytes that frame content.
  fileprivate func framing(upTo bound: Int) -> [Reply.Step] {
    steps(upTo: bound).map { step in if case .raw(let bytes) = step { .framing(bytes) } else { step } }
  }

  /// A field line of 1 KiB.
  private static let line = FieldLine(name: "X-Flood", value: String(repeating: "f", count: 1013))

  fileprivate static func lines(upTo bound: Int) -> [FieldLine] {
    Array(repeating: line, count: max(1, bound >> 10))
  }
}

extension Reply.Step {
  fileprivate func addingFields(_ lines: [FieldLine]) -> Self {
    guard case .head(let status, let fields) = self else { return self }
    return .head(status, fields: FieldLines(fields.lines + lines))
  }

  /// Returns content as a chunk. Without a length, the caller has already sent the start of the size line.
  fileprivate func chunk(of length: Int?) -> [Self] {
    [.framing(Array("\(length.map { String($0, radix: 16) } ?? "")\r\n".utf8)), self, .framing(Array("\r\n".utf8))]
  }
}

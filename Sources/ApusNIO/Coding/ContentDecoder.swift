#if NIO
  import HTTPTypes
  import NIOCore

  /// Undoes the codings of an answer's content as it arrives, within limits (RFC 9110 §8.4).
  ///
  /// Feed it with ``next(from:)`` until that has nothing more, for each piece of content; ``finish()`` at the end. What
  /// comes out is bounded at each step, so that who reads slowly is not sent more than one piece at once. A class, because
  /// zlib's state cannot be copied; belongs to one event loop.
  final class ContentDecoder {
    /// The most bytes in one piece. 64 KiB.
    static let pieceLength = 64 << 10

    private struct Stage {
      let inflater: Inflater
      /// What the stage before yielded and this one has not read yet; of the first, what the caller gave.
      var input = ByteBuffer()
    }

    private let limits: CodingLimits
    /// In the order of decoding: the coding applied last comes first.
    private var stages: [Stage]

    /// - Parameter chain: The codings in the order in which they were applied; `nil` is made of none.
    init?(_ chain: [ContentCoding], limits: CodingLimits = CodingLimits()) {
      guard !chain.isEmpty else { return nil }
      self.limits = limits
      stages = chain.reversed().map { Stage(inflater: Inflater($0)) }
    }

    /// The decoder for an answer with these fields; `nil` when its content is to be handed over as it is.
    ///
    /// - Throws: ``CodingError/Kind/tooManyCodings``.
    static func decoder(
      for fields: HTTPFields, limits: CodingLimits = CodingLimits()
    ) throws(CodingError) -> ContentDecoder? {
      ContentDecoder(try ContentCoding.chain(of: fields, limits: limits), limits: limits)
    }

    /// The next piece of content, never empty; `nil` when more coded bytes are needed. Takes what it read off the buffer.
    func next(from bytes: inout ByteBuffer) throws(CodingError) -> ByteBuffer? {
      stages[0].input.take(&bytes)
      return try piece(of: stages.count - 1)
    }

    /// All the content that these bytes make. For content that is short anyway: what comes out is bounded by the limits
    /// only.
    func decode(_ bytes: ByteBuffer) throws(CodingError) -> ByteBuffer {
      var bytes = bytes
      var all = try next(from: &bytes) ?? ByteBuffer()
      while var piece = try next(from: &bytes) { all.writeBuffer(&piece) }
      return all
    }

    /// The content is over.
    ///
    /// - Throws: ``CodingError/Kind/truncated`` when a coding is not.
    func finish() throws(CodingError) {
      for stage in stages { try stage.inflater.finish() }
    }

    private func piece(of index: Int) throws(CodingError) -> ByteBuffer? {
      let inflater = stages[index].inflater
      while true {
        let piece = try inflater.inflate(&stages[index].input, capacity: Self.pieceLength)
        if piece.readableBytes > 0 {
          try check(inflater)
          return piece
        }
        guard index > 0, var more = try self.piece(of: index - 1) else { return nil }
        stages[index].input.take(&more)
      }
    }

    private func check(_ inflater: Inflater) throws(CodingError) {
      guard inflater.produced <= limits.length else {
        throw CodingError(.tooLarge, "the decoded content exceeds \(limits.length) bytes")
      }
      guard inflater.produced > limits.ratioAllowance else { return }
      let (most, isUnlimited) = max(1, stages[0].inflater.consumed).multipliedReportingOverflow(by: limits.ratio)
      guard isUnlimited || inflater.produced <= most else {
        throw CodingError(.ratioTooHigh, "the content grew more than \(limits.ratio) times")
      }
    }
  }
#endif

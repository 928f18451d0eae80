#if NIO
  /// What the framing of one answer may cost before it is refused.
  ///
  /// Content is not limited here: that is the reader's to decide, who knows what it is for. These limits bound what a
  /// decoder keeps, and what a server can have it do, without any content.
  struct FramingLimits: Sendable, Hashable {
    /// The most bytes of status lines and field lines in one answer: interim responses, head and trailers together.
    /// 256 KiB.
    var fieldBytes = 256 << 10
    /// The most field lines in one answer: interim responses, head and trailers together. 1,000; the field type traps
    /// at 65,535.
    var fieldCount = 1000
    /// The most interim responses before the final one (RFC 9110 §15.2). 64.
    var interimCount = 64
    /// The most bytes of one line that begins a chunk, extensions included (RFC 9112 §7.1.1). 4 KiB.
    var chunkLineBytes = 4 << 10
    /// How far the lines that begin chunks may outgrow twice the content they announce. 16 KiB.
    ///
    /// A bound on their sum alone would refuse long streams that sign every chunk.
    var chunkOverhead = 16 << 10
  }
#endif

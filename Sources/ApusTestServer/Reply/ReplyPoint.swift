#if NIO
  extension Reply {
    /// A place in a reply where something can be done to it.
    public enum Point: Sendable, Hashable {
      /// Before everything.
      case start
      /// After the head, before the content.
      case head
      /// After so many bytes of content, framing not counted; in a chunk when they end inside one.
      case content(Int)
      /// After everything.
      case end
    }
  }

  extension Reply {
    /// The steps before and after a point; a step that the point is inside of is cut in two.
    func split(at point: Point) -> (before: [Step], after: [Step]) {
      switch point {
      case .start:
        return ([], steps)
      case .end:
        return (steps, [])
      case .head:
        let isHead = { (step: Step) in if case .head = step { true } else { false } }
        let next = steps.firstIndex(where: isHead).map { $0 + 1 } ?? steps.endIndex
        return (Array(steps[..<next]), Array(steps[next...]))
      case .content(let length):
        return split(afterContent: length)
      }
    }

    private func split(afterContent length: Int) -> (before: [Step], after: [Step]) {
      var rest = length
      for (position, step) in steps.enumerated() {
        guard let size = step.contentLength else { continue }
        if size < rest {
          rest -= size
          continue
        }
        let (first, second) = step.cut(after: rest)
        return (steps[..<position] + [first], [second] + steps[(position + 1)...])
      }
      return (steps, [])
    }
  }

  extension Reply.Step {
    /// How many bytes of content the step sends; `nil` for a step that is not content.
    var contentLength: Int? {
      switch self {
      case .content(let bytes): bytes.count
      case .generated(_, let range): range.count
      default: nil
      }
    }

    /// A content step in two, the first with `length` bytes.
    func cut(after length: Int) -> (Self, Self) {
      switch self {
      case .content(let bytes):
        return (.content(Array(bytes.prefix(length))), .content(Array(bytes.dropFirst(length))))
      case .generated(let pattern, let range):
        let middle = range.lowerBound + length
        return (.generated(pattern, range.lowerBound..<middle), .generated(pattern, middle..<range.upperBound))
      default:
        return (self, .content([]))
      }
    }
  }
#endif

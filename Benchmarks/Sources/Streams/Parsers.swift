import Foundation

/// Runs each parser directly on the input, without an HTTP call. Each function returns the number of lines or events.
enum Parsers {
  /// Counts line ends with the search of the C library, for comparison.
  static func memchr(_ input: Input) -> Int {
    var found = 0
    for piece in input.pieces {
      piece.withUnsafeBytes { bytes in
        guard var next = bytes.baseAddress else { return }
        let end = next + bytes.count
        while let hit = Foundation.memchr(next, 0x0A, end - next) {
          found += 1
          next = UnsafeRawPointer(hit) + 1
        }
      }
    }
    return found
  }

  /// Counts the lines, which stay in place.
  static func split(_ input: Input, _ ending: LineSplitter.Ending) throws -> Int {
    var splitter = LineSplitter(ending, limit: 1 << 20)
    var found = 0
    for piece in input.pieces {
      splitter.feed(piece)
      while try splitter.nextBlock({ if !$0.isEmpty { found += 1 } }) {}
    }
    return found
  }

  /// Counts the lines, each copied into a `Data`, as a decoder gets them.
  static func copies(_ input: Input) throws -> Int {
    var splitter = LineSplitter(.lineFeed, limit: 1 << 20)
    var queue = ItemQueue<Data>()
    var found = 0
    for piece in input.pieces {
      splitter.feed(piece)
      while queue.fill({ lines in try splitter.nextBlock { lines.append(Data(copying: $0)) } }) == true {
        while let line = try queue.next() { found += line.isEmpty ? 0 : 1 }
      }
    }
    return found
  }

  /// Counts the events.
  static func events(_ input: Input) throws -> Int {
    var parser = EventParser()
    var found = 0
    for piece in input.pieces {
      parser.feed(piece)
      while let event = try parser.next() { found += event.data.isEmpty ? 0 : 1 }
    }
    return found
  }
}

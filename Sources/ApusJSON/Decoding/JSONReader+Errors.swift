extension JSONReader {
  /// Reads a value from a text.
  ///
  /// - Throws: ``JSONError``; `DecodingError`; errors of the type itself.
  static func read<Value: JSONReadable>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer, _ coding: JSONCoding
  ) throws -> Value {
    if bytes.count > JSONTape.maximumBytes { throw JSONError(.tooLarge, at: JSONTape.maximumBytes) }
    let copy = JSONCursor.copy(bytes)
    defer { copy.deallocate() }
    let cursor = JSONCursor(text: UnsafeRawPointer(copy), count: bytes.count)
    var reader = JSONReader(cursor, coding, depth: 0)
    do {
      let value = try Value(from: &reader)
      reader.cursor.skipWhitespace()
      guard reader.cursor.offset == cursor.count else { throw reader.cursor.error(.trailingBytes) }
      return value
    } catch let error as JSONReadError {
      throw try JSONDocument(bytes, coding).error(for: error)
    } catch let error as JSONError {
      throw cursor.isOtherEncoding(error) ? JSONError(.invalidUTF8, at: 0) : error
    }
  }
}

// A reader throws the same errors as decoding of the same text. They are derived from a tape, so that reading need not
// track the coding path.
extension JSONDocument {
  /// Converts an error of a reader to the decoder's error.
  ///
  /// - Parameter container: the position of a value that contains the fault. Default: the value of the text.
  func error(for error: JSONReadError, in container: Int = JSONTape.root) -> DecodingError {
    let position = position(atOffset: error.offset, in: container)
    switch error.reason {
    case .mismatch(let type): return mismatch(type, at: position)
    case .unrepresentable(let type): return unrepresentable(type, at: position)
    case .corrupted(let reason, let cause): return corrupted(reason, at: position, cause: cause)
    case .missing(let name): return missing(name, in: object(thatEndsAt: error.offset, in: container))
    case .object(let reason): return corrupted(reason, at: object(thatEndsAt: error.offset, in: container))
    case .decoding(let inner): return moved(inner, to: position, at: error.offset)
    }
  }

  /// Returns the position of the innermost value at an offset. White space after the offset is skipped.
  private func position(atOffset offset: Int, in container: Int) -> Int {
    var position = container
    while tape.offset(of: position) < offset, tape[position].isContainer {
      let (container, end) = (position, tape[position].high)
      var child = JSONTape.start(of: container)
      while child < end {
        let value = tape[container].isObject ? child + 1 : child
        let next = tape.position(after: value)
        position = value
        let following = tape[container].isObject ? next + 1 : next
        guard next < end, tape.offset(of: following) <= offset else { break }
        child = next
      }
      if position == container { break }
    }
    return position
  }

  private func object(thatEndsAt end: Int, in container: Int) -> Int {
    position(atOffset: start(ofObjectThatEndsAt: end, from: tape.offset(of: container)), in: container)
  }

  /// Returns the offset of the opening brace of the object that ends at an offset.
  private func start(ofObjectThatEndsAt end: Int, from start: Int) -> Int {
    var (open, isString, index): ([Int], Bool, Int) = ([], false, start)
    while index < end {
      let byte = tape.all[index]
      if isString {
        if byte == UInt8(ascii: "\\") { index += 1 }
        if byte == UInt8(ascii: "\"") { isString = false }
      } else if byte == UInt8(ascii: "\"") {
        isString = true
      } else if byte == UInt8(ascii: "{") {
        open.append(index)
      } else if byte == UInt8(ascii: "}") {
        open.removeLast()
      }
      index += 1
    }
    return open.last ?? start
  }

  /// Converts an error in a part of the text to an error in the whole text.
  private func moved(_ error: DecodingError, to position: Int, at start: Int) -> DecodingError {
    func moved(_ context: DecodingError.Context) -> DecodingError.Context {
      let path = codingPath(of: position) + context.codingPath
      guard let inner = context.underlyingError as? JSONLocation else {
        return .init(
          codingPath: path, debugDescription: context.debugDescription, underlyingError: context.underlyingError)
      }
      let location = location(atOffset: start + inner.offset, inner.cause)
      let text = context.debugDescription.replacingSuffix("(\(inner)).", by: "(\(location)).")
      return .init(codingPath: path, debugDescription: text, underlyingError: location)
    }
    switch error {
    case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
    case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
    case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
    case .dataCorrupted(let context): return .dataCorrupted(moved(context))
    @unknown default: return error
    }
  }
}

extension String {
  fileprivate func replacingSuffix(_ suffix: String, by other: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) + other : self
  }
}

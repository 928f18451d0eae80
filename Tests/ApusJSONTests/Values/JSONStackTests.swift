import ApusJSON
import Foundation
import Testing

@Suite("JSON on a small stack") struct JSONStackTests {
  private static let openers = ["[", #"{"a":"#, #"[{"a":"#, "[[[1],", #"{"b":[],"a":["#]

  @Test("A million nesting levels are refused on a stack of 128 KiB", arguments: openers)
  func refused(open: String) {
    let bytes = Array(String(repeating: open, count: 1_000_000).utf8)
    let reason = onSmallStack { () -> JSONError.Reason? in
      do throws(JSONError) {
        _ = try JSONValue(parsing: bytes, limits: JSONLimits(depth: .max))
        return nil
      } catch {
        return error.reason
      }
    }
    #expect(reason == .tooDeep)
  }

  @Test("Values of maximum depth are parsed, compared, hashed, serialized and released on a stack of 128 KiB")
  func deepest() {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")] {
      let count = JSONLimits.maximumDepth / (close.utf8.count)
      let bytes = Array((String(repeating: open, count: count) + "1" + String(repeating: close, count: count)).utf8)
      let isSame = onSmallStack { () -> Bool in
        guard let one = try? JSONValue(parsing: bytes), let other = try? JSONValue(parsing: bytes) else { return false }
        return one == other && one.hashValue == other.hashValue && one.utf8() == bytes
      }
      #expect(isSame == true)
    }
  }

  @Test("Foundation's coders use at most half of the smallest supported stack", arguments: smallStacks)
  func coders(stack: Int) {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let count = JSONValue.maximumCodableDepth
      let bytes = Data((String(repeating: open, count: count) + "1" + String(repeating: close, count: count)).utf8)
      let isSame = onSmallStack(bytes: stack) { () -> Bool in
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: bytes),
          let written = try? JSONEncoder().encode(value)
        else { return false }
        return written == bytes
      }
      #expect(isSame == true)
      let deeper = Data("[\(String(decoding: bytes, as: UTF8.self))]".utf8)
      let isRefused = onSmallStack(bytes: stack) { () -> Bool in
        guard let value = try? JSONValue(parsing: deeper), (try? JSONEncoder().encode(value)) == nil else {
          return false
        }
        return (try? JSONDecoder().decode(JSONValue.self, from: deeper)) == nil
      }
      #expect(isRefused == true)
    }
  }
}

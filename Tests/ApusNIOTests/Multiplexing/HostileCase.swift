import ApusCore
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ApusNIO

/// A case of the table: the behavior of a server, the calls, and their expected end.
struct HostileCase: Sendable, CustomTestStringConvertible {
  /// The start of each call but the first.
  enum Start: Sendable {
    case together
    /// A call starts when the request before it has arrived at the server.
    case inOrder
    /// A call starts when the call before it has ended.
    case oneByOne
  }

  let name: String
  /// The section of RFC 9113, or of the RFC whose number is before the slash.
  let section: String
  /// The scripts of the first connections.
  var scripts: [Script]
  var calls: [HostileCall] = [.get]
  let expected: Expected
  var start = Start.inOrder
  /// The number of requests, except for the next call, that reach the server and that the server has not refused.
  /// Default: one for each call.
  var executed: ClosedRange<Int>?
  /// Whether the next call may fail, because the connection may end while the call uses it. The call after the next
  /// must succeed.
  var nextMayFail = false
  var configure: @Sendable (inout NIOTransport.Options) -> Void = { _ in }

  var testDescription: String { "\(name) (§\(section))" }

  /// - Parameter steps: the steps after the server's SETTINGS and the complete request of stream 1.
  init(_ name: String, _ section: String, _ steps: [Step], _ expected: Expected) {
    self.init(name, section, raw: [.settings(), .await(.end(1))] + steps, expected)
  }

  /// - Parameter steps: the steps after the server's SETTINGS and the head of stream 1.
  init(_ name: String, _ section: String, head steps: [Step], _ expected: Expected) {
    self.init(name, section, raw: [.settings(), .await(.head(1))] + steps, expected)
  }

  /// - Parameter steps: all steps of the server.
  init(_ name: String, _ section: String, raw steps: [Step], _ expected: Expected) {
    (self.name, self.section, self.expected) = (name, section, expected)
    scripts = [Script(steps)]
  }

  // MARK: Modifiers

  func calling(_ calls: HostileCall...) -> HostileCase { calling(calls) }

  /// Replaces the calls. The script plays their streams.
  func calling(_ calls: [HostileCall]) -> HostileCase {
    changed {
      $0.calls = calls
      $0.scripts[0].lastStream = StreamID(2 * calls.count - 1)
    }
  }

  func executed(_ count: ClosedRange<Int>) -> HostileCase { changed { $0.executed = count } }

  /// Plays the script on this number of connections, one after the other.
  func onConnections(_ count: Int) -> HostileCase {
    changed { $0.scripts = [Script](repeating: $0.scripts[0], count: count) }
  }

  /// Sends no window updates except those of the script.
  func withoutCredits() -> HostileCase { changed { $0.scripts[0].credits = false } }

  func together() -> HostileCase { changed { $0.start = .together } }

  func oneByOne() -> HostileCase { changed { $0.start = .oneByOne } }

  func options(_ configure: @escaping @Sendable (inout NIOTransport.Options) -> Void) -> HostileCase {
    changed { $0.configure = configure }
  }

  func changed(_ change: (inout HostileCase) -> Void) -> HostileCase {
    var changed = self
    change(&changed)
    return changed
  }
}

/// A call of a ``HostileCase``.
struct HostileCall: Sendable {
  enum Reading: Sendable {
    case collected
    case streamed
    /// Streamed content that is read after the first piece only when an event has occurred on the server.
    case after(Event)
    /// Streamed content of which only the first piece is read.
    case dropped
    /// The call is cancelled when an event has occurred on the server.
    case cancelled(Event)
  }

  var method = HTTPRequest.Method.get
  var content = RequestContent.empty
  var reading = Reading.collected
  /// The end of this call. Default: the end that the case expects.
  var expected: Expected?
  var modify: @Sendable (Request<Content>) -> Request<Content> = { $0 }

  static let get = HostileCall()
  static let head = HostileCall(method: .head)
  static let streamed = HostileCall(reading: .streamed)

  static func post(_ count: Int) -> HostileCall {
    HostileCall(method: .post, content: .bytes(Data(repeating: 7, count: count)))
  }

  /// An upload of pieces that are produced only once.
  static func stream(_ pieces: Int, of size: Int) -> HostileCall {
    let content = ContentStream(isReplayable: false) {
      let left = Mutex(pieces)
      return {
        left.withLock { left in
          left -= 1
          return left < 0 ? nil : Data(repeating: 7, count: size)
        }
      }
    }
    return HostileCall(method: .post, content: .stream(content))
  }

  static func reading(_ reading: Reading) -> HostileCall { HostileCall(reading: reading) }

  func reading(_ reading: Reading) -> HostileCall {
    var call = self
    call.reading = reading
    return call
  }

  func expecting(_ expected: Expected) -> HostileCall {
    var call = self
    call.expected = expected
    return call
  }

  /// The call without the timeouts of the case: its response may take longer on a busy machine.
  var patient: HostileCall {
    modified { $0.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(30), stall: .seconds(30))) }
  }

  func modified(_ modify: @escaping @Sendable (Request<Content>) -> Request<Content>) -> HostileCall {
    var call = self
    call.modify = modify
    return call
  }
}

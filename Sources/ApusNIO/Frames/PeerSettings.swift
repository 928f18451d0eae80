import NIOCore

/// A setting (RFC 9113 §6.5.1).
struct Setting: Sendable, Hashable {
  /// The identifier of a setting (RFC 9113 §6.5.2).
  struct Identifier: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    let rawValue: UInt16

    static let headerTableSize = Identifier(rawValue: 1)
    static let enablePush = Identifier(rawValue: 2)
    static let maximumStreams = Identifier(rawValue: 3)
    static let initialWindowSize = Identifier(rawValue: 4)
    static let maximumFrameSize = Identifier(rawValue: 5)
    static let maximumFieldBytes = Identifier(rawValue: 6)

    private static let names = [
      "HEADER_TABLE_SIZE", "ENABLE_PUSH", "MAX_CONCURRENT_STREAMS", "INITIAL_WINDOW_SIZE", "MAX_FRAME_SIZE",
      "MAX_HEADER_LIST_SIZE",
    ]

    /// The name in RFC 9113, or the number of an unknown setting.
    var description: String {
      let index = Int(rawValue) - 1
      return Self.names.indices.contains(index) ? "SETTINGS_" + Self.names[index] : "the unknown setting \(rawValue)"
    }
  }

  let identifier: Identifier
  let value: UInt32

  init(_ identifier: Identifier, _ value: UInt32) {
    (self.identifier, self.value) = (identifier, value)
  }

  /// Reads the payload of a SETTINGS frame.
  static func list(from payload: inout ByteBuffer) -> [Setting] {
    var settings: [Setting] = []
    settings.reserveCapacity(payload.readableBytes / 6)
    while let (identifier, value) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
      settings.append(Setting(Setting.Identifier(rawValue: identifier), value))
    }
    return settings
  }
}

/// The settings of the server (RFC 9113 §6.5.2). Before the first SETTINGS frame: the defaults.
struct PeerSettings: Sendable, Hashable {
  /// The maximum size of the dynamic table with which the server decodes requests.
  private(set) var headerTableSize: UInt32 = 4096
  /// The maximum number of concurrent streams, or `nil` if the server has announced no maximum.
  private(set) var maximumStreams: UInt32?
  /// The initial flow-control window of each stream for request content. At most 2³¹ − 1.
  private(set) var initialWindowSize = 65_535
  /// The maximum number of bytes of a frame's payload. From 2¹⁴ to 2²⁴ − 1.
  private(set) var maximumFrameSize = 16_384
  /// The advisory maximum size of a request's header list, or `nil` if the server has announced no maximum.
  private(set) var maximumFieldBytes: UInt32?

  /// Applies the settings of one SETTINGS frame in order. Ignores unknown settings.
  ///
  /// - Throws: ``FrameViolation/forbiddenSetting(_:)``. After an error the settings are unchanged.
  mutating func take(_ settings: [Setting]) throws(FrameViolation) {
    var changed = self
    for setting in settings { try changed.take(setting) }
    self = changed
  }

  private mutating func take(_ setting: Setting) throws(FrameViolation) {
    let value = setting.value
    switch setting.identifier {
    case .headerTableSize: headerTableSize = value
    case .enablePush:
      // The only value that a server may send is 0.
      guard value == 0 else { throw .forbiddenSetting(setting) }
    case .maximumStreams: maximumStreams = value
    case .initialWindowSize:
      guard value <= UInt32(Int32.max) else { throw .forbiddenSetting(setting) }
      initialWindowSize = Int(value)
    case .maximumFrameSize:
      guard value >= 1 << 14, value < 1 << 24 else { throw .forbiddenSetting(setting) }
      maximumFrameSize = Int(value)
    case .maximumFieldBytes: maximumFieldBytes = value
    default: break
    }
  }
}

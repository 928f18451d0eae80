import Testing

@testable import ApusNIO

@Suite("Server settings")
struct PeerSettingsTests {
  @Test("The initial settings are the defaults of RFC 9113")
  func defaults() {
    let settings = PeerSettings()
    #expect(settings.headerTableSize == 4096 && settings.maximumStreams == nil)
    #expect(settings.initialWindowSize == 65_535 && settings.maximumFrameSize == 16_384)
    #expect(settings.maximumFieldBytes == nil)
  }

  @Test("Settings are applied in order, the last value of a setting wins, and unknown settings are ignored")
  func values() throws {
    var settings = PeerSettings()
    try settings.take([
      Setting(.headerTableSize, .max), Setting(.maximumStreams, 0), Setting(.initialWindowSize, 0),
      Setting(.maximumFieldBytes, 1), Setting(Setting.Identifier(rawValue: 0), 1), Setting(.enablePush, 0),
      Setting(Setting.Identifier(rawValue: 8), 1), Setting(Setting.Identifier(rawValue: 0xFFFF), .max),
      Setting(.initialWindowSize, UInt32(Int32.max)), Setting(.maximumFrameSize, 1 << 24 - 1),
    ])
    #expect(settings.headerTableSize == .max && settings.maximumStreams == 0)
    #expect(settings.initialWindowSize == Int(Int32.max) && settings.maximumFrameSize == 1 << 24 - 1)
    #expect(settings.maximumFieldBytes == 1)
    try settings.take([Setting(.maximumFrameSize, 1 << 14), Setting(.maximumStreams, .max)])
    #expect(settings.maximumFrameSize == 1 << 14 && settings.maximumStreams == .max)
  }

  @Test(
    "A forbidden value is a connection error, and no setting of the same frame is applied",
    arguments: [
      Setting(.enablePush, 1), Setting(.enablePush, 2), Setting(.enablePush, .max),
      Setting(.initialWindowSize, 1 << 31), Setting(.initialWindowSize, .max), Setting(.maximumFrameSize, 0),
      Setting(.maximumFrameSize, 1 << 14 - 1), Setting(.maximumFrameSize, 1 << 24), Setting(.maximumFrameSize, .max),
    ])
  func forbidden(setting: Setting) {
    var settings = PeerSettings()
    #expect(throws: FrameViolation.forbiddenSetting(setting)) {
      try settings.take([Setting(.maximumStreams, 1), setting])
    }
    #expect(settings == PeerSettings())
    #expect("\(FrameViolation.forbiddenSetting(setting))".contains("\(setting.value)"))
  }
}

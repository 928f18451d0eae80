import Testing

@testable import ApusCore

@Suite("Comparing the settings of calls")
struct CommonSettingsTests {
  private enum Level: ContextKey { static var defaultValue: Int { 0 } }
  private enum Name: ContextKey { static var defaultValue: String? { nil } }
  private enum Ratio: ContextKey { static var defaultValue: Double { 0 } }
  private enum Hook: ContextKey { static var defaultValue: (@Sendable () -> Void)? { nil } }
  private enum Urgency: ContextKey {
    static var defaultValue: Int { 0 }
    static var affectsCoalescing: Bool { false }
  }

  private func settings(_ change: (inout ContextValues) -> Void = { _ in }) -> CommonSettings? {
    var values = ContextValues()
    change(&values)
    return CommonSettings(values)
  }

  @Test("Settings with equal values are equal, independent of the order in which they were set")
  func same() throws {
    let none = try #require(settings())
    #expect(none == settings())
    let first = try #require(
      settings {
        $0[Level.self] = 1
        $0[Name.self] = "n"
      })
    let second = try #require(
      settings {
        $0[Name.self] = "m"
        $0[Level.self] = 1
        $0[Name.self] = "n"
      })
    #expect(first == second)
    #expect(first.hashValue == second.hashValue)
  }

  @Test("Settings with different values differ, and so do a set and an unset value")
  func different() throws {
    let all = [
      settings(), settings { $0[Level.self] = 1 }, settings { $0[Level.self] = 2 }, settings { $0[Ratio.self] = 1 },
      settings { $0[Name.self] = "n" }, settings { $0[Name.self] = "m" },
      settings {
        $0[Level.self] = 1
        $0[Name.self] = "n"
      },
    ]
    #expect(!all.contains(nil))
    #expect(Set(all).count == all.count)
  }

  @Test("Setting keys that do not affect coalescing are ignored")
  func ignored() {
    #expect(settings { $0[Urgency.self] = 1 } == settings { $0[Urgency.self] = 2 })
    #expect(settings { $0[Urgency.self] = 1 } == settings())
    #expect(Level.affectsCoalescing && !Urgency.affectsCoalescing)
  }

  @Test("Setting values that cannot be compared, or do not equal themselves, are never equal")
  func incomparable() {
    #expect(settings { $0[Hook.self] = {} } == nil)
    #expect(settings { $0[Ratio.self] = .nan } == nil)
  }
}

import ApusTesting
import Testing

@testable import ApusCore

@Suite("The state of the call registry")
struct RegistryStateTests {
  private struct Entry: Equatable {
    let serial: UInt64
    let id: CallID
  }

  @Test("In any order of calls, the registry finds running calls by number and by named id", arguments: 0..<50)
  func model(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var state = RegistryState<UInt64>()
    var model: [Entry] = []
    let policies: [DuplicatePolicy] = [.allow, .refuse, .cancelPrevious, .coalesce]
    for serial in UInt64(1)...200 {
      if Bool.random(using: &generator), let leaving = model.randomElement(using: &generator) {
        state.remove(serial: leaving.serial, id: leaving.id)
        model.removeAll { $0 == leaving }
        // A second removal has no effect.
        state.remove(serial: leaving.serial, id: leaving.id)
      }
      let isNamed = Int.random(in: 0..<4, using: &generator) > 0
      let id = isNamed ? CallID("\(Int.random(in: 0..<3, using: &generator))") : CallID(serial: serial)
      let policy = try #require(policies.randomElement(using: &generator))
      let running = model.filter { $0.id == id }.map(\.serial)
      switch state.admit(serial, serial: serial, id: id, policy: policy) {
      case .refused:
        #expect(policy == .refuse && !running.isEmpty)
      case .admitted(let superseded):
        #expect(policy != .refuse || running.isEmpty)
        #expect(superseded == (policy == .cancelPrevious ? running : []))
        model.append(Entry(serial: serial, id: id))
      }
      #expect(state.all.sorted() == model.map(\.serial))
      #expect(state.count == model.count)
      for name in 0..<3 {
        let id = CallID("\(name)")
        #expect(state.members(named: id) == model.filter { $0.id == id }.map(\.serial))
      }
      #expect(state.member(serial: serial) == model.first { $0.serial == serial }?.serial)
    }
    for entry in model { state.remove(serial: entry.serial, id: entry.id) }
    #expect(state.isEmpty)
  }
}

import ApusTesting
import Testing

@testable import Apus

/// Returns a phase as text, for comparisons.
private func text(_ phase: LoaderPhase<Int>) -> String {
  switch phase {
  case .idle: "idle"
  case .loading: "loading"
  case .loaded(let value): "loaded \(value)"
  case .refreshing(let value): "refreshing \(value)"
  case .failed(let error, let last): "failed \(error.code.rawValue)" + (last.map { ", last \($0)" } ?? "")
  }
}

private struct Errors {
  let offline = CallError(.offline)
  let cancelled = CallError(.cancelled)
}

@Suite("Loader: state")
struct LoaderStateTests {
  private enum Step: Sendable {
    case begin
    case succeed(Int, Int)
    case fail(Int)
    case endCancelled(Int)
    case cancel
    case reset
  }

  private struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [(Step, String)]
    var testDescription: String { name }
  }

  private static let rows: [Row] = [
    Row(name: "the first load", steps: [(.begin, "loading"), (.succeed(1, 7), "loaded 7")]),
    Row(
      name: "a refresh keeps the value",
      steps: [
        (.begin, "loading"), (.succeed(1, 7), "loaded 7"), (.begin, "refreshing 7"), (.succeed(2, 8), "loaded 8"),
      ]
    ),
    Row(
      name: "a failure without a value",
      steps: [(.begin, "loading"), (.fail(1), "failed offline"), (.begin, "loading"), (.succeed(2, 8), "loaded 8")]),
    Row(
      name: "a failure keeps the value",
      steps: [
        (.begin, "loading"), (.succeed(1, 7), "loaded 7"), (.begin, "refreshing 7"),
        (.fail(2), "failed offline, last 7"), (.begin, "refreshing 7"), (.fail(3), "failed offline, last 7"),
      ]),
    Row(
      name: "the latest wins",
      steps: [
        (.begin, "loading"), (.begin, "loading"), (.succeed(1, 7), "loading"), (.endCancelled(1), "loading"),
        (.succeed(2, 8), "loaded 8"), (.fail(1), "loaded 8"), (.succeed(2, 9), "loaded 8"),
      ]),
    Row(
      name: "a cancelled load leaves what was there",
      steps: [
        (.begin, "loading"), (.cancel, "idle"), (.succeed(1, 7), "idle"), (.begin, "loading"),
        (.fail(2), "failed offline"), (.begin, "loading"), (.cancel, "failed offline"), (.begin, "loading"),
        (.succeed(4, 8), "loaded 8"), (.begin, "refreshing 8"), (.cancel, "loaded 8"), (.cancel, "loaded 8"),
      ]),
    Row(
      name: "a load that was cancelled elsewhere shows no error",
      steps: [
        (.begin, "loading"), (.endCancelled(1), "idle"), (.begin, "loading"), (.succeed(2, 7), "loaded 7"),
        (.begin, "refreshing 7"), (.endCancelled(3), "loaded 7"),
      ]),
    Row(
      name: "reset forgets the value, and late loads do not bring it back",
      steps: [
        (.begin, "loading"), (.succeed(1, 7), "loaded 7"), (.begin, "refreshing 7"), (.reset, "idle"),
        (.succeed(2, 8), "idle"), (.begin, "loading"), (.succeed(2, 8), "loading"), (.succeed(3, 9), "loaded 9"),
      ]),
  ]

  @Test("Each transition of LoaderState matches the table", arguments: rows)
  private func table(row: Row) async throws {
    let errors = Errors()
    var state = LoaderState<Int>()
    #expect(text(state.phase) == "idle")
    for (index, (step, expected)) in row.steps.enumerated() {
      switch step {
      case .begin: _ = state.begin()
      case .succeed(let number, let value): state.end(number, .success(value))
      case .fail(let number): state.end(number, .failure(errors.offline))
      case .endCancelled(let number): state.end(number, .failure(errors.cancelled))
      case .cancel: state.cancel()
      case .reset: state.reset()
      }
      #expect(text(state.phase) == expected, "\(row.name), step \(index)")
    }
  }

  @Test("The properties of LoaderPhase match its case")
  func phases() async throws {
    let errors = Errors()
    let phases: [LoaderPhase<Int>] = [
      .idle, .loading, .loaded(1), .refreshing(2), .failed(errors.offline, last: 3), .failed(errors.offline, last: nil),
    ]
    #expect(phases.map(\.value) == [nil, nil, 1, 2, 3, nil])
    #expect(phases.map(\.isLoading) == [false, true, false, true, false, false])
    #expect(phases.map { $0.error?.code } == [nil, nil, nil, nil, .offline, .offline])
  }

  @Test(
    "Only the newest load changes a loader's phase, whatever the order of events", arguments: 0..<50 as Range<UInt64>)
  func random(seed: UInt64) async throws {
    let errors = Errors()
    var generator = SeededGenerator(seed: seed)
    var state = LoaderState<Int>()
    var newest: Int?
    var value: Int?
    var begun = 0
    for step in 0..<200 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1:
        begun = state.begin()
        newest = begun
      case 2:
        let number = Int.random(in: 0...begun, using: &generator)
        state.end(number, .success(step))
        if number == newest { (value, newest) = (step, nil) }
      case 3:
        let number = Int.random(in: 0...begun, using: &generator)
        state.end(number, .failure(errors.offline))
        if number == newest { newest = nil }
      case 4:
        state.cancel()
        newest = nil
      default:
        guard step.isMultiple(of: 7) else { continue }
        state.reset()
        (value, newest) = (nil, nil)
      }
      #expect(state.phase.value == value)
      #expect(state.phase.isLoading == (newest != nil))
    }
  }
}

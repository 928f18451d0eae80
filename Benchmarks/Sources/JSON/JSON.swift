import ApusJSON
import Foundation

/// A program that compares the coder of this package with Foundation's `JSONDecoder` and `JSONEncoder`: processor time
/// of the thread and allocations, interleaved in one process. The contenders' results are compared first.
///
///     JSON [rounds] [row …]                  prints a table as Markdown, of all rows or some
///     JSON rows                              prints the names of the rows
///     JSON profile ROW CONTENDER COUNT       runs one contender (apus, foundation, unformatted), for a profiler
@main
struct JSON {
  /// The error of an invalid command line.
  private struct Usage: Error {}

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let rows = Row.decoding + Row.encoding
    switch arguments.first {
    case "rows": for row in rows { print(row.name) }
    case "profile":
      guard arguments.count == 4, let row = rows.first(where: { $0.name == arguments[1] }),
        let contender = Contender(rawValue: arguments[2]), let count = Int(arguments[3]),
        let run = try row.workload().contenders[contender]
      else { throw Usage() }
      try run(count)
    default:
      let names = arguments.filter { Int($0) == nil }
      guard names.allSatisfy({ name in rows.contains { $0.name == name } }) else { throw Usage() }
      try tables(of: names, rounds: arguments.compactMap { Int($0) }.first ?? 21)
    }
  }

  /// - Parameter names: the rows to measure; none for all.
  private static func tables(of names: [String], rounds: Int) throws {
    #if DEBUG
    print("A debug build. ", terminator: "")
    #endif
    print("\(rounds) interleaved rounds; median [lowest, highest] of the ratios of all rounds.")
    let heads = ["Apus, µs", "Foundation, µs", "ratio", "allocations, Apus", "Foundation", "ratio"]
    let unformatted = ["Foundation without options, µs", "ratio"]
    for (title, rows, heads) in [
      ("decoding", Row.decoding, heads), ("encoding", Row.encoding, heads + unformatted),
    ] {
      let chosen = rows.filter { names.isEmpty || names.contains($0.name) }
      if !chosen.isEmpty { try table(title, chosen, heads, rounds: rounds) }
    }
  }

  private static func table(_ title: String, _ rows: [Row], _ heads: [String], rounds: Int) throws {
    print("\n| \(title) | " + heads.joined(separator: " | ") + " |")
    print("|" + String(repeating: "---|", count: heads.count + 1))
    for row in rows {
      let figures = try Measurement.of(row, rounds: rounds)
      var cells = [
        row.title, figures.time(.apus), figures.time(.foundation), figures.ratio(to: .foundation), figures.allocations,
      ]
      if figures.has(.unformatted) { cells += [figures.time(.unformatted), figures.ratio(to: .unformatted)] }
      print("| " + cells.joined(separator: " | ") + " |")
      fflush(nil)
    }
  }
}

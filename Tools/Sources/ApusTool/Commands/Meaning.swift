import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Says what is wrong with a command line in the way that people know from other commands.
enum Meaning {
  /// What the body makes of the command line.
  ///
  /// - Throws: `ValidationError`, which prints how the command is used; `ExitCode` once the rest has been said.
  static func of<Plan>(_ body: () throws -> Plan) throws -> Plan {
    do {
      return try body()
    } catch let error as PlanError {
      throw ValidationError(error.description)
    } catch let error as InputError {
      DescriptorWriter.standardError().say(Complaint(sentence: error.description).text)
      throw ExitCode(ExitStatus.input.rawValue)
    }
  }
}

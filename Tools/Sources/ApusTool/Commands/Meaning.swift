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
  static func of<Plan>(_ body: () async throws -> Plan) async throws -> Plan {
    do {
      return try await body()
    } catch let error as PlanError {
      throw ValidationError(error.description)
    } catch let error where error is InputError || error is ProfileError {
      let ending = Ending(error)
      if let complaint = ending.complaint { DescriptorWriter.standardError().say(complaint.text) }
      throw ExitCode(ending.status.rawValue)
    }
  }
}

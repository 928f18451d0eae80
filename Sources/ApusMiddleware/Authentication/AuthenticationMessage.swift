import ApusCore
import HTTPTypes

extension Authentication {
  /// Whether the credentials may be sent to the origin of a message.
  func allows(_ request: RequestMessage, in context: CallContext) -> Bool {
    guard let origins = parts.origins else { return context.isAtHome(request) }
    return request.origin.map { origins.contains($0) } ?? false || context.trusts(request)
  }

  /// Reads the credentials.
  ///
  /// - Throws: ``TransportError`` if they cannot be read; the error of another call and `CancellationError` unchanged.
  func read() async throws -> StoredCredential {
    do {
      let stored = try await parts.source.current()
      await parts.saw(stored)
      return stored
    } catch let error as CallError {
      throw error
    } catch is CancellationError where Task.isCancelled {
      throw CancellationError()
    } catch {
      throw TransportError.unusable("the credentials could not be read: \(error.loggedReason)", underlying: error)
    }
  }

  /// Reads the credentials. Returns the error if that fails.
  ///
  /// - Throws: `CancellationError` when the call is cancelled.
  func result() async throws -> Result<StoredCredential, any Error> {
    do {
      return .success(try await read())
    } catch let error as CancellationError {
      throw error
    } catch {
      return .failure(error)
    }
  }

  /// Reads the credentials, if they belong to a principal.
  ///
  /// - Throws: ``PrincipalChangedError`` as the cause of a ``TransportError`` if they belong to another principal, or
  ///   the error of the refresh that ended the principal's session; errors of ``read()``.
  func read(as principal: UInt64) async throws -> StoredCredential {
    let stored = try await read()
    guard stored.principal == principal else {
      throw parts.refresher?.sessionEnd(of: principal) ?? PrincipalChangedError.error
    }
    return stored
  }

  /// Whether the current task refreshes these credentials. A call made by that task must not wait for the refresh.
  var isAtWork: Bool { parts.refresher.map { RefreshWork.isDone(by: $0) } ?? false }

  /// The names of the fields that carry credentials, in lower case.
  var fieldNames: [String] {
    parts.scheme.locations.compactMap { place in
      if case .field(let name) = place { return name.lowercased() }
      return nil
    }
  }

  /// The names of the query parameters that carry credentials.
  var parameterNames: [String] {
    parts.scheme.locations.compactMap { place in
      if case .parameter(let name) = place { return name }
      return nil
    }
  }

  /// Whether a message already has a value in a field or parameter that these credentials would use.
  func isAnticipated(by request: RequestMessage) -> Bool {
    parts.places.contains { $0.isTaken(in: request) }
  }

  /// The challenge that this authentication would answer; `nil`: none.
  func asked(_ challenges: [Challenge]) -> Challenge? {
    guard !challenges.isEmpty else { return nil }
    guard let realm = parts.realm else { return parts.scheme.choose(among: challenges) }
    return parts.scheme.choose(among: challenges.filter { $0.realm == realm })
  }
}

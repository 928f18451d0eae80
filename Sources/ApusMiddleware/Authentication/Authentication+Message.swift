import ApusCore
import HTTPTypes

extension Authentication {
  /// Whether credentials may go to where a message goes.
  func allows(_ request: RequestMessage, in environment: Environment) -> Bool {
    guard let origins = parts.origins else {
      return environment.baseURL.origin.map { request.goes(to: $0) } ?? false
    }
    return request.origin.map { origins.contains($0) } ?? false
  }

  /// The credentials there are now.
  ///
  /// - Throws: ``TransportError`` when they cannot be read; a call's own error and its cancellation as they are.
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

  /// The same, or what reading failed with.
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

  /// The credentials there are now, if they are of one principal.
  ///
  /// - Throws: ``PrincipalChanged`` as the cause of a ``TransportError`` where they are another's, or what a refresh failed
  ///   with that ended the principal's session; what reading throws.
  func read(as principal: UInt64) async throws -> StoredCredential {
    let stored = try await read()
    guard stored.principal == principal else {
      throw parts.refresher?.sessionEnd(of: principal) ?? PrincipalChanged.error
    }
    return stored
  }

  /// Whether the present task refreshes the credentials: what it sends would wait for itself.
  var isAtWork: Bool { parts.refresher.map { RefreshWork.isDone(by: $0) } ?? false }

  /// Names of the fields that show credentials, in lower case.
  var fieldNames: [String] {
    parts.scheme.places.compactMap { place in
      if case .field(let name) = place { return name.lowercased() }
      return nil
    }
  }

  /// Names of the query parameters that show credentials.
  var parameterNames: [String] {
    parts.scheme.places.compactMap { place in
      if case .parameter(let name) = place { return name }
      return nil
    }
  }

  /// Whether a message carries credentials of its own in the place of these.
  func isAnticipated(by request: RequestMessage) -> Bool {
    parts.places.contains { $0.isTaken(in: request) }
  }

  /// The challenge that it would answer.
  func asked(_ challenges: [Challenge]) -> Challenge? {
    guard !challenges.isEmpty else { return nil }
    guard let realm = parts.realm else { return parts.scheme.choose(among: challenges) }
    return parts.scheme.choose(among: challenges.filter { $0.realm == realm })
  }
}

extension RequestMessage {
  /// Whether it goes to an origin; most go to that of their environment, and name it as that does.
  fileprivate func goes(to origin: Origin) -> Bool {
    head.scheme == origin.scheme && head.authority == origin.authority || self.origin == origin
  }
}

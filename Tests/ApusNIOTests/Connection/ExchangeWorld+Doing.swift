import ApusCore

@testable import ApusNIO

/// The transport's part of the simulation, which performs the actions of the state machines.
extension ExchangeWorld {
  // MARK: The pool

  mutating func acquire(_ id: Int, isAdmitted: Bool) {
    guard let origin = calls[id]?.origin else { return }
    perform(pool.acquire(id, for: origin, isAdmitted: isAdmitted, now: instant))
  }

  mutating func perform(_ actions: [Pool.Action]) {
    for action in actions {
      switch action {
      case .use(let line, let call):
        guard calls[call]?.state.needsNewConnection == true, lines[line]?.state.hasServed == true else {
          lines[line]?.jobs.append(.start(call))
          continue
        }
        perform(pool.released(line, canReuse: false, now: instant))
        acquire(call, isAdmitted: true)
      case .connect(let origin): attempts.append(origin)
      case .refuse(let call, let refusal):
        if refusal == .queueFull, calls[call]?.state.needsNewConnection == true {
          problems.append("\(call) is refused because the queue is full, though it had a connection")
        }
        end(call, .notSent)
      case .close(let line): lines[line]?.jobs.append(.closeIfIdle)
      case .wake: break
      case .drained:
        if isDrained { problems.append("drained twice") }
        isDrained = true
      }
    }
  }

  // MARK: The exchange

  /// Ends an exchange from outside.
  mutating func end(_ id: Int, _ told: RequestState?, onlyWhileWaiting: Bool = false) {
    guard let ending = calls[id]?.state.ended(onlyWhileWaiting: onlyWhileWaiting) else { return }
    if ending.resumesCaller { tell(id, told.map { ending.requestState($0) }) }
    switch ending.place {
    case .nowhere, .over: break
    case .queued: perform(pool.cancelled(id))
    case .on(let line): lines[line]?.jobs.append(.abandon(id))
    }
  }

  mutating func waitedTooLong(_ id: Int) {
    end(id, .notSent, onlyWhileWaiting: true)
  }

  private mutating func retry(_ id: Int, wasWritten: Bool) -> Bool {
    guard calls[id]?.state.requeued(.stale(wasWritten: wasWritten)) == true else { return false }
    events["out again, \(wasWritten ? "" : "not ")written", default: 0] += 1
    acquire(id, isAdmitted: true)
    return true
  }

  // MARK: The connection's loop

  mutating func runJob(on id: Int) {
    guard var line = lines[id], !line.jobs.isEmpty else { return }
    let job = line.jobs.removeFirst()
    lines[id] = line
    switch job {
    case .start(let call): start(call, on: id)
    case .abandon(let call):
      guard line.state.exchange == call else { return }
      if line.state.progress.response == .completeEarly { events["abandoned after its response", default: 0] += 1 }
      lines[id]?.state.broken()
      close(id)
    case .closeIfIdle: if lines[id]?.state.closeIfIdle() == true { close(id) }
    case .end:
      if line.state.exchange != nil {
        fail(on: id)
      } else if lines[id]?.state.closeIfIdle() == true {
        close(id)
      }
    case .resume(let call):
      guard line.state.exchange == call, lines[id]?.state.progress.resume() == true else { return }
      guard lines[id]?.state.isCutShort == true else { return }
      events["read on after the connection's end", default: 0] += 1
      decodeRest(id)
    case .inputEnds: inputEnds(on: id)
    }
  }

  private mutating func start(_ call: Int, on id: Int) {
    guard let line = lines[id] else { return }
    switch lines[id]?.state.offered(isOpen: line.isOpen, hasUnread: { line.isHalfClosed }) {
    case .enter?: break
    case .giveBackAndClose?:
      events["closed before it was used again", default: 0] += 1
      close(id)
      return giveBack(call)
    case .giveBack?, nil: return giveBack(call)
    }
    guard calls[call]?.state.entered(id) == true else {
      return perform(pool.released(id, canReuse: true, now: instant))
    }
    lines[id]?.state.entered(call)
    // If the caller ends the exchange now, before anything is written, the request state is `notSent`.
    if Int.random(in: 0..<8, using: &random) == 0 { end(call, .notSent) }
    guard calls[call]?.state.place == .on(id) else { return }
    lines[id]?.state.progress.requestBegun()
    calls[call]?.writes.append((id, line.state.hasServed))
    calls[call]?.isSent = false
    if maybe() { completeRequest(on: id) }
  }

  private mutating func giveBack(_ call: Int) {
    if !retry(call, wasWritten: false) { end(call, .notSent) }
  }

  /// Sends more of a request: a piece or the rest. Withheld content is sent after a while.
  mutating func sendOn(_ id: Int) {
    if oneIn(3) { lines[id]?.state.progress.wrote(10) } else { completeRequest(on: id) }
  }

  mutating func completeRequest(on id: Int) {
    guard let call = lines[id]?.state.exchange else { return }
    lines[id]?.state.progress.requestCompleted()
    calls[call]?.isSent = true
    guard lines[id]?.state.progress.response == .completeEarly else { return }
    events["completed after its response", default: 0] += 1
    if let completion = lines[id]?.state.exchangeCompleted() { complete(call, on: id, completion, isSuccess: true) }
  }

  /// Ends an exchange whose response is complete.
  private mutating func complete(
    _ call: Int, on id: Int, _ completion: ConnectionState<Int>.Completion, isSuccess: Bool
  ) {
    if isSuccess, calls[call]?.isSent != true { problems.append("\(call) succeeded, but was not sent completely") }
    if completion == .reuse { perform(pool.released(id, canReuse: true, now: instant)) } else { close(id) }
    if calls[call]?.state.ended()?.resumesCaller == true { tell(call, .responded) }
  }

  /// Receives a head with a random status.
  private mutating func receiveHead(_ call: Int, on id: Int) {
    guard let line = lines[id], line.state.progress.response != .head else { return }
    let (isSuccess, isHeld, isWritten) = (maybe(), calls[call]?.isHeld == true, maybe())
    lines[id]?.isSuccess = isSuccess
    if lines[id]?.state.headArrived(isSuccess: isSuccess, isContentHeld: isHeld, isContentWritten: isWritten) == true {
      events["responded early, \(isSuccess ? "success" : "error")", default: 0] += 1
    }
  }

  /// Simulates input from the peer: bytes, a head, a complete response, or unsolicited bytes.
  mutating func answer(on id: Int) {
    switch lines[id]?.state.bytesArrived() {
    case .close?: return close(id)
    case .ignore?, nil: return
    case .decode?: break
    }
    guard let line = lines[id], let call = line.state.exchange, line.state.progress.request != .unsent,
      !line.state.progress.isPaused
    else { return }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: break
    case 1: fail(on: id)
    case 2, 3:
      guard line.state.progress.response != .head else { return }
      receiveHead(call, on: id)
      guard calls[call]?.isStreamed == true else { return }
      if calls[call]?.state.headDelivered() == true { tell(call, nil) }
      if maybe() { _ = lines[id]?.state.pause() }
      perform(pool.suspended(id))
    default:
      receiveHead(call, on: id)
      let completion = lines[id]?.state.responseCompleted(
        canReuse: Int.random(in: 0..<5, using: &random) > 0, isExact: true, isOpen: line.isOpen)
      switch completion {
      case .reuse?, .close?:
        complete(call, on: id, completion ?? .close, isSuccess: lines[id]?.isSuccess == true)
      case .fail?: fail(on: id)
      case .sendOn?, nil: break
      }
    }
  }

  mutating func requestMore(on id: Int) {
    if let call = lines[id]?.state.exchange { lines[id]?.jobs.append(.resume(call)) }
  }

  mutating func closeByPeer(_ id: Int) {
    lines[id]?.isHalfClosed = true
    lines[id]?.jobs.append(.inputEnds)
  }

  /// Closes the socket; its handler handles the close now or later.
  private mutating func close(_ id: Int) {
    guard lines[id]?.isOpen == true else { return }
    lines[id]?.isOpen = false
    if maybe() { inputEnds(on: id) } else { lines[id]?.jobs.append(.inputEnds) }
  }

  private mutating func inputEnds(on id: Int) {
    lines[id]?.isOpen = false
    guard let line = lines[id], !line.isForgotten else { return }
    lines[id]?.isForgotten = true
    perform(pool.closed(id, now: instant))
    let call = line.state.exchange
    switch lines[id]?.state.closed(isRepeatable: call.flatMap { calls[$0]?.isRepeatable } ?? false) {
    case .end?, .wait?, nil: break
    case .resend?:
      if let call, retry(call, wasWritten: line.state.progress.request != .unsent) {
        lines[id]?.state.broken()
      } else {
        decodeRest(id)
      }
    case .decodeRest?: decodeRest(id)
    }
  }

  private mutating func decodeRest(_ id: Int) {
    if lines[id]?.state.exchange != nil { fail(on: id) }
  }

  private mutating func fail(on id: Int) {
    guard let line = lines[id], let call = line.state.exchange else { return }
    if line.state.progress.isIncomplete { events["failed after its response", default: 0] += 1 }
    lines[id]?.state.broken()
    close(id)
    end(call, line.state.progress.requestState)
  }
}

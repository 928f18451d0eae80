import Testing

@testable import ApusURLSession

extension BackgroundTasks {
  /// Claims a task, and returns the claim as text.
  fileprivate mutating func claimed(_ name: String, _ waiter: Waiter) -> String {
    switch claim(name, waiter) {
    case .create: "create"
    case .wait(let task): "wait \(task)"
    case .finished(let outcome): "finished \(outcome)"
    case .busy: "busy"
    }
  }

  /// Abandons a task, and returns its waiter and the task to cancel.
  fileprivate mutating func abandoned(_ name: String) -> String {
    let (waiter, task) = abandon(name)
    return "\(waiter.map { "\($0)" } ?? "-") \(task.map { "\($0)" } ?? "-")"
  }
}

@Suite("The tasks of a background session")
struct BackgroundTasksTests {
  private typealias Tasks = BackgroundTasks<Int, String>

  @Test("An exchange creates its task and gets the task's outcome")
  func created() {
    var tasks = Tasks()
    #expect(tasks.claimed("a", 1) == "create")
    #expect(tasks.started("a", task: 10) == true)
    #expect(tasks.end("a", task: 10, "done") == 1)
    #expect(tasks.isEmpty)
  }

  @Test("A task of an earlier process is found by its name, even if it ends before an exchange claims it")
  func restored() {
    var tasks = Tasks()
    tasks.restore("running", task: 3)
    #expect(tasks.knows("running") && !tasks.knows("ended"))
    #expect(tasks.claimed("running", 1) == "wait 3")
    #expect(tasks.end("running", task: 3, "late") == 1)
    tasks.restore("ended", task: 4)
    #expect(tasks.end("ended", task: 4, "early") == nil)
    #expect(tasks.claimed("ended", 2) == "finished early")
    // The platform may report the end before it lists its tasks.
    #expect(tasks.end("unlisted", task: 5, "unlisted") == nil)
    tasks.restore("unlisted", task: 5)
    #expect(tasks.claimed("unlisted", 3) == "finished unlisted")
    #expect(tasks.isEmpty)
  }

  @Test("Two exchanges never share a task")
  func busy() {
    var tasks = Tasks()
    _ = tasks.claim("a", 1)
    #expect(tasks.claimed("a", 2) == "busy")
    _ = tasks.started("a", task: 10)
    #expect(tasks.claimed("a", 2) == "busy")
  }

  @Test("The end of a cancelled task is ignored, even if a new task has its name")
  func cancelled() {
    var tasks = Tasks()
    _ = tasks.claim("a", 1)
    _ = tasks.started("a", task: 10)
    #expect(tasks.abandoned("a") == "1 10")
    #expect(tasks.claimed("a", 2) == "create")
    #expect(tasks.started("a", task: 11) == true)
    #expect(tasks.end("a", task: 10, "cancelled") == nil)
    #expect(tasks.end("a", task: 11, "done") == 2)
    #expect(tasks.isEmpty)
  }

  @Test("An exchange abandoned while its task is being created cancels that task")
  func cancelledBeforeStart() {
    var tasks = Tasks()
    _ = tasks.claim("a", 1)
    #expect(tasks.abandoned("a") == "1 -")
    #expect(tasks.started("a", task: 10) == false)
    #expect(tasks.end("a", task: 10, "cancelled") == nil)
    #expect(tasks.isEmpty)
    #expect(tasks.abandoned("a") == "- -")
  }

  @Test("The end of a task whose name belongs to a later task is ignored")
  func replaced() {
    var tasks = Tasks()
    tasks.restore("a", task: 3)
    #expect(tasks.end("a", task: 2, "other") == nil)
    #expect(tasks.claimed("a", 1) == "wait 3")
  }

  @Test("When the transport is shut down, all exchanges end and their tasks continue")
  func abandonAll() {
    var tasks = Tasks()
    _ = tasks.claim("a", 1)
    _ = tasks.claim("b", 2)
    _ = tasks.started("b", task: 10)
    let waiters = tasks.abandonAll()
    #expect(waiters.sorted() == [1, 2])
    #expect(tasks.started("a", task: 11) == false)
    #expect(tasks.claimed("b", 3) == "wait 10")
  }
}

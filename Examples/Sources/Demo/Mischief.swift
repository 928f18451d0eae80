import Backend

/// What the demo does to a server of its own: its time leaps ahead, and its answers are held back or lost.
struct Mischief: Sendable {
  let clock = LeapClock()
  let held = HeldAnswers()
  let lost = LostAnswers()
}

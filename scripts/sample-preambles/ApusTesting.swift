// For the samples in ApusTesting's documentation.
import ApusTesting

let stub = StubTransport()

let gate = Gate()

nonisolated(unsafe) var settings = ClientSettings()

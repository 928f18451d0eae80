import ApusTool
import ArgumentParser

/// The program.
@main
enum Main {
  static func main() async {
    await ApusCommand.main()
  }
}

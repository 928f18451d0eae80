#if canImport(SwiftUI)
import Apus
public import MoviesService
public import SwiftUI

/// The screen. It loads when it appears, when the text changes and on pull to refresh. A load is cancelled when a newer
/// load replaces it or when the screen disappears.
public struct MoviesView: View {
  @State private var model: MoviesModel

  /// Creates the screen.
  public init(service: any MoviesService) {
    _model = State(initialValue: MoviesModel(service: service))
  }

  /// The list. It displays the previous movies until newer movies arrive.
  public var body: some View {
    @Bindable var field = model.field
    List(model.films.value ?? []) { film in
      Text(film.title)
    }
    .searchable(text: $field.text)
    .overlay { status }
    .task(id: field.text) { await model.films.load() }
    .refreshable { await model.films.load() }
  }

  @ViewBuilder private var status: some View {
    if model.films.isLoading {
      ProgressView()
    } else if let text = model.errorText {
      Text(text)
    }
  }
}
#endif

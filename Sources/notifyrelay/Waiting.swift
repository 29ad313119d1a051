// Keeps elements in the order in which they are to be published.

/// Elements that wait to be published: each once, in the order of arrival.
struct Waiting<Element: Hashable> {
  private var order: [Element] = []
  private var members: Set<Element> = []
  private var first = 0

  var count: Int { members.count }

  mutating func append(_ element: Element) {
    if members.insert(element).inserted { order.append(element) }
  }

  /// Takes the first that may go now.
  mutating func take(_ mayGo: (Element) -> Bool) -> Element? {
    guard let index = order[first...].firstIndex(where: mayGo) else { return nil }
    let element = order[index]
    if index == first {
      first += 1
      if first > 1024, first > order.count / 2 {
        order.removeFirst(first)
        first = 0
      }
    } else {
      order.remove(at: index)
    }
    members.remove(element)
    return element
  }
}

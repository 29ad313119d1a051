// Posts an object and a user info to itself.
// prints: deck plays track 3
using DarwinNotify;

int main () {
	unowned var center = Center.distributed ();
	var is_played = new GLib.AsyncQueue<string> ();
	Observer observer;
	Dict track;

	/* On a thread of the library. */
	var played = Handler ();
	played.invoke = (event) => {
		if (event.sender != null && event.sender.is_own) {
			is_played.push ("%s plays track %d".printf (event.object,
				(int) event.user_info.get_int64 ("track")));
		}
	};
	center.observe ("org.example.player", (owned) played, null, out observer);

	var builder = new DictBuilder ();
	builder.set_int64 ("track", 3);
	if (((owned) builder).finish (out track) < 0) {
		return 1;
	}
	center.post ("org.example.player", "deck", track);
	stdout.printf ("%s\n", is_played.pop ());
	observer.cancel_wait ();
	return 0;
}

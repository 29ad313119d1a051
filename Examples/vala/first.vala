// Observes a name in GLib's main loop, and a player with a user info.
// prints: received com.example.changed
// prints: deck plays track 3
using DarwinNotify;

int main () {
	var main_loop = new GLib.MainLoop ();
	unowned var darwin = Center.darwin ();
	unowned var distributed = Center.distributed ();
	DarwinNotify.Loop loop;
	Observer changed, played;

	if (DarwinNotify.Loop.create (out loop) < 0) {
		return 1;
	}
	var channel = new GLib.IOChannel.unix_new (loop.get_fd ());
	channel.add_watch (GLib.IOCondition.IN, () => {
		loop.process ();
		return true;
	});

	var on_changed = Handler ();
	on_changed.invoke = (event) => {
		stdout.printf ("received %s\n", event.name);
		var builder = new DictBuilder ();
		Dict track;
		builder.set_int64 ("track", 3);
		if (((owned) builder).finish (out track) == 0) {
			distributed.post ("org.example.player", "deck", track);
		}
	};
	var on_played = Handler ();
	on_played.invoke = (event) => {
		stdout.printf ("%s plays track %d\n", event.object, (int) event.user_info.get_int64 ("track"));
		main_loop.quit ();
	};

	darwin.observe ("com.example.changed", (owned) on_changed, loop.executor (), out changed);
	distributed.observe ("org.example.player", (owned) on_played, loop.executor (), out played);
	darwin.post ("com.example.changed");
	main_loop.run ();

	changed.cancel ();
	played.cancel ();
	return 0;
}

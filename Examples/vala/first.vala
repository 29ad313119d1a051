// Observes a name in GLib's main loop.
// prints: received com.example.changed
using DarwinNotify;

int main () {
	var main_loop = new GLib.MainLoop ();
	unowned var center = Center.darwin ();
	DarwinNotify.Loop loop;
	Observer observer;

	if (DarwinNotify.Loop.create (out loop) < 0) {
		return 1;
	}
	var channel = new GLib.IOChannel.unix_new (loop.get_fd ());
	channel.add_watch (GLib.IOCondition.IN, () => {
		loop.process ();
		return true;
	});

	var changed = Handler ();
	changed.invoke = (event) => {
		stdout.printf ("received %s\n", event.name);
		main_loop.quit ();
	};
	center.observe ("com.example.changed", (owned) changed, loop.executor (), out observer);
	center.post ("com.example.changed");
	main_loop.run ();

	observer.cancel ();
	return 0;
}

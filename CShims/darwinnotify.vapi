/* The C library for Vala: valac --pkg darwinnotify. Each method is the C function of that name, whose
 * comment says what it does. Text is checked by the library; a negative result is an errno. */
[CCode (cprefix = "dn_", lower_case_cprefix = "dn_", cheader_filename = "darwinnotify/darwinnotify.h")]
namespace DarwinNotify {
	/* The call has taken effect, but at present nobody outside the process can be reached. */
	[CCode (cname = "DN_NOT_CONNECTED")]
	public const int NOT_CONNECTED;

	public unowned string version ();
	public int may_post (string name);
	public int flush (uint64 timeout_us);
	public int shutdown ();

	[Compact]
	[CCode (cname = "dn_center", free_function = "dn_center_unref")]
	public class Center {
		[CCode (cname = "dn_center_darwin")]
		public static unowned Center darwin ();
		[CCode (cname = "dn_center_distributed")]
		public static unowned Center distributed ();
		[CCode (cname = "dn_center_open")]
		public static int open (string bus, out Center center);
		[CCode (cname = "dn_center_open_distributed")]
		public static int open_distributed (string bus, out Center center);

		/* The object is text, and for the distributed center only, as is the dictionary. */
		public int post (string name, string? object = null, Dict? user_info = null, uint options = 0);
		public int is_on_bus ();
		public int observe (string name, owned Handler handler, Executor? executor, out Observer observer);
		public int observe_prefix (string prefix, owned Handler handler, Executor? executor, out Observer observer);
		public int observe_filtered (Filter filter, owned Handler handler, Executor? executor, out Observer observer);
	}

	[CCode (cname = "dn_sender", has_type_id = false, has_copy_function = false, has_destroy_function = false)]
	public struct Sender {
		public unowned string? name;
		public uint32 user;
		public int32 process;
		public bool is_own;
	}

	[CCode (cname = "dn_event", has_type_id = false, has_copy_function = false, has_destroy_function = false)]
	public struct Event {
		public unowned Center center;
		public unowned string name;
		public unowned string? object;
		public unowned Dict? user_info;
		public uint64 n_posts;
		public uint64 n_dropped;
		public bool may_have_missed;
		public unowned Sender? sender;
	}

	[CCode (has_typedef = false)]
	public delegate void EventFunc ([CCode (type = "const dn_event *")] Event event);

	/* Its closure belongs to the function that it is passed to: use each one once. */
	[CCode (cname = "dn_handler", has_type_id = false, has_copy_function = false, has_destroy_function = false)]
	public struct Handler {
		[CCode (delegate_target_cname = "context", destroy_notify_cname = "destroy")]
		public EventFunc invoke;
	}

	[CCode (cname = "dn_filter", has_type_id = false, has_copy_function = false, has_destroy_function = false)]
	public struct Filter {
		public unowned string? name;
		public unowned string? prefix;
		public unowned string? object;
		public int behavior;
	}

	/* It stays registered until it is cancelled, even without a reference. */
	[Compact]
	[CCode (cname = "dn_observer", ref_function = "dn_observer_ref", unref_function = "dn_observer_unref")]
	public class Observer {
		public void cancel ();
		public void cancel_wait ();
	}

	/* Where handlers run. */
	[CCode (cname = "const dn_executor", has_type_id = false, has_copy_function = false, has_destroy_function = false)]
	public struct Executor {
		[CCode (cname = "dn_executor_delivery_thread")]
		public static unowned Executor? delivery_thread ();
		[CCode (cname = "dn_executor_inline")]
		public static unowned Executor? inline ();
	}

	/* Handlers in an event loop: watch the descriptor, then process. */
	[Compact]
	[CCode (cname = "dn_loop", free_function = "dn_loop_close")]
	public class Loop {
		[CCode (cname = "dn_loop_new")]
		public static int create (out Loop loop);
		public int get_fd ();
		public int process ();
		public unowned Executor? executor ();
	}

	[Compact]
	[CCode (cname = "dn_dict", ref_function = "dn_dict_ref", unref_function = "dn_dict_unref")]
	public class Dict {
		public size_t get_count ();
		public unowned string? get_string (string key);
		public bool get_bool (string key, bool otherwise = false);
		public int64 get_int64 (string key, int64 otherwise = 0);
		public double get_double (string key, double otherwise = 0);
		public unowned Dict? get_dict (string key);
	}

	[Compact]
	[CCode (cname = "dn_dict_builder", free_function = "dn_dict_builder_free")]
	public class DictBuilder {
		[CCode (cname = "dn_dict_builder_new")]
		public DictBuilder ();
		public void set_string (string? key, string value);
		public void set_bool (string? key, bool value);
		public void set_int64 (string? key, int64 value);
		public void set_double (string? key, double value);
		public void begin_dict (string? key);
		public void begin_array (string? key);
		public void end ();
		[DestroysInstance]
		public int finish (out Dict dict);
	}
}

/* Apple's functions: notify(3). */
[CCode (cprefix = "notify_", lower_case_cprefix = "notify_", cheader_filename = "notify.h")]
namespace Notify {
	public uint32 post (string name);
	public uint32 register_check (string name, out int token);
	public uint32 check (int token, out int check);
	public uint32 set_state (int token, uint64 state);
	public uint32 get_state (int token, out uint64 state);
	public uint32 cancel (int token);
}

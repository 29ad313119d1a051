// Runs handlers on the thread of its own event loop.
// prints: changed 3 times
#include <darwinnotify.hpp>
#include <iostream>
#include <poll.h>

int main()
{
        darwinnotify::loop loop; // before its observers, so that it ends after them
        std::uint64_t n_posts = 0;
        auto changed = darwinnotify::observe(
                "com.example.changed",
                [&n_posts](const darwinnotify::event &event) { n_posts += event.n_posts; },
                loop.executor());

        for (int i = 0; i < 3; i++)
                darwinnotify::post("com.example.changed");
        while (n_posts < 3) {
                pollfd waiting = { loop.fd(), POLLIN, 0 };
                poll(&waiting, 1, -1);
                loop.process();
        }
        std::cout << "changed " << n_posts << " times\n";
}

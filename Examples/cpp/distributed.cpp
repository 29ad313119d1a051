// Sends an object and a user info through the distributed center.
// prints: deck plays So What, track 3
#include <darwinnotify.hpp>
#include <future>
#include <iostream>

int main()
{
        auto center = darwinnotify::center::distributed();
        std::promise<void> done;
        auto play = [&done](const darwinnotify::event &event) {
                std::cout << event.object.value_or("nobody") << " plays "
                          << event.user_info.find<std::string_view>("title").value_or("nothing")
                          << ", track " << event.user_info.find<std::int64_t>("track").value_or(0)
                          << '\n';
                done.set_value();
        };
        auto player = center.observe("org.example.player", play);

        center.post("org.example.player", "deck", { { "title", "So What" }, { "track", 3 } });
        done.get_future().wait();
}
